//! Waiting to be interrupted, so that what was set up can be taken down in order.

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Interrupts that are held back until they are waited for.
#[derive(Debug)]
pub struct Interrupts {
    set: SigSet,
}

impl Interrupts {
    /// From now on SIGINT, SIGTERM and SIGHUP wait until [`Interrupts::wait`]. To be called before
    /// anything is set up that must be taken down, and before threads are started.
    pub fn hold() -> io::Result<Interrupts> {
        let set = interrupts();
        set.thread_block()?;
        Ok(Interrupts { set })
    }

    /// Waits for one of them.
    pub fn wait(&self) -> io::Result<Signal> {
        Ok(self.set.wait()?)
    }
}

/// Interrupts that act only when this goes out of scope, for the life of what must be taken down first.
#[derive(Debug)]
pub struct Deferred {
    before: SigSet,
}

impl Deferred {
    /// From now on SIGINT, SIGTERM and SIGHUP wait in this thread, and in those that it starts.
    pub fn begin() -> io::Result<Deferred> {
        let before = interrupts().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        Ok(Deferred { before })
    }

    /// A command that is interrupted at once, if this process would have been before.
    pub fn spare(&self, command: &mut Command) {
        let before = self.before;
        // SAFETY: between fork and exec it calls nothing but pthread_sigmask, which may be called there.
        unsafe { command.pre_exec(move || Ok(before.thread_set_mask()?)) };
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        // It fails for no mask that was one before.
        let _ = self.before.thread_set_mask();
    }
}

fn interrupts() -> SigSet {
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
}
