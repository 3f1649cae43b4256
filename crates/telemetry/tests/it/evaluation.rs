//! Metrics of packets, compared with independent computations.

use crate::frames;
use crate::toy::Toy;
use diag::SourceMap;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use telemetry::{
    Catalogue, Cell, Evaluator, Frame, Link, Messages, NoMessages, Report, Value, compile,
};

/// Runs a query on packets, one a millisecond.
pub(crate) fn run_with(query: &str, packets: &[Vec<u8>], groups: Option<usize>) -> Report {
    run_on(&Toy, query, packets, groups)
}

/// Runs a query on packets with messages of these kinds.
pub(crate) fn run_on(
    messages: &dyn Messages,
    query: &str,
    packets: &[Vec<u8>],
    groups: Option<usize>,
) -> Report {
    let mut map = SourceMap::new();
    let query = compile(query, &Catalogue::new(messages), &mut map)
        .unwrap_or_else(|d| panic!("{}", diag::render_plain(&d, &map)));
    let mut evaluator = Evaluator::new(query, messages, groups, [0, 1]);
    for (number, packet) in packets.iter().enumerate() {
        evaluator.packet(&Frame {
            bytes: packet,
            length: packet.len() as u32,
            time: Some(Duration::from_millis(number as u64)),
            link: Link::Ethernet,
        });
    }
    let seconds = evaluator.seconds();
    evaluator.report(seconds)
}

pub(crate) fn run(query: &str, packets: &[Vec<u8>]) -> Report {
    run_with(query, packets, None)
}

/// Returns the only value of the only group.
fn metric(query: &str, packets: &[Vec<u8>]) -> Cell {
    let report = run(query, packets);
    assert_eq!((report.rows.len(), report.rows[0].cells.len()), (1, 1));
    report.rows[0].cells[0].clone()
}

/// Returns the keys and the first value of each row, as text.
fn shown(report: &Report) -> Vec<String> {
    let row = |row: &telemetry::Row| {
        let keys: Vec<String> = row.keys.iter().map(Value::to_string).collect();
        format!("{} {:?}", keys.join(" "), row.cells[0])
    };
    report.rows.iter().map(row).collect()
}

fn count(condition: &str, packets: &[Vec<u8>]) -> u64 {
    match metric(&format!("count where {condition}"), packets) {
        Cell::Number(number) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_field_is_read_where_it_stands() {
    let four = frames::udp(7, 9, (4000, 53), b"abc");
    let six = frames::tcp(
        "2001:db8::1".parse().unwrap(),
        "2001:db8::2".parse().unwrap(),
        (443, 1234),
        b"",
    );
    let tagged = frames::tagged(100);
    for (packet, conditions) in [
        (
            &four,
            "packet.length == 45; eth.src == 02:00:00:00:00:01; eth.dst == 02:00:00:00:00:02; eth.type == 0x800; \
             ip.src == 10.0.0.7; ip.dst == 10.0.1.9; ip.proto == 17; ip.ttl == 64; ip.dscp == 0; ip.ecn == 0; ip.id == 0; \
             ip.length == 31; udp.src_port == 4000; udp.dst_port == 53; udp.length == 11",
        ),
        (
            &six,
            "eth.type == 0x86dd; ip.src == 2001:db8::1; ip.dst == 2001:db8::2; ipv6.src == 2001:db8::1; ipv6.dst == 2001:db8::2; ipv6.next_header == 6; \
             ipv6.hop_limit == 61; ipv6.traffic_class == 0; ipv6.flow_label == 0; tcp.src_port == 443; \
             tcp.dst_port == 1234; tcp.flags == 10; tcp.seq == 0x01020304; tcp.ack == 0; tcp.window == 512",
        ),
        (
            &tagged,
            "vlan.id == 100; eth.type == 0x800; ip.ttl == 1; udp.dst_port == 2",
        ),
    ] {
        for condition in conditions.split("; ") {
            let packets = [packet.clone()];
            assert_eq!(count(condition, &packets), 1, "{condition}");
            let other = condition.replacen("==", "!=", 1);
            assert_eq!(count(&other, &packets), 0, "{other}");
        }
    }
    assert_eq!(count("vlan.id >= 0", &[four]), 0);
}

#[test]
fn addresses_of_both_versions_are_compared_and_grouped() {
    let six = |last: u16| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last));
    let mapped = |last: u8| IpAddr::V6(Ipv4Addr::new(10, 0, 0, last).to_ipv6_mapped());
    let packets = [
        frames::udp(1, 2, (3, 4), b""),
        frames::udp(1, 2, (3, 4), b""),
        frames::tcp(six(1), six(2), (3, 4), b""),
        frames::tcp(mapped(1), mapped(2), (3, 4), b""),
    ];
    let groups = shown(&run("count by ip.src", &packets));
    assert_eq!(groups, ["10.0.0.1 Number(3)", "2001:db8::1 Number(1)"]);
    for (condition, matched) in [
        ("ip.src == 10.0.0.1", 3),
        ("ip.src in 10.0.0.0/8", 3),
        ("ip.src in [10.0.0.0/8, 2001:db8::/32]", 4),
        ("ip.src in 0.0.0.0/0", 3),
        ("ip.src in ::/0", 1),
        ("ip.src == ::ffff:10.0.0.1", 3),
        ("ip.src in ::ffff:0:0/96", 3),
        ("ip.src != 10.0.0.1", 1),
        ("ip.dst == 2001:db8::2", 1),
    ] {
        assert_eq!(count(condition, &packets), matched, "{condition}");
    }
}

