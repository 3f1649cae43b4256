//! P4 program of a query on the interpreter, compared with the evaluation.

use crate::evaluation::{run, run_on};
use crate::frames;
use control::{Group, Groups, Metric, Store, StoreError};
use diag::{SourceMap, render_plain};
use driver::Input;
use interp::{Clock, Interpreter, Options};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schema::{Bits, Object};
use sketch::Tally;
use std::collections::BTreeMap;
use std::sync::Arc;
use telemetry::{
    Catalogue, Cell, Kept, Messages, NoMessages, Reading, Report, Row, Schemas, Type, Value,
    compile, describe_fields, program,
};

/// Returns the report of a query's program, with room for more groups than there are packets.
pub(crate) fn on_path(
    text: &str,
    messages: &dyn Messages,
    packets: &[Vec<u8>],
    seconds: f64,
) -> Report {
    let mut map = SourceMap::new();
    let query = compile(text, &Catalogue::new(messages), &mut map)
        .unwrap_or_else(|d| panic!("{}", render_plain(&d, &map)));
    let p4 = program(&query, text, messages, 1 << 16).unwrap_or_else(|d| panic!("{}", d.message));
    let input = Input {
        text: Some(p4.into()),
        ..Input::file("query")
    };
    let elaborated = driver::elaborate(&input)
        .unwrap_or_else(|r| panic!("{text}: {}", render_plain(&r.diagnostics, &r.map)));
    let warnings = render_plain(&elaborated.diagnostics, &elaborated.map);
    assert_eq!(warnings, "", "{text}");
    // One packet a millisecond, as in the evaluation.
    let options = Options {
        clock: Clock::Virtual { step: 1_000_000 },
        ..Options::default()
    };
    let interpreter = Interpreter::new(Arc::new(elaborated.program), options);
    let mut interpreter =
        interpreter.unwrap_or_else(|d| panic!("{}", render_plain(&d, &elaborated.map)));
    for packet in packets {
        let sent = interpreter.run(0, packet).packets;
        assert_eq!((sent.len(), &sent[0].bytes), (1, packet), "{text}");
    }
    let report = Reading::new(query).report(&mut Run(interpreter), seconds);
    report.unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Program that runs on the interpreter.
struct Run(Interpreter);

impl Run {
    fn object(&self, name: &str) -> Object {
        let mut all = self.0.schema().objects.iter();
        let found = all.find(|(_, object)| object.name == format!("watch.{name}"));
        found.unwrap_or_else(|| panic!("no {name}")).0
    }
}

impl Kept for Run {
    type Error = StoreError;

    fn groups(&mut self, object: &str) -> Result<Groups, StoreError> {
        self.0.metrics(self.object(object))
    }

    fn counters(&mut self, object: &str) -> Result<Vec<(u64, u64)>, StoreError> {
        let counted = self.0.counters(self.object(object))?.into_iter();
        Ok(counted
            .map(|(index, count)| (index, count.packets))
            .collect())
    }
}

/// Returns packets of all kinds, some of them changed and truncated at random.
fn packets(seed: u64) -> Vec<Vec<u8>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mix = frames::mix();
    let mut all = mix.clone();
    for _ in 0..6000 {
        let mut packet = mix.choose(&mut random).cloned().unwrap_or_default();
        for _ in 0..random.random_range(1..4) {
            // Most changes are in the headers.
            let at = random.random_range(0..packet.len().clamp(1, 60));
            if let Some(byte) = packet.get_mut(at) {
                *byte = [0, 4, 5, 6, 17, 44, 51, 60, 0x45, 0x81, random.random()]
                    [random.random_range(0..11)];
            }
        }
        if random.random_range(0..3) == 0 {
            packet.truncate(random.random_range(0..=packet.len()));
        }
        // The program does not parse IEEE 802.1AE.
        if !packet.windows(2).any(|pair| pair == [0x88, 0xe5]) {
            all.push(packet);
        }
    }
    all
}

