//! Process that keeps detached programs attached. When one of their interfaces is deleted and recreated, it attaches
//! them to the new one.
//!
//! It is this executable, started with [`ARGUMENT`] and the name of an instance, in a session of its own and not as a
//! child of the command. It ends with the instance, or when it is asked to. The kernel wakes it when interfaces change
//! and when an instance is removed.
//!
//! A process keeps its network namespace alive, so this one moves to an empty namespace of its own if its rights allow
//! that. If it is killed, the next `onpath ls` [starts](ensure) another one. A program in the foreground has [a
//! thread](Keeper) instead.

use crate::Pins;
use crate::errors::device::is_busy;
use crate::pins::Followed;
use crate::sys::close_inherited;
use diag::Diagnostic;
use host::safe_dir::Dir;
use net::link_events::LinkEvents;
use net::netns::{self, NetNs};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{chdir, dup2_stdout, pipe, setsid};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The command of this program that runs [`keep`].
pub const ARGUMENT: &str = "keep";

/// Answer of a process that follows the interfaces; any other one is the reason why it does not.
const FOLLOWS: &[u8] = b"\n";
/// The longest wait for that answer. It takes a few milliseconds, and as long as other commands hold the lock.
const PATIENCE: Duration = Duration::from_secs(25);

/// Delay before a refused attachment is tried again: the first, and the longest.
const RETRY: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(60)];

/// Longest wait for the interfaces of an ended network namespace to disappear.
const DISMANTLING: Duration = Duration::from_secs(2);

/// Follows the interfaces of each instance once, and starts a process that follows them if the instance has none.
/// Failures are ignored: a process started from here has no more rights than this one.
pub fn ensure(pins: &Pins) {
    for instance in pins.names().unwrap_or_default() {
        let followed = pins.follow(&instance, Duration::ZERO);
        let goes_on = matches!(followed, Ok(Followed::Settled | Followed::Refused));
        if goes_on && pins.wants_keeper(&instance) {
            let _ = spawn(&instance);
        }
    }
}

/// Starts a process that follows the interfaces of an instance, and waits until it does.
pub fn start(instance: &str) -> io::Result<()> {
    let mut answer = spawn(instance)?;
    let (until, mut read) = (Instant::now() + PATIENCE, Vec::new());
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(
            &mut [PollFd::new(answer.as_fd(), PollFlags::POLLIN)],
            timeout,
        ) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => {}
            Err(nix::Error::EINTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let mut buffer = [0; 1024];
        match answer.read(&mut buffer)? {
            0 => break,
            count => read.extend_from_slice(&buffer[..count]),
        }
    }
    match read.as_slice() {
        FOLLOWS => Ok(()),
        [] => Err(io::Error::other("the process that would do so has ended")),
        why => Err(io::Error::other(String::from_utf8_lossy(why))),
    }
}

/// Starts a process that follows the interfaces of an instance, and returns the pipe by which it [answers](FOLLOWS).
fn spawn(instance: &str) -> io::Result<ChildStdout> {
    let mut command = Command::new("/proc/self/exe");
    let command = command.arg0("onpath").args([ARGUMENT, instance]);
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
    // It outlives this process, which need not wait for its end.
    // SAFETY: between fork and exec it calls nothing but what may be called there.
    unsafe { command.pre_exec(crate::sys::become_grandchild) };
    let mut between = command.stderr(Stdio::null()).spawn()?;
    let answer = between.stdout.take();
    between.wait()?;
    answer.ok_or(io::ErrorKind::BrokenPipe.into())
}

/// Follows the interfaces of an instance until it is removed. Reports once on `out`, which is standard output, that it
/// does, or why not.
pub fn keep(pins: &Pins, instance: &str, out: &mut dyn Write) -> Result<(), Box<Diagnostic>> {
    // Inherited files belong to the starting command and its ancestors: others wait for their ends, or for locks on
    // them.
    close_inherited();
    // That command holds interrupts back. This process ends by them, but not if nobody reads its answer.
    let _ = SigSet::from_iter([Signal::SIGPIPE]).thread_set_mask();
    let mut answered = false;
    let done = keep_here(pins, instance, &mut || {
        answered = true;
        answer(out, FOLLOWS);
    });
    if !answered {
        let text = match &done {
            // There is nothing to follow.
            Ok(()) => FOLLOWS,
            Err(diagnostic) => diagnostic.message.as_bytes(),
        };
        answer(out, text);
    }
    done
}

/// Answers the process that waits for it, which may have ended, and waits for nothing else.
fn answer(out: &mut dyn Write, text: &[u8]) {
    let _ = out.write_all(text).and_then(|()| out.flush());
    // The pipe's end: standard input is no file that anything can be written to.
    let _ = dup2_stdout(io::stdin());
}

fn keep_here(
    pins: &Pins,
    instance: &str,
    follows: &mut dyn FnMut(),
) -> Result<(), Box<Diagnostic>> {
    let failed = |error: io::Error| pins.failed(instance, "follow the interfaces of", &error);
    // A process that has no controlling terminal gets none of its signals.
    setsid().map_err(|e| failed(e.into()))?;
    chdir("/").map_err(|e| failed(e.into()))?;
    follow(pins, instance, listen_outside, None, follows)
}

/// A thread of this process that follows the interfaces of an instance. Dropping it ends it.
#[derive(Debug)]
pub struct Keeper {
    thread: Option<JoinHandle<()>>,
    stop: Option<OwnedFd>,
}

