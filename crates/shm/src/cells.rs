//! Access to bytes in whole words, and locks before them.

use host::linux::thread_id;
use host::words::Words;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Longest time that a live process holds a lock, or processes a batch of packets.
pub(crate) const LONGEST: Duration = Duration::from_secs(1);

/// Rounds a size up to whole words.
pub(crate) fn room(size: usize) -> usize {
    size.next_multiple_of(8)
}

/// Loads bytes from an offset that is a multiple of 8.
pub(crate) fn load(words: &Words, at: u64, size: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(room(size));
    for offset in (0..size as u64).step_by(8) {
        bytes.extend(words.u64(at + offset)?.to_ne_bytes());
    }
    bytes.truncate(size);
    Ok(bytes)
}

/// Stores bytes at an offset that is a multiple of 8, padded with zeros to whole words.
pub(crate) fn store(words: &Words, at: u64, bytes: &[u8]) -> io::Result<()> {
    for (offset, chunk) in (at..).step_by(8).zip(bytes.chunks(8)) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        words.set_u64(offset, u64::from_ne_bytes(word))?;
    }
    Ok(())
}

/// Returns the number of this thread as the holder of locks: never 0.
fn holder() -> u32 {
    thread_id() << 1 | 1
}

/// Runs `work` under the lock at an offset. A holder that has had the lock for [`LONGEST`] must be dead, so that the
/// lock is taken from it.
pub(crate) fn locked<T>(
    words: &Words,
    at: u64,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let (mut met, mut since) = (0, Instant::now());
    while !words.exchange_u32(at, 0, holder())? {
        let now = words.u32(at)?;
        if now != met {
            (met, since) = (now, Instant::now());
        }
        if since.elapsed() >= LONGEST && words.exchange_u32(at, met, holder())? {
            break;
        }
        thread::yield_now();
    }
    let done = work();
    // Another process may have taken the lock away.
    words.exchange_u32(at, holder(), 0)?;
    done
}
