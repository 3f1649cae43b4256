//! Stream of bytes that both ends know, so each byte can be checked at its position.

use super::Transferred;
use std::io::{self, Read};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Period of the stream in bytes. It is a prime number, so data that is shifted by a packet or a page is noticed.
const PERIOD: usize = 1_048_573;
/// Most bytes that can be asked for at once.
pub(super) const CHUNK: usize = 256 << 10;

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let mut bytes: Vec<u8> = (0..PERIOD).map(|_| next()).collect();
    bytes.extend_from_within(..CHUNK);
    bytes
});

/// Returns bytes of the stream from an offset on.
pub(super) fn at(offset: u64, length: usize) -> &'static [u8] {
    let from = (offset % PERIOD as u64) as usize;
    &BYTES[from..from + length.min(CHUNK)]
}

/// Reads to the end, comparing each byte. Times are relative to `started`, the start of the transfer.
pub(super) fn check(source: &mut impl Read, started: Instant) -> io::Result<Transferred> {
    let mut buffer = vec![0; CHUNK];
    let mut seen = Transferred {
        bytes: 0,
        corrupted_at: None,
        time: Duration::ZERO,
        longest_gap: Duration::ZERO,
    };
    let mut last = started;
    loop {
        let count = source.read(&mut buffer)?;
        let now = Instant::now();
        seen.longest_gap = seen.longest_gap.max(now - last);
        last = now;
        if count == 0 {
            return Ok(seen);
        }
        seen.time = now - started;
        let (got, wanted) = (&buffer[..count], at(seen.bytes, count));
        if got != wanted {
            let same = got.iter().zip(wanted).take_while(|(a, b)| a == b).count();
            seen.corrupted_at = Some(seen.bytes + same as u64);
            return Ok(seen);
        }
        seen.bytes += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_wrong_or_astray_is_found() {
        let stream: Vec<u8> = (0..20u64)
            .flat_map(|n| at(n * 100_000, 100_000))
            .copied()
            .collect();
        let seen = check(&mut &stream[..], Instant::now()).expect("reads");
        assert_eq!((seen.bytes, seen.corrupted_at), (2_000_000, None));
        let mut wrong = stream.clone();
        wrong[1_234_567] ^= 1;
        let seen = check(&mut &wrong[..], Instant::now()).expect("reads");
        assert_eq!(seen.corrupted_at, Some(1_234_567));
        let mut astray = stream;
        astray.drain(500_000..501_448);
        let found = check(&mut &astray[..], Instant::now())
            .expect("reads")
            .corrupted_at;
        assert!(
            found.is_some_and(|at| (500_000..500_100).contains(&at)),
            "{found:?}"
        );
    }
}
