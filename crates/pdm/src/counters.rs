//! Counters of the programs, by the indices in `programs/pdm/mark.p4h` and `read.p4h`.

use crate::snapshot::{Count, Packets, Totals, What};

/// Sizes of the counter arrays `egress_packets` and `ingress_packets`.
pub const SIZES: [u64; 2] = [12, 13];

const fn what(name: &'static str, words: &'static str) -> What {
    What { name, words }
}

/// Reasons of the parser, from index 1 on, for not looking for an option.
const UNMEASURED: [What; 7] = [
    what("not_ipv6", "not IPv6"),
    what("other_protocol", "of another protocol"),
    what("fragment", "in fragments"),
    what("control", "of neighbour or listener discovery"),
    what("malformed", "malformed"),
    what("unreadable", "with too many extension headers"),
    what("filtered", "of flows that no filter names"),
];

/// Reasons at egress, after those of the parser.
const UNMARKED: [What; 4] = [
    what("carrying", "with an option already"),
    what("offloaded", "for segmentation offload"),
    what("exceeds_link_mtu", "too long for the interface's MTU"),
    what("exceeds_path_mtu", "too long for the path's MTU"),
];

/// Reason at ingress, after those of the parser.
const NO_OPTION: What = what("no_option", "of hosts that do not measure");

/// Change to every measured packet, unless the option is left in place or its header has something else.
pub const REMOVED: What = what("option_removed", "with the option removed");

/// Computes the totals from both programs' counters.
pub fn totals(egress: &[u64], ingress: &[u64], lost: Packets) -> Totals {
    let at = |counts: &[u64], index: usize| counts.get(index).copied().unwrap_or(0);
    let counts = |counts: &[u64], of: &[What], first: usize| -> Vec<Count> {
        let one = |(i, what): (usize, &What)| Count {
            what: *what,
            packets: at(counts, first + i),
        };
        of.iter().enumerate().map(one).collect()
    };
    let mut sent_without = counts(egress, &UNMEASURED, 1);
    sent_without.extend(counts(egress, &UNMARKED, 8));
    let mut received_without = counts(ingress, &UNMEASURED, 1);
    received_without.extend(counts(ingress, &[NO_OPTION], 8));
    let count = |name, words, packets| Count {
        what: what(name, words),
        packets,
    };
    let changed = vec![
        count(
            "mss_clamped",
            "with the maximum segment size lowered",
            at(ingress, 11),
        ),
        Count {
            what: REMOVED,
            packets: at(ingress, 9),
        },
        count(
            "option_padded",
            "with the option overwritten by padding",
            at(ingress, 10),
        ),
        count("path_mtu", "that reported a path's MTU", at(ingress, 12)),
    ];
    Totals {
        packets: Packets {
            sent: at(egress, 0),
            received: at(ingress, 0),
            ..lost
        },
        sent_without,
        received_without,
        changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_shown_once() {
        let egress: Vec<u64> = (1..=SIZES[0]).collect();
        let ingress: Vec<u64> = (1..=SIZES[1]).map(|i| i * 100).collect();
        let totals = totals(&egress, &ingress, Packets::default());
        let named = |counts: &[Count]| -> Vec<(&str, u64)> {
            counts.iter().map(|c| (c.what.name, c.packets)).collect()
        };
        assert_eq!((totals.packets.sent, totals.packets.received), (1, 100));
        assert_eq!(
            named(&totals.sent_without),
            [
                ("not_ipv6", 2),
                ("other_protocol", 3),
                ("fragment", 4),
                ("control", 5),
                ("malformed", 6),
                ("unreadable", 7),
                ("filtered", 8),
                ("carrying", 9),
                ("offloaded", 10),
                ("exceeds_link_mtu", 11),
                ("exceeds_path_mtu", 12),
            ]
        );
        assert_eq!(
            named(&totals.received_without)[6..],
            [("filtered", 800), ("no_option", 900)]
        );
        assert_eq!(
            named(&totals.changed),
            [
                ("mss_clamped", 1200),
                ("option_removed", 1000),
                ("option_padded", 1100),
                ("path_mtu", 1300),
            ]
        );
    }
}
