//! Checks of delays, losses and order against the relay's counts.

use crate::losses::a_tcp_connection_with_losses;
use crate::measured::{Measured, Metrics, both};
use lab::traffic::{Amount, tcp, udp};
use lab::{Conditions, Counts, Ends, Offloads, Pick, Relayed, Route, SERVER};
use std::net::SocketAddr;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Returns a relayed network. The ends segment and merge packets by software, so the relay sees packets as they are
/// on the wire.
fn relayed() -> Relayed {
    let ends = Ends {
        offloads: Offloads::Software,
        mtu: 1500,
    };
    Relayed::new(ends).expect("this test needs root")
}

pub(crate) fn delayed(delay: Duration) -> Conditions {
    Conditions {
        delay,
        ..Conditions::default()
    }
}

fn server(port: u16) -> SocketAddr {
    (SERVER, port).into()
}

/// Checks that a time is within 5 % or 50 µs of the truth.
fn assert_near(what: &str, reported: Duration, truth: Duration) {
    let most = (truth / 20).max(Duration::from_micros(50));
    assert!(
        reported.abs_diff(truth) <= most,
        "{what}: {reported:?} was reported, {truth:?} is the truth"
    );
}

fn mean(times: &[Duration]) -> Duration {
    times.iter().sum::<Duration>() / u32::try_from(times.len()).expect("few")
}

/// One measurement serves all checks, as a start takes longer than each. Their flows have different ports.
#[test]
fn reports_agree_with_relay_and_server() {
    let net = relayed();
    let ends = both(&net, &[]);
    delays(&net, &ends);
    losses_by_a_list(&net, &ends);
    order(&net, &ends);
    a_tcp_connection_with_losses(&net, &ends, 7003);
    the_segment_size_leaves_room(&net, &ends);
    // These come last, as the learnt MTU of a path persists.
    a_narrow_path_is_no_black_hole(&net, &ends, 7005, 1400);
    a_narrow_path_is_no_black_hole(&net, &ends, 7006, 1280);
}

#[test]
fn a_path_that_only_a_middlebox_knows_to_be_narrow_is_no_black_hole() {
    const PORT: u16 = 7007;
    const MTU: u16 = 1400;
    let net = relayed();
    let [client, _] = both(&net, &[]);
    let middlebox = || Conditions {
        mtu: Some(MTU.into()),
        reports_mtu: false,
        segment_size: Some(MTU - 60),
        ..Conditions::default()
    };
    let relay = net.relay(middlebox(), middlebox()).expect("starts");
    let seen = tcp::transfer(&net, PORT, Amount::Bytes(1_000_000)).expect("works");
    relay.wait_until_quiet().expect("ends");
    let [there, back] = relay.finish().expect("works");
    assert_eq!((seen.bytes, seen.corrupted_at), (1_000_000, None));
    assert_eq!((there.too_big, back.too_big), (0, 0));
    let metrics = client.metrics();
    let flow = metrics.flow("tcp", PORT);
    assert_eq!(flow.number("packets_sent"), there.passed);
}

