//! Pattern sets: automata of rules for the text of URLs, in an array of blocks.

use serde::{Deserialize, Serialize};

/// Pattern set (`tables/include/onpath/pattern_set.h`). Its map has blocks of 4096 bytes, whose contents are an image of crate
/// `patterns`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PatternSetAbi {
    /// Number in the program and in the schema.
    pub index: u32,
    /// Control-plane name of the set.
    pub name: String,
    /// Map of blocks.
    pub map: String,
    /// Number of blocks.
    pub block_count: u32,
    /// Capacity in states.
    pub capacity: u32,
}
