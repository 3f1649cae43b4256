//! Keys and values: where each field begins, its size and the order of its bytes.

use serde::{Deserialize, Serialize};

/// The order of a field's bytes. The value is right-aligned, high bits are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ByteOrder {
    /// Most significant byte first.
    Network,
    /// The machine's own.
    Host,
}

/// A scalar in a key or value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FieldAbi {
    /// Its P4 name.
    pub name: String,
    /// Where it begins, in bytes from the start of the key or value.
    pub offset: u32,
    /// Bytes it takes: enough for `width`.
    pub size: u32,
    /// Bits that count.
    pub width: u32,
    /// The order of its bytes.
    pub order: ByteOrder,
}

/// The layout of a map's key for one P4 key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeyAbi {
    /// Bytes in all.
    pub size: u32,
    /// One a P4 key, in P4 order (offsets need not ascend).
    pub fields: Vec<FieldAbi>,
}

/// An action and its parameters, as map values and default actions hold them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ValueAbi {
    /// Bytes in all.
    pub size: u32,
    /// Where the entry's priority is (`u32`), if the look-up needs it.
    pub priority_offset: Option<u32>,
    /// Where the action number is: `u32`, the index in the table's list plus one; 0 is no entry.
    pub action_offset: u32,
    /// Where the entry's number is (`u32`), if something is kept for each entry ([`DirectAbi`]): from 1 on; 0 in a default action.
    #[serde(default)]
    pub number_offset: Option<u32>,
    /// For each action of the table's list, its parameters in order.
    pub actions: Vec<ActionAbi>,
}

/// An action's parameters in a [`ValueAbi`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ActionAbi {
    /// The action's control-plane name.
    pub name: String,
    /// Offsets are from the start of the value.
    pub params: Vec<FieldAbi>,
}
