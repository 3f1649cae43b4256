//! The programs' state of a flow, `flow_key_t` and `flow_t` of `programs/pdm/pdm.p4h`, as a [`Flow`].

use super::snapshot::{Delay, Delays, Flow, FlowKey, Packets};
use std::net::Ipv6Addr;

/// A flow from the fields of its key and value by name; nothing if a field is missing.
pub fn flow(
    key: impl Fn(&str) -> Option<u128>,
    value: impl Fn(&str) -> Option<u128>,
) -> Option<Flow> {
    let number = |name: &str| value(name).map(|v| v as u64);
    let samples = number("samples")?;
    let delay = |name: &str| -> Option<Delay> {
        let part = |of: &str| number(&format!("{name}_{of}"));
        Some(Delay {
            samples,
            last: part("last")?,
            min: part("min")?,
            max: part("max")?,
            sum: part("sum")?,
        })
    };
    Some(Flow {
        key: FlowKey {
            protocol: key("protocol")? as u8,
            local: Ipv6Addr::from_bits(key("local")?),
            local_port: key("local_port")? as u16,
            remote: Ipv6Addr::from_bits(key("remote")?),
            remote_port: key("remote_port")? as u16,
        },
        first_seen: number("first_seen")?,
        packets: Packets {
            sent: number("sent")?,
            received: number("received")?,
            expected: number("expected")?,
            reordered: number("reordered")?,
            duplicates: number("duplicates")?,
        },
        delays: Delays {
            round_trip: delay("round_trip")?,
            server: delay("server")?,
            network: delay("network")?,
        },
    })
}

/// Flows with the most packets first; of equals, by key, so that they keep their places.
pub fn order(flows: &mut [Flow]) {
    flows.sort_by_key(|flow| {
        let packets = flow.packets.sent.saturating_add(flow.packets.received);
        (std::cmp::Reverse(packets), flow.key)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_taken_by_its_name() {
        let key = |name: &str| {
            Some(match name {
                "local" => 1,
                "remote" => 2,
                "local_port" => 3,
                "remote_port" => 4,
                "protocol" => 6,
                _ => return None,
            })
        };
        let names = [
            "samples",
            "first_seen",
            "sent",
            "received",
            "expected",
            "reordered",
            "duplicates",
            "round_trip_last",
            "round_trip_min",
            "round_trip_max",
            "round_trip_sum",
            "server_last",
            "server_min",
            "server_max",
            "server_sum",
            "network_last",
            "network_min",
            "network_max",
            "network_sum",
        ];
        let value = |name: &str| {
            names
                .iter()
                .position(|n| *n == name)
                .map(|at| at as u128 + 10)
        };
        let flow = flow(key, value).unwrap();
        assert_eq!(
            (flow.key.remote, flow.key.remote_port),
            ("::2".parse().unwrap(), 4)
        );
        assert_eq!(
            (flow.first_seen, flow.packets.sent, flow.packets.duplicates),
            (11, 12, 16)
        );
        assert_eq!(flow.delays.round_trip.samples, 10);
        assert_eq!(flow.delays.round_trip.last, 17);
        assert_eq!(
            flow.delays.network,
            Delay {
                samples: 10,
                last: 25,
                min: 26,
                max: 27,
                sum: 28
            }
        );
    }

    #[test]
    fn a_state_of_another_program_is_no_flow() {
        assert_eq!(
            flow(|_| Some(0), |name| (name != "samples").then_some(0)),
            None
        );
    }

    #[test]
    fn busy_flows_come_first() {
        let flow = |port, sent, received| Flow {
            key: FlowKey {
                local_port: port,
                ..FlowKey::default()
            },
            packets: Packets {
                sent,
                received,
                ..Packets::default()
            },
            ..Flow::default()
        };
        let mut flows = [flow(3, 1, 1), flow(2, 1, 1), flow(1, 0, 9)];
        order(&mut flows);
        assert_eq!(flows.map(|f| f.key.local_port), [1, 2, 3]);
    }
}
