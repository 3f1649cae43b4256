//! The hash of all summaries: 64 bits, from multiplications and shifts that a BPF program can make.

/// Multiplies the state once a word.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// The two multipliers of the end: "Mix13" of D. Stafford, *Better Bit Mixing* (2011), with its three shifts.
const END: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// The hash of `bytes`, which is this:
///
/// 1. The state is `seed + 0x9e3779b97f4a7c15`.
/// 2. The bytes are read as 8-byte words, least significant byte first; zeros fill the last word. For each word, the
///    state becomes `s = (state ^ word) * 0x9e3779b97f4a7c15`, then `s ^ (s >> 29)`.
/// 3. The state is XORed with the number of bytes.
/// 4. `x ^= x >> 30; x *= 0xbf58476d1ce4e5b9; x ^= x >> 27; x *= 0x94d049bb133111eb; x ^= x >> 31`.
///
/// No bytes are no words. With one seed, different inputs of one length of up to 8 bytes have different hashes. It is not
/// cryptographic: whoever knows the seed can choose inputs that collide, so a program that reads traffic takes
/// a random one.
pub fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = seed.wrapping_add(STEP);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = step(state, u64::from_le_bytes(word));
    }
    end(state ^ bytes.len() as u64)
}

/// The hash of a number: that of its 8 bytes, least significant first.
pub fn hash_u64(seed: u64, value: u64) -> u64 {
    end(step(seed.wrapping_add(STEP), value) ^ 8)
}

fn step(state: u64, word: u64) -> u64 {
    let state = (state ^ word).wrapping_mul(STEP);
    state ^ (state >> 29)
}

fn end(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(END[0]);
    x ^= x >> 27;
    x = x.wrapping_mul(END[1]);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixed values: code elsewhere is held to the same ones.
    #[test]
    fn the_hash_is_what_it_was() {
        let found = [
            hash(0, b""),
            hash(0, b"a"),
            hash(1, b"a"),
            hash(0, b"a\0"),
            hash(0, b"www.example.com"),
            hash_u64(7, 0x0102_0304_0506_0708),
        ];
        assert_eq!(found, EXPECTED, "{found:#018x?}");
    }

    const EXPECTED: [u64; 6] = [
        0xe220_a839_7b1d_cdaf,
        0xb080_ab1b_f258_480d,
        0xdabb_077c_b38a_5c3c,
        0xda69_c702_a5d5_13ce,
        0x1169_303c_17a7_5944,
        0xb929_072f_1af6_dd61,
    ];

    #[test]
    fn a_number_is_its_bytes() {
        for value in [0, 1, 0x8000_0000_0000_0001, u64::MAX] {
            assert_eq!(hash_u64(3, value), hash(3, &value.to_le_bytes()));
        }
    }
}
