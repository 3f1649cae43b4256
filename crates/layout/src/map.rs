//! Maps: memory that outlives packets, by name.

/// A map that a program needs: an array or a hash table that packets and the control plane share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    /// Unique in the program.
    pub name: String,
    /// The way that its elements are found.
    pub kind: MapKind,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value (of one copy, where there is one for each core).
    pub value_size: u32,
    /// Elements that it holds.
    pub max_entries: u32,
    /// Elements get memory when they are inserted, not before.
    pub on_demand: bool,
    /// The control plane reads and writes an array's elements in memory, each at a multiple of 8 bytes.
    pub mapped: bool,
}

/// The way that a map's elements are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MapKind {
    /// By their number.
    Array,
    /// By their number; each core has a copy of its own.
    PerCoreArray,
    /// By their key.
    Hash,
    /// By their key; each core has a copy of its own.
    PerCoreHash,
    /// By the longest prefix of a key. Keys begin with the prefix's length in bits (`u32`).
    PrefixTrie,
    /// By nobody: packets hand records to the control plane. The number of elements is the ring's size in bytes.
    Ring,
}

impl Map {
    /// A map whose elements all have memory from the start, if that is possible for its kind.
    pub fn new(
        name: impl Into<String>,
        kind: MapKind,
        key_size: u32,
        value_size: u32,
        max_entries: u64,
    ) -> Map {
        Map {
            name: name.into(),
            kind,
            key_size,
            value_size,
            max_entries: u32::try_from(max_entries).unwrap_or(u32::MAX),
            on_demand: kind == MapKind::PrefixTrie,
            mapped: false,
        }
    }
}
