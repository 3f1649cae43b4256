//! A process that keeps detached programs attached: when an interface of theirs is deleted and made anew, they run there
//! again.
//!
//! It is this program, run anew with [`ARGUMENT`] and the name of an instance, in a session of its own. It ends with the
//! instance. The kernel wakes it when interfaces change and when an instance is removed. It is in the network namespace of the first process,
//! since a process keeps the namespace that it is in. If it is killed, the next command [starts](ensure) another one. A program in the foreground
//! [has a thread](Keeper) in its place.

use crate::Pins;
use crate::netns::{self, NetNs};
use crate::pins::Followed;
use crate::safe_dir::Dir;
use crate::sys::link_events::LinkEvents;
use diag::Diagnostic;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{chdir, pipe, setsid};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The command of this program that runs [`keep`].
pub const ARGUMENT: &str = "keep";

/// The time after which it tries again what the kernel has refused, at first and at last.
const RETRY: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(60)];

/// Has a process follow the interfaces of each instance of which none does, and follows them once. What this process may not do
/// stays undone.
pub fn ensure(pins: &Pins) {
    for instance in pins.names().unwrap_or_default() {
        let followed = pins.follow(&instance);
        if !matches!(followed, Ok(Followed::Ended)) && pins.wants_keeper(&instance) {
            let _ = start(&instance);
        }
    }
}

/// Starts a process that follows the interfaces of an instance.
pub fn start(instance: &str) -> io::Result<()> {
    let mut command = Command::new("/proc/self/exe");
    let command = command.arg0("onpath").args([ARGUMENT, instance]);
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    // It outlives this process.
    command.stderr(Stdio::null()).spawn().map(drop)
}

/// Follows the interfaces of an instance until it is removed.
pub fn keep(pins: &Pins, instance: &str) -> Result<(), Box<Diagnostic>> {
    let failed = |error: io::Error| pins.failed(instance, "follow the interfaces of", &error);
    // A process that has no controlling terminal gets none of its signals.
    setsid().map_err(|e| failed(e.into()))?;
    chdir("/").map_err(|e| failed(e.into()))?;
    netns::enter_first().map_err(failed)?;
    follow(pins, instance, None)
}

/// A thread of this process that follows the interfaces of an instance. Dropping it ends it.
#[derive(Debug)]
pub struct Keeper {
    thread: Option<JoinHandle<()>>,
    stop: Option<OwnedFd>,
}

impl Keeper {
    /// Starts one.
    pub fn start(pins: &Pins, instance: &str) -> io::Result<Keeper> {
        let (stopped, stop) = pipe()?;
        let (pins, instance) = (pins.clone(), instance.to_owned());
        let thread = thread::Builder::new()
            .name("keeper".into())
            .spawn(move || {
                // The instance was removed, or is looked after by who waits for its end.
                let _ = follow(&pins, &instance, Some(stopped.as_fd()));
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

/// Follows the interfaces of an instance until it is removed, or `stopped` is closed at its other end.
fn follow(
    pins: &Pins,
    instance: &str,
    stopped: Option<BorrowedFd<'_>>,
) -> Result<(), Box<Diagnostic>> {
    let failed = |error: io::Error| pins.failed(instance, "follow the interfaces of", &error);
    let loading = pins.loading(instance)?;
    // Before anything is looked at: nothing that happens later is missed.
    let Some(folder) = pins.open_root()? else {
        return Ok(());
    };
    let removals = Removals::of(&folder).map_err(failed)?;
    let events = events(pins, instance).map_err(failed)?;
    if !pins.take_keeping(instance)? {
        return Ok(());
    }
    let mut wait = RETRY[0];
    loop {
        let done = pins.follow(instance);
        if !pins.is_still(instance, loading) {
            return Ok(());
        }
        let timeout = match done {
            Ok(Followed::Ended) => return Ok(()),
            Ok(Followed::Settled) => {
                wait = RETRY[0];
                PollTimeout::NONE
            }
            Ok(Followed::Refused) | Err(_) => {
                let now = wait;
                wait = (2 * wait).min(RETRY[1]);
                PollTimeout::try_from(now).unwrap_or(PollTimeout::NONE)
            }
        };
        let all = [Some(events.as_fd()), Some(removals.0.as_fd()), stopped];
        let polled = all.into_iter().flatten();
        let mut polled: Vec<_> = polled
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
            .collect();
        match poll(&mut polled, timeout) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(error) => return Err(failed(error.into())),
        }
        if polled.get(2).and_then(PollFd::any) == Some(true) {
            return Ok(());
        }
        events.drain().map_err(failed)?;
        removals.drain().map_err(failed)?;
    }
}

/// Events of the interfaces of an instance.
fn events(pins: &Pins, instance: &str) -> io::Result<LinkEvents> {
    let record = pins.record(instance);
    let mut at = record.iter().flat_map(|record| &record.members);
    let namespace = at.find_map(|member| Some(member.interfaces.first()?.netns));
    let namespace = namespace.unwrap_or(0);
    if namespace == 0 || netns::current()? == namespace {
        return LinkEvents::here();
    }
    let namespace: NetNs = netns::by_number(namespace).ok_or(io::ErrorKind::NotFound)?;
    LinkEvents::of(namespace.as_fd())
}

/// Becomes readable when an instance is removed.
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
