//! Link layers: the header that a packet begins with.

use etherparse::{EtherType, LaxSlicedPacket};

/// Link layer that a packet begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// An Ethernet header.
    Ethernet,
    /// An IPv4 or IPv6 header.
    Ip,
    /// Linux's header for packets of any interface (`LINUX_SLL`).
    Cooked,
    /// The second version of that header (`LINUX_SLL2`).
    Cooked2,
    /// The address family, in four bytes: loopback interfaces of BSD and macOS (`NULL`, `LOOP`).
    Family,
}

/// Link layer of a packet, and the headers after it.
#[derive(Debug, Default)]
pub(crate) struct LinkLayer<'a> {
    pub source: Option<[u8; 6]>,
    pub destination: Option<[u8; 6]>,
    pub headers: Option<LaxSlicedPacket<'a>>,
}

impl Link {
    pub(crate) fn read(self, bytes: &[u8]) -> LinkLayer<'_> {
        match self {
            Link::Ethernet => LinkLayer {
                source: address(bytes, 6),
                destination: address(bytes, 0),
                headers: LaxSlicedPacket::from_ethernet(bytes).ok(),
            }
            .if_whole(bytes, 14),
            Link::Ip => LinkLayer {
                headers: LaxSlicedPacket::from_ip(bytes).ok(),
                ..LinkLayer::default()
            },
            Link::Cooked => cooked(bytes, &FIRST),
            Link::Cooked2 => cooked(bytes, &SECOND),
            Link::Family => family(bytes),
        }
    }
}

impl<'a> LinkLayer<'a> {
    /// Returns nothing if the link-layer header is truncated.
    fn if_whole(self, bytes: &'a [u8], length: usize) -> LinkLayer<'a> {
        match bytes.len() >= length {
            true => self,
            false => LinkLayer::default(),
        }
    }
}

/// Field offsets in a version of Linux's header.
struct FieldOffsets {
    length: usize,
    protocol: usize,
    /// Kind of interface (`ARPHRD_...`), which decides the meaning of the protocol number.
    hardware: usize,
    /// Last byte of the length of the sender's address.
    address_length: usize,
    address: usize,
}

const FIRST: FieldOffsets = FieldOffsets {
    length: 16,
    protocol: 14,
    hardware: 2,
    address_length: 5,
    address: 6,
};
const SECOND: FieldOffsets = FieldOffsets {
    length: 20,
    protocol: 0,
    hardware: 8,
    address_length: 11,
    address: 12,
};

/// Frame Relay, GRE, Netlink, and 802.11 with a monitor's header: their protocol numbers are not EtherTypes.
const OTHER_PROTOCOLS: [u16; 4] = [770, 778, 824, 803];
/// Least EtherType: smaller numbers are lengths, or Linux's own.
const FIRST_ETHER_TYPE: u16 = 0x600;

fn cooked<'a>(bytes: &'a [u8], layout: &FieldOffsets) -> LinkLayer<'a> {
    let Some((header, rest)) = bytes.split_at_checked(layout.length) else {
        return LinkLayer::default();
    };
    let number = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let protocol = number(layout.protocol);
    let is_ether_type =
        protocol >= FIRST_ETHER_TYPE && !OTHER_PROTOCOLS.contains(&number(layout.hardware));
    LinkLayer {
        source: match header[layout.address_length] {
            6 => address(header, layout.address),
            _ => None,
        },
        destination: None,
        headers: is_ether_type.then(|| LaxSlicedPacket::from_ether_type(EtherType(protocol), rest)),
    }
}

/// Reads the headers after an address family, which is in the byte order of the capturing machine.
fn family(bytes: &[u8]) -> LinkLayer<'_> {
    const FOUR: u32 = 2;
    /// Values of Linux, NetBSD and OpenBSD, FreeBSD, and macOS.
    const SIX: [u32; 4] = [10, 24, 28, 30];
    let Some((family, rest)) = bytes.split_first_chunk::<4>() else {
        return LinkLayer::default();
    };
    let family = u32::from_be_bytes(*family);
    // All families are below 256.
    let family = if family > 0xff {
        family.swap_bytes()
    } else {
        family
    };
    let is_ip = family == FOUR || SIX.contains(&family);
    LinkLayer {
        headers: is_ip.then(|| LaxSlicedPacket::from_ip(rest).ok()).flatten(),
        ..LinkLayer::default()
    }
}

fn address(bytes: &[u8], at: usize) -> Option<[u8; 6]> {
    bytes.get(at..)?.first_chunk().copied()
}
