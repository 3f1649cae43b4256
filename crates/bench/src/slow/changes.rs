//! Mutations of payloads that tend to make packets slow: repeated pieces, and bytes that have a meaning.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Bytes that have a meaning in one protocol or another.
const SIGNIFICANT: &[u8] =
    b"\0\x01\x02\x05\x07\x0c\x0f\x10\x16\x30\x3f\x40\x80\x81\xc0\xff\t\r\n :=?&$*+-/09aA.\\\"'{}[],<>!;\xc3\xa4";

/// Source of mutations.
pub(super) struct Changes {
    random: ChaCha8Rng,
    /// Size of a payload in bytes.
    length: usize,
}

impl Changes {
    pub(super) fn new(seed: u64, length: usize) -> Changes {
        Changes {
            random: ChaCha8Rng::seed_from_u64(seed),
            length,
        }
    }

    /// Returns a random number below `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.random.random_range(0..count.max(1))
    }

    /// Returns a mutated payload, which may contain bytes of another one.
    pub(super) fn changed(&mut self, payload: &[u8], other: &[u8]) -> Vec<u8> {
        let mut changed = payload.to_vec();
        for _ in 0..1 + self.below(3) {
            self.change(&mut changed, other);
        }
        filled(changed, self.length)
    }

    fn byte(&mut self) -> u8 {
        match self.below(3) {
            0 => self.random.random(),
            _ => SIGNIFICANT[self.below(SIGNIFICANT.len())],
        }
    }

    fn change(&mut self, payload: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(payload.len() + 1);
        let byte = self.byte();
        match self.below(8) {
            0 => payload.insert(at, byte),
            1 if at < payload.len() => drop(payload.remove(at)),
            2 if at < payload.len() => payload[at] = byte,
            // Slightly more or less, as in wrong lengths.
            3 if at < payload.len() => {
                let by = 1 + self.below(3) as u8;
                payload[at] = match self.below(2) {
                    0 => payload[at].wrapping_add(by),
                    _ => payload[at].wrapping_sub(by),
                };
            }
            // Repeats a piece, to the end or several times.
            4 | 5 => {
                let piece = (1 + self.below(24)).min(payload.len() - at);
                if piece > 0 {
                    let piece = payload[at..at + piece].to_vec();
                    let times = match self.below(2) {
                        0 => self.length / piece.len(),
                        _ => 1 + self.below(64),
                    };
                    let tail = payload.split_off(at);
                    payload.extend(piece.repeat(times));
                    payload.extend(tail);
                }
            }
            6 => {
                let times = 1 + self.below(self.length);
                payload.splice(at..at, std::iter::repeat_n(byte, times));
            }
            _ => {
                let from = self.below(other.len() + 1);
                payload.truncate(at);
                payload.extend(&other[from..]);
            }
        }
    }
}

/// Returns the payload with this length: its last bytes are repeated, or the excess is cut off.
pub(super) fn filled(mut payload: Vec<u8>, length: usize) -> Vec<u8> {
    if payload.is_empty() {
        payload.push(0);
    }
    let period = payload.len().min(16);
    while payload.len() < length {
        payload.push(payload[payload.len() - period]);
    }
    payload.truncate(length);
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_those_of_their_seed_and_fill_the_packet() {
        let some = |seed| {
            let mut changes = Changes::new(seed, 300);
            let one: Vec<Vec<u8>> = (0..200)
                .map(|_| changes.changed(b"GET / HTTP/1.1\r\n", b"a: b\r\n"))
                .collect();
            one
        };
        assert_eq!(some(7), some(7));
        assert_ne!(some(7), some(8));
        assert!(some(7).iter().all(|payload| payload.len() == 300));
    }
}
