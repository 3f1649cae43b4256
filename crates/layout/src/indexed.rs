//! State by index: counters, meters and registers.

use crate::FieldAbi;
use serde::{Deserialize, Serialize};

/// A counter array, per processor: a `u64` each, of packets or of bytes, or two, packets and bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CounterAbi {
    /// Its number in the program and in the schema.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// Array or hash with a copy for each core, from `u32` to one or two `u64`, as the map's value size says.
    pub map: String,
    /// How many counters.
    pub size: u64,
}

/// Meters with an index: an array of `{u32 lock, u32 limited, u64 last, bucket committed, bucket peak}`, a bucket being
/// `{u64 whole, u64 parts, u64 burst, u64 tokens, u64 part}`: whole tokens and millionths that a microsecond brings, the most that
/// it holds, and what it holds. `last` is in microseconds. All of it is read and written under the lock. A meter that is not `limited` is green.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MeterAbi {
    /// Its number in the program and in the schema.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// Array map from `u32`.
    pub map: String,
    /// How many meters.
    pub size: u64,
}

/// A register: an array map of cells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RegisterAbi {
    /// Its number in the program and in the schema.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// Array map from `u32` to a cell.
    pub map: String,
    /// How many cells.
    pub size: u64,
    /// A cell's scalars in order.
    pub fields: Vec<FieldAbi>,
    /// A cell begins with a lock, under which it is read and written.
    #[serde(default)]
    pub locked: bool,
}
