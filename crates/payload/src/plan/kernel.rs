//! What finding an attribute takes of the kernel's verifier, and how long it takes: measured constants, in one place.
//!
//! All are estimates for planning, measured on one shared machine (x86-64, Linux 6.18). Those of skipping and searching are what parsers of `ebpf_model` in
//! plain P4 take (`bench/results/payload.md`), which Onpath compiles to tables and searches; the others are of hand-written loops.

use super::Scan;
use asic::{Model, Payload, Resource, Technique, Usage};

/// Instructions that the kernel's verifier processes of a program, at most (`BPF_COMPLEXITY_LIMIT_INSNS`).
const VERIFIED: u64 = 1_000_000;

/// Measured: instructions processed of a skip-ahead parser with 512 kinds of attributes, which is compiled to a table of sizes and one loop. They do
/// not grow with the kinds, nor with the attributes of a message.
const SKIP_AHEAD_VERIFIED: u64 = 91;

/// Measured: instructions processed of a search for a value of 25 bytes, whatever the number of bytes that are searched: it is a loop.
const SEARCH_VERIFIED: u64 = 2_485;

/// Measured: instructions processed of an automaton over bytes, at most.
const AUTOMATON_VERIFIED: u64 = 320;

/// Instructions processed of a parser that jumps: it grows with its own length only. An estimate from programs of one header.
const DIRECT_VERIFIED: u64 = 64;

/// Measured: hand-written code for a look at one field takes 2 to 5 ns more than an empty program.
const DIRECT_NS: f64 = 3.0;

/// Measured: a loop over a table of sizes takes 11, 40, 216 and 1,874 ns for 8, 16, 64 and 512 attributes.
const SKIP_AHEAD_NS: f64 = 216.0 / 64.0;

/// Measured: 59 ns for a value of 25 bytes at the end of 1,400 bytes of text. Of values of less than 10 bytes more: 0.21 ns a byte.
const SEARCH_NS: f64 = 59.0 / 1400.0;

/// Measured: 3.2 to 3.4 ns a byte.
const AUTOMATON_NS: f64 = 3.3;

/// Linux as a target, at XDP and at traffic control alike.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// What looking at each byte is.
    pub scan: Scan,
}

impl Model for Kernel {
    fn name(&self) -> &'static str {
        "Linux"
    }

    /// The same for every payload, since all are loops. `None` for recirculation, which the kernel has no need of.
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

/// What it adds to a packet that is searched to its end, in ns.
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
