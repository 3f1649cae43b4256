//! Test messages in UDP: sequences of attributes, each a tag and a value. Also P4 parsers that find the last attribute,
//! the query attribute.

use std::fmt::Write;

/// Size of every packet's payload, in bytes.
pub(super) const PAYLOAD: usize = 1400;
/// Size of the query attribute with its tag, in bytes.
pub(super) const QUERY: usize = 25;
/// Value of the query attribute, after its tag.
const VALUE: &[u8; QUERY - 2] = b"city=Paris;country=Fr..";
/// UDP port of the messages.
pub(super) const PORT: u16 = 7000;
/// Addresses of the sender and the receiver.
pub(super) const ADDRESSES: [[u8; 4]; 2] = [[10, 77, 0, 1], [10, 77, 0, 2]];
/// Link-layer addresses of the sender and the receiver.
pub(super) const LINKS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
/// Size of the headers before a payload, in bytes.
pub(super) const HEADERS: usize = 42;

/// Technique by which a parser finds the query attribute, and its knowledge of the attributes before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Technique {
    /// Advance by a constant: the sizes and the order of the attributes are known.
    DirectJump,
    /// Advance attribute by attribute: the tag gives the size.
    SkipAhead,
    /// Compare at every byte: nothing is known about the attributes.
    ByteByByte,
}

impl Technique {
    pub(super) const ALL: [Technique; 3] = [
        Technique::DirectJump,
        Technique::SkipAhead,
        Technique::ByteByByte,
    ];

    /// Returns its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Technique::DirectJump => "direct jump",
            Technique::SkipAhead => "skip ahead",
            Technique::ByteByByte => "byte by byte",
        }
    }
}

/// Message of attributes, each with a tag of two bytes. The last one is the query attribute. Letters, which no parser
/// reads, fill the rest of the payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Message {
    /// Size of each attribute with its tag, in bytes.
    sizes: Vec<usize>,
}

impl Message {
    /// Makes a message of 25-byte attributes. `parsed` is the size of all of them, a multiple of 25.
    pub(super) fn of_bytes(parsed: usize) -> Message {
        Message {
            sizes: vec![QUERY; parsed / QUERY],
        }
    }

    /// Makes a message of this number of attributes, at least two. They fill the payload.
    pub(super) fn of_attributes(number: usize) -> Message {
        let others = number - 1;
        let bytes = PAYLOAD - QUERY;
        let mut sizes: Vec<usize> = vec![bytes / others; others];
        sizes[0] += bytes % others;
        sizes.push(QUERY);
        Message { sizes }
    }

    /// Returns the number of bytes before the query attribute.
    fn skipped(&self) -> usize {
        self.sizes.iter().sum::<usize>() - QUERY
    }

    /// Returns the query attribute: its tag and its value.
    pub(super) fn query(&self) -> Vec<u8> {
        let mut query = tag(self.sizes.len() - 1).to_vec();
        query.extend(VALUE);
        query
    }

    /// Returns the payload of a packet.
    pub(super) fn payload(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (number, size) in self.sizes.iter().enumerate() {
            let end = bytes.len() + size;
            bytes.extend(tag(number));
            while bytes.len() < end {
                bytes.push(letter(bytes.len()));
            }
        }
        bytes.truncate(self.skipped());
        bytes.extend(self.query());
        while bytes.len() < PAYLOAD {
            bytes.push(letter(bytes.len()));
        }
        bytes
    }

