//! Structures by which the entries of a table can be searched.

/// Search structure of a table, where several are available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Structure {
    /// A row of bits for each value of each byte of the key ([`BitVectorsAbi`](crate::BitVectorsAbi)). The time of a
    /// look-up depends on the table's capacity, and not on the masks of its entries.
    BitVectors,
    /// A hash map of the entries under each mask ([`TupleSpaceAbi`](crate::TupleSpaceAbi)). The time of a look-up
    /// depends on the number of masks.
    TupleSpace,
    /// A trie of prefixes that consumes one bit of the key after the other.
    Trie,
    /// A trie of prefixes that consumes several bits of the key at once ([`MultibitTrieAbi`](crate::MultibitTrieAbi)).
    MultibitTrie,
    /// The target's hash table.
    HashMap,
    /// Buckets of a few entries each, chosen by a key's hash ([`BucketsAbi`](crate::BucketsAbi)).
    Buckets,
}

/// Match kinds of a table's keys, as far as structures depend on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matching {
    /// All keys are exact.
    Exact,
    /// One key is a prefix, the others are exact.
    Prefixes,
    /// Some keys are ternary, range or optional. Entries may overlap, and priorities decide.
    Overlapping,
}

impl Structure {
    /// All structures.
    pub const ALL: [Structure; 6] = [
        Structure::BitVectors,
        Structure::TupleSpace,
        Structure::Trie,
        Structure::MultibitTrie,
        Structure::HashMap,
        Structure::Buckets,
    ];

    /// Returns the kind of tables that the structure is for.
    pub fn matching(self) -> Matching {
        match self {
            Structure::BitVectors | Structure::TupleSpace => Matching::Overlapping,
            Structure::Trie | Structure::MultibitTrie => Matching::Prefixes,
            Structure::HashMap | Structure::Buckets => Matching::Exact,
        }
    }

    /// Returns the structure's name in the annotation `@layout`.
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
