//! What people do with a network, with the option put on and taken off at both ends: nothing is corrupted, nothing stalls, and
//! the losses that are told are those that there were.

use crate::measured::{Measured, both};
use lab::traffic::iperf::{self, Load};
use lab::traffic::{Amount, Transferred, http, ping, tcp};
use lab::{Ends, Offloads, Pair, Route};
use std::time::Duration;

/// How long each kind of traffic runs.
fn time() -> Duration {
    let seconds = std::env::var("ONPATH_SOAK_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|s| s.parse().ok()).unwrap_or(2))
}

/// No gap is longer, on a machine that has other things to do.
const STALL: Duration = Duration::from_secs(2);

fn pair() -> Pair {
    let ends = Ends {
        offloads: Offloads::All,
        mtu: 1500,
    };
    Pair::new(ends).expect("this test needs root")
}

/// Packets that a pair of devices dropped between the two measurements: the only loss that there can be.
fn dropped(net: &Pair) -> [u64; 2] {
    let at = |space: &lab::Space, device| {
        ["tx_dropped", "rx_dropped"]
            .into_iter()
            .map(|name| space.counter(device, name).expect("a counter"))
            .sum::<u64>()
    };
    [at(net.client(), "c0"), at(net.server(), "s0")]
}

/// What both ends told and what is true, at the end of a run.
fn check(what: &str, net: &Pair, [client, server]: &[Measured<'_>; 2]) {
    let (client, server) = (client.figures(), server.figures());
    let dropped = dropped(net);
    for (from, to) in [(&client, &server), (&server, &client)] {
        let sent = from.total("packets_sent");
        let received = to.total("packets_received");
        let lost = to.total("packets_lost");
        assert!(sent > 0, "{what}: nothing was sent with the option");
        assert_eq!(lost, sent - received, "{what}: {dropped:?} dropped");
        // The programs drop nothing: what is lost the devices must have counted.
        assert!(
            lost <= dropped.iter().sum(),
            "{what}: {lost} lost, {dropped:?} dropped"
        );
        assert_eq!(to.total("packets_duplicated"), 0, "{what}");
        // Two processors may send at the same time.
        let reordered = to.total("packets_reordered");
        println!(
            "{what}: {sent} packets sent so far, {received} received, {lost} told as lost, {reordered} as reordered"
        );
    }
}

fn whole(what: &str, seen: Transferred) {
    assert_eq!(seen.corrupted_at, None, "{what}");
    assert!(seen.longest_gap < STALL, "{what}: {:?}", seen.longest_gap);
    println!(
        "{what}: {} bytes in {:.1} s ({:.2} Gbit/s), every one as sent; longest gap {:.1} ms",
        seen.bytes,
        seen.time.as_secs_f64(),
        8e-9 * seen.bytes as f64 / seen.time.as_secs_f64(),
        1e3 * seen.longest_gap.as_secs_f64()
    );
}

/// One measurement for all of them: to start one takes longer than each.
#[test]
fn one_option_a_packet() {
    let net = pair();
    let ends = both(&net, &[]);
    a_stream(&net, &ends);
    iperf_by_tcp_and_udp(&net, &ends);
    echoes(&net, &ends);
    a_download(&net, &ends);
}

#[test]
fn large_packets_marked_once() {
    let net = pair();
    let ends = both(&net, &["--mode", "mark-once"]);
    a_stream(&net, &ends);
    a_download(&net, &ends);
}

/// With segmentation left to the device, and merging.
fn a_stream(net: &Pair, ends: &[Measured<'_>; 2]) {
    let seen = tcp::transfer(net, 7001, Amount::Time(time())).expect("works");
    whole("TCP", seen);
    check("TCP", net, ends);
}

fn iperf_by_tcp_and_udp(net: &Pair, ends: &[Measured<'_>; 2]) {
    let tcp = iperf::run(net, Load::Tcp, time()).expect("works");
    println!("iperf3 TCP: {:.2} Gbit/s", tcp.bits_per_second / 1e9);
    assert!(tcp.bits_per_second > 1e6);
    check("iperf3 TCP", net, ends);
    let load = Load::Udp {
        size: 1200,
        rate: 100_000_000,
    };
    let udp = iperf::run(net, load, time()).expect("works");
    // What the receiving program was too slow for had arrived.
    println!(
        "iperf3 UDP: {} datagrams, {} of them not read",
        udp.packets, udp.lost
    );
    assert!(udp.packets > 1000);
    check("iperf3 UDP", net, ends);
}

fn echoes(net: &Pair, ends: &[Measured<'_>; 2]) {
    let interval = Duration::from_millis(10);
    let count = (time().as_millis() / interval.as_millis()) as u64;
    let seen = ping::ping(net, count, interval).expect("works");
    assert_eq!((seen.sent, seen.received), (count, count));
    let figures = ends[0].figures();
    let flow = figures.flow("icmpv6", 0);
    assert_eq!(flow.number("packets_received"), count);
    assert_eq!(flow.delay("round_trip_delay").0, count);
    check("ping", net, ends);
}

fn a_download(net: &Pair, ends: &[Measured<'_>; 2]) {
    // As much as a test transfer says goes through in the time; at least once.
    let probe = http::download(net, 8080, 20_000_000).expect("works");
    let rate = probe.bytes as f64 / probe.time.as_secs_f64().max(0.001);
    let bytes = (rate * time().as_secs_f64()) as u64;
    let seen = http::download(net, 8081, bytes.max(1)).expect("works");
    whole("HTTP", seen);
    check("HTTP", net, ends);
}
