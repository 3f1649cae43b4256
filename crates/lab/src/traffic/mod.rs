//! Traffic whose receiver knows what must arrive.

pub mod datagrams;
pub mod http;
pub mod iperf;
mod pattern;
pub mod ping;
pub mod tcp;
pub mod udp;

use std::time::Duration;

/// Result of a transfer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transferred {
    /// Number of bytes that arrived intact.
    pub bytes: u64,
    /// Offset of the first corrupted byte, if any.
    pub corrupted_at: Option<u64>,
    /// Time from the start of the transfer to the last byte.
    pub time: Duration,
    /// Longest time in which nothing arrived.
    pub longest_gap: Duration,
}

/// Amount of data to transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// Number of bytes.
    Bytes(u64),
    /// Amount that is transferred in this time.
    Time(Duration),
}