#[test]
fn groups_are_in_the_order_that_is_asked_for() {
    let packets: Vec<Vec<u8>> = [(1, 1, 9), (2, 3, 0), (3, 2, 1), (4, 1, 9)]
        .into_iter()
        .flat_map(|(from, times, length)| {
            std::iter::repeat_n(frames::udp(from, 1, (3, 4), &vec![0; length]), times)
        })
        .collect();
    let sources = |query: &str| -> String {
        let report = run(query, &packets);
        let last = |row: &telemetry::Row| row.keys[0].to_string().split_off(7);
        report.shown().iter().map(last).collect()
    };
    let asked = "count, max(udp.length), max(tcp.window) by ip.src";
    for (order, expected) in [
        ("", "2314"),
        ("order by count", "2314"),
        ("order by count asc", "1432"),
        ("order by max(udp.length)", "1432"),
        ("order by max(udp.length) desc top 2", "14"),
        ("order by ip.src", "1234"),
        ("order by ip.src desc", "4321"),
        ("top 1", "2"),
        ("top 9", "2314"),
        // None of them has one.
        ("order by max(tcp.window)", "1234"),
    ] {
        assert_eq!(sources(&format!("{asked} {order}")), expected, "{order}");
    }
    let counts = run(&format!("{asked} top 1"), &packets).counts;
    assert_eq!((counts.matched, counts.packets), (7, 7));
}

#[test]
fn what_is_cut_has_no_value() {
    let whole = frames::udp(1, 2, (3, 4), b"payload");
    for length in 0..whole.len() {
        let cut = [whole[..length].to_vec()];
        let is = |at: usize| u64::from(length >= at);
        assert_eq!(count("ip.src == 10.0.0.1", &cut), is(34), "{length}");
        assert_eq!(count("udp.dst_port == 4", &cut), is(42), "{length}");
        assert_eq!(
            count("eth.src == 02:00:00:00:00:01", &cut),
            is(14),
            "{length}"
        );
    }
}

#[test]
fn conditions_follow_their_logic() {
    let packets = [
        frames::udp(1, 1, (1, 80), b""),
        frames::udp(2, 1, (1, 443), b""),
        frames::tcp(
            Ipv6Addr::LOCALHOST.into(),
            Ipv6Addr::LOCALHOST.into(),
            (1, 80),
            b"",
        ),
    ];
    for (condition, expected) in [
        ("ip.src in 10.0.0.0/8", 2),
        ("ip.src in [10.0.0.2, 10.0.0.0/31]", 2),
        ("ip.src in 10.0.0.0/31", 1),
        ("ip.src in 0.0.0.0/0", 2),
        ("ipv6.src in ::/0", 1),
        ("udp.dst_port in [80, 443]", 2),
        ("not udp.dst_port == 80", 2),
        ("udp.dst_port != 80", 1),
        ("ip.src != 10.0.0.1", 2),
        (
            "udp.dst_port == 80 or udp.dst_port == 443 and ip.src == 10.0.0.1",
            1,
        ),
        (
            "(udp.dst_port == 80 or udp.dst_port == 443) and ip.src == 10.0.0.1",
            1,
        ),
        ("not udp.dst_port == 80 and not tcp.dst_port == 80", 1),
        ("not not udp.dst_port < 443", 1),
        ("udp.dst_port <= 443 and udp.dst_port > 80", 1),
        ("udp.dst_port >= 80", 2),
    ] {
        assert_eq!(count(condition, &packets), expected, "{condition}");
    }
}

