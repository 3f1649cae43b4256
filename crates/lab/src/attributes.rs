//! Messages of attributes whose sizes are given by their tags, and a P4 parser that skips all attributes but one.

use std::fmt::Write;

/// Value that the parser looks for.
pub const VALUE: u8 = 7;

/// Messages with this number of kinds of attributes (2 to 65,535). Tags have 16 bits and begin at 1. The last kind is
/// the query attribute, with a value of one byte. A packet is forwarded if that value is [`VALUE`].
#[derive(Clone, Copy, Debug)]
pub struct Messages {
    /// Number of kinds, including the query attribute.
    pub kinds: u16,
}

impl Messages {
    /// Returns the size of an attribute in bytes, including its tag.
    pub fn size(tag: u16) -> u8 {
        3 + (tag % 5) as u8
    }

    /// Returns the parser in plain P4: a case for each kind, and a state for each size.
    pub fn program(self) -> String {
        let mut cases = String::new();
        for tag in 1..self.kinds {
            // Writing to a string does not fail.
            let _ = writeln!(cases, "            {tag}: skip_{};", Self::size(tag));
        }
        let states: String = (3..8)
            .map(|size| {
                format!("    state skip_{size} {{ packet.advance(8 * {size}); transition attribute; }}\n")
            })
            .collect();
        format!(
            "#include <core.p4>
#include <ebpf_model.p4>
header ethernet_t {{ bit<48> dst; bit<48> src; bit<16> type; }}
header query_t {{ bit<16> tag; bit<8> value; }}
struct headers_t {{ ethernet_t eth; query_t query; }}
parser prs(packet_in packet, out headers_t hdr) {{
    state start {{
        packet.extract(hdr.eth);
        transition attribute;
    }}
    state attribute {{
        transition select(packet.lookahead<bit<16>>()) {{
{cases}            {}: query;
            default: accept;
        }}
    }}
{states}    state query {{ packet.extract(hdr.query); transition accept; }}
}}
control check(inout headers_t hdr, out bool pass) {{
    apply {{ pass = hdr.query.isValid() && hdr.query.value == {VALUE}; }}
}}
ebpfFilter(prs(), check()) main;
",
            self.kinds
        )
    }

    /// Returns a packet with one attribute of each kind. The query attribute is the last, and has this value.
    pub fn packet(self, value: u8) -> Vec<u8> {
        let mut packet = vec![0; 14];
        for tag in (1..self.kinds).rev() {
            packet.extend(tag.to_be_bytes());
            packet.resize(packet.len() + usize::from(Self::size(tag)) - 2, 0xff);
        }
        packet.extend(self.kinds.to_be_bytes());
        packet.push(value);
        packet
    }
}
