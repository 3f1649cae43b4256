//! Layouts of state, which the functions of a file share.

use emit::record::MemberLayout;
use ir::{ExternInst, Type};
use smol_str::SmolStr;
use std::collections::HashMap;

/// Layouts and functions that the functions of a file share.
#[derive(Clone, Default, Debug)]
pub struct Shared {
    /// Layouts of the flow states in use.
    pub(crate) flow_states: HashMap<ExternInst, FlowLayout>,
    /// Maps with the hashes that processors keep, by the keys' numbers of words.
    pub(crate) hashes: HashMap<u32, SmolStr>,
    /// Layouts of the metrics by group.
    pub(crate) metrics: HashMap<ExternInst, MetricLayout>,
    /// Functions that add to counters, by the counters' maps.
    pub(crate) counter_functions: HashMap<SmolStr, SmolStr>,
    /// Functions that update metrics, with the structs of their keys, by the metrics' maps.
    pub(crate) metric_functions: HashMap<SmolStr, (SmolStr, SmolStr)>,
    /// Layouts of the registers in use.
    pub(crate) registers: HashMap<ExternInst, RegisterLayout>,
    /// Layouts of digests' records, by the digests' numbers.
    pub(crate) digests: HashMap<u32, RecordLayout>,
    /// Layouts of log messages' records, in the order of [`layout::LogsAbi::records`].
    pub(crate) logs: Vec<LogLayout>,
}

/// Layout of a key in memory: the fields in network order without gaps, padded with zeros to whole words.
#[derive(Clone, Debug)]
pub(crate) struct KeyLayout {
    /// Number of words of 8 bytes.
    pub words: u32,
    /// Offset and size of each field, in bytes.
    pub fields: Vec<(u32, u32)>,
}

/// Flow state that the program uses.
#[derive(Clone, Debug)]
pub(crate) struct FlowLayout {
    /// Name of the map.
    pub map: SmolStr,
    /// Struct of the map's values.
    pub set: SmolStr,
    /// Struct of a way.
    pub way: SmolStr,
    /// Layout of a flow's key.
    pub key: KeyLayout,
    /// Member and layout of each field of the value.
    pub value: Vec<(SmolStr, MemberLayout)>,
    /// Number of sets.
    pub sets: u32,
    /// Idle timeout in nanoseconds, after which an unused flow is evicted. 0 means never.
    pub idle: u64,
}

/// Metrics by group that the program keeps.
#[derive(Clone, Debug)]
pub(crate) struct MetricLayout {
    /// Name of the map.
    pub map: SmolStr,
    /// Struct of a set.
    pub set: SmolStr,
    /// Struct of a way.
    pub way: SmolStr,
    /// Layout of a group's key.
    pub key: KeyLayout,
    /// Layout of an item, if distinct items are counted.
    pub item: Option<KeyLayout>,
    /// Number of sets of each processor.
    pub sets: u32,
}

/// Register that the program uses.
#[derive(Clone, Debug)]
pub(crate) struct RegisterLayout {
    /// Name of the map.
    pub map: SmolStr,
    /// Struct of a cell.
    pub cell: SmolStr,
    /// Member and layout of each scalar.
    pub members: Vec<(SmolStr, MemberLayout)>,
    /// Locks of the cells.
    pub locks: Locks,
}

/// Location of the lock that an access to a register's cell takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Locks {
    /// No lock: no atomic block uses the register.
    None,
    /// In the cell.
    InCells,
    /// In this map, whose values are of this struct.
    Apart {
        map: SmolStr,
        element: SmolStr,
        is_by_index: bool,
    },
}

/// Layout of the records of a digest or a log message.
#[derive(Clone, Debug)]
pub(crate) struct RecordLayout {
    /// Number that identifies the digest or message, with which a record begins.
    pub number: u32,
    /// Struct of the records.
    pub record: SmolStr,
    /// Member of each scalar.
    pub members: Vec<SmolStr>,
}

/// Layout of the records of a log message.
#[derive(Clone, Debug)]
pub(crate) struct LogLayout {
    /// Text of the message.
    pub text: String,
    /// Types of the values.
    pub types: Vec<Type>,
    /// Layout of a record.
    pub record: RecordLayout,
}
