//! Avalanche test: every bit of the input flips every bit of the hash in half of the cases.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sketch::HashKey;

/// Number of inputs for each length. The fraction of flips for a pair of bits then has a standard deviation of 0.0079.
const INPUTS: u32 = 4_000;
/// Tolerance of more than five standard deviations. By chance, one of the 64 * 8 * 80 pairs would exceed it once in 50
/// runs, and all runs use the same random numbers.
const TOLERANCE: f64 = 0.045;

/// Returns the fraction of inputs for which each bit of the hash flips, for each bit of the input.
fn worst(length: usize, bits: impl Iterator<Item = usize>) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(length as u64);
    let mut worst = 0.0f64;
    for bit in bits {
        let mut changed = [0u32; 64];
        for _ in 0..INPUTS {
            let key = random.random();
            let mut input: Vec<u8> = (0..length).map(|_| random.random()).collect();
            let before = sketch::hash(key, &input);
            input[bit / 8] ^= 1 << (bit % 8);
            let difference = before ^ sketch::hash(key, &input);
            for (i, count) in changed.iter_mut().enumerate() {
                *count += (difference >> i & 1) as u32;
            }
        }
        for count in changed {
            worst = worst.max((f64::from(count) / f64::from(INPUTS) - 0.5).abs());
        }
    }
    worst
}

#[test]
fn every_bit_of_one_word() {
    for length in [1, 4, 8] {
        let worst = worst(length, 0..length * 8);
        assert!(worst < TOLERANCE, "{length} bytes: {worst}");
    }
}

#[test]
fn every_bit_of_several_words() {
    for length in [13, 16, 40] {
        let worst = worst(length, (0..length * 8).step_by(3));
        assert!(worst < TOLERANCE, "{length} bytes: {worst}");
        // A multiplication spreads the highest bits of a word least.
        let worst = self::worst(length, (56..64).chain(length * 8 - 8..length * 8));
        assert!(worst < TOLERANCE, "{length} bytes, highest bits: {worst}");
    }
}

#[test]
fn every_bit_of_the_key() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for bit in 0..128 {
        let mut changed = [0u32; 64];
        for _ in 0..INPUTS {
            let (key, value): (HashKey, u64) = (random.random(), random.random());
            let mut other = key;
            other[bit / 64] ^= 1 << (bit % 64);
            let difference = sketch::hash_u64(key, value) ^ sketch::hash_u64(other, value);
            for (i, count) in changed.iter_mut().enumerate() {
                *count += (difference >> i & 1) as u32;
            }
        }
        for count in changed {
            let off = (f64::from(count) / f64::from(INPUTS) - 0.5).abs();
            assert!(off < TOLERANCE, "bit {bit}: {off}");
        }
    }
}

#[test]
fn counters_and_zeros_do_not_collide() {
    const KEY: HashKey = [0; 2];
    let mut seen = std::collections::HashSet::new();
    for value in 0..200_000u64 {
        assert!(seen.insert(sketch::hash_u64(KEY, value)), "{value}");
        assert!(seen.insert(sketch::hash_u64(KEY, value << 40 | 1 << 63)));
    }
    // Runs of zeros differ only in their length.
    for length in 0..64 {
        assert!(seen.insert(sketch::hash(KEY, &vec![0; length])) || length == 8);
    }
}