    /// Returns the packet, from the Ethernet header on.
    pub(super) fn packet(&self) -> Vec<u8> {
        let payload = self.payload();
        let mut packet = [LINKS[1], LINKS[0]].concat();
        packet.extend([8, 0]);
        let mut ip = vec![0x45, 0];
        ip.extend((payload.len() as u16 + 28).to_be_bytes());
        ip.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
        ip.extend(ADDRESSES.concat());
        let words = ip
            .chunks(2)
            .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
        let sum = words.sum::<u32>();
        let sum = (sum & 0xffff) + (sum >> 16);
        ip[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        packet.extend(ip);
        packet.extend(5000u16.to_be_bytes());
        packet.extend(PORT.to_be_bytes());
        packet.extend((payload.len() as u16 + 8).to_be_bytes());
        packet.extend([0, 0]);
        packet.extend(payload);
        packet
    }

    /// Returns the P4 text of a parser of messages with this layout. Its control adds 1 to a tally for each packet with
    /// the query attribute, or the packet's timestamp if `timed`.
    pub(super) fn program(&self, technique: Technique, timed: bool) -> String {
        let query: String = self.query().iter().map(|b| format!("{b:02x}")).collect();
        let (locals, states) = match technique {
            Technique::DirectJump => ("", self.direct_jump()),
            Technique::SkipAhead => ("", self.skip_ahead()),
            Technique::ByteByByte => ("    bit<16> left;\n", BYTE_BY_BYTE.to_string()),
        };
        let value = if timed { "input.timestamp" } else { "1" };
        format!(
            "#include <core.p4>
#include <tap_model.p4>
header ethernet_t {{ bit<48> dst; bit<48> src; bit<16> type; }}
header ipv4_t {{
    bit<4> version; bit<4> ihl; bit<8> dscp_ecn; bit<16> length;
    bit<16> id; bit<3> flags; bit<13> frag_offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}}
header udp_t {{ bit<16> src; bit<16> dst; bit<16> length; bit<16> checksum; }}
header mark_t {{ }}
struct headers_t {{ ethernet_t eth; ipv4_t ipv4; udp_t udp; mark_t found; }}
const bit<200> QUERY = 0x{query};
parser prs(packet_in packet, out headers_t hdr) {{
{locals}    state start {{
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {{ 0x0800: ipv4; default: accept; }}
    }}
    state ipv4 {{
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {{
            (5, 0, 17): udp;
            default: accept;
        }}
    }}
    state udp {{
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst) {{ {PORT}: message; default: accept; }}
    }}
{states}    state value {{
        transition select(packet.lookahead<bit<200>>()) {{ QUERY: found; default: accept; }}
    }}
    state found {{ packet.extract(hdr.found); transition accept; }}
}}
control watch(in headers_t hdr, in tap_input input) {{
    tally<bit<1>>(8) found;
    apply {{
        if (hdr.found.isValid()) {{ found.add(0, {value}); }}
    }}
}}
tap(prs(), watch()) main;
"
        )
    }

    fn direct_jump(&self) -> String {
        match self.skipped() {
            0 => "    state message { transition value; }\n".into(),
            bytes => {
                format!("    state message {{ packet.advance(8 * {bytes}); transition value; }}\n")
            }
        }
    }

    fn skip_ahead(&self) -> String {
        let number = |at: usize| u16::from_be_bytes(tag(at));
        let (mut cases, mut states) = (String::new(), String::new());
        let mut sizes = Vec::new();
        let others = &self.sizes[..self.sizes.len() - 1];
        for (at, &size) in others.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(cases, "            {}: skip_{size};", number(at));
            if !sizes.contains(&size) {
                sizes.push(size);
                let _ = writeln!(
                    states,
                    "    state skip_{size} {{ packet.advance(8 * {size}); transition message; }}"
                );
            }
        }
        format!(
            "    state message {{
        transition select(packet.lookahead<bit<16>>()) {{
{cases}            {}: value;
            default: accept;
        }}
    }}
{states}",
            number(others.len())
        )
    }
}

const BYTE_BY_BYTE: &str = "    state message {
        left = hdr.udp.length |-| 8;
        transition search;
    }
    state search {
        transition select(left >= 25) { true: compare; default: accept; }
    }
    state compare {
        transition select(packet.lookahead<bit<200>>()) { QUERY: found; default: next; }
    }
    state next {
        packet.advance(8);
        left = left - 1;
        transition search;
    }
";

/// Returns the tag of the attribute with this index. No byte of it is a letter.
fn tag(number: usize) -> [u8; 2] {
    (number as u16 + 1).to_be_bytes()
}

/// Returns the pseudo-random letter at an offset, the same in each run.
fn letter(at: usize) -> u8 {
    let x = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    b'a' + ((x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u8 % 26
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_attribute_ends_what_is_parsed_and_is_nowhere_else() {
        let of_bytes = [200, 400, 800, 1200, 1400].map(|n| (Message::of_bytes(n), n));
        let of_attributes = [2, 8, 56].map(|n| (Message::of_attributes(n), PAYLOAD));
        for (message, end) in of_bytes.into_iter().chain(of_attributes) {
            let payload = message.payload();
            assert_eq!(payload.len(), PAYLOAD);
            let found: Vec<usize> = payload
                .windows(QUERY)
                .enumerate()
                .filter(|(_, window)| **window == message.query())
                .map(|(at, _)| at + QUERY)
                .collect();
            assert_eq!(found, [end]);
        }
    }
}
