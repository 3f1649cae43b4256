//! State of tables that the functions of a file share.

use crate::name_set::NameSet;
use ir::ExternInst;
use smol_str::SmolStr;
use std::collections::HashMap;

/// Headers and groups that the functions of a file need for tables: `onpath/bit_vectors.h` and so on.
#[derive(Clone, Default, Debug)]
pub struct Shared {
    /// True if a table or value set is searched by bit vectors.
    pub bit_vectors: bool,
    /// True if a table is searched by a perfect hash.
    pub perfect_hash: bool,
    /// True if a table is searched by a multibit trie.
    pub multibit_trie: bool,
    /// True if a table is searched by buckets.
    pub buckets: bool,
    /// Name sets in use.
    pub name_sets: HashMap<ExternInst, NameSet>,
    /// Functions that search a text for the patterns of sets.
    pub(crate) pattern_sets: HashMap<ExternInst, SmolStr>,
    /// Maps of the memory for texts, by their structs.
    pub(crate) texts: HashMap<&'static str, SmolStr>,
    /// Groups of action selectors.
    pub(crate) member_groups: HashMap<ExternInst, Groups>,
}

/// Groups of an action selector, which its tables share.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// Map of groups.
    pub(crate) map: SmolStr,
    /// Struct of a group.
    pub(crate) group: SmolStr,
}