/// Checks that the report of the program equals that of the evaluation.
fn same(text: &str, packets: &[Vec<u8>]) {
    let expected = run(text, packets);
    let found = on_path(text, &NoMessages, packets, expected.seconds);
    let mut both = expected.rows.iter().zip(&found.rows);
    assert_eq!(both.find(|(a, b)| a != b), None, "{text}");
    assert_eq!(found, expected, "{text}");
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
        "ip.src in 2001:db8::/124 or ip.dst == 10.0.1.1",
        "ip.src in [2001:db8::7, 10.0.0.0/30]",
        "ip.src in ::/0",
        "not ip.src in ::/64",
        "ip.dst in ::ffff:10.0.0.0/104",
        "ip.src != 2001:db8::7",
        "ipv6.src in 2001:db8::/124",
        "not ipv6.src == 2001:db8::7",
        "eth.src == 02:00:00:00:00:01 and eth.type != 0x800",
        "tcp.dst_port in [80, 443] and not (tcp.flags < 3 or packet.length >= 60)",
        "udp.length > 20 and ip.ttl <= 64",
        "vlan.id >= 2",
    ] {
        same(&format!("count, bytes where {condition}"), &packets);
        same(
            &format!("count, bytes by ip.src, eth.type where {condition}"),
            &packets,
        );
        same(
            &format!("count, bytes by ip.proto, eth.type where {condition}"),
            &packets,
        );
    }
}

#[test]
fn groups_are_in_the_same_order() {
    let packets = packets(6);
    for order in [
        "bytes",
        "ip.src",
        "ip.src desc",
        "count asc top 7",
        "max(udp.length) asc",
    ] {
        let query = format!("count, bytes, max(udp.length) by ip.src order by {order}");
        same(&query, &packets);
    }
    same("count by flow top 3", &packets);
}

#[test]
fn values_are_added_where_a_packet_has_them() {
    let packets = packets(3);
    same(
        "count, sum(udp.length), min(udp.length), max(udp.length), mean(udp.length), histogram(udp.length), \
         rate, rate(udp.length) by ip.ttl",
        &packets,
    );
    same(
        "sum(tcp.seq), max(tcp.window), histogram(tcp.seq)",
        &packets,
    );
}

#[test]
fn estimates_are_near_what_they_estimate() {
    let packets = packets(4);
    let text = "distinct(flow), top(3, tcp.dst_port), count by ip.proto";
    let exact = run(text, &packets);
    let found = on_path(text, &NoMessages, &packets, exact.seconds);
    assert_eq!(found.rows.len(), exact.rows.len());
    for row in &exact.rows {
        let mut others = found.rows.iter();
        let other = others.find(|other| other.keys == row.keys);
        let other = other.unwrap_or_else(|| panic!("no row {:?}", row.keys));
        let (Cell::Estimate(a, error), Cell::Estimate(b, same)) = (&row.cells[0], &other.cells[0])
        else {
            panic!("{row:?} {other:?}");
        };
        assert_eq!(error, same);
        // Two estimates of the same number differ by at most twice five standard errors.
        assert!((a - b).abs() <= 10.0 * error * a.max(1.0), "{a} {b}");
        // There are few ports, so all are counted exactly.
        let (Cell::Top { items, .. }, Cell::Top { items: others, .. }) =
            (&row.cells[1], &other.cells[1])
        else {
            panic!("{row:?} {other:?}");
        };
        let counts = |items: &[(Value, u64, u64)]| -> Vec<u64> {
            items.iter().map(|(_, count, _)| *count).collect()
        };
        assert_eq!(counts(items), counts(others), "{:?}", row.keys);
        assert_eq!(row.cells[2], other.cells[2]);
    }
}

#[test]
fn rates_are_about_what_came_since_the_last_report() {
    let mut map = SourceMap::new();
    let query = compile(
        "rate, rate(packet.length)",
        &Catalogue::new(&NoMessages),
        &mut map,
    )
    .unwrap_or_else(|d| panic!("{}", render_plain(&d, &map)));
    struct One(Tally);
    impl Kept for One {
        type Error = ();

        fn groups(&mut self, _: &str) -> Result<Groups, ()> {
            Ok(Groups {
                groups: vec![Group {
                    key: vec![Bits::new(1, 0u32)],
                    metric: Metric::Tally(self.0),
                }],
                ..Groups::default()
            })
        }

        fn counters(&mut self, _: &str) -> Result<Vec<(u64, u64)>, ()> {
            Ok(Vec::new())
        }
    }
    let mut reading = Reading::new(query);
    let mut cells = |count: u64, sum: u64| {
        let tally = Tally {
            count,
            sum,
            least: 1,
            greatest: 9,
        };
        let report = reading.report(&mut One(tally), 2.0);
        report.expect("a report").rows[0].cells.clone()
    };
    assert_eq!(cells(4, 10), [Cell::Real(2.0), Cell::Real(5.0)]);
    assert_eq!(cells(5, 16), [Cell::Real(0.5), Cell::Real(3.0)]);
}

