//! Names in the headers, which programs must not use.

use emit::Reserved;

/// Reserved names.
pub const RESERVED: Reserved = Reserved {
    names: "
        NO_ENTRY bit_row enabled_bits lowest_bit lowest_block
        perfect_place same_key
        BUCKET_PLACES BUCKET_OVERFLOW BUCKET_KEY_WORDS bucket_round bucket_mix bucket_hash bucket_place bucket_find bucket_overflow bucket_value
        NAME_LONGEST NAME_MOST NAME_PORT NAME_SLOTS NAME_IN_FRONT NAME_PIECE NAME_ITSELF NAME_BELOW NAME_MASK name_record name_text name_lower name_front name_copy name_end name_is name_comparison name_probe name_search name_find NAME_LABELS NAME_NOT_PLAIN name_pad name_other name_find_labels
        PATTERN_BLOCK_BITS PATTERN_BLOCK_MASK PATTERN_ACCEPTS PATTERN_PREFIXES PATTERN_WORDS PATTERN_EXPRESSIONS PATTERN_AUTOMATA PATTERN_TEXT_MASK pattern_head pattern_text pattern_put pattern_put_name pattern_digit pattern_at pattern_put_path pattern_block pattern_accept pattern_find
        TRIE_NODE prefix_matches longest_prefix
    ",
    prefixes: &[],
};

#[cfg(test)]
mod tests {
    use emit::names::{Names, declared};

    #[test]
    fn every_name_in_the_headers_is_reserved() {
        let names = Names::new(&[super::RESERVED]);
        for (file, text) in crate::HEADERS {
            for name in declared(text) {
                assert!(names.is_reserved(name), "{file}: {name}");
            }
        }
    }
}
