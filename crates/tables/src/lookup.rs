//! The look-up of an entry, by whatever structure holds the entries.

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

/// How entries are found.
#[derive(Clone, Debug)]
pub(crate) enum Lookup {
    /// In one map.
    OneMap(OneMap),
    /// In read-only data.
    PerfectHash(PerfectHash),
    /// In a multibit trie.
    MultibitTrie(MultibitTrie),
    /// By tuple space search.
    TupleSpace(TupleSpace),
    /// By bit vectors.
    BitVectors(BitVectors),
    /// In buckets.
    Buckets(Buckets),
}

impl Lookup {
    /// Emits the look-up; gives the entry found, or a null pointer.
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
