//! State by key: flows, and metrics by group.

use crate::{FieldAbi, KeyAbi};
use serde::{Deserialize, Serialize};

/// State that several programs may share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StateAbi<'a> {
    /// Flow state.
    Flows(&'a FlowStateAbi),
    /// Metrics by group.
    Metrics(&'a MetricsAbi),
}

impl<'a> StateAbi<'a> {
    /// Returns the control-plane name of the state.
    pub fn name(self) -> &'a str {
        match self {
            StateAbi::Flows(flows) => &flows.name,
            StateAbi::Metrics(metrics) => &metrics.name,
        }
    }

    /// Returns the name of the map.
    pub fn map(self) -> &'a str {
        match self {
            StateAbi::Flows(flows) => &flows.map,
            StateAbi::Metrics(metrics) => &metrics.map,
        }
    }

    /// Returns the fields of the keys.
    pub fn key(self) -> &'a [FieldAbi] {
        match self {
            StateAbi::Flows(flows) => &flows.key.fields,
            StateAbi::Metrics(metrics) => &metrics.key.fields,
        }
    }

    /// Returns the fields of the values. Metrics have none.
    pub fn value(self) -> &'a [FieldAbi] {
        match self {
            StateAbi::Flows(flows) => &flows.value,
            StateAbi::Metrics(_) => &[],
        }
    }

    /// Returns the capacity in keys; of metrics, the capacity on each processor.
    pub fn room(self) -> u64 {
        let (sets, ways) = match self {
            StateAbi::Flows(flows) => (flows.sets, flows.ways),
            StateAbi::Metrics(metrics) => (metrics.sets, metrics.ways),
        };
        u64::from(sets) * u64::from(ways)
    }

    /// Returns the idle timeout in nanoseconds, after which an unused key is evicted. 0 means never.
    pub fn idle(self) -> u64 {
        match self {
            StateAbi::Flows(flows) => flows.idle,
            StateAbi::Metrics(_) => 0,
        }
    }

    /// Returns true if two states have the same layout. Names do not matter.
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
            StateAbi::Metrics(f) => (
                [f.sets, f.ways, f.tags_offset, f.ways_offset, f.way_size],
                (f.lost_offset, Some(f.metric_offset)),
            ),
        };
        matches!(self, StateAbi::Flows(_)) == matches!(other, StateAbi::Flows(_))
            && offsets(self) == offsets(other)
            && self.idle() == other.idle()
            && fields(self.key()) == fields(other.key())
            && fields(self.value()) == fields(other.value())
    }
}

/// Flow state (`flow_state`): a set-associative table in an array map of sets.
///
/// A set is `{u32 lock, u32 lru, u32 changes, u32 tag[ways], u32 used[ways], u64 evicted, way[ways]}`. It is written under
/// its lock; whoever changes keys or values increments `changes` before and after. An emptied way keeps both.
/// The hash that chooses the set and the tag is `externs::flow_state::hash` of the key's bytes, with the key in
/// [`HashSeeds`](crate::HashSeeds).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FlowStateAbi {
    /// Number in the program and in the schema.
    pub index: u32,
    /// Control-plane name of the flow state.
    pub name: String,
    /// Name of the map.
    pub map: String,
    /// Number of sets, a power of two.
    pub sets: u32,
    /// Number of ways in a set.
    pub ways: u32,
    /// Offset of the tags in a set, a `u32` per way: the upper half of the key's hash, or 0 for an empty way.
    pub tags_offset: u32,
    /// Offset of the LRU stamps in a set, a `u32` per way: the value of the set's LRU counter (`lru`) when the way was
    /// last used.
    pub used_offset: u32,
    /// Offset of the number of evicted flows (`u64`) in a set. Objects of older versions have none.
    #[serde(default)]
    pub evicted_offset: Option<u32>,
    /// Offset of the first way in a set.
    pub ways_offset: u32,
    /// Size of a way, in bytes.
    pub way_size: u32,
    /// Offset in a way of the time of its last use (`u64`, nanoseconds of the monotonic clock). `None` if flows have no
    /// idle timeout.
    pub seen_offset: Option<u32>,
    /// Idle timeout in nanoseconds, after which an unused flow is evicted. 0 means never.
    pub idle: u64,
    /// Fields of the key, in network byte order. Offsets are from the start of a way.
    pub key: KeyAbi,
    /// Fields of the value. Offsets are from the start of a way.
    pub value: Vec<FieldAbi>,
}

/// Metrics by group: an array map of sets, which the control plane maps into its memory.
///
/// Processor `n` has the sets from index `n * sets` on. The map is made as large as the machine needs
/// ([`Contents::resized`](crate::Contents::resized)). A set is `{u32 changes, u32 0, u64 lost, u32 tag[ways],
/// way[ways]}`. Its `changes` is odd while one group replaces another. A group's set and tag are chosen like those of a
/// [`FlowStateAbi`].
///
/// At `metric_offset` a way has its metric:
///
/// - a tally: `{u64 count, u64 sum, u64 least, u64 greatest}`;
/// - a histogram: the counts of its classes (`u64`);
/// - a count of distinct items: registers of one byte each;
/// - one of the greatest keys: `{u64 weight, u64 error}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MetricsAbi {
    /// Number in the program and in the schema.
    pub index: u32,
    /// Control-plane name of the metrics.
    pub name: String,
    /// Name of the map.
    pub map: String,
    /// Number of sets of each processor, a power of two.
    pub sets: u32,
    /// Number of ways in a set.
    pub ways: u32,
    /// Offset in a set of the number of updates lost because their group found no free way (`u64`).
    pub lost_offset: u32,
    /// Offset in a set of the tags, a `u32` per way: the upper half of the key's hash, or 0 for an empty way.
    pub tags_offset: u32,
    /// Offset in a set of the first way.
    pub ways_offset: u32,
    /// Size of a way, in bytes.
    pub way_size: u32,
    /// Offset in a way of its metric.
    pub metric_offset: u32,
    /// Fields of the key, in network byte order. Offsets are from the start of a way.
    pub key: KeyAbi,
}
