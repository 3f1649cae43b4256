//! A capture's description of the interface at which its packets were taken.

use crate::link::Link;
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use std::time::Duration;

/// An interface of a section of a pcapng file.
pub(super) struct Interface {
    pub kind: DataLink,
    /// The most bytes of a packet that are kept; zero if all are.
    pub most: u32,
    /// Bytes of the frame check sequence behind each packet.
    pub check_sequence: u32,
    /// Units of time in a second.
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
                        // The format has bits; its example and its writers have bytes. None is shorter than 16 bits.
                        bytes @ ..=8 => bytes,
                        bits => bits / 8,
                    };
                }
                _ => {}
            }
        }
        interface
    }

    /// The time that a packet's stamp stands for; none if that was before 1970.
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

/// The units of time in a second: a power of 10, or of 2 if the highest bit is set.
fn units(value: u8) -> u128 {
    let (base, power) = match value & 0x80 {
        0 => (10u128, u32::from(value)),
        _ => (2, u32::from(value & 0x7f)),
    };
    // Finer ones than a file can have are a damage that only the times show.
    base.checked_pow(power.min(63))
        .unwrap_or(u128::from(u64::MAX))
}

/// With what packets of this type begin, if that is known here.
pub(super) fn link(kind: DataLink) -> Option<Link> {
    match kind {
        DataLink::ETHERNET => Some(Link::Ethernet),
        // Some systems write the numbers that they have for themselves.
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 | DataLink::Unknown(12 | 14) => {
            Some(Link::Ip)
        }
        DataLink::LINUX_SLL => Some(Link::Cooked),
        DataLink::LINUX_SLL2 => Some(Link::Cooked2),
        DataLink::NULL | DataLink::LOOP => Some(Link::Family),
        _ => None,
    }
}

/// The link type of a pcap file, and the bytes of the frame check sequence behind each packet: the upper half of the number says whether
/// they are known, and how many 16-bit words there are.
pub(super) fn of_pcap(kind: DataLink) -> (DataLink, u32) {
    const IS_KNOWN: u32 = 1 << 26;
    let number = u32::from(kind);
    let words = match number & IS_KNOWN {
        0 => 0,
        _ => number >> 28,
    };
    (DataLink::from(number & 0xffff), 2 * words)
}
