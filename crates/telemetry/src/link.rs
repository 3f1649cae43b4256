//! The header that a packet begins with.

use etherparse::{EtherType, LaxSlicedPacket};

/// The link layer with which a packet begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// An Ethernet header.
    Ethernet,
    /// An IPv4 or IPv6 header.
    Ip,
    /// The header that Linux makes of any interface's (`LINUX_SLL`).
    Cooked,
    /// Its second version (`LINUX_SLL2`).
    Cooked2,
    /// The family of addresses, in four bytes: loopback interfaces of BSD and macOS (`NULL`, `LOOP`).
    Family,
}

/// A packet's link layer, and the headers behind it.
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
    /// Nothing of a header that is cut.
    fn if_whole(self, bytes: &'a [u8], length: usize) -> LinkLayer<'a> {
        match bytes.len() >= length {
            true => self,
            false => LinkLayer::default(),
        }
    }
}

/// Offsets of the fields of a version of Linux's header.
struct Layout {
    length: usize,
    protocol: usize,
    /// The kind of interface (`ARPHRD_...`), which says whose numbers the protocol is one of.
    hardware: usize,
    /// The last byte of the length of the sender's address.
    address_length: usize,
    address: usize,
}

const FIRST: Layout = Layout {
    length: 16,
    protocol: 14,
    hardware: 2,
    address_length: 5,
    address: 6,
};
const SECOND: Layout = Layout {
    length: 20,
    protocol: 0,
    hardware: 8,
    address_length: 11,
    address: 12,
};

/// Frame Relay, GRE, Netlink, and 802.11 with the header of a monitor: their protocols are no EtherTypes.
const OTHER_PROTOCOLS: [u16; 4] = [770, 778, 824, 803];
/// Smaller numbers are lengths, or Linux's own.
const FIRST_ETHER_TYPE: u16 = 0x600;

fn cooked<'a>(bytes: &'a [u8], layout: &Layout) -> LinkLayer<'a> {
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

/// Behind a family of addresses, in the byte order of who captured it.
fn family(bytes: &[u8]) -> LinkLayer<'_> {
    const FOUR: u32 = 2;
    /// Of Linux, NetBSD and OpenBSD, FreeBSD, macOS.
    const SIX: [u32; 4] = [10, 24, 28, 30];
    let Some((family, rest)) = bytes.split_first_chunk::<4>() else {
        return LinkLayer::default();
    };
    let family = u32::from_be_bytes(*family);
    // All of them have one byte.
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
