//! Tables, parser value sets, and the direct objects of their entries.

use crate::{LookupAbi, ValueAbi};
use serde::{Deserialize, Serialize};

/// Table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TableAbi {
    /// Number in the program and in the schema.
    pub index: u32,
    /// Control-plane name of the table.
    pub name: String,
    /// Capacity in P4 entries.
    pub capacity: u64,
    /// Look-up structure of the entries.
    pub lookup: LookupAbi,
    /// Location of the default action.
    pub default: DefaultAbi,
    /// True if the control plane must insert the program's own entries when the program is loaded, before it is
    /// attached. Otherwise they are compiled in, or there are none.
    pub preload: bool,
    /// Direct counters and meters of the entries, if there are any.
    #[serde(default)]
    pub direct: Option<DirectAbi>,
    /// Look-up structure of the members of the table's action profile, if entries may refer to members. It maps a
    /// member's number to its action, in the layout of the entries' values.
    #[serde(default)]
    pub members: Option<LookupAbi>,
}

/// Groups of an action selector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MemberGroupsAbi {
    /// Number of the selector in the program and in the schema.
    pub index: u32,
    /// Look-up structure of the groups by number. A value is one action with two parameters: the number of members, and
    /// [`MOST_MEMBERS_OF_A_GROUP`] times a `u32` as they are in memory, ascending.
    pub groups: LookupAbi,
}

/// Most members of a group.
pub const MOST_MEMBERS_OF_A_GROUP: u32 = 256;

/// Direct counters and meters of a table: arrays whose index is the entry's number minus one. Entries that are compiled
/// in are numbered in program order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DirectAbi {
    /// Number of elements in each array.
    pub entries: u32,
    /// Name of the array of counts with a copy for each core, in the layout of a [`CounterAbi`].
    pub counter: Option<String>,
    /// Name of the array of meters, in the layout of a [`MeterAbi`].
    #[serde(default)]
    pub meter: Option<String>,
}

/// Location of a default action.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DefaultAbi {
    /// Compiled in, since the program declares it `const`, or the table is never applied.
    Const,
    /// Stored in the globals.
    Global {
        /// Offsets of the slots. There is one slot if one 4-byte store can change it. Otherwise there are two: the one
        /// that is not in use is written before it is selected.
        slots: Vec<u32>,
        /// Offset of the number of the slot in use (`u32`, 0 or 1).
        selector: Option<u32>,
        /// Layout of a slot.
        value: ValueAbi,
    },
}

/// Parser value set. Values are one `u32` that is not zero, after the priority if there is one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ValueSetAbi {
    /// Number in the program and in the schema.
    pub index: u32,
    /// Control-plane name of the value set.
    pub name: String,
    /// Capacity in members.
    pub capacity: u64,
    /// Look-up structure of the members. The action number is always 1. All members have priority 0.
    pub lookup: LookupAbi,
}