/// Returns packets with messages, some of them changed and truncated at random.
fn messages(seed: u64) -> Vec<Vec<u8>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let get = |host: &str, path: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let post = "POST /form?x=1&y=2 HTTP/1.1\r\nhost: b.example\r\nContent-Length: 5\r\n\r\nhello";
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let chunked = "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: d\r\n\r\n5;a=b\r\nhello\r\n05\r\nhello\r\n0\r\nX: y\r\n\r\n";
    let long = "x".repeat(200);
    let texts = [
        get("a.example", "/"),
        get("a.example", &format!("/{long}")),
        get(&long, "/long"),
        get("a.example", "/1") + &get("b.example", "/2") + &get("a.example", "/3"),
        get("a.example", "/1") + post + &get("c.example", "/3"),
        format!("{post}{post}"),
        format!("{ok}{ok}HTTP/1.1 404 Not Found\r\n\r\n"),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n".into(),
        get("a.example", "/1") + chunked + &get("b.example", "/2"),
        format!("{ok}{chunked}{chunked}{post}"),
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello".to_owned() + post,
    ];
    let name = |text: &str| -> Vec<u8> {
        let labels = text
            .split('.')
            .map(|label| [&[label.len() as u8], label.as_bytes()].concat());
        labels.flatten().chain([0]).collect()
    };
    let dns = |id: u8, text: &str| {
        let head = [
            &[0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0],
            name(text).as_slice(),
        ]
        .concat();
        [head.as_slice(), &[0, 1, 0, 1]].concat()
    };
    let mut all = Vec::new();
    for number in 0..1500u32 {
        let source = number as u8 % 4;
        let mut packet = match number % 3 {
            0 => frames::udp(source, 53, (5000, 53), &dns(source, "www.site.example")),
            _ => {
                let text = texts.choose(&mut random).map_or("", String::as_str);
                let ends = ([10, 0, 0, source].into(), [10, 0, 1, 1].into());
                frames::tcp(ends.0, ends.1, (40000, 80), text.as_bytes())
            }
        };
        if number % 3 == 0 && source == 1 {
            packet = frames::udp(
                source,
                53,
                (5000, 53),
                &dns(source, &format!("{}.example", "y".repeat(60))),
            );
        }
        for _ in 0..random.random_range(0..3) {
            let at = random.random_range(0..packet.len());
            packet[at] = [0, b' ', b':', b'\r', b'\n', b'5', 0xc0, random.random()]
                [random.random_range(0..8)];
        }
        if random.random_range(0..6) == 0 {
            packet.truncate(random.random_range(0..=packet.len()));
        }
        all.push(packet);
    }
    all
}

