//! Measurements at one moment: plain data for all views.

use crate::histogram::Histogram;
use std::net::Ipv6Addr;

/// All measurements at one moment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Snapshot {
    /// The interface.
    pub interface: String,
    /// Mode of marking packets.
    pub mode: &'static str,
    /// Time of the snapshot, in nanoseconds since 1970.
    pub time_ns: u64,
    /// Duration of the measurement so far, in nanoseconds.
    pub measured_ns: u64,
    /// Known flows, those with the most packets first.
    pub flows: Vec<MeasuredFlow>,
    /// Totals over all flows, including forgotten ones.
    pub totals: Totals,
    /// Delays of all flows, including forgotten ones.
    pub delays: Delays<Histogram>,
}

/// A value for each delay that the option reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delays<T> {
    /// From sending a packet to receiving the other end's next one (RFC 8250, section 3.1: Delta Time Last Sent).
    pub round_trip: T,
    /// Part of it that the other end took, by its own account (Delta Time Last Received).
    pub server: T,
    /// Rest of it: both directions through the network.
    pub network: T,
}

impl<T> Delays<T> {
    /// Returns all of them with their names.
    pub fn named(&self) -> [(&'static str, &T); 3] {
        [
            ("round_trip", &self.round_trip),
            ("server", &self.server),
            ("network", &self.network),
        ]
    }
}

/// Flow, from this end's point of view.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MeasuredFlow {
    /// Addresses, ports and protocol.
    pub key: FlowKey,
    /// Time of its first packet, in nanoseconds of the monotonic clock. It distinguishes the flow from an earlier one
    /// with the same key.
    pub first_seen: u64,
    /// Packets of both directions.
    pub packets: Packets,
    /// The delays.
    pub delays: Delays<Delay>,
}

/// Five-tuple of RFC 8250.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowKey {
    /// Number of the protocol after the extension headers.
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

/// Numbers of packets in each direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Packets {
    /// Sent with the option.
    pub sent: u64,
    /// Received with the option.
    pub received: u64,
    /// Number of sequence numbers of the other end, from the first one received to the highest.
    pub expected: u64,
    /// Received after a packet that was sent later.
    pub reordered: u64,
    /// Received again.
    pub duplicates: u64,
}

impl Packets {
    /// Returns the number of packets that the other end sent, by its sequence numbers, and that did not arrive. A late
    /// packet counts as lost until it arrives.
    pub fn lost(&self) -> u64 {
        let different = self.received.saturating_sub(self.duplicates);
        self.expected.saturating_sub(different)
    }
}

/// Statistics of a delay, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delay {
    /// Number of samples. While it is 0, the other fields are 0 too.
    pub samples: u64,
    /// Last sample.
    pub last: u64,
    /// Shortest sample.
    pub min: u64,
    /// Longest sample.
    pub max: u64,
    /// Sum of all samples.
    pub sum: u64,
}

impl Delay {
    /// Returns the mean; `None` without samples.
    pub fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.samples)
    }
}

/// Totals over all flows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Packets with the option.
    pub packets: Packets,
    /// Packets sent without the option, by reason.
    pub sent_without: Vec<Count>,
    /// Packets received without the option, by reason.
    pub received_without: Vec<Count>,
    /// Other changes to packets, in either direction.
    pub changed: Vec<Count>,
}

/// Number of packets with a certain treatment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// The treatment.
    pub what: What,
    /// Number of packets.
    pub packets: u64,
}

/// Treatment of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct What {
    /// Name for programs.
    pub name: &'static str,
    /// Description for people.
    pub words: &'static str,
}

/// Returns a protocol's name, or its number.
pub fn protocol(number: u8) -> String {
    match number {
        6 => "tcp".into(),
        17 => "udp".into(),
        58 => "icmpv6".into(),
        other => other.to_string(),
    }
}

/// Returns a snapshot for tests of views.
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
            MeasuredFlow {
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
            MeasuredFlow {
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
