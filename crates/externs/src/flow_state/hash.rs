//! A key's bytes and its hash: which set it belongs to, and the tag that it is searched by. The kernel's
//! programs compute the same (`onpath/flow_state.h`).

use ir::Bits;

/// Ways per set.
pub const WAYS: usize = 8;

/// A key as it is compared and hashed: each field in network order in as many bytes as it needs (a `bool` in
/// one, an enum in four), one after the other in the order of declaration, zeros up to a multiple of 8.
pub fn key_bytes(fields: &[Bits]) -> Vec<u8> {
    let mut bytes: Vec<u8> = fields.iter().flat_map(Bits::to_bytes).collect();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// How many sets a state of this size has: a power of two.
pub fn sets(size: u32) -> u32 {
    size.div_ceil(WAYS as u32).max(1).next_power_of_two()
}

/// Where a key belongs: the set's number and the tag, which is never 0.
pub fn place(key: &[u8], seed: u64, sets: u32) -> (u32, u32) {
    let hash = hash(key, seed);
    ((hash as u32) & (sets - 1), ((hash >> 32) as u32).max(1))
}

/// The hash of [`key_bytes`], taken in 8 bytes at a time as the machine reads them.
///
/// A word is mixed in by a shift and a product whose factor depends on the seed: the shift makes high bits
/// count for low ones, the product low ones for high ones, so that colliding keys cannot be found without
/// the seed. Even and odd words form two chains, which a processor runs in parallel.
pub fn hash(key: &[u8], seed: u64) -> u64 {
    let factors = [
        0xbf58_476d_1ce4_e5b9 ^ (seed << 1),
        0x94d0_49bb_1331_11eb_u64.wrapping_add(seed << 1),
    ];
    let mut ways = [
        0x9e37_79b9_7f4a_7c15 ^ seed,
        0xd6e8_feb8_6659_fd93_u64.wrapping_add(seed),
    ];
    for (i, word) in key.chunks_exact(8).enumerate() {
        let word = word.try_into().map_or(0, u64::from_ne_bytes);
        ways[i % 2] = round(ways[i % 2], word, factors[i % 2]);
    }
    let mut hash = round(ways[0], ways[1].rotate_right(29), factors[1]);
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 32)
}

fn round(mut hash: u64, word: u64, factor: u64) -> u64 {
    hash ^= word;
    hash ^= hash >> 32;
    hash.wrapping_mul(factor)
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

    #[test]
    #[cfg(target_endian = "little")]
    fn known_keys_have_these_hashes() {
        let bytes: Vec<u8> = (0..40).collect();
        let found: Vec<u64> = [8, 16, 24, 40]
            .iter()
            .flat_map(|&n| {
                [
                    hash(&bytes[..n], 0),
                    hash(&bytes[..n], 0x0123_4567_89ab_cdef),
                ]
            })
            .collect();
        assert_eq!(found, VECTORS);
    }

    const VECTORS: [u64; 8] = [
        6715674542431460526,
        10698098926977041647,
        15420321476466715123,
        8781001193242456643,
        10658257144239429036,
        1039984303806481888,
        17111137673759016153,
        4823692144928458777,
    ];

    /// Each bit of a key and of the seed changes each bit of the hash about half of the time.
    #[test]
    fn every_bit_counts() {
        const KEYS: u64 = 256;
        let mut changed = vec![[0u32; 64]; 40 * 8 + 64];
        for n in 0..KEYS {
            let key: Vec<u8> = (0..5u64).flat_map(|w| (n * w).to_le_bytes()).collect();
            let before = hash(&key, n);
            for (bit, counts) in changed.iter_mut().enumerate() {
                let (mut key, mut seed) = (key.clone(), n);
                match bit.checked_sub(40 * 8) {
                    // The seed's last bit is shifted out of the factors and counts all the same.
                    Some(of_seed) => seed ^= 1 << of_seed,
                    None => key[bit / 8] ^= 1 << (bit % 8),
                }
                let difference = before ^ hash(&key, seed);
                for (i, count) in counts.iter_mut().enumerate() {
                    *count += (difference >> i & 1) as u32;
                }
            }
        }
        for (bit, counts) in changed.iter().enumerate() {
            for (i, &count) in counts.iter().enumerate() {
                // Six standard deviations around a half.
                assert!((80..=176).contains(&count), "{bit} to {i}: {count}");
            }
        }
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
            load[place(&key_bytes(&fields), 0, 4096).0 as usize] += 1;
        }
        let variance: f64 = load
            .iter()
            .map(|&n| (f64::from(n) - 16.0).powi(2))
            .sum::<f64>()
            / 4096.0;
        assert!((14.0..18.0).contains(&variance), "{variance}");
    }
}