#[test]
fn messages_are_read_alike() {
    let schemas = Schemas::builtin();
    let packets = messages(5);
    for text in [
        "count by http.host",
        "count by ip.src, http.method where http.status >= 200 or http.path starts with \"/\"",
        "count, max(http.status) by http.status",
        "count by ip.src where http.method == \"POST\" or http.host in [\"a.example\", \"c.example\"]",
        "count where http.host != \"a.example\" and not http.query.x == \"1\"",
        "count by dns.id, dns.response",
        "count, bytes by dns.qname where dns.qtype == 1",
        "count by first(dns.answer.ttl) where dns.rcode == 0",
        "count by http.header.content-length",
        "count by http.host where http.path ~ \"^/[0-9]?$\" or http.method ~ \"^(PO|PU)\"",
        "count where http.host ~ \"^[^.]+\\.example$\" and not http.path ~ \"x{150}\"",
        "count by ip.src where dns.qname ~ \"^www\\..*e\\.\"",
        // Escapes that mean something else in a P4 string.
        "count where http.host ~ \"\\x61\\.[\\\\ae]\" or http.path ~ \"\\\"\"",
        // Numbers that exceed the bits of a status are compared nevertheless.
        "count where http.status != 404 and http.status <= 1023",
        // Names that are equal in P4, or that end in the suffix of a derived name.
        "count by http.query.x, http.query.x_length where not http.header.x-y == \"1\" or not http.header.x_y == \"1\"",
        "count, distinct(http.query.x-y), distinct(http.query.x_y) by http.path",
    ] {
        let mut expected = run_on(&schemas, text, &packets, None);
        let found = on_path(text, &schemas, &packets, expected.seconds);
        assert!(expected.counts.matched > 0, "{text}: {:?}", expected.counts);
        assert!(found.text <= expected.text);
        shorten(&mut expected, found.text);
        expected.counts.cut = found.counts.cut;
        let mut both = expected.rows.iter().zip(&found.rows);
        assert_eq!(both.find(|(a, b)| a != b), None, "{text}");
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn values_of_distinct_that_are_cut_are_counted() {
    let ends = ([10, 0, 0, 1].into(), [10, 0, 1, 1].into());
    let get = |path: &str| {
        let text = format!("GET /{path} HTTP/1.1\r\n\r\n");
        frames::tcp(ends.0, ends.1, (40000, 80), text.as_bytes())
    };
    let packets = [get("short"), get(&"x".repeat(200))];
    let schemas = Schemas::builtin();
    let report = on_path("distinct(http.path)", &schemas, &packets, 1.0);
    assert_eq!((report.counts.records, report.counts.cut), (2, 1));
}

/// A number that is too large is refused; it does not wrap to a small one.
#[test]
fn keys_of_top_are_as_many_as_the_groups_need() {
    let text = "top(1000, ip.src) by ip.dst";
    let mut map = SourceMap::new();
    let query = compile(text, &Catalogue::new(&NoMessages), &mut map)
        .unwrap_or_else(|d| panic!("{}", render_plain(&d, &map)));
    let keys = |groups| {
        let program = program(&query, text, &NoMessages, groups);
        let program = program.unwrap_or_else(|d| panic!("{}", d.message));
        let (_, behind) = program
            .split_once("top_keys<top_ip_src_t>(")
            .expect("the object");
        let (keys, _) = behind.split_once(')').expect("its size");
        keys.parse::<u64>().expect("a number")
    };
    assert_eq!(keys(100), 3_200_000);
    assert_eq!(keys(telemetry::MAX_GROUPS), u64::from(u32::MAX));
}

/// Both find the same next message, whatever the length of the one before.
#[test]
fn the_next_message_is_found_alike() {
    let schemas = Schemas::builtin();
    let ends = ([10, 0, 0, 1].into(), [10, 0, 1, 1].into());
    let lengths = [
        "", "0", "7", "07", "12", "00012", "000012", "123", "99999", "1:", "1/", "/1", ":", "-1",
        "+1", "1 ", "1a", "\u{ff}",
    ];
    let packets: Vec<Vec<u8>> = lengths
        .iter()
        .map(|length| {
            let body = "x".repeat(length.trim().parse::<usize>().unwrap_or(3).min(200));
            let text = format!(
                "GET /a HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}GET /b HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\n\r\n"
            );
            frames::tcp(ends.0, ends.1, (40000, 80), text.as_bytes())
        })
        .collect();
    let text = "count by http.path";
    for packet in packets {
        let packet = [packet];
        let expected = run_on(&schemas, text, &packet, None);
        let mut found = on_path(text, &schemas, &packet, expected.seconds);
        found.text = expected.text;
        assert_eq!(found, expected);
    }
}

/// The verifier refused queries on DNS because of a loop with a single iteration.
#[test]
fn only_messages_that_others_follow_are_read_in_a_loop() {
    let schemas = Schemas::builtin();
    let loops = |text: &str| {
        let query = compile(text, &Catalogue::new(&schemas), &mut SourceMap::new());
        let query = query.expect("a query");
        let program = program(&query, text, &schemas, 100);
        program.expect("a program").contains("for (")
    };
    assert!(loops("count by http.host"));
    assert!(!loops("count by dns.qname"));
    assert!(!loops("count by tls.sni"));
}

/// One message more than the limit. The last iteration of the loop does not count as an unread message.
#[test]
fn a_packet_with_more_messages_than_are_read_is_counted() {
    let schemas = Schemas::builtin();
    let ends = ([10, 0, 0, 1].into(), [10, 0, 1, 1].into());
    let unread = |text: &str, messages: usize| {
        let requests = "GET / HTTP/1.1\r\n\r\n".repeat(messages);
        let packet = frames::tcp(ends.0, ends.1, (40000, 80), requests.as_bytes());
        let counts = on_path(text, &schemas, &[packet], 1.0).counts;
        (counts.records, counts.unread)
    };
    assert_eq!(unread("count by http.path", 64), (64, 0));
    assert_eq!(unread("count by http.path", 66), (64, 1));
    assert_eq!(unread("bytes by http.path", 4), (4, 0));
    assert_eq!(unread("bytes by http.path", 5), (4, 1));
}

#[test]
fn the_bytes_of_a_packet_count_once_in_each_group_of_its_messages() {
    let schemas = Schemas::builtin();
    let packets = messages(6);
    let text = "bytes, count by http.host";
    let mut expected = run_on(&schemas, text, &packets, None);
    let found = on_path(text, &schemas, &packets, expected.seconds);
    assert_eq!(found.counts.unread, 0);
    shorten(&mut expected, found.text);
    assert_eq!(found.rows, expected.rows);
}

/// Shortens the texts in a report of sums, and merges the rows that become equal.
pub(crate) fn shorten(report: &mut Report, bytes: usize) {
    let mut rows: BTreeMap<Vec<Value<'static>>, Vec<Cell>> = BTreeMap::new();
    for mut row in std::mem::take(&mut report.rows) {
        for key in &mut row.keys {
            if let Value::Text(text) = key {
                text.to_mut().truncate(bytes);
            }
        }
        match rows.get_mut(&row.keys) {
            None => drop(rows.insert(row.keys, row.cells)),
            Some(sums) => {
                for (sum, more) in sums.iter_mut().zip(row.cells) {
                    if let (Cell::Number(sum), Cell::Number(more)) = (sum, more) {
                        *sum += more;
                    }
                }
            }
        }
    }
    let rows = rows.into_iter().map(|(keys, cells)| Row { keys, cells });
    report.rows = rows.collect();
    let size = |row: &Row| match row.cells[0] {
        Cell::Number(number) => std::cmp::Reverse(number),
        ref other => panic!("{other:?}"),
    };
    report.rows.sort_by_key(size);
    report.text = bytes;
}

#[test]
fn what_no_program_keeps_is_refused() {
    let schemas = Schemas::builtin();
    let refused = |text: &str| {
        let mut map = SourceMap::new();
        let query = compile(text, &Catalogue::new(&schemas), &mut map)
            .unwrap_or_else(|d| panic!("{}", render_plain(&d, &map)));
        let refused = program(&query, text, &schemas, 100).expect_err(text);
        render_plain(&refused.into(), &map)
    };
    let long = "x".repeat(300);
    for (text, expected) in [
        (
            format!("count where http.host == \"{long}\"").as_str(),
            "error[E1137]: a program on the packets' path compares `http.host` with 256 bytes at most\n --> query:1:26\n",
        ),
        (
            "top(3, http.path) by http.host, http.method, http.query.a, flow",
            "error[E1138]: the keys of this query take more than the 128 bytes that a program on the packets' path keeps of them\n --> query:1:60\n",
        ),
    ] {
        let refused = refused(text);
        assert!(refused.starts_with(expected), "{refused}");
    }
}

/// `ONPATH_BLESS=1` rewrites the file.
#[test]
fn a_query_becomes_the_program_beside_it() {
    let text = "bytes, mean(udp.length), distinct(ip.dst), top(5, flow), histogram(packet.length)\n\
                by ip.src, vlan.id where ip.proto in [6, 17] and not ip.dst in 224.0.0.0/4";
    let mut map = SourceMap::new();
    let query = compile(text, &Catalogue::new(&NoMessages), &mut map)
        .unwrap_or_else(|d| panic!("{}", render_plain(&d, &map)));
    let p4 = program(&query, text, &NoMessages, 1000).unwrap_or_else(|d| panic!("{}", d.message));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/program.p4");
    if std::env::var_os("ONPATH_BLESS").is_some() {
        std::fs::write(path, &p4).expect("written");
    }
    assert_eq!(p4, std::fs::read_to_string(path).expect("there"));
}

#[test]
fn the_payload_is_not_read() {
    let mut map = SourceMap::new();
    let catalogue = Catalogue::new(&crate::toy::Toy);
    let text = "count by kv.host";
    let query = compile(text, &catalogue, &mut map)
        .unwrap_or_else(|d| panic!("{}", render_plain(&d, &map)));
    let refused = program(&query, text, &crate::toy::Toy, 100).expect_err("a message");
    let refused = render_plain(&refused.into(), &map);
    let expected =
        "error[E1135]: no program on the packets' path reads `kv.host`\n --> query:1:10\n";
    assert!(refused.starts_with(expected), "{refused}");
    assert!(matches!(query.attributes[0].ty, Type::Text));
}
