//! Attributes that several layouts have.

use crate::common::{reading, texts, values};
use diag::SourceMap;
use payload::Value;

/// Builds a GTP-U message of type 255 with these flags, followed by the bytes.
fn gtpu(flags: u8, rest: &[u8]) -> Vec<u8> {
    let length = (rest.len() as u16).to_be_bytes();
    [&[0x30 | flags, 255][..], &length, &[0, 0, 0, 5], rest].concat()
}

#[test]
fn gtpu_has_a_number_and_a_payload_in_each_layout() {
    let number = |n: i128| vec![Value::Number(n)];
    for (flags, rest, sequence, payload) in [
        (0, &b"data"[..], vec![], "data"),
        (2, b"\x00\x4d\x00\x00data", number(77), "data"),
        (1, b"\x00\x00\x09\x00data", number(0), "data"),
        (3, b"\x01\x00\x09\x00data", number(256), "data"),
        (
            4,
            b"\x00\x07\x00\x85\x01\x00\x09\x00data",
            number(7),
            "data",
        ),
        (6, b"\xff\xff\x00\x00", number(65_535), ""),
    ] {
        let found = reading("gtpu", &gtpu(flags, rest)).expect("it is whole");
        let numbers: Vec<Value> = values(&found, "sequence").into_iter().cloned().collect();
        assert_eq!(numbers, sequence, "{flags}");
        assert_eq!(texts(&found, "payload"), [payload], "{flags}");
    }
}

#[test]
fn every_command_of_memcached_has_a_verb() {
    for (text, verb, key, keys) in [
        ("get a b\r\n", "get", "a", &["a", "b"][..]),
        ("gets a\r\n", "gets", "a", &["a"]),
        ("gat 60 a b\r\n", "gat", "a", &["a", "b"]),
        ("gats -1 a\r\n", "gats", "a", &["a"]),
        ("cas k 1 0 2 99\r\nhi\r\n", "cas", "k", &[]),
        ("cas k 1 0 2 99 noreply\r\nhi\r\n", "cas", "k", &[]),
        ("set k 0 0 2\r\nhi\r\n", "set", "k", &[]),
        ("prepend k 0 0 2\r\nhi\r\n", "prepend", "k", &[]),
        ("incr k 5\r\n", "incr", "k", &[]),
        ("touch k 5 noreply\r\n", "touch", "k", &[]),
        ("delete k\r\n", "delete", "k", &[]),
        ("mg k v t\r\n", "mg", "k", &[]),
        ("ms k 2 T0\r\nhi\r\n", "ms", "k", &[]),
        ("md k\r\n", "md", "k", &[]),
        ("ma k N0\r\n", "ma", "k", &[]),
        ("me k\r\n", "me", "k", &[]),
        ("mn\r\n", "mn", "", &[]),
        ("flush_all 10\r\n", "flush_all", "", &[]),
        ("version\r\n", "version", "", &[]),
        ("stats items\r\n", "stats", "", &[]),
        ("lru_crawler enable\r\n", "lru_crawler", "", &[]),
        ("cache_memlimit 64\r\n", "cache_memlimit", "", &[]),
        ("quit\r\n", "quit", "", &[]),
    ] {
        let found = reading("memcached", text.as_bytes()).expect("it is whole");
        assert_eq!(texts(&found, "verb"), [verb], "{text}");
        let first = texts(&found, "key").into_iter().next().unwrap_or_default();
        assert_eq!(first, key, "{text}");
        assert_eq!(texts(&found, "get"), keys, "{text}");
    }
    let found = reading("memcached", b"cas k 1 0 2 99\r\nhi\r\n").expect("it is whole");
    assert_eq!(
        (texts(&found, "bytes"), texts(&found, "data")),
        (vec!["2".into()], vec!["hi".into()])
    );
}

/// In no built-in schema does another layout have an attribute of the same name that is not read from it.
#[test]
fn built_in_schemas_have_no_warnings() {
    for builtin in payload::builtin::ALL {
        let mut map = SourceMap::new();
        let file = map.add(builtin.name, builtin.text).expect("room");
        let warnings = payload::lint(&map, file);
        assert!(
            warnings.is_empty(),
            "{}",
            diag::render_plain(&warnings, &map)
        );
    }
}
