//! Maps: named memory that outlives packets.

/// Map that a program needs: an array or a hash table that packets and the control plane share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    /// Name of the map, unique in the program.
    pub name: String,
    /// Kind of the map: how its elements are found.
    pub kind: MapKind,
    /// Size of a key, in bytes.
    pub key_size: u32,
    /// Size of a value, in bytes; of one copy if each core has one.
    pub value_size: u32,
    /// Capacity, in elements.
    pub max_entries: u32,
    /// True if elements get memory only when they are inserted.
    pub on_demand: bool,
    /// True if the control plane accesses an array's elements in memory, each at a multiple of 8 bytes.
    pub mapped: bool,
}

/// Kind of a map: how its elements are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MapKind {
    /// By index.
    Array,
    /// By index; each core has a copy of its own.
    PerCoreArray,
    /// By key.
    Hash,
    /// By key; each core has a copy of its own.
    PerCoreHash,
    /// By the longest prefix of a key. Keys begin with the prefix's length in bits (`u32`).
    PrefixTrie,
    /// Ring buffer of records that packets send to the control plane. Its capacity is in bytes.
    Ring,
}

impl Map {
    /// Creates a map whose elements all have memory from the start, if its kind permits that.
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
