//! A Tofino switch: a parser whose states are TCAM entries fills a packet header vector, from which the deparser emits.
//!
//! Bytes that the parser passes over do not reach the output by themselves: the deparser emits the vector, followed by
//! the bytes that the parser did not touch. So every byte before the queried attribute takes space in the vector. A
//! parser has no loop over positions, since each position of the payload has its own containers: it is unrolled.

use crate::{Model, Payload, Resource, Technique, Usage, growth, recirculation};

/// Size of the packet header vector, in bits. Published (container groups in p4c's `TofinoPhvSpec`): 64 containers of 8
/// bits, 96 of 16 and 64 of 32.
pub const HEADER_VECTOR_BITS: u64 = 64 * 8 + 96 * 16 + 64 * 32;

/// Number of bits that only parser and deparser use. Published (tagalong containers there): 32 containers of 8 bits, 48
/// of 16 and 32 of 32.
pub const TAGALONG_BITS: u64 = 32 * 8 + 48 * 16 + 32 * 32;

/// Number of bits that are not available for the payload: headers before it, intrinsic and bridged metadata, validity
/// bits, and remainders of containers. Fitted: 188 of 768 bytes, so that the published 580 bytes are left for a direct
/// jump; 42 of them are Ethernet, IPv4 and UDP.
pub const RESERVED_BITS: u64 = 188 * 8;

/// Number of TCAM entries of a parser. Published (`numTcamRows` in p4c's `TofinoPardeSpec`).
pub const PARSER_ENTRIES: u64 = 256;

/// Number of entries before the payload: the start, and the transitions of Ethernet, IPv4 and UDP with their defaults.
/// Fitted: with 6, the published 50 bytes fit byte by byte, and 51 do not.
pub const BASE_ENTRIES: u64 = 6;

/// Number of bytes that a state compares. Published (match registers there): one of 16 bits and two of 8.
pub const MATCH_BYTES: u32 = 4;

/// Number of bytes that a state extracts. Published (`extractorSpec` there): four containers each of 8, 16 and 32 bits.
pub const EXTRACT_BYTES: u32 = 4 + 4 * 2 + 4 * 4;

/// Returns the latency that parsing adds to a packet in the pipeline, in ns. Published: none, since a parser runs at
/// line rate. `None` for recirculation, whose latency is not published.
pub fn added_ns(technique: Technique) -> Option<f64> {
    (technique != Technique::Recirculation).then_some(0.0)
}

/// Model of the switch; see the module.
#[derive(Clone, Copy, Debug)]
pub struct Tofino;

impl Model for Tofino {
    fn name(&self) -> &'static str {
        "Tofino switch"
    }

    fn usage(&self, technique: Technique, payload: Payload) -> Option<Vec<Usage>> {
        let words = u64::from(payload.attribute_bytes.div_ceil(MATCH_BYTES));
        let entries = match technique {
            // Nothing is compared; the number of states depends on the bytes to extract.
            Technique::DirectJump => u64::from(payload.bytes.div_ceil(EXTRACT_BYTES)),
            // Only the state records which attributes were seen. In any order, there is a state for each pair of a
            // position and an attribute, and an attribute passes through the match registers.
            Technique::SkipAhead => growth::states(payload.attributes, payload.order) * words,
            // Each position has a hit and a miss for each word of the value, and one entry that passes over the byte.
            Technique::ByteByByte => u64::from(payload.bytes) * (2 * words + 1),
            // There is one position, in each pass of the packet.
            Technique::Recirculation => 2 * words + 1,
        };
        let mut usage = vec![Usage {
            resource: Resource::ParserEntries,
            needed: BASE_ENTRIES + entries,
            available: PARSER_ENTRIES,
        }];
        let held = match technique {
            Technique::Recirculation => payload.attribute_bytes,
            _ => payload.bytes,
        };
        usage.push(Usage {
            resource: Resource::HeaderVectorBits,
            needed: RESERVED_BITS + u64::from(held) * 8,
            available: HEADER_VECTOR_BITS + TAGALONG_BITS,
        });
        if technique == Technique::Recirculation {
            usage.push(Usage {
                resource: Resource::RecirculationMbps,
                needed: (recirculation::load_gbps(payload.bytes) * 1_000.0).ceil() as u64,
                available: (recirculation::PORT_GBPS * 1_000.0) as u64,
            });
        }
        Some(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Order, PUBLISHED_VALUE_BYTES, max_attributes, max_bytes};

    #[test]
    fn direct_jump_reaches_580_bytes_in_the_header_vector() {
        let limit = max_bytes(&Tofino, Technique::DirectJump, PUBLISHED_VALUE_BYTES);
        assert_eq!(limit, Some((580, Resource::HeaderVectorBits)));
    }

    #[test]
    fn byte_by_byte_reaches_50_bytes_of_parser_entries() {
        let limit = max_bytes(&Tofino, Technique::ByteByByte, PUBLISHED_VALUE_BYTES);
        assert_eq!(limit, Some((50, Resource::ParserEntries)));
    }

    #[test]
    fn skip_ahead_holds_9_attributes_of_12_bytes() {
        let limit = max_attributes(&Tofino, Technique::SkipAhead, Order::Any, 12);
        assert_eq!(limit, Some((9, Resource::ParserEntries)));
    }

    #[test]
    fn recirculation_is_limited_by_bandwidth_a_little_beyond_100_bytes() {
        let (bytes, limit) = max_bytes(&Tofino, Technique::Recirculation, 8).unwrap();
        assert!((100..=105).contains(&bytes), "{bytes}");
        assert_eq!(limit, Resource::RecirculationMbps);
    }
}
