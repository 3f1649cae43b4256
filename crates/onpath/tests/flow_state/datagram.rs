//! Packets of as many flows as there are numbers.

use lab::SERVER;
use std::net::Ipv6Addr;

/// Where the option stands in a packet that had no extension header.
pub const OPTION_AT: usize = 14 + 40;
/// With its header and padding.
pub const OPTION_LENGTH: usize = 16;

/// A flow's host and port at this end: no two numbers have the same.
pub fn source(number: u32) -> (Ipv6Addr, u16) {
    let [high, low] = [number >> 16, number & 0xffff].map(|half| half as u16);
    let address = Ipv6Addr::new(0xfd00, 7, 0, 0, 1, 0, high, low / 16);
    (address, 1024 + low % 16)
}

/// The number of a flow.
pub fn number(address: Ipv6Addr, port: u16) -> u32 {
    let [.., high, low] = address.segments();
    u32::from(high) << 16 | u32::from(low * 16 + port.wrapping_sub(1024) % 16)
}

/// A datagram of a flow to a port of the server, with the flow's number in it.
pub fn datagram(flow: u32, port: u16) -> Vec<u8> {
    let (address, source_port) = source(flow);
    let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd];
    packet.extend([0x60, 0, 0, 0, 0, 12, 17, 64]);
    packet.extend(address.octets());
    packet.extend(SERVER.octets());
    packet.extend(source_port.to_be_bytes());
    packet.extend(port.to_be_bytes());
    packet.extend([0, 12, 0, 0]);
    packet.extend(flow.to_be_bytes());
    // Addresses, ports, length and payload; the pseudo header has length and protocol once more.
    let words = packet[22..].chunks_exact(2);
    let sum = words.fold(12 + 17, |sum, word| {
        sum + u32::from(word[0]) * 256 + u32::from(word[1])
    });
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    let sum = if sum == 0 { 0xffff } else { sum };
    packet[60..62].copy_from_slice(&sum.to_be_bytes());
    packet
}