#[test]
fn messages_are_records() {
    let packets = [
        frames::udp(
            1,
            1,
            (1, 7000),
            b"method=GET;host=a;size=5\nmethod=POST;host=b;size=7\n",
        ),
        frames::udp(
            1,
            1,
            (1, 7000),
            b"method=GET;size=9\nnonsense\nmethod=GET;host=z\n",
        ),
        frames::udp(1, 1, (1, 80), b"method=GET;host=a\n"),
    ];
    let report = run("count, sum(kv.size), bytes by kv.host", &packets);
    assert_eq!(shown(&report), ["a Number(1)", "b Number(1)"]);
    assert_eq!(
        report.rows[0].cells[1..],
        [Cell::Number(5), Cell::Number(packets[0].len() as u64)]
    );
    assert_eq!(
        report.rows[1].cells[2],
        Cell::Number(packets[0].len() as u64),
        "the other message of the packet is of another group"
    );
    let both = run("bytes", &packets[..1]);
    assert_eq!(shown(&both), [format!(" Number({})", packets[0].len())]);
    let counts = report.counts;
    assert_eq!((counts.packets, counts.records, counts.matched), (3, 3, 3));
    assert_eq!((counts.without_key, counts.malformed), (1, 1));

    for (condition, expected) in [
        ("kv.method == \"GET\"", 2),
        ("kv.host != \"a\"", 1),
        ("not kv.host == \"a\"", 2),
        ("kv.host in [\"b\", \"c\"]", 1),
        ("kv.method starts with \"PO\"", 1),
        ("kv.method ~ \"^.O\"", 1),
        ("kv.x.method ~ \"(?i)get\"", 2),
        ("kv.size > 5 and ip.src == 10.0.0.1", 2),
        ("kv.host ~ \"[ab]\" and kv.size < 6", 1),
    ] {
        assert_eq!(count(condition, &packets), expected, "{condition}");
    }
}

#[test]
fn sums_and_extremes_are_exact() {
    let packets: Vec<Vec<u8>> = (1..=100u16)
        .map(|i| frames::udp(1, 1, (i, 9), &[0; 3]))
        .collect();
    let report = run(
        "sum(udp.src_port), min(udp.src_port), max(udp.src_port), mean(udp.src_port), count, bytes, rate, rate(udp.src_port)",
        &packets,
    );
    let seconds = 0.099;
    assert_eq!(
        report.rows[0].cells,
        [
            Cell::Number(5050),
            Cell::Number(1),
            Cell::Number(100),
            Cell::Real(50.5),
            Cell::Number(100),
            Cell::Number(4500),
            Cell::Real(100.0 / seconds),
            Cell::Real(5050.0 / seconds),
        ]
    );
    let nothing = run("min(tcp.seq), mean(tcp.seq), rate, count", &packets[..1]);
    assert_eq!(
        nothing.rows[0].cells,
        [Cell::Nothing, Cell::Nothing, Cell::Nothing, Cell::Number(1)]
    );
}

#[test]
fn estimates_are_within_their_bounds() {
    let mut packets = Vec::new();
    let mut ports: BTreeMap<u64, u64> = BTreeMap::new();
    for i in 0..6000u64 {
        let port = 1 + (i * i) % 3001 % (1 + i % 900);
        packets.push(frames::udp(1, 1, (port as u16, 9), b""));
        *ports.entry(port).or_default() += 1;
    }
    let report = run(
        "distinct(udp.src_port), top(10, udp.src_port), histogram(udp.src_port)",
        &packets,
    );
    let [
        Cell::Estimate(distinct, error),
        Cell::Top { items, unseen },
        Cell::Histogram(histogram, relative),
    ] = &report.rows[0].cells[..]
    else {
        panic!("{report:?}");
    };
    assert!((distinct / ports.len() as f64 - 1.0).abs() < 4.0 * error);
    assert_eq!(items.len(), 10);
    let mut kept = BTreeSet::new();
    for (value, count, error) in items {
        let Value::Number(port) = value else { panic!() };
        assert!(count - error <= ports[port] && ports[port] <= *count);
        kept.insert(*port);
    }
    let least = items.iter().map(|(_, count, _)| *count).min().unwrap();
    for (port, count) in &ports {
        assert!(
            kept.contains(port) || *count <= least.max(*unseen),
            "{port}"
        );
    }
    let mut sorted: Vec<u64> = ports
        .iter()
        .flat_map(|(p, n)| vec![*p; *n as usize])
        .collect();
    sorted.sort_unstable();
    let exact = sorted[sorted.len() / 2 - 1] as f64;
    let found = histogram.quantile(0.5).unwrap() as f64;
    assert!(
        (found / exact - 1.0).abs() <= *relative,
        "{found} for {exact}"
    );
}

