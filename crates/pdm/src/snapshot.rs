//! What was measured, at one moment: plain data that every view shows.

use crate::histogram::Histogram;
use std::net::Ipv6Addr;

/// All measurements at one moment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Snapshot {
    /// The interface.
    pub interface: String,
    /// How packets are marked.
    pub mode: &'static str,
    /// When it was taken, in nanoseconds since 1970.
    pub time_ns: u64,
    /// Since when it is measured, in nanoseconds before [`Snapshot::time_ns`].
    pub measured_ns: u64,
    /// The flows that are known, those with the most packets first.
    pub flows: Vec<Flow>,
    /// Of all flows, also of those that are not known any more.
    pub totals: Totals,
    /// Of all flows, also of those that are not known any more.
    pub delays: Delays<Histogram>,
}

/// One of each delay that the option reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delays<T> {
    /// From sending a packet to receiving the other end's next one (RFC 8250, section 3.1: Delta Time Last Sent).
    pub round_trip: T,
    /// What the other end took of it, by its own account (Delta Time Last Received).
    pub server: T,
    /// The rest: both directions through the network.
    pub network: T,
}

impl<T> Delays<T> {
    /// All of them with their names.
    pub fn named(&self) -> [(&'static str, &T); 3] {
        [
            ("round_trip", &self.round_trip),
            ("server", &self.server),
            ("network", &self.network),
        ]
    }
}

/// A flow, as this end sees it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flow {
    /// Which one.
    pub key: FlowKey,
    /// When its first packet was seen, in nanoseconds of the monotonic clock: a flow that was
    /// removed and came again is another one.
    pub first_seen: u64,
    /// Packets of both directions.
    pub packets: Packets,
    /// The delays.
    pub delays: Delays<Delay>,
}

/// RFC 8250's five tuple.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowKey {
    /// The number of the protocol after the extension headers.
    pub protocol: u8,
    /// This end's address.
    pub local: Ipv6Addr,
    /// This end's port; 0 where the protocol has none.
    pub local_port: u16,
    /// The other end's address.
    pub remote: Ipv6Addr,
    /// The other end's port; 0 where the protocol has none.
    pub remote_port: u16,
}

impl Default for FlowKey {
    fn default() -> FlowKey {
        FlowKey {
            protocol: 0,
            local: Ipv6Addr::UNSPECIFIED,
            local_port: 0,
            remote: Ipv6Addr::UNSPECIFIED,
            remote_port: 0,
        }
    }
}

/// How many packets went in each direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Packets {
    /// Sent with the option.
    pub sent: u64,
    /// Received with the option.
    pub received: u64,
    /// Numbers that the other end gave to packets, from the first one received to the foremost.
    pub expected: u64,
    /// Received after one that was sent later.
    pub reordered: u64,
    /// Received again.
    pub duplicates: u64,
}

impl Packets {
    /// Sent by the other end, by its sequence numbers, and not received. One that comes late is lost
    /// until it comes.
    pub fn lost(&self) -> u64 {
        let different = self.received.saturating_sub(self.duplicates);
        self.expected.saturating_sub(different)
    }
}

/// The lengths of a delay in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delay {
    /// How often it was measured; the rest is 0 as long as that is.
    pub samples: u64,
    /// The last one.
    pub last: u64,
    /// The shortest.
    pub min: u64,
    /// The longest.
    pub max: u64,
    /// All together.
    pub sum: u64,
}

impl Delay {
    /// The mean of all, if there is one.
    pub fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.samples)
    }
}

/// Of all flows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Packets with the option.
    pub packets: Packets,
    /// Packets that went out without the option, by reason.
    pub sent_without: Vec<Count>,
    /// Packets that came in without the option, by reason.
    pub received_without: Vec<Count>,
    /// What was done to packets beside, in either direction.
    pub changed: Vec<Count>,
}

/// How many packets met with something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// With what.
    pub what: What,
    /// How many.
    pub packets: u64,
}

/// What packets meet with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct What {
    /// In a word for programs.
    pub name: &'static str,
    /// For people.
    pub words: &'static str,
}

/// A protocol's name, or its number.
pub fn protocol(number: u8) -> String {
    match number {
        6 => "tcp".into(),
        17 => "udp".into(),
        58 => "icmpv6".into(),
        other => other.to_string(),
    }
}

/// A snapshot to test views with.
#[cfg(test)]
pub fn sample() -> Snapshot {
    let delay = |last: u64| Delay {
        samples: 4,
        last,
        min: last / 2,
        max: last * 2,
        sum: last * 4,
    };
    let count = |name, words, packets| Count {
        what: What { name, words },
        packets,
    };
    let histogram = |above| Histogram {
        buckets: vec![(1_023, 0), (1_279, 3), (2_047, 1)],
        above,
        sum: 10_000,
    };
    Snapshot {
        interface: "eth0".into(),
        mode: "conformant",
        time_ns: 1_700_000_000_000_000_000,
        measured_ns: 12_000_000_000,
        flows: vec![
            Flow {
                key: FlowKey {
                    protocol: 6,
                    local: "2001:db8::1".parse().unwrap(),
                    local_port: 43210,
                    remote: "2001:db8::2".parse().unwrap(),
                    remote_port: 443,
                },
                first_seen: 1,
                packets: Packets {
                    sent: 1200,
                    received: 1001,
                    expected: 1003,
                    reordered: 1,
                    duplicates: 1,
                },
                delays: Delays {
                    round_trip: delay(1_500_000),
                    server: delay(500_000),
                    network: delay(1_000_000),
                },
            },
            Flow {
                key: FlowKey {
                    protocol: 58,
                    local: "2001:db8::1".parse().unwrap(),
                    local_port: 0,
                    remote: "2001:db8::2".parse().unwrap(),
                    remote_port: 0,
                },
                first_seen: 2,
                packets: Packets {
                    sent: 5,
                    ..Packets::default()
                },
                delays: Delays::default(),
            },
        ],
        totals: Totals {
            packets: Packets {
                sent: 1205,
                received: 1001,
                expected: 1003,
                reordered: 1,
                duplicates: 1,
            },
            sent_without: vec![
                count("exceeds_link_mtu", "too long for the MTU", 7),
                count("fragment", "fragments", 0),
            ],
            received_without: vec![count("no_option", "without the option", 2)],
            changed: vec![count("mss_clamped", "with a lowered MSS", 1)],
        },
        delays: Delays {
            round_trip: histogram(0),
            server: histogram(1),
            network: Histogram::default(),
        },
    }
}
