//! Look-up of an entry, in any structure.

use crate::bit_vectors::{self, BitVectors};
use crate::buckets::{self, Buckets};
use crate::multibit_trie::{self, MultibitTrie};
use crate::one_map::OneMap;
use crate::perfect_hash::{self, PerfectHash};
use crate::target::Tables;
use crate::tuple_space::{self, TupleSpace};
use cgen::tree::{Expr as C, Type};
use emit::Gen;
use ir::Expr;

/// Structure that holds a table's entries.
#[derive(Clone, Debug)]
pub(crate) enum Lookup {
    /// One map.
    OneMap(OneMap),
    /// An array in read-only data.
    PerfectHash(PerfectHash),
    /// A multibit trie.
    MultibitTrie(MultibitTrie),
    /// A tuple space.
    TupleSpace(TupleSpace),
    /// Bit vectors.
    BitVectors(BitVectors),
    /// Buckets.
    Buckets(Buckets),
}

impl Lookup {
    /// Emits the look-up. Returns a pointer to the entry, which may be null.
    pub(crate) fn search<T: Tables>(&self, g: &mut Gen<'_, T>, keys: &[Expr], entry: Type) -> C {
        match self {
            Lookup::OneMap(map) => map.search(g, keys, entry),
            Lookup::PerfectHash(table) => perfect_hash::search(g, table, keys, entry),
            Lookup::MultibitTrie(trie) => multibit_trie::search(g, trie, keys, entry),
            Lookup::TupleSpace(space) => tuple_space::search(g, space, keys, entry),
            Lookup::BitVectors(bits) => bit_vectors::search(g, bits, keys, entry),
            Lookup::Buckets(found) => buckets::search(g, found, keys, entry),
        }
    }
}
