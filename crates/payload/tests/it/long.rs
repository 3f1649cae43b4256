//! Long messages: a byte of a 64 KB message takes the reference reader no longer than a byte of a short one, whatever
//! the bytes are.

use payload::builtin::{ALL, Builtin};
use payload::{Schema, Wanted};
use std::time::Instant;

const SHORT: usize = 8 * 1024;
const LONG: usize = 64 * 1024;
/// Greatest time for a byte of a long message, relative to a byte of a short one. Work that grows with the message
/// would take eight times as long.
const MOST: f64 = 4.0;

/// Builds a message of this size.
type Message = fn(usize) -> Vec<u8>;

fn repeated(front: &str, piece: &str, bytes: usize) -> Vec<u8> {
    let mut all = front.as_bytes().to_vec();
    all.extend(piece.as_bytes().iter().cycle().take(bytes - all.len()));
    all
}

/// Names that fill half of the message, and as many elements in them as fit.
const LONG_NAMES: [(&str, Message); 2] = [
    ("json", |bytes| {
        let name = "n".repeat(bytes / 2);
        repeated(&format!("{{\"{name}\":["), "1,", bytes)
    }),
    ("xml", |bytes| {
        let name = "n".repeat(bytes / 2);
        repeated(&format!("<{name}>"), "<b x=''/>", bytes)
    }),
];

/// Names that point to everything before them, and to as many labels as possible.
const POINTERS: [(&str, Message); 2] = [
    ("dns", |bytes| {
        let mut all = vec![0, 1, 1, 0, 0x30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1];
        let mut last = 12;
        while all.len() + 6 <= bytes {
            let here = all.len();
            all.extend([0xc0 | (last >> 8) as u8, last as u8, 0, 1, 0, 1]);
            last = if here < 0x3fff { here } else { last };
        }
        all
    }),
    ("dns", |bytes| {
        let mut all = vec![0, 1, 1, 0, 0x30, 0, 0, 0, 0, 0, 0, 0];
        all.extend(b"\x01a".repeat(126));
        all.extend([0, 0, 1, 0, 1]);
        all.extend(
            [0xc0, 12, 0, 1, 0, 1]
                .iter()
                .cycle()
                .take(bytes - all.len()),
        );
        all
    }),
];

const ELEMENTS: [(&str, Message); 9] = [
    ("http", |bytes| {
        repeated("GET / HTTP/1.1\r\na: b", "\r", bytes)
    }),
    ("http", |bytes| {
        repeated("GET / HTTP/1.1\r\n", "a:\n", bytes)
    }),
    ("http", |bytes| repeated("GET /?", "&", bytes)),
    ("http", |bytes| repeated("", "\n", bytes)),
    ("json", |bytes| repeated("[", "[],", bytes)),
    ("xml", |bytes| repeated("<a>", "<b></b>", bytes)),
    ("memcached", |bytes| repeated("get", " a", bytes)),
    ("redis", |bytes| repeated("*99999\r\n", ":1\r\n", bytes)),
    ("mqtt", |bytes| repeated("", "\u{30}\u{2}\0\0", bytes)),
];

/// Returns the seconds that `times` readings of some attributes take: the least of several measurements.
fn seconds(schema: &Schema, message: &[u8], times: usize) -> f64 {
    let names: Vec<String> = schema
        .names()
        .iter()
        .map(|name| name.replace('*', "1"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut wanted = Wanted::new(schema, &names);
    let one = |_| {
        let begun = Instant::now();
        for _ in 0..times {
            wanted.read(message);
        }
        begun.elapsed().as_secs_f64()
    };
    (0..5).map(one).fold(f64::INFINITY, f64::min)
}

/// Returns the time for a long message relative to short ones of the same total size. Other programs on the processor
/// disturb both alike.
fn times_of(schema: &Schema, message: impl Fn(usize) -> Vec<u8>) -> f64 {
    let short = seconds(schema, &message(SHORT), LONG / SHORT);
    seconds(schema, &message(LONG), 1) / short
}

fn take_no_longer(messages: &[(&str, Message)]) {
    for (number, (name, message)) in messages.iter().enumerate() {
        let schema = Builtin::named(name).and_then(|builtin| builtin.schema().ok());
        let schema = schema.expect("a built-in message");
        // Another program may have used the processor.
        let mut times = (0..6).map(|_| times_of(&schema, message));
        let fewest = times.by_ref().find(|times| *times <= MOST);
        assert!(fewest.is_some(), "{name}, number {number}");
    }
}

#[test]
fn long_names() {
    take_no_longer(&LONG_NAMES);
}

#[test]
fn pointers_of_names() {
    take_no_longer(&POINTERS);
}

#[test]
fn many_elements() {
    take_no_longer(&ELEMENTS);
}

#[test]
fn one_byte_again_and_again() {
    for builtin in ALL {
        let schema = builtin.schema().expect("its schema");
        for byte in [
            b'\r', b'\n', b'\t', b' ', b'1', b'[', b'<', b'"', b'*', 0, 255,
        ] {
            let is_bounded = |_| times_of(&schema, |bytes| vec![byte; bytes]) <= MOST;
            assert!((0..6).any(is_bounded), "{}: {byte:#04x}", builtin.name);
        }
    }
}

/// A message of this size is read until its names lead to too many labels, and no further.
#[test]
fn names_lead_to_no_more_than_two_labels_a_byte() {
    let schema = Builtin::named("dns").and_then(|builtin| builtin.schema().ok());
    let schema = schema.expect("dns");
    let message = |records: usize| {
        let mut all = vec![0, 1, 1, 0, 0, 1 + records as u8, 0, 0, 0, 0, 0, 0];
        all.extend(b"\x01a".repeat(34));
        all.extend([0, 0, 1, 0, 1]);
        all.extend([0xc0, 12, 0, 1, 0, 1].repeat(records));
        all
    };
    // 35 more for each record of 6 bytes; 34 labels and the end of the name.
    assert!(payload::read(&schema, &message(7)).is_ok());
    let malformed = payload::read(&schema, &message(9)).expect_err("too many");
    assert_eq!(malformed.reason, payload::Reason::PointerLoop);
}
