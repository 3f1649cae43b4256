//! A Netronome NFP network card: many cores with threads, each of which parses a packet by a program in its core's
//! instruction store.
//!
//! The compiler unrolls the parser. Bytes that are passed over are in the thread's local memory, and each position has
//! its own instructions.

use crate::{Model, Payload, Resource, Technique, Usage, growth};

/// Size of a core's instruction store, in instructions. Published (Netronome's guides for programmers of the flow
/// processing cores): 8,192.
pub const INSTRUCTIONS: u64 = 8_192;

/// Size of a core's local memory, in bytes. Published (there): 1,024 words of 32 bits.
pub const LOCAL_MEMORY_BYTES: u64 = 4_096;

/// Number of threads of a core, which share its local memory. Published (there).
pub const THREADS: u64 = 8;

/// Bytes of a thread's local memory that are not available for the payload. Fitted: one word, so that the published 508
/// bytes are left for a direct jump. The headers before the payload are assumed to stay in transfer registers.
pub const RESERVED_BYTES: u64 = 4;

/// Instructions that compare a byte: its load, alignment, comparison and branch with its delay. Fitted: with 12, the
/// published 85 bytes fit byte by byte, and 86 do not.
pub const INSTRUCTIONS_A_COMPARED_BYTE: u64 = 12;

/// Instructions that move a word from the packet to local memory: a read and a write.
pub const INSTRUCTIONS_A_WORD: u64 = 2;

/// Bytes of an attribute's tag that a state compares: one word.
pub const TAG_BYTES: u64 = 4;

/// Returns the latency that parsing adds to a packet, in ns. Published: 150 µs, whatever is parsed. `None` for
/// recirculation.
pub fn added_ns(technique: Technique) -> Option<f64> {
    (technique != Technique::Recirculation).then_some(150_000.0)
}

/// Model of the card; see the module.
#[derive(Clone, Copy, Debug)]
pub struct Nfp;

impl Model for Nfp {
    fn name(&self) -> &'static str {
        "Netronome NFP card"
    }

    /// Returns `None` for recirculation: no result for the card is published. The usage of skip-ahead is a prediction,
    /// since there is no published result to compare it with.
    fn usage(&self, technique: Technique, payload: Payload) -> Option<Vec<Usage>> {
        let bytes = u64::from(payload.bytes);
        let instructions = match technique {
            Technique::DirectJump => bytes.div_ceil(4) * INSTRUCTIONS_A_WORD,
            Technique::SkipAhead => {
                let compared = TAG_BYTES.min(u64::from(payload.attribute_bytes));
                growth::states(payload.attributes, payload.order)
                    * compared
                    * INSTRUCTIONS_A_COMPARED_BYTE
            }
            Technique::ByteByByte => {
                bytes * u64::from(payload.attribute_bytes) * INSTRUCTIONS_A_COMPARED_BYTE
            }
            Technique::Recirculation => return None,
        };
        Some(vec![
            Usage {
                resource: Resource::LocalMemoryBytes,
                needed: RESERVED_BYTES + bytes,
                available: LOCAL_MEMORY_BYTES / THREADS,
            },
            Usage {
                resource: Resource::Instructions,
                needed: instructions,
                available: INSTRUCTIONS,
            },
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Order, PUBLISHED_VALUE_BYTES, max_attributes, max_bytes};

    #[test]
    fn direct_jump_reaches_508_bytes_of_local_memory() {
        let limit = max_bytes(&Nfp, Technique::DirectJump, PUBLISHED_VALUE_BYTES);
        assert_eq!(limit, Some((508, Resource::LocalMemoryBytes)));
    }

    #[test]
    fn byte_by_byte_reaches_85_bytes_of_instructions() {
        let limit = max_bytes(&Nfp, Technique::ByteByByte, PUBLISHED_VALUE_BYTES);
        assert_eq!(limit, Some((85, Resource::Instructions)));
    }

    #[test]
    fn skip_ahead_is_limited_by_instructions() {
        let limit = max_attributes(&Nfp, Technique::SkipAhead, Order::Any, 12);
        assert_eq!(limit, Some((13, Resource::Instructions)));
    }

    #[test]
    fn nothing_is_known_of_recirculation() {
        assert_eq!(max_bytes(&Nfp, Technique::Recirculation, 8), None);
    }
}
