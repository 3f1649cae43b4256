//! Random mutations of messages. The results stay similar enough to a message that parsers get far.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Bytes that have a meaning in some protocol.
const SIGNIFICANT: &[u8] =
    b"\0\x01\x03\x07\x0b\x16\x3f\x40\x80\x81\xc0\xff\r\n :=?&$*+-/09aA\t.\\\"'{}[],<>!\xc3\xa4";

/// Generator of mutated messages.
pub(crate) struct Changes<'s> {
    random: ChaCha8Rng,
    seeds: &'s [Vec<u8>],
}

impl<'s> Changes<'s> {
    pub(crate) fn new(name: &str, seeds: &'s [Vec<u8>]) -> Changes<'s> {
        let time = std::time::UNIX_EPOCH
            .elapsed()
            .map_or(0, |t| t.as_nanos() as u64);
        let seed = name
            .bytes()
            .fold(time, |sum, b| sum.rotate_left(9) ^ u64::from(b));
        Changes::seeded(seed, seeds)
    }

    /// Returns a generator whose messages a seed decides.
    pub(crate) fn seeded(seed: u64, seeds: &'s [Vec<u8>]) -> Changes<'s> {
        Changes {
            random: ChaCha8Rng::seed_from_u64(seed),
            seeds,
        }
    }

    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut message = self.seed();
        for _ in 0..self.random.random_range(1..6) {
            self.change(&mut message);
        }
        message.truncate(2500);
        message
    }

    fn seed(&mut self) -> Vec<u8> {
        let which = self.random.random_range(0..self.seeds.len());
        self.seeds[which].clone()
    }

    fn byte(&mut self) -> u8 {
        match self.random.random_range(0..3) {
            0 => self.random.random(),
            _ => SIGNIFICANT[self.random.random_range(0..SIGNIFICANT.len())],
        }
    }

    pub(crate) fn change(&mut self, message: &mut Vec<u8>) {
        let at = self.random.random_range(0..=message.len());
        let byte = self.byte();
        let piece = self.random.random_range(0..24).min(message.len() - at);
        match self.random.random_range(0..9) {
            0 => message.truncate(at),
            1 => message.insert(at, byte),
            2 if at < message.len() => drop(message.remove(at)),
            // A value that is off by a little, like a wrong length.
            3 if at < message.len() => {
                let by = self.random.random_range(1..4);
                message[at] = match self.random.random() {
                    true => message[at].wrapping_add(by),
                    false => message[at].wrapping_sub(by),
                };
            }
            4 => {
                let copy = message[at..at + piece].to_vec();
                let to = self.random.random_range(0..=message.len());
                message.splice(to..to, copy);
            }
            5 => drop(message.drain(at..at + piece)),
            6 => {
                let other = self.seed();
                let from = self.random.random_range(0..=other.len());
                message.truncate(at);
                message.extend(&other[from..]);
            }
            7 => {
                let times = self.random.random_range(0..400);
                message.splice(at..at, std::iter::repeat_n(byte, times));
            }
            _ if at < message.len() => message[at] = byte,
            _ => message.push(byte),
        }
    }
}
