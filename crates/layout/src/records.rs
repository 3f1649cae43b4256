//! Records that packets send to the control plane: digests and log messages.

use crate::FieldAbi;
use serde::{Deserialize, Serialize};

/// Digests: records in a ring buffer, `{u32 number, u32 receiver, fields}`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DigestsAbi {
    /// Name of the ring buffer.
    pub ring: String,
    /// Name of an array of two `u64`. Packets count in the first one the digests that found no room. The second one is
    /// written by the control plane: the number of these that it has reported.
    pub lost: String,
    /// Digests that packets send.
    pub records: Vec<DigestAbi>,
}

/// Log messages: records in a ring buffer, `{u32 number, u32 0, values}`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LogsAbi {
    /// Name of the ring buffer.
    pub ring: String,
    /// Name of an array of two `{u64 second, u64 count, u64 lost}`. The first one has the current second, the number of
    /// messages in that second, and the total number of messages that exceeded the limit or found no room. The second
    /// one has in `lost` the number of these that the control plane has reported.
    pub limit: String,
    /// Messages by number.
    pub records: Vec<LogAbi>,
}

/// Log message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogAbi {
    /// Text of the message. Each `{}` stands for the next value.
    pub text: String,
    /// Size of a record, in bytes.
    pub size: u32,
    /// Values in order. Offsets are from the start of the record.
    pub fields: Vec<FieldAbi>,
    /// True if the first field is the time of logging instead of a value, in nanoseconds since the machine started.
    #[serde(default)]
    pub timed: bool,
}

/// Digest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DigestAbi {
    /// Index in the schema's list.
    pub number: u32,
    /// Size of a record, in bytes.
    pub size: u32,
    /// Scalars in order. Offsets are from the start of the record.
    pub fields: Vec<FieldAbi>,
}
