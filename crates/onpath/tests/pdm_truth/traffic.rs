//! Tests with ordinary kinds of traffic, with the option added and removed at both ends. Nothing may be corrupted or
//! stall, and the reported losses must be the real ones.

use crate::account::Account;
use crate::measured::{Measured, both};
use crate::soak_time;
use lab::traffic::iperf::{self, Load};
use lab::traffic::{Amount, Transferred, datagrams, http, ping, tcp};
use lab::{Ends, Offloads, Pair, Route, Watch};
use std::time::{Duration, Instant};

/// Returns the time that each kind of traffic runs.
fn time() -> Duration {
    soak_time().unwrap_or(Duration::from_secs(1))
}

/// Maximum gap in arrivals, on a busy machine.
const STALL: Duration = Duration::from_secs(10);

#[test]
fn one_option_a_packet() {
    all("conformant", &[]);
}

#[test]
fn large_packets_marked_once() {
    all("marked once", &["--mode", "mark-once"]);
}

/// Runs all kinds of traffic with one measurement, as a start takes longer than each kind. Ends leave segmentation
/// and checksums to their devices, and incoming packets are merged.
fn all(mode: &str, arguments: &[&str]) {
    let ends = Ends {
        offloads: Offloads::All,
        mtu: 1500,
    };
    let net = Pair::new(ends).expect("this test needs root");
    let ends = both(&net, arguments);
    let mut account = Account::open(mode, &net, &ends);
    for (what, run) in KINDS {
        let started = Instant::now();
        let came = run(&net, &ends);
        let took = started.elapsed();
        assert!(took >= time(), "{what}: only {took:?}");
        assert!(came.longest_gap < STALL, "{what}: {:?}", came.longest_gap);
        account.check(what, took, &came);
    }
}

/// Result of a kind of traffic.
pub(crate) struct Came {
    /// Summary for a reader.
    pub text: String,
    /// True if the other end sends packets too.
    pub both_ways: bool,
    /// Longest time in which nothing arrived.
    pub longest_gap: Duration,
}

type Run = fn(&Pair, &[Measured<'_>; 2]) -> Came;

const KINDS: [(&str, Run); 6] = [
    ("TCP stream", stream),
    ("iperf3 TCP", iperf_tcp),
    ("datagrams", datagrams),
    ("iperf3 UDP", iperf_udp),
    ("ping", echoes),
    ("HTTP download", download),
];

fn stream(net: &Pair, _: &[Measured<'_>; 2]) -> Came {
    whole(tcp::transfer(net, 7001, Amount::Time(time())).expect("works"))
}

fn download(net: &Pair, _: &[Measured<'_>; 2]) -> Came {
    whole(http::download(net, 8080, Amount::Time(time())).expect("works"))
}

fn whole(seen: Transferred) -> Came {
    assert_eq!(seen.corrupted_at, None);
    assert!(seen.bytes > 0);
    let rate = 8e-9 * seen.bytes as f64 / seen.time.as_secs_f64();
    Came {
        text: format!(
            "{} bytes arrived ({rate:.2} Gbit/s), every one as sent",
            seen.bytes
        ),
        both_ways: true,
        longest_gap: seen.longest_gap,
    }
}

fn iperf_tcp(net: &Pair, _: &[Measured<'_>; 2]) -> Came {
    let watch = Watch::start(net.server(), "s0").expect("starts");
    let seen = iperf::run(net, Load::Tcp, time()).expect("works");
    assert!(seen.bits_per_second > 1e6);
    Came {
        text: format!(
            "{:.2} Gbit/s arrived, {} segments were sent again",
            seen.bits_per_second / 1e9,
            seen.retransmits
        ),
        both_ways: true,
        longest_gap: watch.finish().expect("works"),
    }
}

/// Datagrams that iperf3 is too slow to read have arrived, so they are no lost packets.
fn iperf_udp(net: &Pair, _: &[Measured<'_>; 2]) -> Came {
    let load = Load::Udp {
        size: 1200,
        rate: 100_000_000,
    };
    let watch = Watch::start(net.server(), "s0").expect("starts");
    let (mut sent, mut unread) = (0, 0);
    // One run suffices unless the processor is emulated or busy.
    while sent <= 1000 {
        let seen = iperf::run(net, load, time()).expect("works");
        assert!(seen.packets > 0);
        sent += seen.packets;
        unread += seen.lost;
    }
    Came {
        text: format!("{sent} datagrams were sent, of which iperf3 did not come to read {unread}"),
        both_ways: true,
        longest_gap: watch.finish().expect("works"),
    }
}

fn datagrams(net: &Pair, _: &[Measured<'_>; 2]) -> Came {
    let plan = datagrams::StreamParameters {
        size: 1200,
        rate: 10,
        time: time(),
    };
    let seen = datagrams::stream(net, 7002, plan).expect("works");
    assert_eq!(seen.corrupted, 0);
    assert!(seen.intact > 1000, "{seen:?}");
    Came {
        text: format!(
            "{} of {} datagrams were read, every byte as sent",
            seen.intact, seen.sent
        ),
        both_ways: false,
        longest_gap: seen.longest_gap,
    }
}

fn echoes(net: &Pair, ends: &[Measured<'_>; 2]) -> Came {
    let interval = Duration::from_millis(10);
    // The first echo is sent at once, and the last is answered at once.
    let count = (time().as_millis() / interval.as_millis()) as u64 + 1;
    let watch = Watch::start(net.client(), "c0").expect("starts");
    let seen = ping::ping(net, count, interval).expect("works");
    let longest_gap = watch.finish().expect("works");
    assert_eq!((seen.sent, seen.received), (count, count));
    assert_eq!(seen.corrupted, 0);
    let metrics = ends[0].metrics();
    let flow = metrics.flow("icmpv6", 0);
    assert_eq!(flow.number("packets_received"), count);
    let (samples, mean) = flow.delay("round_trip_delay");
    assert_eq!(samples, count);
    Came {
        text: format!(
            "{count} echoes were sent and answered, every byte as sent, and all of them gave a round-trip delay (mean {:.1} µs)",
            1e6 * mean.as_secs_f64()
        ),
        both_ways: true,
        longest_gap,
    }
}
