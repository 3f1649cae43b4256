//! Every bit of the input changes every bit of the hash in half of the cases.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sketch::HashKey;

/// Inputs for each length. The share of changes of one pair of bits then has a standard deviation of 0.0079.
const INPUTS: u32 = 4_000;
/// More than five standard deviations: one of the 64 * 8 * 80 pairs would be out of it by chance once in 50 runs, and the
/// random numbers are the same ones in every run.
const TOLERANCE: f64 = 0.045;

/// The share of inputs for which each bit of the hash changes, for each bit of the input.
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
        // The highest bits of a word are those that a multiplication spreads least.
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
    // Zeros differ by their number alone.
    for length in 0..64 {
        assert!(seen.insert(sketch::hash(KEY, &vec![0; length])) || length == 8);
    }
}
