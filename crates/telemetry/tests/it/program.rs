//! The P4 program of a query, on the interpreter, against the query's evaluation here.

use crate::evaluation::run;
use crate::frames;
use control::{Figure, Group, Store};
use diag::{SourceMap, render_plain};
use driver::Input;
use interp::{Interpreter, Options};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use telemetry::{
    Catalogue, Cell, NoMessages, Report, Type, Value, compile, describe_fields, program,
};

/// The program of a query, compiled, with room for more groups than there are packets.
fn compiled(text: &str) -> Interpreter {
    let mut map = SourceMap::new();
    let query = compile(text, &Catalogue::new(&NoMessages), &mut map)
        .unwrap_or_else(|d| panic!("{}", render_plain(&d, &map)));
    let p4 = program(&query, text, Some(1 << 16)).unwrap_or_else(|d| panic!("{}", d.message));
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("query.p4");
    std::fs::write(&file, &p4).expect("a file");
    let elaborated = driver::elaborate(&Input::file(&file))
        .unwrap_or_else(|r| panic!("{text}: {}", render_plain(&r.diagnostics, &r.map)));
    Interpreter::new(Arc::new(elaborated.program), Options::default())
        .unwrap_or_else(|d| panic!("{}", render_plain(&d, &elaborated.map)))
}

/// What an object keeps: by the numbers of a group's key, two numbers.
fn kept(interpreter: &Interpreter, object: &str) -> BTreeMap<Vec<String>, (u64, u64)> {
    let all = interpreter.schema().objects.iter();
    let mut found = all.filter(|(_, o)| o.name == format!("watch.{object}"));
    let (object, _) = found.next().unwrap_or_else(|| panic!("no {object}"));
    let groups = interpreter.figures(object).expect("figures").groups;
    let numbers = |group: Group| {
        let key = group.key.iter().map(|bits| bits.value().to_string());
        let figure = match group.figure {
            Figure::Tally(tally) => (tally.count, tally.sum),
            Figure::Top { weight, error } => (weight, error),
            other => panic!("{other:?}"),
        };
        (key.collect(), figure)
    };
    groups.into_iter().map(numbers).collect()
}

/// The numbers that a value is in P4.
fn numbers(value: &Value) -> Vec<String> {
    let address = |address: &IpAddr| match address {
        IpAddr::V4(address) => u32::from(*address).to_string(),
        IpAddr::V6(address) => u128::from(*address).to_string(),
    };
    let mapped = |address: &IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_ipv6_mapped()).to_string(),
        IpAddr::V6(address) => u128::from(*address).to_string(),
    };
    match value {
        Value::Number(number) => vec![number.to_string()],
        Value::Address(found) => vec![address(found)],
        Value::Mac(bytes) => {
            let number = bytes
                .iter()
                .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
            vec![number.to_string()]
        }
        Value::Flow(flow) => vec![
            mapped(&flow.source),
            mapped(&flow.destination),
            flow.protocol.to_string(),
            flow.source_port.to_string(),
            flow.destination_port.to_string(),
        ],
        Value::Text(_) => panic!("{value}"),
    }
}

/// A row's first two figures.
fn figures(report: &Report) -> BTreeMap<Vec<String>, (u64, u64)> {
    let row = |row: &telemetry::Row| {
        let number = |cell: &Cell| match cell {
            Cell::Number(number) => *number,
            other => panic!("{other:?}"),
        };
        let key: Vec<String> = row.keys.iter().flat_map(numbers).collect();
        (key, (number(&row.cells[0]), number(&row.cells[1])))
    };
    report.rows.iter().map(row).collect()
}

/// Packets of all kinds, some of them changed and cut at random.
fn packets(seed: u64) -> Vec<Vec<u8>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mix = frames::mix();
    let mut all = mix.clone();
    for _ in 0..6000 {
        let mut packet = mix.choose(&mut random).cloned().unwrap_or_default();
        for _ in 0..random.random_range(1..4) {
            // Mostly in the headers.
            let at = random.random_range(0..packet.len().clamp(1, 60));
            if let Some(byte) = packet.get_mut(at) {
                *byte = [0, 4, 5, 6, 17, 44, 51, 60, 0x45, 0x81, random.random()]
                    [random.random_range(0..11)];
            }
        }
        if random.random_range(0..3) == 0 {
            packet.truncate(random.random_range(0..=packet.len()));
        }
        // IEEE 802.1AE is not for the program to look into.
        if !packet.windows(2).any(|pair| pair == [0x88, 0xe5]) {
            all.push(packet);
        }
    }
    all
}