impl Keeper {
    /// Starts the thread.
    pub fn start(pins: &Pins, instance: &str) -> io::Result<Keeper> {
        let (stopped, stop) = pipe()?;
        let (pins, instance) = (pins.clone(), instance.to_owned());
        let thread = thread::Builder::new()
            .name("keeper".into())
            .spawn(move || {
                // The instance was removed, or is looked after by who waits for its end.
                let here = |_| LinkEvents::here();
                let stopped = Some(stopped.as_fd());
                let _ = follow(&pins, &instance, here, stopped, &mut || ());
            })?;
        Ok(Keeper {
            thread: Some(thread),
            stop: Some(stop),
        })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Follows the interfaces of an instance until it is removed, or until `stopped` is closed at its other end. `listen`
/// returns the events of a network namespace, given by number. `follows` is called as soon as no event can be missed
/// any more.
fn follow(
    pins: &Pins,
    instance: &str,
    listen: impl Fn(u64) -> io::Result<LinkEvents>,
    stopped: Option<BorrowedFd<'_>>,
    follows: &mut dyn FnMut(),
) -> Result<(), Box<Diagnostic>> {
    let failed = |error: io::Error| pins.failed(instance, "follow the interfaces of", &error);
    let loading = pins.loading(instance)?;
    // The watch comes first, so that no later removal is missed. The folder is not held: its file system may be
    // unmounted.
    let removals = match pins.open_root()? {
        Some(folder) => Removals::of(&folder).map_err(failed)?,
        None => return Ok(()),
    };
    let Some(_keeping) = pins.take_keeping(instance, loading)? else {
        return Ok(());
    };
    let Some(namespace) = pins.followed_namespace(instance)? else {
        return Ok(());
    };
    let events = listen(namespace).map_err(failed)?;
    let (mut wait, mut is_first) = (RETRY[0], true);
    loop {
        let done = pins.follow(instance, DISMANTLING);
        if done.is_err() && events.is_other_gone() {
            return pins.end_following(instance, DISMANTLING);
        }
        if !pins.is_still(instance, loading) {
            return Ok(());
        }
        let timeout = match done {
            Ok(Followed::Ended) => return Ok(()),
            Ok(Followed::Settled) => PollTimeout::NONE,
            Err(error) if is_first && !is_busy(&error) => return Err(error),
            Ok(Followed::Refused) | Err(_) => {
                PollTimeout::try_from(wait).unwrap_or(PollTimeout::NONE)
            }
        };
        if is_first {
            follows();
            is_first = false;
        }
        let all = [Some(events.as_fd()), Some(removals.0.as_fd()), stopped];
        let polled = all.into_iter().flatten();
        let mut polled: Vec<_> = polled
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
            .collect();
        wait = match poll(&mut polled, timeout) {
            Ok(events) => next_wait(wait, events),
            Err(nix::Error::EINTR) => wait,
            Err(error) => return Err(failed(error.into())),
        };
        if polled.get(2).and_then(PollFd::any) == Some(true) {
            return Ok(());
        }
        events.drain().map_err(failed)?;
        removals.drain().map_err(failed)?;
    }
}

/// Returns the next waiting time. It doubles each time that nothing has happened. After an event it is short again:
/// the kernel may now accept what it has refused.
fn next_wait(waited: Duration, events: libc::c_int) -> Duration {
    match events {
        0 => (2 * waited).min(RETRY[1]),
        _ => RETRY[0],
    }
}

/// Returns the events of the interfaces in the network namespace of this number; 0 is this thread's. The process
/// leaves that namespace, so as not to keep it alive, if its rights allow that. Otherwise it enters the namespace and
/// keeps it.
fn listen_outside(number: u64) -> io::Result<LinkEvents> {
    let here = NetNs::here()?;
    let there = match number == 0 || here.number()? == number {
        true => here,
        false => netns::by_number(number)
            .ok_or_else(|| io::Error::other("its network namespace cannot be found"))?,
    };
    let number = there.number()?;
    let outside = || {
        netns::leave()?;
        if netns::current()? == number {
            return LinkEvents::here();
        }
        let events = LinkEvents::of(there.as_fd())?;
        // To attach programs there it must be found again.
        let found = netns::by_number(number);
        found.map(|_| events).ok_or(io::ErrorKind::NotFound.into())
    };
    outside().or_else(|_| {
        if netns::current()? != number {
            there.enter()?;
        }
        LinkEvents::here()
    })
}

/// Watch that becomes readable when an instance is removed.
struct Removals(OwnedFd);

impl Removals {
    fn of(folder: &Dir) -> io::Result<Removals> {
        let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let events = WatchFlags::DELETE | WatchFlags::DELETE_SELF | WatchFlags::ONLYDIR;
        inotify::add_watch(&watch, folder.path(), events)?;
        Ok(Removals(watch))
    }

    fn drain(&self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match rustix::io::read(&self.0, &mut buffer) {
                Ok(_) => {}
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_longer_only_as_long_as_nothing_happens() {
        let quiet = (0..20).fold(RETRY[0], |wait, _| next_wait(wait, 0));
        assert_eq!(quiet, RETRY[1]);
        assert_eq!(next_wait(RETRY[0], 0), 2 * RETRY[0]);
        let busy = (0..20).fold(RETRY[0], |wait, _| next_wait(wait, 1));
        assert_eq!([busy, next_wait(quiet, 1)], [RETRY[0]; 2]);
    }
}
