//! Waiting to be interrupted, so that what was set up can be taken down in order.

use nix::sys::signal::{SigSet, Signal};
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
