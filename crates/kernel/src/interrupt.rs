//! Waiting to be interrupted, so that what was set up can be taken down in order.

use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use std::io;

/// Interrupts that are held back until they are waited for.
#[derive(Debug)]
pub struct Interrupts {
    set: SigSet,
}

impl Interrupts {
    /// From now on SIGINT, SIGTERM and SIGHUP wait until [`Interrupts::wait`]. To be called before
    /// anything is set up that must be taken down, and before threads are started.
    pub fn hold() -> io::Result<Interrupts> {
        let mut set = SigSet::empty();
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            set.add(signal);
        }
        set.thread_block()?;
        Ok(Interrupts { set })
    }

    /// Waits for one of them.
    pub fn wait(&self) -> io::Result<Signal> {
        Ok(self.set.wait()?)
    }
}

/// Lets a closed standard output end the process, as in other command-line tools. To be called first
/// of all.
pub fn end_with_the_pipe() {
    // Safe, as no handler is installed. It cannot fail for a signal that exists.
    let _ = unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) };
}