fn delays(net: &Relayed, [client, far]: &[Measured<'_>; 2]) {
    const COUNT: u64 = 60;
    const PORT: u16 = 7000;
    let relay = net.relay(delayed(6 * MS), delayed(4 * MS)).expect("starts");
    let answering = udp::Server::start(net.server(), server(PORT), 5 * MS).expect("starts");
    let plan = udp::Exchange {
        count: COUNT,
        gap: MS,
        ..udp::Exchange::default()
    };
    let seen = udp::exchange(net.client(), server(PORT), plan).expect("works");
    let waits = answering.finish().expect("works");
    let [there, back] = relay.finish().expect("works");
    assert_eq!((seen.unanswered, there.lost, back.lost), (0, 0, 0));
    assert_eq!((there.passed, back.passed), (COUNT, COUNT));

    let metrics = client.metrics();
    let flow = metrics.flow("udp", PORT);
    let (samples, round_trip) = flow.delay("round_trip_delay");
    assert_eq!(samples, COUNT);
    let server_delay = flow.delay("server_delay").1;
    let network_delay = flow.delay("network_delay").1;
    let network = mean(&there.delays) + mean(&back.delays);
    assert_near("server delay", server_delay, mean(&waits));
    assert_near("network delay", network_delay, network);
    assert_near("round trip", round_trip, network + mean(&waits));
    assert_near("round trip", round_trip, mean(&seen.round_trips));
    // All numbers arrived in order, at both ends.
    for metrics in [&metrics, &far.metrics()] {
        let flow = metrics.flow("udp", PORT);
        for name in ["packets_sent", "packets_received"] {
            assert_eq!(flow.number(name), COUNT, "{name}");
        }
        for name in ["packets_lost", "packets_reordered", "packets_duplicated"] {
            assert_eq!(flow.number(name), 0, "{name}");
        }
    }
}

/// Sends numbered datagrams through a relay with these conditions. Returns the server's metrics and the relay's
/// counts.
fn one_way(
    net: &Relayed,
    far: &Measured<'_>,
    port: u16,
    conditions: Conditions,
    count: u64,
) -> (Metrics, Counts) {
    let relay = net
        .relay(conditions, Conditions::default())
        .expect("starts");
    let sink = udp::Sink::start(net.server(), server(port)).expect("starts");
    udp::send(net.client(), server(port), count, MS / 2).expect("sends");
    relay.wait_for(count).expect("comes");
    let [counts, _] = relay.finish().expect("works");
    assert_eq!((counts.seen, counts.overflowed), (count, 0));
    let got = sink.finish().expect("works").len() as u64;
    assert_eq!(got, counts.passed + counts.duplicated);
    (far.metrics(), counts)
}

fn losses_by_a_list(net: &Relayed, [_, far]: &[Measured<'_>; 2]) {
    // Single packets, some in a row, and many at once are lost, but not the first and the last, whose loss cannot be
    // detected.
    let gone: Vec<u64> = [2, 10, 11, 12, 499].into_iter().chain(200..300).collect();
    let expected = gone.len() as u64;
    let conditions = Conditions {
        loss: Pick::list(gone),
        ..Conditions::default()
    };
    let (metrics, counts) = one_way(net, far, 7001, conditions, 500);
    let flow = metrics.flow("udp", 7001);
    assert_eq!(counts.lost, expected);
    assert_eq!(flow.number("packets_lost"), counts.lost);
    assert_eq!(flow.number("packets_received"), counts.passed);
    assert_eq!(flow.number("packets_reordered"), 0);
}

/// Checks that overtaken and duplicate packets are reported as such, and not as lost.
fn order(net: &Relayed, [_, far]: &[Measured<'_>; 2]) {
    let conditions = Conditions {
        hold: Pick::Every(20),
        hold_by: 3,
        duplicate: Pick::Every(33),
        loss: Pick::Every(101),
        ..Conditions::default()
    };
    let (metrics, counts) = one_way(net, far, 7002, conditions, 404);
    let flow = metrics.flow("udp", 7002);
    assert!(
        counts.overtaken >= 19 && counts.duplicated >= 10,
        "{counts:?}"
    );
    assert_eq!(flow.number("packets_reordered"), counts.overtaken);
    assert_eq!(flow.number("packets_duplicated"), counts.duplicated);
    // The last of the four lost packets has no successor, so its loss is not detected.
    assert_eq!((counts.lost, flow.number("packets_lost")), (4, 3));
}

/// Checks that full segments with the option are as long as the link allows, and that none lacks the option.
fn the_segment_size_leaves_room(net: &Relayed, [client, _]: &[Measured<'_>; 2]) {
    const PORT: u16 = 7004;
    let keeping = Conditions {
        keep: 200,
        ..Conditions::default()
    };
    let relay = net.relay(keeping, Conditions::default()).expect("starts");
    let seen = tcp::transfer(net, PORT, Amount::Bytes(1_000_000)).expect("works");
    relay.wait_until_quiet().expect("ends");
    let [there, _] = relay.finish().expect("works");
    assert_eq!((seen.bytes, seen.corrupted_at), (1_000_000, None));
    let longest = there.kept.iter().map(Vec::len).max();
    assert_eq!(longest, Some(14 + 1500));
    let metrics = client.metrics();
    assert_eq!(
        metrics.reason("packets_sent_without", "exceeds_link_mtu"),
        0
    );
    let flow = metrics.flow("tcp", PORT);
    assert_eq!(flow.number("packets_sent"), there.passed);
}

fn a_narrow_path_is_no_black_hole(
    net: &Relayed,
    [client, _]: &[Measured<'_>; 2],
    port: u16,
    mtu: u32,
) {
    let narrow = || Conditions {
        mtu: Some(mtu),
        ..Conditions::default()
    };
    let relay = net.relay(narrow(), narrow()).expect("starts");
    let seen = tcp::transfer(net, port, Amount::Bytes(2_000_000)).expect("works");
    relay.wait_until_quiet().expect("ends");
    let [there, _] = relay.finish().expect("works");
    assert_eq!((seen.bytes, seen.corrupted_at), (2_000_000, None), "{mtu}");
    assert!(
        seen.longest_gap < Duration::from_secs(30),
        "{mtu}: {seen:?}"
    );
    assert!(there.too_big > 0, "{mtu}: {there:?}");
    let reported = client.metrics().reason("packets_changed", "path_mtu");
    assert!(reported > 0, "{mtu}");
}
