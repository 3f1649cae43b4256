//! The structures by which the entries of a table can be searched.

/// How the entries of a table are searched where there is more than one way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Structure {
    /// A row of bits for each value of each byte of the key ([`BitVectorsAbi`](crate::BitVectorsAbi)): how long a look-up takes depends
    /// on how many entries there may be, and not on their masks.
    BitVectors,
    /// A hash map of the entries under each mask ([`TupleSpaceAbi`](crate::TupleSpaceAbi)): it depends on how many masks there are.
    TupleSpace,
    /// A trie of prefixes that takes a bit of the key after the other.
    Trie,
    /// A trie of prefixes that takes several bits of the key at once ([`MultibitTrieAbi`](crate::MultibitTrieAbi)).
    MultibitTrie,
    /// A hash table as the target has it.
    HashMap,
    /// Buckets of a few entries each, which a key's hash chooses ([`BucketsAbi`](crate::BucketsAbi)).
    Buckets,
}

/// What a table's keys are matched by, as far as structures depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matching {
    /// As a whole.
    Exact,
    /// One of them by a prefix, the others as a whole.
    Prefixes,
    /// By ternary, range or optional keys: entries may overlap, and priorities choose.
    Overlapping,
}

impl Structure {
    /// All.
    pub const ALL: [Structure; 6] = [
        Structure::BitVectors,
        Structure::TupleSpace,
        Structure::Trie,
        Structure::MultibitTrie,
        Structure::HashMap,
        Structure::Buckets,
    ];

    /// What tables it is for.
    pub fn matching(self) -> Matching {
        match self {
            Structure::BitVectors | Structure::TupleSpace => Matching::Overlapping,
            Structure::Trie | Structure::MultibitTrie => Matching::Prefixes,
            Structure::HashMap | Structure::Buckets => Matching::Exact,
        }
    }

    /// As the annotation `@layout` names it.
    pub fn name(self) -> &'static str {
        match self {
            Structure::BitVectors => "bit_vectors",
            Structure::TupleSpace => "tuple_space",
            Structure::Trie => "trie",
            Structure::MultibitTrie => "multibit_trie",
            Structure::HashMap => "hash_map",
            Structure::Buckets => "buckets",
        }
    }
}
