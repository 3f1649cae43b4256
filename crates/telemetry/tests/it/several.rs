//! Attributes with several values, compared with lists of the values in each message.

use crate::evaluation::run_on;
use crate::frames::{self, End, segment};
use crate::schemas::SCHEMAS;
use crate::streams::same;
use diag::{Diagnostics, SourceMap};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use telemetry::{Catalogue, Cell, Report, compile};

const GREASE: [u16; 3] = [0x0a0a, 0x7a7a, 0xfafa];

/// ClientHello.
#[derive(Clone, Debug, Default)]
struct Hello {
    ciphers: Vec<u16>,
    versions: Vec<u16>,
    protocols: Vec<Vec<u8>>,
}

fn two(number: usize) -> [u8; 2] {
    (number as u16).to_be_bytes()
}

/// Prefixes bytes with their number, in one byte or two.
fn behind_length(wide: bool, bytes: &[u8]) -> Vec<u8> {
    let length = two(bytes.len());
    [&length[usize::from(!wide)..], bytes].concat()
}

fn numbers(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_be_bytes()).collect()
}

impl Hello {
    fn bytes(&self) -> Vec<u8> {
        let extension =
            |kind: usize, data: Vec<u8>| [&two(kind)[..], &behind_length(true, &data)].concat();
        let names = self
            .protocols
            .iter()
            .flat_map(|name| behind_length(false, name));
        let names: Vec<u8> = names.collect();
        let mut extensions = extension(43, behind_length(false, &numbers(&self.versions)));
        extensions.extend(extension(16, behind_length(true, &names)));
        let body = [
            &[3, 3][..],
            &[7; 32],
            &[0],
            &behind_length(true, &numbers(&self.ciphers)),
            &[1, 0],
            &behind_length(true, &extensions),
        ]
        .concat();
        let handshake = [&[1, 0][..], &behind_length(true, &body)].concat();
        [&[0x16, 3, 1][..], &behind_length(true, &handshake)].concat()
    }

    fn packet(&self, port: u16) -> Vec<u8> {
        segment(port, 443, End::Client, 1, &self.bytes())
    }
}

/// Builds a response with these answers: type and data.
fn answers(all: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut message = vec![0, 9, 0x84, 0, 0, 1, 0, all.len() as u8, 0, 0, 0, 0];
    message.extend(b"\x01a\x07example\x00\x00\x01\x00\x01");
    for (number, (kind, data)) in all.iter().enumerate() {
        message.extend([0xc0, 12]);
        message.extend(kind.to_be_bytes());
        message.extend([0, 1, 0, 0, 0, number as u8]);
        message.extend(behind_length(true, data));
    }
    frames::udp(9, 1, (53, 4000), &message)
}

fn query(text: &str, packets: &[Vec<u8>]) -> Report {
    run_on(&*SCHEMAS, text, packets, None)
}

fn metric(text: &str, packets: &[Vec<u8>]) -> Cell {
    query(text, packets).rows[0].cells[0].clone()
}

/// Returns the only key of each row, with its count.
fn groups(report: &Report) -> BTreeMap<String, u64> {
    let row = |row: &telemetry::Row| match row.cells[0] {
        Cell::Number(count) => (row.keys[0].to_string(), count),
        ref other => panic!("{other:?}"),
    };
    report.rows.iter().map(row).collect()
}

