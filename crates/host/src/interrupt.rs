//! Interrupts that are delayed until everything that was set up is taken down in order.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
pub use nix::sys::signal::Signal;

use nix::sys::signal::{SigSet, SigmaskHow};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// Interrupts that are blocked until they are waited for.
#[derive(Debug)]
pub struct Interrupts {
    set: SigSet,
}

impl Interrupts {
    /// Blocks SIGINT, SIGTERM and SIGHUP until [`Interrupts::wait`]. It must be called before anything is set up that
    /// must be taken down, and before threads are started.
    pub fn hold() -> io::Result<Interrupts> {
        let set = interrupts();
        set.thread_block()?;
        Ok(Interrupts { set })
    }

    /// Lets a command be interrupted, which would otherwise have the signals blocked as this process has.
    pub fn spare(&self, command: &mut Command) {
        let set = self.set;
        // SAFETY: between fork and exec it calls nothing but pthread_sigmask, which may be called there.
        unsafe { command.pre_exec(move || Ok(set.thread_unblock()?)) };
    }

    /// Waits for one of them.
    pub fn wait(&self) -> io::Result<Signal> {
        Ok(self.set.wait()?)
    }

    /// Waits for one of them, but no longer than this.
    pub fn wait_for(&self, longest: Duration) -> io::Result<Option<Signal>> {
        let until = Instant::now() + longest;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let signal = self.wait_or(&[], left)?;
            if signal.is_some() || left.is_zero() {
                return Ok(signal);
            }
        }
    }

    /// Waits for one of them, at most this long, or until a descriptor is readable or has failed.
    pub fn wait_beside(
        &self,
        others: &[BorrowedFd<'_>],
        longest: Duration,
    ) -> io::Result<Option<Signal>> {
        self.wait_or(others, longest)
    }

    /// Waits once; without a signal it may return early.
    fn wait_or(&self, others: &[BorrowedFd<'_>], longest: Duration) -> io::Result<Option<Signal>> {
        let signals =
            SignalFd::with_flags(&self.set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let signal = || match signals.read_signal()? {
            Some(info) => Ok(Some(Signal::try_from(info.ssi_signo as i32)?)),
            None => io::Result::Ok(None),
        };
        // A pending signal needs no waiting.
        let found = signal()?;
        if found.is_some() || longest.is_zero() {
            return Ok(found);
        }
        // Poll counts whole milliseconds; a remainder is rounded up.
        let timeout =
            PollTimeout::try_from(longest + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX);
        let mut wanted = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        wanted.extend(others.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)));
        match poll(&mut wanted, timeout) {
            Ok(_) | Err(Errno::EINTR) => signal(),
            Err(error) => Err(error.into()),
        }
    }
}

/// Unblocks interrupts while it lives: they end the process, as far as they would without [`Interrupts::hold`].
#[derive(Debug)]
pub struct LetThrough<'a> {
    _held: &'a Interrupts,
    set: SigSet,
}

impl Interrupts {
    /// Unblocks interrupts during work that takes long and leaves nothing behind, however the process ends. It concerns
    /// this thread and those that it starts meanwhile.
    pub fn let_through(&self) -> io::Result<LetThrough<'_>> {
        // A signal that is ignored, as in a shell's background, would be lost.
        let set = self.set.iter().filter(|signal| !is_ignored(*signal));
        let set = SigSet::from_iter(set);
        set.thread_unblock()?;
        Ok(LetThrough { _held: self, set })
    }
}

impl Drop for LetThrough<'_> {
    fn drop(&mut self) {
        // Restoring a mask that was valid before does not fail.
        let _ = self.set.thread_block();
    }
}

fn is_ignored(signal: Signal) -> bool {
    let mut now = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is set, and there is room for the answer; zeros are one that is not ignored.
    let now = unsafe {
        libc::sigaction(signal as libc::c_int, std::ptr::null(), now.as_mut_ptr());
        now.assume_init()
    };
    now.sa_sigaction == libc::SIG_IGN
}

/// Blocks interrupts until it is dropped, for the life of something that must be taken down first.
#[derive(Debug)]
pub struct Deferred {
    before: SigSet,
}

impl Deferred {
    /// Blocks SIGINT, SIGTERM and SIGHUP in this thread, and in those that it starts.
    pub fn begin() -> io::Result<Deferred> {
        let before = interrupts().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        Ok(Deferred { before })
    }

    /// Lets a command be interrupted at once, if this process would have been before.
    pub fn spare(&self, command: &mut Command) {
        let before = self.before;
        // SAFETY: between fork and exec it calls nothing but pthread_sigmask, which may be called there.
        unsafe { command.pre_exec(move || Ok(before.thread_set_mask()?)) };
    }

    /// Returns the interrupts that it defers: not those that were blocked before.
    pub(crate) fn only_deferred(&self) -> SigSet {
        SigSet::from_iter(interrupts().iter().filter(|s| !self.before.contains(*s)))
    }

    /// Makes one for tests, as if nothing had been blocked before.
    #[cfg(test)]
    pub(crate) fn of_none() -> Deferred {
        Deferred {
            before: SigSet::empty(),
        }
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        // Restoring a mask that was valid before does not fail.
        let _ = self.before.thread_set_mask();
    }
}

fn interrupts() -> SigSet {
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_that_came_before_the_wait_ends_it_at_once() {
        let interrupts = Interrupts::hold().unwrap();
        assert_eq!(interrupts.wait_for(Duration::from_millis(1)).unwrap(), None);
        // SAFETY: a thread may send signals to itself; this one waits for them.
        let sent = unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGHUP) };
        assert_eq!(sent, 0);
        let begun = Instant::now();
        let got = interrupts.wait_for(Duration::from_secs(60)).unwrap();
        assert_eq!(got, Some(Signal::SIGHUP));
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn only_what_would_end_the_process_is_let_through() {
        let interrupts = Interrupts::hold().unwrap();
        let held = |signal| SigSet::thread_get_mask().unwrap().contains(signal);
        // SAFETY: nothing in this process's tests waits for this signal to end it.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
        let through = interrupts.let_through().unwrap();
        assert!(!held(Signal::SIGTERM) && held(Signal::SIGINT));
        drop(through);
        assert!(held(Signal::SIGTERM) && held(Signal::SIGINT));
        // SAFETY: as it was.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    }

    #[test]
    fn a_readable_descriptor_ends_the_wait() {
        let interrupts = Interrupts::hold().unwrap();
        let (read, write) = nix::unistd::pipe().unwrap();
        let wait = |longest| interrupts.wait_beside(&[read.as_fd()], longest).unwrap();
        let begun = Instant::now();
        assert_eq!(wait(Duration::from_millis(20)), None);
        assert!(begun.elapsed() >= Duration::from_millis(20));
        nix::unistd::write(&write, b"x").unwrap();
        assert_eq!(wait(Duration::from_secs(60)), None);
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn without_one_the_time_is_waited_for() {
        let interrupts = Interrupts::hold().unwrap();
        let begun = Instant::now();
        assert_eq!(
            interrupts.wait_for(Duration::from_millis(30)).unwrap(),
            None
        );
        assert!(begun.elapsed() >= Duration::from_millis(30));
    }
}