fn same(text: &str, packets: &[Vec<u8>]) {
    let mut interpreter = compiled(text);
    for packet in packets {
        let sent = interpreter.run(0, packet).packets;
        assert_eq!((sent.len(), &sent[0].bytes), (1, packet), "{text}");
    }
    let report = run(text, packets);
    let mut found = kept(&interpreter, "records");
    if report.keys.is_empty() {
        // There without packets too; in P4 its key is 0.
        found = found
            .into_values()
            .map(|figure| (Vec::new(), figure))
            .collect();
        found.entry(Vec::new()).or_default();
    }
    let expected = figures(&report);
    let first = expected
        .iter()
        .find(|(key, figure)| found.get(*key) != Some(*figure));
    assert_eq!(
        first,
        None,
        "{text}: {:?}",
        first.map(|(key, _)| found.get(key))
    );
    assert_eq!(found.len(), expected.len(), "{text}");
    let counts = kept(&interpreter, "packets");
    let count = |number: &str| counts.get(&vec![number.to_string()]).map_or(0, |c| c.0);
    let expected = report.counts;
    assert_eq!(
        [count("0"), count("1"), count("2")],
        [expected.packets, expected.matched, expected.without_key],
        "{text}"
    );
}

#[test]
fn every_field_is_the_same_by_both() {
    let packets = packets(1);
    for (field, ..) in describe_fields() {
        same(&format!("count, bytes by {field}"), &packets);
    }
}

#[test]
fn conditions_hold_alike() {
    let packets = packets(2);
    for condition in [
        "ip.src in 10.0.0.0/29",
        "ip.src == 10.0.0.1 or ip.dst != 10.0.1.1",
        "ip.src in [10.0.0.3, 192.0.2.0/24, 0.0.0.0/0]",
        "ipv6.src in 2001:db8::/124",
        "not ipv6.src == 2001:db8::7",
        "eth.src == 02:00:00:00:00:01 and eth.type != 0x800",
        "tcp.dst_port in [80, 443] and not (tcp.flags < 3 or packet.length >= 60)",
        "udp.length > 20 and ip.ttl <= 64",
        "vlan.id >= 2",
    ] {
        same(&format!("count, bytes where {condition}"), &packets);
        same(
            &format!("count, bytes by ip.proto, eth.type where {condition}"),
            &packets,
        );
    }
}

#[test]
fn values_are_added_where_a_packet_has_them() {
    let packets = packets(3);
    let text = "count, sum(udp.length), max(udp.length), top(3, tcp.dst_port) by ip.ttl";
    let mut interpreter = compiled(text);
    for packet in &packets {
        interpreter.run(0, packet);
    }
    let report = run(text, &packets);
    let expected: BTreeMap<Vec<String>, u64> = report
        .rows
        .iter()
        .filter_map(|row| match row.cells[1] {
            Cell::Number(sum) if sum > 0 => Some((numbers(&row.keys[0]), sum)),
            _ => None,
        })
        .collect();
    let sums = kept(&interpreter, "values_udp_length");
    let sums: BTreeMap<_, _> = sums.into_iter().map(|(key, (_, sum))| (key, sum)).collect();
    let sums: BTreeMap<_, _> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
    assert_eq!(sums, expected);
    let mut items = BTreeMap::new();
    for row in &report.rows {
        let Cell::Top { items: top, .. } = &row.cells[3] else {
            panic!("{:?}", row.cells[3]);
        };
        for (item, count, _) in top {
            items.insert([numbers(&row.keys[0]), numbers(item)].concat(), *count);
        }
    }
    let kept = kept(&interpreter, "top_tcp_dst_port");
    for (key, count) in items {
        assert_eq!(
            kept.get(&key).map(|(weight, _)| *weight),
            Some(count),
            "{key:?}"
        );
    }
}

/// What a program is from behind the parser, which all have in common. `ONPATH_BLESS=1` writes it.
#[test]
fn a_query_becomes_the_program_beside_it() {
    let text = "bytes, mean(udp.length), distinct(ip.dst), top(5, flow), histogram(packet.length)\n\
                by ip.src, vlan.id where ip.proto in [6, 17] and not ip.dst in 224.0.0.0/4";
    let mut map = SourceMap::new();
    let query = compile(text, &Catalogue::new(&NoMessages), &mut map)
        .unwrap_or_else(|d| panic!("{}", render_plain(&d, &map)));
    let p4 = program(&query, text, Some(1000)).unwrap_or_else(|d| panic!("{}", d.message));
    let (_, shown) = p4
        .split_once("\nstruct flow_t")
        .expect("types behind the parser");
    let begin = p4.lines().take_while(|line| !line.is_empty());
    let begin: Vec<&str> = begin.collect();
    let shown = format!("{}\n\nstruct flow_t{shown}", begin.join("\n"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/program.p4");
    if std::env::var_os("ONPATH_BLESS").is_some() {
        std::fs::write(path, &shown).expect("written");
    }
    assert_eq!(shown, std::fs::read_to_string(path).expect("there"));
}

#[test]
fn the_payload_is_not_read() {
    let mut map = SourceMap::new();
    let catalogue = Catalogue::new(&crate::toy::Toy);
    let text = "count by kv.host";
    let query = compile(text, &catalogue, &mut map)
        .unwrap_or_else(|d| panic!("{}", render_plain(&d, &map)));
    let refused = program(&query, text, None).expect_err("a message");
    assert!(refused.message.contains("`kv.host`"), "{}", refused.message);
    assert!(matches!(query.attributes[0].ty, Type::Text));
}
