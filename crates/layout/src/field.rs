//! Layout of keys and values: offset, size and byte order of each field.

use serde::{Deserialize, Serialize};

/// Byte order of a field. The value is right-aligned, and its high bits are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ByteOrder {
    /// Most significant byte first.
    Network,
    /// The machine's byte order.
    Host,
}

/// Scalar in a key or value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FieldAbi {
    /// P4 name of the scalar.
    pub name: String,
    /// Offset from the start of the key or value, in bytes.
    pub offset: u32,
    /// Size in bytes: enough for `width`.
    pub size: u32,
    /// Width in bits.
    pub width: u32,
    /// Byte order of the value.
    pub order: ByteOrder,
}

/// Layout of a map's key for the P4 keys of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeyAbi {
    /// Size of the key, in bytes.
    pub size: u32,
    /// Field of each P4 key, in P4 order. Offsets need not ascend.
    pub fields: Vec<FieldAbi>,
}

/// Layout of an action and its parameters, as map values and default actions hold them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ValueAbi {
    /// Size of the value, in bytes.
    pub size: u32,
    /// Offset of the entry's priority (`u32`), if the look-up needs it.
    pub priority_offset: Option<u32>,
    /// Offset of the action number, a `u32`: the index in the table's list of actions plus one. 0 means no entry.
    pub action_offset: u32,
    /// Offset of the entry's number (`u32`), if the table has direct counters or meters ([`DirectAbi`]). Numbers begin
    /// at 1; a default action has 0.
    #[serde(default)]
    pub number_offset: Option<u32>,
    /// Parameters of each action in the table's list, in order.
    pub actions: Vec<ActionAbi>,
}

/// Parameters of an action in a [`ValueAbi`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ActionAbi {
    /// Control-plane name of the action.
    pub name: String,
    /// Parameters in order. Offsets are from the start of the value.
    pub params: Vec<FieldAbi>,
}
