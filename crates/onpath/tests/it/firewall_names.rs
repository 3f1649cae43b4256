//! The firewall by names with a large list in the kernel, against a plain set of suffixes: each packet of DNS, HTTP and TLS passes
//! or is dropped as the set says. Needs root.

use crate::evasion::packet;
use crate::evasion::protocol::Protocol;
use crate::evasion::schedule::ACK;
use crate::flow_state::machine::Compiled;
use bpf::abi::Hook;
use control::{Change, Device, Packet};
use firewall::list;
use firewall::rules::{Listed, of};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A label as a list has it, and as packets have it (RFC 5890).
const LABEL: [&str; 2] = ["b\u{fc}cher", "xn--bcher-kva"];

/// Returns a name of a list, as packets have it. A name may be below another one, and each sixteenth has a label that is not ASCII.
fn name(number: u32) -> String {
    let label = format!("n{number:x}-{}", "x".repeat(number as usize % 30));
    match number % 16 {
        0 => format!("{}.{label}.example", LABEL[1]),
        1 | 2 => format!("sub.{}", name(number / 2)),
        _ => format!("{label}.example"),
    }
}

/// Makes a list: its text, and if its names are blocked. Each name covers those below it.
fn listed(count: u32) -> (String, HashMap<String, bool>) {
    let (mut text, mut names) = (String::new(), HashMap::new());
    for number in 0..count {
        let (name, blocks) = (name(number), number % 7 != 0);
        // An exception for the same name would win.
        if names.contains_key(&name) {
            continue;
        }
        let before = if blocks { "" } else { "@@" };
        // Writing to a text does not fail.
        let _ = writeln!(text, "{before}||{}^", name.replace(LABEL[1], LABEL[0]));
        names.insert(name, blocks);
    }
    (text, names)
}

/// Returns true if the longest listed name that is a suffix of labels is blocked.
fn is_blocked(names: &HashMap<String, bool>, asked: &str) -> bool {
    let lower = asked.to_lowercase();
    let host = lower.split(':').next().unwrap_or_default();
    let host = host.strip_suffix('.').unwrap_or(host);
    let mut rest = Some(host);
    while let Some(name) = rest {
        if let Some(blocks) = names.get(name) {
            return *blocks;
        }
        rest = name.split_once('.').map(|(_, above)| above);
    }
    false
}

/// Returns a name as it may be asked for, or a near miss of one.
fn asked(random: &mut ChaCha8Rng, name: &str) -> String {
    match random.random_range(0..8) {
        0 => format!("www.{name}"),
        1 => format!("a.b-c.{name}"),
        2 => format!("not{name}"),
        3 => format!("{name}.org"),
        4 => name[1..].to_owned(),
        5 => name.to_uppercase(),
        6 => {
            let either = |letter: char| match random.random() {
                true => letter.to_ascii_uppercase(),
                false => letter,
            };
            name.chars().map(either).collect()
        }
        _ => name.to_owned(),
    }
}

/// Returns a packet with a number that asks for a name, by DNS, TLS or HTTP. Hosts of HTTP may have a final dot and a port, which are added to the name.
fn asks(random: &mut ChaCha8Rng, number: u32, name: &mut String) -> Vec<u8> {
    // Of a connection that is known already, not everything is read.
    let [_, high, middle, low] = number.to_be_bytes();
    let ends = |port: u16| ([10, high, middle, low], [192, 0, 2, 1], 40_000, port);
    match random.random_range(0..3) {
        0 => {
            let stream = Protocol::Tls.stream(name, random);
            packet(ends(443), [random.random(), 1], ACK, &stream)
        }
        1 => {
            *name += ["", ".", ":80", ".:8080"]
                .choose(random)
                .copied()
                .unwrap_or_default();
            let text = format!("GET /a HTTP/1.1\r\nAccept: */*\r\nHost: {name}\r\n\r\n");
            packet(ends(80), [random.random(), 1], ACK, text.as_bytes())
        }
        _ => query(name),
    }
}

/// Returns a packet of UDP with a query of DNS.
fn query(name: &str) -> Vec<u8> {
    let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        query.push(label.len() as u8);
        query.extend(label.as_bytes());
    }
    query.extend([0, 0, 1, 0, 1]);
    let length = query.len() as u16;
    let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0];
    packet.extend((28 + length).to_be_bytes());
    packet.extend([
        0, 1, 0, 0, 64, 17, 0, 0, 10, 1, 0, 1, 10, 0, 0, 2, 0x9c, 0x40, 0, 53,
    ]);
    packet.extend((8 + length).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(query);
    packet
}

/// Asks for names of a list with this many, for a while, and compares each verdict.
fn tried(count: u32, time: Duration) {
    let (text, names) = listed(count);
    let program = testkit::files::root().join("programs/url_firewall/url_firewall.p4");
    // Long names take more room than rules.
    let text_of_program = format!(
        "#define MOST_RULES {}\n#include \"{}\"\n",
        count / 2 * 3,
        program.display()
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("large.p4");
    std::fs::write(&file, text_of_program).expect("a file");
    let compiled = Compiled::of_file(&file, Hook::Xdp, true);
    let set = compiled.state("firewall.verdict.names");
    let mut test = compiled.load();
    let read = list::parse(text.as_bytes());
    assert_eq!(read.skipped, []);
    let listed = read.rules.into_iter().map(|rule| Listed {
        rule,
        list: 0,
        groups: 1,
    });
    let rules = of(listed.collect()).rules.into_iter();
    let changes: Vec<Change> = rules.map(|rule| Change::InsertName(set, rule)).collect();
    test.store_mut().apply(&changes).expect("there is room");
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let (mut tries, mut dropped) = (0u32, 0u32);
    let begun = Instant::now();
    while begun.elapsed() < time {
        let mut asked = asked(
            &mut random,
            &name(tries.wrapping_mul(2_654_435_761) % count),
        );
        let bytes = asks(&mut random, tries, &mut asked);
        let packet = Packet { port: 0, bytes };
        test.send(&packet).expect("it takes the packet");
        let passed = test.receive().expect("it gives what came out").len();
        let expected = is_blocked(&names, &asked);
        assert_eq!(passed == 0, expected, "{asked}: {:02x?}", packet.bytes);
        tries += 1;
        dropped += u32::from(expected);
    }
    println!("{} names, {tries} packets, {dropped} dropped", names.len());
    assert!(
        tries > 300 && (tries / 5..tries).contains(&dropped),
        "{tries} packets, {dropped} dropped"
    );
}

#[test]
fn verdicts_are_those_of_a_plain_set_with_20000_names() {
    tried(20_000, Duration::from_millis(1_500));
}

#[test]
#[ignore = "long: make test-all"]
fn verdicts_are_those_of_a_plain_set_with_a_million_names() {
    tried(1_000_000, Duration::from_secs(20));
}
