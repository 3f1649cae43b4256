//! Packets of numbered flows.

use lab::SERVER;
use std::net::Ipv6Addr;

/// Offset of the option in a packet that had no extension header, in bytes.
pub(crate) const OPTION_AT: usize = 14 + 40;
/// Length of the option with its header and padding, in bytes.
pub(crate) const OPTION_LENGTH: usize = 16;

/// Returns a flow's address and port at this end, which are unique to its number.
pub(crate) fn source(number: u32) -> (Ipv6Addr, u16) {
    let [high, low] = [number >> 16, number & 0xffff].map(|half| half as u16);
    let address = Ipv6Addr::new(0xfd00, 7, 0, 0, 1, 0, high, low / 16);
    (address, 1024 + low % 16)
}

/// Returns the number of a flow.
pub(crate) fn number(address: Ipv6Addr, port: u16) -> u32 {
    let [.., high, low] = address.segments();
    u32::from(high) << 16 | u32::from(low * 16 + port.wrapping_sub(1024) % 16)
}

/// A packet with headers of Ethernet, IPv6 and UDP, and a flow's number.
pub(crate) type Datagram = [u8; 66];

/// Returns a datagram of a flow to a port of the server, with the flow's number in it. Nothing is allocated, as there
/// are millions of them.
pub(crate) fn datagram(flow: u32, port: u16) -> Datagram {
    const ADDRESSES: [u8; 14] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd];
    const IPV6: [u8; 8] = [0x60, 0, 0, 0, 0, 12, 17, 64];
    let (address, source_port) = source(flow);
    let mut packet = [0; 66];
    packet[..14].copy_from_slice(&ADDRESSES);
    packet[14..22].copy_from_slice(&IPV6);
    packet[22..38].copy_from_slice(&address.octets());
    packet[38..54].copy_from_slice(&SERVER.octets());
    packet[54..56].copy_from_slice(&source_port.to_be_bytes());
    packet[56..58].copy_from_slice(&port.to_be_bytes());
    packet[59] = 12;
    packet[62..].copy_from_slice(&flow.to_be_bytes());
    // The checksum covers addresses, ports, length and payload. The pseudo header adds length and protocol.
    let mut sum: u32 = 12 + 17;
    let mut at = 22;
    while at < packet.len() {
        sum += u32::from(packet[at]) << 8 | u32::from(packet[at + 1]);
        at += 2;
    }
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = match !((sum & 0xffff) + (sum >> 16)) as u16 {
        0 => 0xffff,
        sum => sum,
    };
    packet[60..62].copy_from_slice(&sum.to_be_bytes());
    packet
}
