//! Interfaces of a capture: the descriptions of where its packets were captured.

use crate::link::Link;
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use std::time::Duration;

/// Interface of a section of a pcapng file.
pub(super) struct Interface {
    pub kind: DataLink,
    /// Greatest number of bytes of a packet that were captured; zero if all were.
    pub most: u32,
    /// Number of bytes of the frame check sequence after each packet.
    pub check_sequence: u32,
    /// Number of time units in a second.
    units: u128,
    /// Seconds to add to each time.
    offset: i64,
}

impl Interface {
    pub(super) fn new(about: &InterfaceDescriptionBlock) -> Interface {
        let mut interface = Interface {
            kind: about.linktype,
            most: about.snaplen,
            check_sequence: 0,
            units: 1_000_000,
            offset: 0,
        };
        for option in &about.options {
            match option {
                InterfaceDescriptionOption::IfTsResol(value) => interface.units = units(*value),
                InterfaceDescriptionOption::IfTsOffset(seconds) => {
                    interface.offset = seconds.cast_signed();
                }
                InterfaceDescriptionOption::IfFcsLen(length) => {
                    interface.check_sequence = match u32::from(*length) {
                        // The standard counts bits, but its example and all writers count bytes. No check sequence has
                        // fewer than 16 bits.
                        bytes @ ..=8 => bytes,
                        bits => bits / 8,
                    };
                }
                _ => {}
            }
        }
        interface
    }

    /// Converts a packet's time stamp; `None` if the time was before 1970.
    pub(super) fn time(&self, stamp: u64) -> Option<Duration> {
        let stamp = u128::from(stamp);
        let seconds = (stamp / self.units) as i128 + i128::from(self.offset);
        let nanoseconds = (stamp % self.units) * 1_000_000_000 / self.units;
        Some(Duration::new(
            u64::try_from(seconds).ok()?,
            nanoseconds as u32,
        ))
    }
}

/// Returns the number of time units in a second: a power of 10, or of 2 if the highest bit is set.
fn units(value: u8) -> u128 {
    let (base, power) = match value & 0x80 {
        0 => (10u128, u32::from(value)),
        _ => (2, u32::from(value & 0x7f)),
    };
    // Resolutions finer than a file can have are damage that shows only in the times.
    base.checked_pow(power.min(63))
        .unwrap_or(u128::from(u64::MAX))
}

/// Returns the link layer of packets of this type, if it is supported.
pub(super) fn link(kind: DataLink) -> Option<Link> {
    match kind {
        DataLink::ETHERNET => Some(Link::Ethernet),
        // Some systems write their own numbers.
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 | DataLink::Unknown(12 | 14) => {
            Some(Link::Ip)
        }
        DataLink::LINUX_SLL => Some(Link::Cooked),
        DataLink::LINUX_SLL2 => Some(Link::Cooked2),
        DataLink::NULL | DataLink::LOOP => Some(Link::Family),
        _ => None,
    }
}

/// Returns the link type of a pcap file, and the size of the frame check sequence after each packet. The upper half of
/// the number has a bit that says that the size is known, and the size in 16-bit words.
pub(super) fn of_pcap(kind: DataLink) -> (DataLink, u32) {
    const IS_KNOWN: u32 = 1 << 26;
    let number = u32::from(kind);
    let words = match number & IS_KNOWN {
        0 => 0,
        _ => number >> 28,
    };
    (DataLink::from(number & 0xffff), 2 * words)
}
