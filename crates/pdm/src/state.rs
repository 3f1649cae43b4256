//! State of a flow in the programs, `flow_key_t` and `flow_t` of `programs/pdm/pdm.p4h`, as a [`MeasuredFlow`].

use crate::snapshot::{Delay, Delays, FlowKey, MeasuredFlow, Packets};
use num_traits::ToPrimitive;
use schema::Bits;
use std::net::Ipv6Addr;

/// Indices of the fields among the scalars of keys and values.
#[derive(Clone, Copy, Debug)]
pub struct FieldIndices {
    protocol: usize,
    /// Address and port of this end, and of the other one.
    ends: [(usize, usize); 2],
    first_seen: usize,
    samples: usize,
    packets: [usize; 5],
    delays: Delays<[usize; 4]>,
}

impl FieldIndices {
    /// Finds the fields by the names of the scalars; `None` if one is missing.
    pub fn of<N: AsRef<str>>(key: &[N], value: &[N]) -> Option<FieldIndices> {
        let index = |names: &[N], name: &str| names.iter().position(|known| known.as_ref() == name);
        let key = |name: &str| index(key, name);
        let value = |name: &str| index(value, name);
        let delay = |name: &str| -> Option<[usize; 4]> {
            let part = |of: &str| value(&format!("{name}_{of}"));
            Some([part("last")?, part("min")?, part("max")?, part("sum")?])
        };
        Some(FieldIndices {
            protocol: key("protocol")?,
            ends: [
                (key("local")?, key("local_port")?),
                (key("remote")?, key("remote_port")?),
            ],
            first_seen: value("first_seen")?,
            samples: value("samples")?,
            packets: [
                value("sent")?,
                value("received")?,
                value("expected")?,
                value("reordered")?,
                value("duplicates")?,
            ],
            delays: Delays {
                round_trip: delay("round_trip")?,
                server: delay("server")?,
                network: delay("network")?,
            },
        })
    }

    /// Decodes a flow from its key and value, which have a scalar at each index.
    pub fn flow(&self, key: &[Bits], value: &[Bits]) -> MeasuredFlow {
        let number = |at: usize| value.get(at).and_then(Bits::to_u64).unwrap_or(0);
        let end = |(address, port): (usize, usize)| {
            let bits = |at: usize| key.get(at).and_then(|bits| bits.value().to_u128());
            let address = Ipv6Addr::from_bits(bits(address).unwrap_or(0));
            (address, bits(port).unwrap_or(0) as u16)
        };
        let delay = |[last, min, max, sum]: [usize; 4]| Delay {
            samples: number(self.samples),
            last: number(last),
            min: number(min),
            max: number(max),
            sum: number(sum),
        };
        let [(local, local_port), (remote, remote_port)] = self.ends.map(end);
        let [sent, received, expected, reordered, duplicates] = self.packets.map(number);
        MeasuredFlow {
            key: FlowKey {
                protocol: key.get(self.protocol).and_then(Bits::to_u64).unwrap_or(0) as u8,
                local,
                local_port,
                remote,
                remote_port,
            },
            first_seen: number(self.first_seen),
            packets: Packets {
                sent,
                received,
                expected,
                reordered,
                duplicates,
            },
            delays: Delays {
                round_trip: delay(self.delays.round_trip),
                server: delay(self.delays.server),
                network: delay(self.delays.network),
            },
        }
    }
}

/// Sorts flows, those with the most packets first. Ties are broken by the key, so that the order is stable.
pub fn order(flows: &mut [MeasuredFlow]) {
    flows.sort_by_key(|flow| {
        let packets = flow.packets.sent.saturating_add(flow.packets.received);
        (std::cmp::Reverse(packets), flow.key)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [&str; 5] = ["local", "remote", "local_port", "remote_port", "protocol"];
    const VALUE: [&str; 20] = [
        "time_sent",
        "expected",
        "received",
        "sent",
        "reordered",
        "duplicates",
        "first_seen",
        "samples",
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

    #[test]
    fn every_field_is_taken_by_its_name() {
        let key: Vec<Bits> = [1u32, 2, 3, 4, 6].map(|v| Bits::new(128, v)).into();
        let value: Vec<Bits> = (100u32..120).map(|v| Bits::new(64, v)).collect();
        let flow = FieldIndices::of(&KEY, &VALUE).unwrap().flow(&key, &value);
        let delay = |last| Delay {
            samples: 107,
            last,
            min: last + 1,
            max: last + 2,
            sum: last + 3,
        };
        let expected = MeasuredFlow {
            key: FlowKey {
                protocol: 6,
                local: "::1".parse().unwrap(),
                local_port: 3,
                remote: "::2".parse().unwrap(),
                remote_port: 4,
            },
            first_seen: 106,
            packets: Packets {
                sent: 103,
                received: 102,
                expected: 101,
                reordered: 104,
                duplicates: 105,
            },
            delays: Delays {
                round_trip: delay(108),
                server: delay(112),
                network: delay(116),
            },
        };
        assert_eq!(flow, expected);
    }

    #[test]
    fn the_state_of_another_program_is_not_read() {
        assert!(FieldIndices::of(&KEY, &VALUE[..19]).is_none());
        assert!(FieldIndices::of(&KEY[1..], &VALUE).is_none());
    }

    #[test]
    fn busy_flows_come_first() {
        let flow = |port, sent, received| MeasuredFlow {
            key: FlowKey {
                local_port: port,
                ..FlowKey::default()
            },
            packets: Packets {
                sent,
                received,
                ..Packets::default()
            },
            ..MeasuredFlow::default()
        };
        let mut flows = [flow(3, 1, 1), flow(2, 1, 1), flow(1, 0, 9)];
        order(&mut flows);
        assert_eq!(flows.map(|f| f.key.local_port), [1, 2, 3]);
    }
}