#[test]
fn a_comparison_holds_if_any_value_fulfils_it() {
    let hellos = [
        Hello {
            ciphers: vec![0x1a1a, 4865, 4866],
            versions: vec![0x0a0a, 772, 771],
            protocols: vec![b"h2".into(), b"http/1.1".into()],
        },
        Hello {
            ciphers: vec![4866],
            versions: vec![771],
            protocols: vec![b"http/1.1".into()],
        },
        Hello::default(),
    ];
    let packets: Vec<Vec<u8>> = (1..)
        .zip(&hellos)
        .map(|(port, hello)| hello.packet(port))
        .collect();
    for (condition, expected) in [
        ("tls.supported_version == 772", 1),
        ("tls.supported_version == 771", 2),
        ("tls.supported_version != 771", 1),
        ("not tls.supported_version == 772", 2),
        (
            "tls.supported_version > 3000 and tls.supported_version < 700",
            0,
        ),
        ("tls.supported_version == 2570", 1),
        ("tls.cipher in [4865, 1]", 1),
        ("tls.alpn == \"http/1.1\"", 2),
        ("tls.alpn starts with \"h2\"", 1),
        ("tls.alpn ~ \"^h\"", 2),
        ("first(tls.alpn) == \"http/1.1\"", 1),
        // The first value is noise only if there is no other.
        ("first(tls.cipher) == 4865", 1),
        ("first(tls.supported_version) == 772", 1),
        ("first(tls.cipher) >= 0", 2),
    ] {
        let count = metric(&format!("count where {condition}"), &packets);
        assert_eq!(count, Cell::Number(expected), "{condition}");
    }
    let only_noise = Hello {
        ciphers: vec![0x2a2a, 0x3a3a],
        ..Hello::default()
    };
    let report = query("count by first(tls.cipher)", &[only_noise.packet(1)]);
    assert_eq!(groups(&report), BTreeMap::from([("10794".to_owned(), 1)]));
}

#[test]
fn a_message_counts_once_in_the_group_of_each_value() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut packets, mut ciphers, mut firsts) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let (mut records, mut values) = (0, 0);
    for port in 1..200u16 {
        let mut some = || -> Vec<u16> {
            let many = random.random_range(0..6);
            let one = |_| match random.random_range(0..4) {
                0 => GREASE[random.random_range(0..GREASE.len())],
                _ => random.random_range(1..6),
            };
            (0..many).map(one).collect()
        };
        let hello = Hello {
            ciphers: some(),
            versions: some(),
            protocols: Vec::new(),
        };
        for cipher in BTreeSet::from_iter(&hello.ciphers) {
            *ciphers.entry(cipher.to_string()).or_insert(0) += 1;
        }
        let is_noise = |cipher: &&u16| GREASE.contains(*cipher);
        let first = hello.ciphers.iter().find(|cipher| !is_noise(cipher));
        if let Some(first) = first.or(hello.ciphers.first()) {
            *firsts.entry(first.to_string()).or_insert(0) += 1;
            records += 1;
        }
        values += hello.ciphers.iter().map(|c| u64::from(*c)).sum::<u64>();
        packets.push(hello.packet(port));
    }
    assert_eq!(groups(&query("count by tls.cipher", &packets)), ciphers);
    assert_eq!(
        groups(&query("count by first(tls.cipher)", &packets)),
        firsts
    );
    assert_eq!(metric("sum(tls.cipher)", &packets), Cell::Number(values));
    let firsts: u64 = firsts
        .iter()
        .map(|(first, n)| first.parse::<u64>().unwrap_or(0) * n)
        .sum();
    assert_eq!(
        metric("sum(first(tls.cipher))", &packets),
        Cell::Number(firsts)
    );
    let report = query(
        "count by tls.cipher, tcp.dst_port where tls.supported_version >= 0",
        &packets,
    );
    assert_eq!(report.counts.records, 199);
    let report = query("count by tls.cipher", &packets);
    assert_eq!(report.counts.records - report.counts.without_key, records);
}

