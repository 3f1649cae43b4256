//! Memory of a Tofino switch for an exact-match table: its entries lie in blocks of SRAM.

use crate::{Resource, Usage};

/// Number of blocks of SRAM in a pipeline. Published (p4c's `MauSpec` for Tofino): 12 stages of 80 blocks.
pub const BLOCKS: u64 = 12 * 80;
/// Words of a block. Published there.
const WORDS: u64 = 1024;
/// Bits of a word. Published there.
const WORD_BITS: u32 = 128;
/// Bits of an entry besides its key and its result: the version that is valid. Published there.
const VERSION_BITS: u32 = 4;

/// Returns the blocks that an exact-match table takes, each way of its hash being full. A compiler takes more where the
/// ways have different lengths.
pub fn tofino_blocks(entries: u64, key_bits: u32, result_bits: u32) -> Usage {
    let of_word = WORD_BITS / (key_bits + result_bits + VERSION_BITS);
    // An entry wider than a word takes several.
    let words = match of_word {
        0 => entries * u64::from((key_bits + result_bits + VERSION_BITS).div_ceil(WORD_BITS)),
        of_word => entries.div_ceil(u64::from(of_word)),
    };
    Usage {
        resource: Resource::MemoryBlocks,
        needed: words.div_ceil(WORDS),
        available: BLOCKS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_share_words_and_wide_ones_take_several() {
        let needed = |entries, key, result| tofino_blocks(entries, key, result).needed;
        // 2 entries of 60 bits a word, 1 of 100 bits, half of one of 200 bits.
        assert_eq!([needed(2048, 30, 26), needed(2049, 30, 26)], [1, 2]);
        assert_eq!([needed(1024, 50, 46), needed(1024, 100, 96)], [1, 2]);
        assert!(tofino_blocks(1 << 20, 30, 26).fits() && !tofino_blocks(1 << 21, 30, 26).fits());
    }
}
