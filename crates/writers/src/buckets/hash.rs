//! Hash that chooses a key's buckets, as `bucket_mix` in `onpath/buckets.h` computes it.

/// Hashes a key's bytes, in words of 8 bytes in the machine's byte order. The key's length is a multiple of 8.
///
/// A word is mixed in by a shift and by a product whose factor depends on the seed. The shift carries high bits to low
/// ones, the product low bits to high ones. Even and odd words form two chains, which a processor runs in parallel.
///
/// Keys can be chosen that collide under every seed. That is harmless here: only the control plane inserts, and keys
/// whose buckets are full have their slot in the overflow map. Where packets insert, the hash is `externs::flow_state::hash`.
pub(super) fn hash(key: &[u8], seed: u64) -> u64 {
    let factors = [
        0xbf58_476d_1ce4_e5b9 ^ (seed << 1),
        0x94d0_49bb_1331_11eb_u64.wrapping_add(seed << 1),
    ];
    let mut chains = [
        0x9e37_79b9_7f4a_7c15 ^ seed,
        0xd6e8_feb8_6659_fd93_u64.wrapping_add(seed),
    ];
    for (i, word) in key.chunks_exact(8).enumerate() {
        let word = word.try_into().map_or(0, u64::from_ne_bytes);
        chains[i % 2] = round(chains[i % 2], word, factors[i % 2]);
    }
    let mut hash = round(chains[0], chains[1].rotate_right(29), factors[1]);
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
}
