//! Delays, losses and order against the relay's book.

use crate::measured::{Measured, both};
use lab::traffic::{Amount, tcp, udp};
use lab::{Ends, Offloads, Pick, Relayed, Route, SERVER, Way};
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Segmentation and merging by software at the ends, packets as they are on the wire between.
fn relayed() -> Relayed {
    let ends = Ends {
        offloads: Offloads::Software,
        mtu: 1500,
    };
    Relayed::new(ends).expect("this test needs root")
}

fn delayed(delay: Duration) -> Way {
    Way {
        delay,
        ..Way::default()
    }
}

fn server() -> SocketAddr {
    (SERVER, 7000).into()
}

/// Within 5 % or 50 µs.
fn assert_near(what: &str, told: Duration, truth: Duration) {
    let most = (truth / 20).max(Duration::from_micros(50));
    assert!(
        told.abs_diff(truth) <= most,
        "{what}: {told:?} was told, {truth:?} is the truth"
    );
}

fn mean(times: &[Duration]) -> Duration {
    times.iter().sum::<Duration>() / u32::try_from(times.len()).expect("few")
}

#[test]
fn round_trip_server_and_network_delay_are_those_of_relay_and_server() {
    const COUNT: u64 = 60;
    let net = relayed();
    let [client, far] = both(&net, &[]);
    let relay = net.relay(delayed(6 * MS), delayed(4 * MS)).expect("starts");
    let answering = udp::Server::start(net.server(), server(), 5 * MS).expect("starts");
    let plan = udp::Exchange {
        count: COUNT,
        gap: MS,
        ..udp::Exchange::default()
    };
    let seen = udp::exchange(net.client(), server(), plan).expect("works");
    let waits = answering.finish().expect("works");
    let [there, back] = relay.finish().expect("works");
    assert_eq!((seen.unanswered, there.lost, back.lost), (0, 0, 0));
    assert_eq!((there.passed, back.passed), (COUNT, COUNT));

    let figures = client.figures();
    let flow = figures.flow("udp");
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
    for figures in [&figures, &far.figures()] {
        let flow = figures.flow("udp");
        for name in ["packets_sent", "packets_received"] {
            assert_eq!(flow.number(name), COUNT, "{name}");
        }
        for name in ["packets_lost", "packets_reordered", "packets_duplicated"] {
            assert_eq!(flow.number(name), 0, "{name}");
        }
    }
}

/// Numbered datagrams through what is done to them; the server's figures and the relay's book.
fn one_way(way: Way, count: u64) -> (crate::measured::Figures, lab::Counts) {
    let net = relayed();
    let [_client, far] = both(&net, &[]);
    let relay = net.relay(way, Way::default()).expect("starts");
    let sink = udp::Sink::start(net.server(), server()).expect("starts");
    udp::send(net.client(), server(), count, MS / 2).expect("sends");
    thread::sleep(200 * MS);
    let [counts, _] = relay.finish().expect("works");
    assert_eq!((counts.seen, counts.overflowed), (count, 0));
    let got = sink.finish().expect("works").len() as u64;
    assert_eq!(got, counts.passed + counts.duplicated);
    (far.figures(), counts)
}

#[test]
fn what_a_list_says_is_lost_is_reported_as_lost() {
    // Single packets, some in a row, many at once; neither the first nor the last, which nobody can miss.
    let gone: Vec<u64> = [2, 10, 11, 12, 499].into_iter().chain(200..300).collect();
    let expected = gone.len() as u64;
    let way = Way {
        loss: Pick::list(gone),
        ..Way::default()
    };
    let (figures, counts) = one_way(way, 500);
    let flow = figures.flow("udp");
    assert_eq!(counts.lost, expected);
    assert_eq!(flow.number("packets_lost"), counts.lost);
    assert_eq!(flow.number("packets_received"), counts.passed);
    assert_eq!(flow.number("packets_reordered"), 0);
}

#[test]
fn packets_that_were_overtaken_or_doubled_are_reported_and_not_as_lost() {
    let way = Way {
        hold: Pick::Every(20),
        hold_by: 3,
        duplicate: Pick::Every(33),
        loss: Pick::Every(101),
        ..Way::default()
    };
    let (figures, counts) = one_way(way, 404);
    let flow = figures.flow("udp");
    assert!(
        counts.overtaken >= 19 && counts.duplicated >= 10,
        "{counts:?}"
    );
    assert_eq!(flow.number("packets_reordered"), counts.overtaken);
    assert_eq!(flow.number("packets_duplicated"), counts.duplicated);
    // Of the four that were lost the last has no successor.
    assert_eq!((counts.lost, flow.number("packets_lost")), (4, 3));
}

