//! Sums over all flows, including those that the programs have forgotten.
//!
//! The programs keep a bounded number of flows, so a sum over the known ones would decrease. Here each flow's
//! contribution is kept as of its last observation. The packets between that observation and the flow's end are
//! missing: at most one interval.

use crate::snapshot::{Delays, FlowKey, MeasuredFlow, Packets};
use std::collections::HashMap;

/// Quantities that are summed up over flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sums {
    /// Packets.
    pub packets: Packets,
    /// Sums of each delay over all samples, in nanoseconds.
    pub delays: Delays<u64>,
}

impl Sums {
    fn of(flow: &MeasuredFlow) -> Sums {
        Sums {
            packets: flow.packets,
            delays: Delays {
                round_trip: flow.delays.round_trip.sum,
                server: flow.delays.server.sum,
                network: flow.delays.network.sum,
            },
        }
    }

    fn add(&mut self, other: &Sums) {
        let (packets, more) = (&mut self.packets, &other.packets);
        let (delays, longer) = (&mut self.delays, &other.delays);
        for (sum, amount) in [
            (&mut packets.sent, more.sent),
            (&mut packets.received, more.received),
            (&mut packets.expected, more.expected),
            (&mut packets.reordered, more.reordered),
            (&mut packets.duplicates, more.duplicates),
            (&mut delays.round_trip, longer.round_trip),
            (&mut delays.server, longer.server),
            (&mut delays.network, longer.network),
        ] {
            *sum = sum.saturating_add(amount);
        }
    }
}

/// Sums over all flows since the first observation.
#[derive(Clone, Debug, Default)]
pub struct History {
    gone: Sums,
    /// Flows of the last observation, with the times when they were first seen.
    known: HashMap<FlowKey, (u64, Sums)>,
}

impl History {
    /// Adds the flows that are known now. Returns the sums over these and all earlier ones.
    pub fn look(&mut self, flows: &[MeasuredFlow]) -> Sums {
        let now: HashMap<FlowKey, (u64, Sums)> = flows
            .iter()
            .map(|flow| (flow.key, (flow.first_seen, Sums::of(flow))))
            .collect();
        for (key, (first_seen, sums)) in &self.known {
            let still_there = now.get(key).is_some_and(|(first, _)| first == first_seen);
            if !still_there {
                self.gone.add(sums);
            }
        }
        let mut all = self.gone;
        for (_, sums) in now.values() {
            all.add(sums);
        }
        self.known = now;
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Delay;

    fn flow(port: u16, first_seen: u64, expected: u64) -> MeasuredFlow {
        MeasuredFlow {
            key: FlowKey {
                local_port: port,
                ..FlowKey::default()
            },
            first_seen,
            packets: Packets {
                expected,
                received: expected - 1,
                ..Packets::default()
            },
            delays: Delays {
                server: Delay {
                    sum: 10,
                    samples: 1,
                    ..Delay::default()
                },
                ..Delays::default()
            },
        }
    }

    #[test]
    fn flows_that_are_gone_still_count() {
        let mut history = History::default();
        assert_eq!(history.look(&[flow(1, 5, 10)]).packets.lost(), 1);
        let sums = history.look(&[flow(1, 5, 20), flow(2, 6, 10)]);
        assert_eq!((sums.packets.expected, sums.packets.lost()), (30, 2));
        let sums = history.look(&[flow(2, 6, 10)]);
        assert_eq!((sums.packets.expected, sums.delays.server), (30, 20));
        assert_eq!(history.look(&[]).packets.lost(), 2);
    }

    #[test]
    fn a_flow_that_was_forgotten_and_came_again_is_another_one() {
        let mut history = History::default();
        history.look(&[flow(1, 5, 10)]);
        assert_eq!(history.look(&[flow(1, 9, 3)]).packets.expected, 13);
    }
}
