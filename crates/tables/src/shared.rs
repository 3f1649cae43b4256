//! What the functions of a file share about tables.

use ir::ExternInst;
use smol_str::SmolStr;
use std::collections::HashMap;

/// Headers and groups that the functions of a file need for tables: `onpath/bit_vectors.h` and so on.
#[derive(Clone, Default, Debug)]
pub struct Shared {
    /// A table or value set is searched by bit vectors.
    pub bit_vectors: bool,
    /// A table is searched by a perfect hash.
    pub perfect_hash: bool,
    /// A table is searched by a multibit trie.
    pub multibit_trie: bool,
    /// A table is searched by buckets.
    pub buckets: bool,
    /// The groups of action selectors.
    pub(crate) member_groups: HashMap<ExternInst, Groups>,
}

/// The groups of an action selector, which its tables share.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// The map of groups.
    pub(crate) map: SmolStr,
    /// Their struct.
    pub(crate) group: SmolStr,
}
