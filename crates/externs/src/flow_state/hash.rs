//! Bytes and hash of a key: the set it belongs to, and the tag that it is searched by. The kernel's programs compute
//! the same (`onpath/keys.h`, `onpath/siphash.h`).

use ir::Bits;
use sketch::HashKey;

/// Number of ways per set.
pub const WAYS: usize = 8;

/// Returns a key's bytes for comparing and hashing. Each field is in network order, in as many bytes as it needs (a
/// `bool` in one, an enum in four). The fields follow each other in the order of declaration, with zeros up to a
/// multiple of 8.
pub fn key_bytes(fields: &[Bits]) -> Vec<u8> {
    let mut bytes: Vec<u8> = fields.iter().flat_map(Bits::to_bytes).collect();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// Returns the number of sets of a state of this size: a power of two.
pub fn sets(size: u32) -> u32 {
    size.div_ceil(WAYS as u32).max(1).next_power_of_two()
}

/// Key of the hash in the interpreter and in test runs, which is public: both then evict the same flows. A program
/// that is loaded to run has a random key.
pub const KNOWN_KEY: HashKey = [0; 2];

/// Returns the number of a key's set, and its tag, which is never 0.
pub fn place(key: &[u8], secret: HashKey, sets: u32) -> (u32, u32) {
    let hash = hash(key, secret);
    ((hash as u32) & (sets - 1), ((hash >> 32) as u32).max(1))
}

/// Returns the hash of [`key_bytes`]: SipHash-1-3 of the words that the machine reads there ([`sketch::hash_words`]).
///
/// Packets choose keys, and a set has room for eight. Without the secret, nobody finds keys that share a set, or that
/// falsify an estimate of their number.
pub fn hash(key: &[u8], secret: HashKey) -> u64 {
    let words = key.chunks_exact(8);
    let words = words.map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
    sketch::hash_words(secret, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_each_other_without_gaps() {
        let fields = [
            Bits::new(1, 1u32),
            Bits::new(12, 0xabcu32),
            Bits::new(32, 3u32),
        ];
        assert_eq!(key_bytes(&fields), [1, 0x0a, 0xbc, 0, 0, 0, 3, 0]);
        assert_eq!(key_bytes(&[Bits::new(64, 1u32)]).len(), 8);
    }

    #[test]
    fn sizes_become_sets() {
        let found = [0, 1, 8, 9, 100, 65536].map(sets);
        assert_eq!(found, [1, 1, 1, 2, 16, 8192]);
        assert_eq!(sets(u32::MAX), 1 << 29);
    }

    /// The words of the machine are hashed, whatever the order of their bytes in memory.
    #[test]
    fn keys_are_hashed_in_words_of_the_machine() {
        let words = [1, 0x0123_4567_89ab_cdef, u64::MAX];
        let key: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let hashed = hash(&key, [3, 4]);
        assert_eq!(hashed, sketch::hash_words([3, 4], words.into_iter()));
        let upper = (hashed >> 32) as u32;
        assert_eq!(place(&key, [3, 4], 16), (hashed as u32 & 15, upper));
    }

    /// Keys as networks have them (counted addresses and ports) fill sets as evenly as chance would.
    #[test]
    fn counted_keys_spread_evenly() {
        let mut load = vec![0u32; 4096];
        for n in 0..65536u64 {
            let fields = [
                Bits::new(128, 0x2001_0db8_u128 << 96 | u128::from(n >> 8)),
                Bits::new(128, 0x2001_0db8_u128 << 96 | 1 << 64),
                Bits::new(16, n & 0xff),
                Bits::new(16, 443u32),
                Bits::new(8, 6u32),
            ];
            load[place(&key_bytes(&fields), KNOWN_KEY, 4096).0 as usize] += 1;
        }
        let variance: f64 = load
            .iter()
            .map(|&n| (f64::from(n) - 16.0).powi(2))
            .sum::<f64>()
            / 4096.0;
        assert!((14.0..18.0).contains(&variance), "{variance}");
    }
}
