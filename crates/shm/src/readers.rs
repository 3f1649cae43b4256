//! Packets in progress.

use crate::cells::LONGEST;
use crate::plan::FilePlan;
use host::words::Words;
use std::io;
use std::sync::atomic::{Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

const EPOCH: u32 = 32;

/// Words of the cores, from which writers learn that packets have ended.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    /// Whole file.
    words: Words,
    at: u64,
    /// Number of cores.
    pub cores: u32,
}

impl Readers {
    pub(crate) fn new(words: Words, plan: &FilePlan) -> Readers {
        Readers {
            words,
            at: plan.readers,
            cores: plan.cores,
        }
    }

    /// Waits until no core is in a batch of packets that began before.
    pub(crate) fn wait(&self) -> io::Result<()> {
        let epoch = self.words.u64(EPOCH)? + 1;
        self.words.set_u64(EPOCH, epoch)?;
        fence(Ordering::SeqCst);
        let begun = Instant::now();
        for core in 0..u64::from(self.cores) {
            let at = self.at + 64 * core;
            let is_in = || {
                let entered = self.words.u64(at)?;
                Ok::<bool, io::Error>(entered != 0 && entered < epoch)
            };
            while is_in()? && begun.elapsed() < LONGEST {
                thread::sleep(Duration::from_micros(20));
            }
        }
        Ok(())
    }
}
