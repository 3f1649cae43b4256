//! Algebraic search for collisions: pairs of inputs whose differences cancel, whatever the key is.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sketch::{HashKey, hash_words};

/// Number of keys that each difference is tried with.
const KEYS: usize = 100;
/// Number of a hash's bits that choose a set: 8,192 sets, those of a state of 65,536 flows.
const BITS: u32 = 13;
/// Number of keys under which a difference may collide by chance. One exceeds it in 3 of 10 million cases, and about
/// 7,000 differences are tried.
const MOST_OF_ONE: u32 = 2;

/// Difference of inputs: words, and the bits that differ in them.
type Difference = Vec<(usize, u64)>;

/// Bits of a word whose difference arithmetic tends to preserve: single ones, and those that a shift by half a word
/// cancels.
fn every_bit() -> Vec<u64> {
    let halves = (32..64).map(|bit| 1 << bit | 1 << (bit - 32));
    (0..64).map(|bit| 1 << bit).chain(halves).collect()
}

/// The same for the highest bits, which a product by an odd factor does not move.
fn highest_bits(count: u32) -> Vec<u64> {
    let pair = |bit: u32| [1 << bit, 1 << bit | 1 << (bit - 32)];
    (64 - count..64).flat_map(pair).collect()
}

/// Returns differences in one, two and three of this many words.
fn differences(words: usize) -> Vec<Difference> {
    let mut all = Vec::new();
    for a in 0..words {
        all.extend(every_bit().into_iter().map(|x| vec![(a, x)]));
        for b in a + 1..words {
            for x in highest_bits(8) {
                all.extend(highest_bits(8).into_iter().map(|y| vec![(a, x), (b, y)]));
            }
            for c in b + 1..words {
                for x in highest_bits(3) {
                    for y in highest_bits(3) {
                        let last = highest_bits(3).into_iter();
                        all.extend(last.map(|z| vec![(a, x), (b, y), (c, z)]));
                    }
                }
            }
        }
    }
    all
}

/// Collisions in a set.
struct Found {
    /// Number of collisions of all differences, under all keys.
    all: u32,
    /// Number of these expected by chance.
    by_chance: f64,
    /// Number of collisions of the difference that collides under most keys.
    most: (u32, Difference),
}

/// Tries all differences with inputs of this many words.
fn search(words: usize, hash: impl Fn(HashKey, &[u64]) -> u64) -> Found {
    let mut random = ChaCha8Rng::seed_from_u64(words as u64);
    let mut tried = 0;
    let mut found = Found {
        all: 0,
        by_chance: 0.0,
        most: (0, Vec::new()),
    };
    for difference in differences(words) {
        let mut collisions = 0;
        for _ in 0..KEYS {
            let key = random.random();
            let mut input: Vec<u64> = (0..words).map(|_| random.random()).collect();
            let before = hash(key, &input);
            for (word, bits) in &difference {
                input[*word] ^= bits;
            }
            let both = before ^ hash(key, &input);
            collisions += u32::from(both & ((1 << BITS) - 1) == 0);
            tried += 1;
        }
        found.all += collisions;
        if collisions > found.most.0 {
            found.most = (collisions, difference);
        }
    }
    found.by_chance = f64::from(tried) / f64::from(1 << BITS);
    found
}

#[test]
fn algebra_finds_no_more_collisions_than_chance() {
    for words in [1, 2, 3, 5] {
        let found = search(words, |key, input| hash_words(key, input.iter().copied()));
        let (most, difference) = found.most;
        assert!(
            most <= MOST_OF_ONE,
            "{words} words, {difference:x?}: {most}"
        );
        // Tolerance of five standard deviations, and some for the small number of differences of one word.
        let bound = found.by_chance + 5.0 * found.by_chance.sqrt() + 3.0;
        assert!(
            f64::from(found.all) <= bound,
            "{words} words: {}",
            found.all
        );
    }
}

/// A hash of products by secret odd factors: the search finds the differences that cancel under every key.
#[test]
fn the_search_finds_what_products_keep() {
    let products = |[seed, _]: HashKey, input: &[u64]| {
        let round = |hash: u64, word: &u64| {
            let hash = hash ^ word;
            (hash ^ (hash >> 32)).wrapping_mul(seed | 1)
        };
        let hash = round(input.iter().fold(seed, round), &0);
        hash ^ (hash >> 32)
    };
    let (most, difference) = search(3, products).most;
    assert_eq!(most, KEYS as u32, "{difference:x?}");
    assert_eq!(difference.len(), 2);
}
