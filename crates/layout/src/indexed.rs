//! State by index: counters, meters and registers.

use crate::FieldAbi;
use serde::{Deserialize, Serialize};

/// Counter array, with a copy for each processor. An element is one `u64`, of packets or of bytes, or two: packets and
/// bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CounterAbi {
    /// Number in the program and in the schema.
    pub index: u32,
    /// Control-plane name of the counter.
    pub name: String,
    /// Name of the array or hash map with a copy for each core. It maps a `u32` to one or two `u64`, as the map's value
    /// size says.
    pub map: String,
    /// Number of counters in the array.
    pub size: u64,
}

/// Indexed meters: an array of `{u32 lock, u32 limited, u64 last, bucket committed, bucket peak}`.
///
/// A bucket is `{u64 whole, u64 parts, u64 burst, u64 tokens, u64 part}`. `whole` and `parts` are the whole tokens and
/// millionths of a token that each microsecond adds. `burst` is the capacity; `tokens` and `part` are the present
/// contents. `last` is in microseconds. The element is read and written under its lock. A meter that is not `limited`
/// is green.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MeterAbi {
    /// Number in the program and in the schema.
    pub index: u32,
    /// Control-plane name of the meters.
    pub name: String,
    /// Name of the array map, from `u32` to a meter.
    pub map: String,
    /// Number of meters in the array.
    pub size: u64,
}

/// Register: an array map of cells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RegisterAbi {
    /// Number in the program and in the schema.
    pub index: u32,
    /// Control-plane name of the register.
    pub name: String,
    /// Name of the array map, from `u32` to a cell.
    pub map: String,
    /// Number of cells.
    pub size: u64,
    /// Scalars of a cell, in order.
    pub fields: Vec<FieldAbi>,
    /// True if a cell begins with a lock, under which it is read and written.
    #[serde(default)]
    pub locked: bool,
}
