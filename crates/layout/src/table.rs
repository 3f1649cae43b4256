//! Tables, parser value sets, and what is kept beside their entries.

use crate::{LookupAbi, ValueAbi};
use serde::{Deserialize, Serialize};

/// A table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TableAbi {
    /// Its number in the program and in the schema.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// How many P4 entries it may hold.
    pub capacity: u64,
    /// How entries are found.
    pub lookup: LookupAbi,
    /// Where the default action is.
    pub default: DefaultAbi,
    /// The program's own entries are to be put in by the control plane when the program is loaded, before
    /// it is attached. Otherwise they are compiled in, or there are none.
    pub preload: bool,
    /// What is kept for each entry, if anything is.
    #[serde(default)]
    pub direct: Option<DirectAbi>,
    /// The members of its action profile, if entries may name them: by number what each runs, in the form of the entries' values.
    #[serde(default)]
    pub members: Option<LookupAbi>,
}

/// The groups of an action selector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MemberGroupsAbi {
    /// The selector's number in the program and in the schema.
    pub index: u32,
    /// By number what each has: as one action with two parameters, how many members, and [`MOST_MEMBERS_OF_A_GROUP`] times a `u32`
    /// as they lie in memory, ascending.
    pub groups: LookupAbi,
}

/// Members that a group may have.
pub const MOST_MEMBERS_OF_A_GROUP: u32 = 256;

/// What is kept for each entry of a table: the element of arrays at the entry's number minus one. Entries that are compiled in
/// have the numbers of their order in the program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DirectAbi {
    /// How many numbers there are.
    pub entries: u32,
    /// Array of counts with a copy for each core, as those of a [`CounterAbi`].
    pub counter: Option<String>,
    /// Array of meters as those of a [`MeterAbi`].
    #[serde(default)]
    pub meter: Option<String>,
}

/// A default action.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DefaultAbi {
    /// Compiled in; the program made it `const`, or the table is never applied.
    Const,
    /// In the globals.
    Global {
        /// Where its values are: one if storing it is one 4-byte store, else two, of which the one
        /// that is not in use is written before it is selected.
        slots: Vec<u32>,
        /// Where the number (`u32`, 0 or 1) of the slot in use is.
        selector: Option<u32>,
        /// The layout of a slot.
        value: ValueAbi,
    },
}

/// A parser value set. Values are one `u32`, not zero, after the priority if there is one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ValueSetAbi {
    /// Its number in the program and in the schema.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// How many members it may hold.
    pub capacity: u64,
    /// How members are found; the action number is always 1. All members have priority 0.
    pub lookup: LookupAbi,
}
