//! Records that packets hand to the control plane: digests and messages for a log.

use crate::FieldAbi;
use serde::{Deserialize, Serialize};

/// Digests: records in a ring buffer, `{u32 number, u32 receiver, fields}`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DigestsAbi {
    /// The ring buffer.
    pub ring: String,
    /// An array of two `u64`: how many digests found no room, which packets raise, and how many of these the control plane has
    /// reported, which it writes.
    pub lost: String,
    /// Those that packets send.
    pub records: Vec<DigestAbi>,
}

/// Messages for a log: records in a ring buffer, `{u32 number, u32 0, values}`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LogsAbi {
    /// The ring buffer.
    pub ring: String,
    /// An array of two `{u64 second, u64 count, u64 lost}`: how many messages a second had, and how many were too many or found no
    /// room, in all; and, in `lost` of the other, how many of these the control plane has reported.
    pub limit: String,
    /// The messages by number.
    pub records: Vec<LogAbi>,
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogAbi {
    /// Its text; each `{}` is the next value.
    pub text: String,
    /// Bytes of a record.
    pub size: u32,
    /// Its values in order; offsets are from the start of the record.
    pub fields: Vec<FieldAbi>,
    /// Says that the first of the fields is no value but when it was logged, in nanoseconds since the machine started.
    #[serde(default)]
    pub timed: bool,
}

/// A digest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DigestAbi {
    /// Its index in the schema's list.
    pub number: u32,
    /// Bytes of a record.
    pub size: u32,
    /// Its scalars in order; offsets are from the start of the record.
    pub fields: Vec<FieldAbi>,
}
