//! Where state lies: what the functions of a file share about it.

use emit::record::Form;
use ir::{ExternInst, Type};
use smol_str::SmolStr;
use std::collections::HashMap;

/// Layouts and functions that the functions of a file have in common.
#[derive(Clone, Default, Debug)]
pub struct Shared {
    /// Layouts of the flow states in use.
    pub(crate) flow_states: HashMap<ExternInst, FlowLayout>,
    /// Layouts of the figures by group.
    pub(crate) figures: HashMap<ExternInst, FigureLayout>,
    /// The functions that add to counters, by the counters' maps.
    pub(crate) counter_functions: HashMap<SmolStr, SmolStr>,
    /// The functions that add to figures in loops, and the structs of their keys, by the figures' maps.
    pub(crate) figure_functions: HashMap<SmolStr, (SmolStr, SmolStr)>,
    /// Layouts of the registers in use.
    pub(crate) registers: HashMap<ExternInst, RegisterLayout>,
    /// Layouts of digests' records, by the digests' numbers.
    pub(crate) digests: HashMap<u32, RecordLayout>,
    /// Layouts of logged messages' records, in the order of [`layout::LogsAbi::records`].
    pub(crate) logs: Vec<LogLayout>,
}

/// A key in memory: each field in network order, one after the other, zeros up to whole words.
#[derive(Clone, Debug)]
pub(crate) struct KeyLayout {
    /// Words of 8 bytes.
    pub words: u32,
    /// Where each field begins, in bytes, and how many it has.
    pub fields: Vec<(u32, u32)>,
}

/// A flow state that the program uses.
#[derive(Clone, Debug)]
pub(crate) struct FlowLayout {
    /// The map's name.
    pub map: SmolStr,
    /// The struct of its values.
    pub set: SmolStr,
    /// The struct of a way.
    pub way: SmolStr,
    /// The key of a flow.
    pub key: KeyLayout,
    /// The member and form of each field of the value.
    pub value: Vec<(SmolStr, Form)>,
    /// How many sets there are.
    pub sets: u32,
    /// Nanoseconds after which an unused flow is gone; 0 is never.
    pub idle: u64,
}

/// Figures that the program keeps.
#[derive(Clone, Debug)]
pub(crate) struct FigureLayout {
    /// The map's name.
    pub map: SmolStr,
    /// The struct of a set.
    pub set: SmolStr,
    /// The struct of a way.
    pub way: SmolStr,
    /// The key of a group.
    pub key: KeyLayout,
    /// The item that is counted once, if figures count different ones.
    pub item: Option<KeyLayout>,
    /// How many sets each processor has.
    pub sets: u32,
}

/// A register that the program uses.
#[derive(Clone, Debug)]
pub(crate) struct RegisterLayout {
    /// The map.
    pub map: SmolStr,
    /// The struct of its cells.
    pub cell: SmolStr,
    /// The member and form of each scalar.
    pub members: Vec<(SmolStr, Form)>,
    /// The locks of its cells.
    pub locks: Locks,
}

/// The lock that an access to a register's cell takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Locks {
    /// None: no atomic block has the register.
    None,
    /// The cell's own.
    InCells,
    /// One of this map, whose values are of this struct.
    Apart {
        map: SmolStr,
        element: SmolStr,
        is_by_index: bool,
    },
}

/// Records of one kind, of a digest or a message.
#[derive(Clone, Debug)]
pub(crate) struct RecordLayout {
    /// What a record begins with.
    pub number: u32,
    /// The struct of its records.
    pub record: SmolStr,
    /// The member of each scalar.
    pub members: Vec<SmolStr>,
}

/// Records of a message for the log.
#[derive(Clone, Debug)]
pub(crate) struct LogLayout {
    /// Its text.
    pub text: String,
    /// The types of its values.
    pub types: Vec<Type>,
    /// Where a record has them.
    pub record: RecordLayout,
}
