//! Ring buffers: records from packets to the control plane.

use crate::cells::{load, room};
use host::words::Words;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Offset of the count of all bytes ever consumed. The count of all bytes ever produced is at 0.
const CONSUMED: u32 = 64;
/// Offset of the first byte.
pub(crate) const BYTES: u64 = 128;
/// Pause while waiting for a record.
const PAUSE: Duration = Duration::from_millis(1);

/// Ring buffer.
#[derive(Debug)]
pub(crate) struct Ring {
    pub at: Words,
    /// Capacity in bytes.
    pub size: u32,
}

impl Ring {
    /// Returns the size of a ring buffer with this capacity, in bytes.
    pub(crate) fn size(size: u32) -> u64 {
        BYTES + u64::from(size & !7)
    }

    /// Reads `size` bytes, from a count on.
    fn bytes(&self, from: u64, size: u32) -> io::Result<Vec<u8>> {
        let ring = u64::from(self.size & !7).max(8);
        let mut bytes = Vec::new();
        for word in (from..from + u64::from(size)).step_by(8) {
            bytes.extend(load(&self.at, BYTES + word % ring, 8)?);
        }
        bytes.truncate(size as usize);
        Ok(bytes)
    }

    pub(crate) fn take(&self, most: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let (produced, mut from) = (self.at.u64(0u32)?, self.at.u64(CONSUMED)?);
        for _ in 0..most {
            let left = produced.saturating_sub(from);
            if left == 0 {
                break;
            }
            let head = self.bytes(from, 4)?;
            let size = head
                .first_chunk()
                .map_or(0, |size| u32::from_ne_bytes(*size));
            let whole = 8 + room(size as usize) as u64;
            if whole > left {
                self.at.set_u64(CONSUMED, produced)?;
                return Err(io::ErrorKind::InvalidData.into());
            }
            let record = self.bytes(from + 8, size)?;
            from += whole;
            self.at.set_u64(CONSUMED, from)?;
            each(&record);
        }
        Ok(())
    }

    pub(crate) fn wait(&self, patience: Duration) -> io::Result<()> {
        let begun = Instant::now();
        while self.at.u64(0u32)? == self.at.u64(CONSUMED)? && begun.elapsed() < patience {
            thread::sleep(PAUSE.min(patience));
        }
        Ok(())
    }
}
