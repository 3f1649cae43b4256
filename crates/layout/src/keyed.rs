//! State by key: flows, and figures by group.

use crate::{FieldAbi, KeyAbi};
use serde::{Deserialize, Serialize};

/// State that several programs may have in common.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StateAbi<'a> {
    /// Of flows.
    Flows(&'a FlowStateAbi),
    /// Figures by group.
    Figures(&'a FiguresAbi),
}

impl<'a> StateAbi<'a> {
    /// Its control-plane name.
    pub fn name(self) -> &'a str {
        match self {
            StateAbi::Flows(flows) => &flows.name,
            StateAbi::Figures(figures) => &figures.name,
        }
    }

    /// The map.
    pub fn map(self) -> &'a str {
        match self {
            StateAbi::Flows(flows) => &flows.map,
            StateAbi::Figures(figures) => &figures.map,
        }
    }

    /// The fields of its keys.
    pub fn key(self) -> &'a [FieldAbi] {
        match self {
            StateAbi::Flows(flows) => &flows.key.fields,
            StateAbi::Figures(figures) => &figures.key.fields,
        }
    }

    /// The fields of its values, if they have some.
    pub fn value(self) -> &'a [FieldAbi] {
        match self {
            StateAbi::Flows(flows) => &flows.value,
            StateAbi::Figures(_) => &[],
        }
    }

    /// How many keys it has room for; of figures, on each processor.
    pub fn room(self) -> u64 {
        let (sets, ways) = match self {
            StateAbi::Flows(flows) => (flows.sets, flows.ways),
            StateAbi::Figures(figures) => (figures.sets, figures.ways),
        };
        u64::from(sets) * u64::from(ways)
    }

    /// Nanoseconds after which an unused key is gone; 0 is never.
    pub fn idle(self) -> u64 {
        match self {
            StateAbi::Flows(flows) => flows.idle,
            StateAbi::Figures(_) => 0,
        }
    }

    /// Whether everything lies where it does in the other, whatever its names.
    pub fn is_like(self, other: StateAbi<'_>) -> bool {
        let fields = |fields: &[FieldAbi]| -> Vec<_> {
            let field = |f: &FieldAbi| (f.offset, f.size, f.width, f.order);
            fields.iter().map(field).collect()
        };
        let offsets = |state: StateAbi<'_>| match state {
            StateAbi::Flows(f) => (
                [f.sets, f.ways, f.tags_offset, f.ways_offset, f.way_size],
                (f.used_offset, f.seen_offset),
            ),
            StateAbi::Figures(f) => (
                [f.sets, f.ways, f.tags_offset, f.ways_offset, f.way_size],
                (f.lost_offset, Some(f.figure_offset)),
            ),
        };
        matches!(self, StateAbi::Flows(_)) == matches!(other, StateAbi::Flows(_))
            && offsets(self) == offsets(other)
            && self.idle() == other.idle()
            && fields(self.key()) == fields(other.key())
            && fields(self.value()) == fields(other.value())
    }
}

/// A `flow_state`: a set-associative table in an array map of sets. A set is
/// `{u32 lock, u32 lru, u32 tag[ways], u32 used[ways], way[ways]}` and is read and written under its lock.
/// The hash that chooses the set and the tag is `externs::flow_state::hash` of the
/// key's bytes with the key in [`HashSeeds`](crate::HashSeeds).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FlowStateAbi {
    /// Its number in the program and in the schema.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// The map.
    pub map: String,
    /// How many sets, a power of two.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Where the tags are, a `u32` per way: the upper half of the key's hash, 0 for an empty way.
    pub tags_offset: u32,
    /// Where the uses are, a `u32` per way: the set's LRU counter (`lru`) when it was last used.
    pub used_offset: u32,
    /// Offset of the number of flows that others have replaced (`u64`); an object of an older version has none.
    #[serde(default)]
    pub evicted_offset: Option<u32>,
    /// Where the ways begin.
    pub ways_offset: u32,
    /// Bytes of a way.
    pub way_size: u32,
    /// Where in a way the time of its last use is (`u64`, nanoseconds of the monotonic clock), if unused
    /// flows end.
    pub seen_offset: Option<u32>,
    /// Nanoseconds after which an unused flow is gone; 0 is never.
    pub idle: u64,
    /// The key's fields; offsets are from the start of a way, values in network order.
    pub key: KeyAbi,
    /// The value's fields; offsets are from the start of a way.
    pub value: Vec<FieldAbi>,
}

/// Figures by group: an array map of sets, that the control plane maps. The processor `n` has the sets from `n * sets` on; the map is made as
/// large as the machine needs ([`Abi::resized`]). A set is `{u32 changes, u32 0, u64 lost, u32 tag[ways], way[ways]}`. Its `changes` is odd
/// while a group takes the place of another. The set and the tag of a group are chosen as those of a [`FlowStateAbi`]. What lies at
/// `figure_offset` of a way is `{u64 count, u64 sum, u64 least, u64 greatest}` of a tally, the counts of a histogram (`u64`), the
/// registers of a count of different items (bytes), or `{u64 weight, u64 error}` of one of the greatest keys.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FiguresAbi {
    /// Its number in the program and in the schema.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// The map.
    pub map: String,
    /// How many sets each processor has, a power of two.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Where a set has the number of what belonged to groups that found no place (`u64`).
    pub lost_offset: u32,
    /// Where a set has the tags, a `u32` per way: the upper half of the key's hash, 0 for an empty way.
    pub tags_offset: u32,
    /// Where the ways begin.
    pub ways_offset: u32,
    /// Bytes of a way.
    pub way_size: u32,
    /// Where a way has its figure.
    pub figure_offset: u32,
    /// The key's fields; offsets are from the start of a way, values in network order.
    pub key: KeyAbi,
}