#[test]
fn addresses_of_answers_are_addresses() {
    let four = |last: u8| (1, vec![10, 0, 0, last]);
    let six = |last: u8| (28, [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[last]].concat());
    let alias = (5, b"\x01b\x00".to_vec());
    let packets = [
        answers(&[alias, four(1), (1, vec![192, 0, 2, 9]), six(7)]),
        answers(&[four(1)]),
        answers(&[(1, vec![192, 0, 2, 9]), six(8), six(9)]),
    ];
    for (condition, expected) in [
        ("dns.answer.ipv4 in 10.0.0.0/8", 2),
        ("dns.answer.ipv4 == 192.0.2.9", 2),
        ("dns.answer.ipv4 in [192.0.2.0/24, 1.1.1.1]", 2),
        ("dns.answer.ipv6 in 2001:db8::/126", 0),
        ("dns.answer.ipv6 in 2001:db8::8/125", 1),
        ("first(dns.answer.ipv4) in 10.0.0.0/8", 2),
        ("first(dns.answer.ipv6) == 2001:db8::9", 0),
        ("dns.answer.ipv6 == 2001:db8::9", 1),
        ("dns.answer.target == \"b\"", 1),
    ] {
        let count = metric(&format!("count where {condition}"), &packets);
        assert_eq!(count, Cell::Number(expected), "{condition}");
    }
    let by_four = query("count by dns.answer.ipv4", &packets);
    let expected = [("10.0.0.1", 2), ("192.0.2.9", 2)];
    assert_eq!(
        groups(&by_four),
        expected.map(|(key, n)| (key.to_owned(), n)).into()
    );
    assert_eq!(
        metric("sum(dns.answer.ttl)", &packets),
        Cell::Number(1 + 2 + 3 + 1 + 2)
    );
    // On the path, only the first value is read.
    for text in [
        "count by first(dns.answer.ipv4)",
        "count where first(dns.answer.ipv4) in 10.0.0.0/8",
        "top(3, first(dns.answer.ipv6)), distinct(first(dns.answer.ipv4)) by dns.qname",
        "max(first(dns.answer.ttl)) by first(dns.answer.type)",
    ] {
        same(text, &packets);
    }
}

#[test]
fn an_address_of_another_length_is_malformed() {
    let whole = (1, vec![10, 0, 0, 1]);
    for wrong in [0, 3, 5, 16] {
        let packets = [
            answers(&[whole.clone(), (1, vec![10; wrong])]),
            answers(std::slice::from_ref(&whole)),
        ];
        let report = same("count by first(dns.answer.ipv4)", &packets);
        assert_eq!(report.counts.records, 2, "read as far as it is needed");
        let report = query("count by dns.answer.ipv4", &packets);
        assert_eq!(
            (report.counts.malformed, report.counts.records),
            (1, 1),
            "{wrong}"
        );
        let packets = [answers(&[(1, vec![10; wrong]), whole.clone()])];
        assert_eq!(
            same("count by first(dns.answer.ipv4)", &packets)
                .counts
                .malformed,
            1
        );
    }
    for wrong in [4, 15, 17] {
        let report = same(
            "count by first(dns.answer.ipv6)",
            &[answers(&[(28, vec![1; wrong])])],
        );
        assert_eq!(report.counts.malformed, 1, "{wrong}");
    }
}

fn codes(diagnostics: &Diagnostics) -> Vec<&str> {
    diagnostics.iter().map(|d| d.code.0).collect()
}

#[test]
fn what_is_not_answered_is_refused() {
    let catalogue = Catalogue::new(&*SCHEMAS);
    let compiled = |text: &str| compile(text, &catalogue, &mut SourceMap::new());
    let two = compiled("count by dns.answer.ttl, dns.qname, dns.answer.ipv4").expect_err("refused");
    assert_eq!(codes(&two), ["E0971"]);
    assert!(compiled("count by first(dns.answer.ttl), dns.answer.ipv4").is_ok());
    for text in [
        "count by first dns.qname",
        "count by first(first(dns.qname))",
        "count by first()",
    ] {
        assert!(compiled(text).is_err(), "{text}");
    }
    for (text, help) in [
        ("count by dns.answer.ipv4", "write `first(dns.answer.ipv4)`"),
        ("count where tls.cipher == 1", "`--off-path` or `--read`"),
        ("count by first(tls.alpn)", "`--off-path` or `--read`"),
    ] {
        let query = compiled(text).expect("a query");
        let refused = telemetry::program(&query, text, &*SCHEMAS, 16).expect_err("refused");
        assert_eq!(refused.code.0, "E0972");
        assert!(refused.help.expect("some").contains(help), "{text}");
    }
}
