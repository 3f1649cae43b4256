//! Costs of finding an attribute in the kernel: instructions that the verifier processes, and time. Measured constants,
//! in one place.
//!
//! All are estimates for planning, measured on one shared machine (x86-64, Linux 6.18). Those of skipping and searching
//! were measured on the parsers of `ebpf_model` in plain P4 (`bench/results/payload.md`), which Onpath compiles to
//! tables and searches. The others come from hand-written loops.

use super::Scan;
use asic::{Model, Payload, Resource, Technique, Usage};

/// Greatest number of instructions that the kernel's verifier processes for a program (`BPF_COMPLEXITY_LIMIT_INSNS`).
const VERIFIED: u64 = 1_000_000;

/// Measured: instructions processed for a skip-ahead parser with 512 kinds of attributes. It compiles to a table of
/// sizes and one loop, so the number grows neither with the kinds nor with the attributes of a message.
const SKIP_AHEAD_VERIFIED: u64 = 91;

/// Measured: instructions processed for a search for a value of 25 bytes. It is a loop, so the number of bytes searched
/// does not matter.
const SEARCH_VERIFIED: u64 = 2_485;

/// Measured: instructions processed for an automaton over bytes, at most.
const AUTOMATON_VERIFIED: u64 = 320;

/// Instructions processed for a direct jump: they grow only with the parser's own length. An estimate from programs of
/// one header.
const DIRECT_VERIFIED: u64 = 64;

/// Measured: hand-written code that reads one field takes 2 to 5 ns more than an empty program.
const DIRECT_NS: f64 = 3.0;

/// Measured: a loop over a table of sizes takes 11, 40, 216 and 1,874 ns for 8, 16, 64 and 512 attributes.
const SKIP_AHEAD_NS: f64 = 216.0 / 64.0;

/// Measured: 59 ns for a value of 25 bytes at the end of 1,400 bytes of text. Values of less than 10 bytes take longer:
/// 0.21 ns a byte.
const SEARCH_NS: f64 = 59.0 / 1400.0;

/// Measured: 3.2 to 3.4 ns a byte.
const AUTOMATON_NS: f64 = 3.3;

/// Cost model of Linux, for XDP and traffic control alike.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Work on each byte.
    pub scan: Scan,
}

impl Model for Kernel {
    fn name(&self) -> &'static str {
        "Linux"
    }

    /// Returns the same usage for every payload, since all parsers are loops. `None` for recirculation, which the
    /// kernel does not need.
    fn usage(&self, technique: Technique, _: Payload) -> Option<Vec<Usage>> {
        let needed = match (technique, self.scan) {
            (Technique::DirectJump, _) => DIRECT_VERIFIED,
            (Technique::SkipAhead, _) => SKIP_AHEAD_VERIFIED,
            (Technique::ByteByByte, Scan::Search) => SEARCH_VERIFIED,
            (Technique::ByteByByte, Scan::Automaton) => AUTOMATON_VERIFIED,
            (Technique::Recirculation, _) => return None,
        };
        Some(vec![Usage {
            resource: Resource::VerifiedInstructions,
            needed,
            available: VERIFIED,
        }])
    }
}

/// Estimates the time, in ns, added to a packet that is searched to its end.
pub(super) fn cost(technique: Technique, scan: Scan, payload: Payload) -> Option<f64> {
    match (technique, scan) {
        (Technique::DirectJump, _) => Some(DIRECT_NS),
        (Technique::SkipAhead, _) => Some(f64::from(payload.attributes) * SKIP_AHEAD_NS),
        (Technique::ByteByByte, Scan::Search) => Some(f64::from(payload.bytes) * SEARCH_NS),
        (Technique::ByteByByte, Scan::Automaton) => Some(f64::from(payload.bytes) * AUTOMATON_NS),
        (Technique::Recirculation, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asic::Order;

    #[test]
    fn skipping_has_no_limit_and_costs_by_the_attribute() {
        let model = Kernel { scan: Scan::Search };
        let most = asic::max_attributes(&model, Technique::SkipAhead, Order::Any, 12);
        assert_eq!(most, None);
        let of = |attributes| Payload::of_attributes(attributes, Order::Any, 12);
        let cost = |attributes| cost(Technique::SkipAhead, Scan::Search, of(attributes)).unwrap();
        assert_eq!(cost(64), 216.0);
        assert_eq!(cost(128), 2.0 * cost(64));
    }

    #[test]
    fn a_loop_over_bytes_has_no_limit() {
        let model = Kernel { scan: Scan::Search };
        assert_eq!(asic::max_bytes(&model, Technique::ByteByByte, 8), None);
        let payload = Payload::of_bytes(1_000, 8);
        let cost = |scan| cost(Technique::ByteByByte, scan, payload).unwrap();
        assert!(cost(Scan::Search) < cost(Scan::Automaton));
    }
}
