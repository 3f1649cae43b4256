//! The hash of all summaries, and of every set that packets insert into: SipHash-1-3.

/// Key of the hash: 128 random bits. Only those who know it can choose inputs that collide.
pub type HashKey = [u64; 2];

/// The constants that the key is mixed with: "somepseudorandomlygeneratedbytes".
const BEGIN: [u64; 4] = [
    0x736f_6d65_7073_6575,
    0x646f_7261_6e64_6f6d,
    0x6c79_6765_6e65_7261,
    0x7465_6462_7974_6573,
];
/// Rounds after the last word.
const LAST_ROUNDS: u32 = 3;

/// Hashes bytes by SipHash-1-3: one round for each word, three at the end.
///
/// The function is that of J.-P. Aumasson and D. J. Bernstein, *SipHash: a fast short-input PRF* (INDOCRYPT 2012), with
/// `c = 1` and `d = 3`. SipHash is designed to resist inputs that are chosen to collide. Linux (`hsiphash`) and Rust's
/// standard library use these numbers of rounds for hash tables, whose hashes attackers do not see. The steps:
///
/// 1. The state is four words: the constants, XORed with the key's two words, twice in turn.
/// 2. The bytes are read as 8-byte words, least significant byte first. A last word has the bytes that remain, zeros,
///    and in its highest byte the number of all bytes modulo 256.
/// 3. For each word: `v3 ^= word`, one round, `v0 ^= word`.
/// 4. `v2 ^= 0xff`, three rounds. The hash is the XOR of the four words.
pub fn hash(key: HashKey, bytes: &[u8]) -> u64 {
    let chunks = bytes.chunks_exact(8);
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    last[7] = bytes.len() as u8;
    let words = chunks.map(|chunk| chunk.try_into().map_or(0, u64::from_le_bytes));
    end(words.fold(begin(key), take), u64::from_le_bytes(last))
}

/// Hashes words: the hash of their bytes, least significant first.
pub fn hash_words(key: HashKey, words: impl ExactSizeIterator<Item = u64>) -> u64 {
    let bytes = 8 * words.len() as u64;
    end(words.fold(begin(key), take), bytes << 56)
}

/// Hashes a number: the hash of its 8 bytes, least significant first.
pub fn hash_u64(key: HashKey, value: u64) -> u64 {
    hash_words(key, std::iter::once(value))
}

/// Returns the state before the first word.
fn begin([low, high]: HashKey) -> [u64; 4] {
    let [a, b, c, d] = BEGIN;
    [a ^ low, b ^ high, c ^ low, d ^ high]
}

/// Absorbs a word.
fn take([v0, v1, v2, v3]: [u64; 4], word: u64) -> [u64; 4] {
    let [v0, v1, v2, v3] = round([v0, v1, v2, v3 ^ word]);
    [v0 ^ word, v1, v2, v3]
}

/// Absorbs the last word, and derives the hash from the state.
fn end(state: [u64; 4], last: u64) -> u64 {
    let [v0, v1, v2, v3] = take(state, last);
    let state = [v0, v1, v2 ^ 0xff, v3];
    let state = (0..LAST_ROUNDS).fold(state, |state, _| round(state));
    state.iter().fold(0, |hash, word| hash ^ word)
}

/// Performs a round: two halves of additions, rotations and XORs, each over both pairs of words.
fn round([mut v0, mut v1, mut v2, mut v3]: [u64; 4]) -> [u64; 4] {
    v0 = v0.wrapping_add(v1);
    v2 = v2.wrapping_add(v3);
    v1 = v1.rotate_left(13) ^ v0;
    v3 = v3.rotate_left(16) ^ v2;
    v0 = v0.rotate_left(32);
    v2 = v2.wrapping_add(v1);
    v0 = v0.wrapping_add(v3);
    v1 = v1.rotate_left(17) ^ v2;
    v3 = v3.rotate_left(21) ^ v0;
    v2 = v2.rotate_left(32);
    [v0, v1, v2, v3]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of the published test vectors: bytes 0 to 15.
    const KEY: HashKey = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];

    /// Test vectors of the authors' reference implementation with one round a word and three at the end
    /// (<https://github.com/veorq/SipHash>): the hashes of the bytes 0, 1, 2, ... of these lengths.
    #[test]
    fn the_published_test_vectors() {
        let bytes: Vec<u8> = (0..64).collect();
        for (length, expected) in VECTORS {
            assert_eq!(hash(KEY, &bytes[..length]), expected, "{length} bytes");
        }
    }

    const VECTORS: [(usize, u64); 9] = [
        (0, 0xabac_0158_050f_c4dc),
        (1, 0xc9f4_9bf3_7d57_ca93),
        (7, 0xd392_7d98_9bb1_1140),
        (8, 0x3690_9511_8d29_9a8e),
        (15, 0xd320_d86d_2a51_9956),
        (16, 0xcc4f_dd1a_7d90_8b66),
        (24, 0xf464_aeb2_6734_9c8c),
        (25, 0x45cd_5928_705b_0979),
        (60, 0xf6f4_e6bc_f7a6_44ee),
    ];

    #[test]
    fn words_and_numbers_are_their_bytes() {
        let words = [0, 1, 0x8000_0000_0000_0001, u64::MAX, 7];
        for count in 0..words.len() {
            let words = &words[..count];
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(hash_words(KEY, words.iter().copied()), hash(KEY, &bytes));
        }
        for value in words {
            assert_eq!(hash_u64(KEY, value), hash(KEY, &value.to_le_bytes()));
        }
    }
}
