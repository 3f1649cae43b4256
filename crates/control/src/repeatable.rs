//! Clock and random numbers of a test. They are the same on every target, so that results can be compared bit for bit.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Clock at the start of a test, in nanoseconds.
pub const START: u64 = 1_000_000_000;
/// Time that the clock advances before each packet, in nanoseconds.
pub const STEP: u64 = 1_000;
/// Default seed of the random numbers.
pub const SEED: u64 = 1;
/// Number of random numbers for each packet. A packet that draws more gets the first again.
pub const NUMBERS: usize = 64;

/// Generator of random numbers, a list for each packet.
#[derive(Clone, Debug)]
pub struct RandomLists(ChaCha8Rng);

impl RandomLists {
    /// Makes a generator. Equal seeds give equal lists.
    pub fn new(seed: u64) -> RandomLists {
        RandomLists(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Returns the next packet's list.
    pub fn next_list(&mut self) -> [u32; NUMBERS] {
        std::array::from_fn(|_| self.0.next_u32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_lists_and_packets_different_ones() {
        let (mut a, mut b) = (RandomLists::new(7), RandomLists::new(7));
        let (first, second) = (a.next_list(), a.next_list());
        assert_eq!((b.next_list(), b.next_list()), (first, second));
        assert_ne!(first, second);
        assert_ne!(RandomLists::new(8).next_list(), first);
    }
}
