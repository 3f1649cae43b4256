//! Hand-written messages, by the documents that define them.

use crate::common::{hex, reading, texts};
use payload::Reason;

#[test]
fn gtpu_with_an_extension_header() {
    // G-PDU with a PDU session container (type 0x85): QFI 9.
    let bytes = hex("34 ff 000c 00000001 0000 00 85 01 10 09 00 45000014");
    let found = reading("gtpu", &bytes).unwrap();
    assert_eq!(texts(&found, "teid"), ["1"]);
    assert_eq!(texts(&found, "type"), ["255"]);
    assert_eq!(texts(&found, "qfi"), ["9"]);
    let payload = found.iter().find(|found| found.name == "payload").unwrap();
    assert_eq!((payload.offset, payload.length), (16, 4));
    let reason = |text: &str| reading("gtpu", &hex(text)).unwrap_err().reason;
    assert_eq!(
        reason("34 ff 00ff 00000001 0000 00 00"),
        Reason::LengthPastEnd
    );
    assert_eq!(
        reason("34 ff 0005 00000001 0000 00 85 00"),
        Reason::LengthPastEnd
    );
    assert_eq!(reason("34 ff 00"), Reason::Truncated);
}

#[test]
fn pfcp_elements_also_in_groups() {
    // Session Establishment Request: node id, and in Create PDR the PDI with a network instance.
    let bytes = hex("21 32 002a 0000000000000001 000002 00
        003c 0005 00 0a000001
        0001 0011 0038 0002 0001 0002 0007 0016 0003 616263");
    let found = reading("pfcp", &bytes).unwrap();
    assert_eq!(texts(&found, "seid"), ["1"]);
    assert_eq!(texts(&found, "element.56"), ["\0\u{1}"]);
    assert_eq!(texts(&found, "network_instance"), ["abc"]);
    assert_eq!(texts(&found, "node_id").len(), 1);
    let nested = "0001 ffff";
    let reason = |text: &str| reading("pfcp", &hex(text)).unwrap_err().reason;
    assert_eq!(
        reason(&format!("20 32 0008 000002 00 {nested}")),
        Reason::LengthPastEnd
    );
    let deep = (0..12).fold(Vec::new(), |inner: Vec<u8>, _| {
        [&[0, 1][..], &(inner.len() as u16).to_be_bytes(), &inner].concat()
    });
    let mut message = vec![0x20, 0x32, 0, 4 + deep.len() as u8, 0, 0, 2, 0];
    message.extend(deep);
    assert_eq!(
        reading("pfcp", &message).unwrap_err().reason,
        Reason::TooDeep
    );
}

#[test]
fn memcached_text_commands() {
    let found = reading("memcached", b"get alpha beta\r\n").unwrap();
    assert_eq!(texts(&found, "get"), ["alpha", "beta"]);
    let found = reading("memcached", b"set k 0 60 5 noreply\r\nhello\r\n").unwrap();
    assert_eq!(texts(&found, "key"), ["k"]);
    assert_eq!(texts(&found, "bytes"), ["5"]);
    assert_eq!(texts(&found, "data"), ["hello"]);
    let found = reading("memcached", b"incr visits 1\r\n").unwrap();
    assert_eq!(texts(&found, "changed"), ["visits"]);
    let reason = |text: &[u8]| reading("memcached", text).unwrap_err().reason;
    assert_eq!(reason(b"set k 0 60 9\r\nhello\r\n"), Reason::LengthPastEnd);
    assert_eq!(reason(b"set k 0 60 x\r\nhello\r\n"), Reason::Unexpected);
    assert_eq!(reason(b"get alpha"), Reason::Truncated);
}

#[test]
fn memcached_binary_lengths_are_subtracted() {
    let bytes = hex(
        "80 01 0003 08 00 0000 00000010 00000000 0000000000000000 00000000 00000e10 666f6f 6261722121",
    );
    let found = reading("memcached-binary", &bytes).unwrap();
    assert_eq!(texts(&found, "key"), ["foo"]);
    assert_eq!(texts(&found, "value"), ["bar!!"]);
    // A body that is shorter than its extras and key.
    let bytes = hex("80 01 0003 00 00 0000 00000002 00000000 0000000000000000 666f6f");
    let malformed = reading("memcached-binary", &bytes).unwrap_err();
    assert_eq!(
        (malformed.reason, malformed.field.as_str()),
        (Reason::LengthPastEnd, "message.value")
    );
}

#[test]
fn redis_commands_and_replies() {
    let found = reading("redis", b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\na\r\nbc\r\n").unwrap();
    assert_eq!(texts(&found, "command"), ["SET"]);
    assert_eq!(texts(&found, "key"), ["k"]);
    assert_eq!(texts(&found, "value"), ["a\r\nbc"]);
    let piped = reading(
        "redis",
        b"*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$1\r\nx\r\n",
    )
    .unwrap();
    assert_eq!(texts(&piped, "command"), ["PING", "GET"]);
    let found = reading("redis", b"-ERR no\r\n:-12\r\n$-1\r\n").unwrap();
    assert_eq!(texts(&found, "error"), ["ERR no"]);
    assert_eq!(texts(&found, "integer"), ["-12"]);
    let reason = |text: &[u8]| reading("redis", text).unwrap_err().reason;
    assert_eq!(reason("*1\r\n".repeat(30).as_bytes()), Reason::TooDeep);
    assert_eq!(reason(b"*1000000000\r\n"), Reason::Truncated);
    assert_eq!(reason(b"*1\r\n$9\r\nGET\r\n"), Reason::LengthPastEnd);
    assert_eq!(reason(b"hello"), Reason::Unexpected);
}

#[test]
fn postgresql_startup_and_query() {
    let bytes =
        hex("00000022 00030000 75736572 00 616c696365 00 6461746162617365 00 7368 6f70 00 00");
    let found = reading("postgresql", &bytes).unwrap();
    assert_eq!(texts(&found, "code"), ["196608"]);
    assert_eq!(texts(&found, "user"), ["alice"]);
    assert_eq!(texts(&found, "parameter.database"), ["shop"]);
    let found = reading("postgresql", &hex("00000008 04d2162f")).unwrap();
    assert_eq!(texts(&found, "code"), ["80877103"]);
    let found = reading("postgresql", b"Q\0\0\0\x0dSELECT 1\0").unwrap();
    assert_eq!(texts(&found, "query"), ["SELECT 1"]);
    let reason = |bytes: &[u8]| reading("postgresql", bytes).unwrap_err().reason;
    assert_eq!(reason(b"\0\0\0\x02"), Reason::LengthPastEnd);
    assert_eq!(reason(b"Q\0\0\0\x0cSELECT 1\0"), Reason::Truncated);
}

#[test]
fn mqtt_connect_of_both_versions_and_publish() {
    // 3.1.1 with a user; 5.0 with properties and a will.
    let found = reading(
        "mqtt",
        &hex("10 12 0004 4d515454 04 82 003c 0003 646576 0001 75"),
    )
    .unwrap();
    assert_eq!(texts(&found, "client_id"), ["dev"]);
    assert_eq!(texts(&found, "user"), ["u"]);
    let five = hex("10 1c 0004 4d515454 05 06 003c 05 1100000e10 0001 63 00 0003 6c6173 0001 78");
    let found = reading("mqtt", &five).unwrap();
    assert_eq!(texts(&found, "level"), ["5"]);
    assert_eq!(texts(&found, "client_id"), ["c"]);
    assert_eq!(texts(&found, "will_topic"), ["las"]);
    let found = reading("mqtt", &hex("30 07 0003 612f62 3432")).unwrap();
    assert_eq!(texts(&found, "topic"), ["a/b"]);
    let reason = |text: &str| reading("mqtt", &hex(text)).unwrap_err().reason;
    assert_eq!(reason("10 ffffffff 00"), Reason::Unexpected);
    assert_eq!(reason("10 80"), Reason::Truncated);
    assert_eq!(reason("30 7f 0001"), Reason::LengthPastEnd);
}