#[test]
fn a_tcp_connection_with_losses_is_told_exactly() {
    let net = relayed();
    let [client, far] = both(&net, &[]);
    let lossy = |every| Way {
        delay: MS,
        loss: Pick::Every(every),
        ..Way::default()
    };
    let relay = net.relay(lossy(97), delayed(MS)).expect("starts");
    let seen = tcp::transfer(&net, 7001, Amount::Bytes(3_000_000)).expect("works");
    thread::sleep(300 * MS);
    let [there, back] = relay.finish().expect("works");
    assert_eq!((seen.bytes, seen.corrupted_at), (3_000_000, None));
    assert!(there.lost > 10, "{there:?}");
    assert_eq!((there.overflowed, back.overflowed), (0, 0));
    let (client, far) = (client.figures(), far.figures());
    // Each packet on the wire had an option and a number of its own.
    assert_eq!(client.flow("tcp").number("packets_sent"), there.seen);
    assert_eq!(far.flow("tcp").number("packets_received"), there.passed);
    assert_eq!(far.flow("tcp").number("packets_lost"), there.lost);
    assert_eq!(far.flow("tcp").number("packets_duplicated"), 0);
    assert_eq!(far.flow("tcp").number("packets_sent"), back.seen);
    assert_eq!(client.flow("tcp").number("packets_received"), back.passed);
    assert_eq!(client.flow("tcp").number("packets_lost"), 0);
}

#[test]
fn a_path_narrower_than_the_link_is_no_black_hole() {
    for mtu in [1400, 1280] {
        let net = relayed();
        let measured = both(&net, &[]);
        let narrow = || Way {
            mtu: Some(mtu),
            ..Way::default()
        };
        let relay = net.relay(narrow(), narrow()).expect("starts");
        let seen = tcp::transfer(&net, 7001, Amount::Bytes(2_000_000)).expect("works");
        let [there, _] = relay.finish().expect("works");
        assert_eq!((seen.bytes, seen.corrupted_at), (2_000_000, None), "{mtu}");
        assert!(seen.longest_gap < Duration::from_secs(5), "{mtu}: {seen:?}");
        assert!(there.too_big > 0, "{mtu}: {there:?}");
        let told = measured[0].figures().reason("packets_changed", "path_mtu");
        assert!(told > 0, "{mtu}");
    }
}

#[test]
fn the_segment_size_leaves_room_and_no_full_segment_goes_without() {
    let net = relayed();
    let client = Measured::start(net.client(), "c0", &[]);
    let keeping = || Way {
        keep: 3,
        ..Way::default()
    };
    let relay = net.relay(keeping(), keeping()).expect("starts");
    let seen = tcp::transfer(&net, 7001, Amount::Bytes(1_000_000)).expect("works");
    let [there, back] = relay.finish().expect("works");
    assert_eq!((seen.bytes, seen.corrupted_at), (1_000_000, None));
    // Only the client measures: its SYN is lowered on the way out, and the answer is left to itself on the wire.
    assert_eq!(segment_size(&there.kept[0]), Some(1500 - 60 - 16));
    assert_eq!(segment_size(&back.kept[0]), Some(1500 - 60 - 16));
    let figures = client.figures();
    assert_eq!(figures.reason("packets_sent_without", "no_room_on_link"), 0);
    assert_eq!(figures.flow("tcp").number("packets_sent"), there.passed);
}

/// What a SYN says its sender can take.
fn segment_size(packet: &[u8]) -> Option<u16> {
    let (_, tcp) = lab::transport(packet)?;
    let mut options = packet.get(tcp + 20..)?;
    loop {
        match options {
            [2, 4, high, low, ..] => return Some(u16::from_be_bytes([*high, *low])),
            [1, rest @ ..] => options = rest,
            [0, ..] | [] | [_] => return None,
            [_, length, ..] => options = options.get(usize::from(*length).max(2)..)?,
        }
    }
}
