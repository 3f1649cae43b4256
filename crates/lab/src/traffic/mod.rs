//! Traffic that knows what must arrive.

pub mod datagrams;
pub mod http;
pub mod iperf;
mod pattern;
pub mod ping;
pub mod tcp;
pub mod udp;

use std::time::Duration;

/// What a transfer came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transferred {
    /// Bytes that arrived and were as they should be.
    pub bytes: u64,
    /// Where the first byte that was not as it should be stands, if any.
    pub corrupted_at: Option<u64>,
    /// From the start of the transfer to the last byte.
    pub time: Duration,
    /// The longest time in which nothing arrived.
    pub longest_gap: Duration,
}

/// How much is transferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// So many bytes.
    Bytes(u64),
    /// What goes through in this time.
    Time(Duration),
}