#[test]
fn a_full_table_counts_what_it_cannot_hold() {
    let packets: Vec<Vec<u8>> = (0..100u16)
        .map(|i| frames::udp(1, 1, (i % 10, 9), b""))
        .collect();
    let report = run_with("count by udp.src_port", &packets, Some(4));
    assert_eq!(
        shown(&report),
        [
            "0 Number(10)",
            "1 Number(10)",
            "2 Number(10)",
            "3 Number(10)"
        ]
    );
    assert_eq!(report.counts.not_grouped, 60);
    assert_eq!(report.counts.matched, 100);
}

#[test]
fn long_texts_are_cut_and_counted() {
    let long = format!("host={}\nhost=short\n", "x".repeat(300));
    let packets = [frames::udp(1, 1, (1, 7000), long.as_bytes())];
    let report = run("count, top(1, kv.host) by kv.host", &packets);
    assert_eq!(report.rows.len(), 2);
    assert!(shown(&report)[1].starts_with(&format!("{} ", "x".repeat(256))));
    assert_eq!(report.counts.cut, 2);
    let whole = format!("kv.host == \"{}\"", "x".repeat(300));
    assert_eq!(count(&whole, &packets), 1, "conditions see all of it");
}

#[test]
fn flows_are_keys_and_items() {
    let (one, two): (IpAddr, IpAddr) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
    let mut packets = vec![frames::tcp(one, two, (5, 6), b""); 3];
    packets.push(frames::tcp(two, one, (6, 5), b""));
    let mut fragment = frames::udp(1, 1, (1, 2), b"");
    fragment[21] = 1;
    packets.push(fragment);
    let report = run("count, top(1, flow), distinct(flow) by flow", &packets);
    assert_eq!(
        shown(&report),
        [
            "10.0.0.1:5 > 10.0.0.2:6 tcp Number(3)",
            "10.0.0.1:0 > 10.0.1.1:0 udp Number(1)",
            "10.0.0.2:6 > 10.0.0.1:5 tcp Number(1)",
        ]
    );
}

/// Rates cover the time since the last report; all other values cover all records.
#[test]
fn a_rate_begins_anew_with_each_report() {
    let mut map = SourceMap::new();
    let query = compile("rate, count", &Catalogue::new(&NoMessages), &mut map).unwrap();
    let mut evaluator = Evaluator::new(query, &NoMessages, None, [0, 1]);
    for (packets, rate, count) in [(10, 5.0, 10), (0, 0.0, 10), (4, 2.0, 14)] {
        for _ in 0..packets {
            evaluator.packet(&Frame {
                bytes: &[0; 60],
                length: 60,
                time: Some(Duration::ZERO),
                link: Link::Ethernet,
            });
        }
        let cells = evaluator.report(2.0).rows.remove(0).cells;
        assert_eq!(cells, [Cell::Real(rate), Cell::Number(count)]);
    }
}

#[test]
fn packets_without_a_link_layer_are_read_from_their_version_on() {
    let whole = frames::udp(3, 1, (1, 2), b"");
    let mut map = SourceMap::new();
    let text = "count by ip.src, udp.dst_port";
    let query = compile(text, &Catalogue::new(&NoMessages), &mut map).unwrap();
    let mut evaluator = Evaluator::new(query, &NoMessages, None, [0, 1]);
    evaluator.packet(&Frame {
        bytes: &whole[14..],
        length: 28,
        time: Some(Duration::ZERO),
        link: Link::Ip,
    });
    assert_eq!(shown(&evaluator.report(0.0)), ["10.0.0.3 2 Number(1)"]);
}
