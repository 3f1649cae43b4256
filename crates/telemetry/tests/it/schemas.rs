//! Queries on real messages, read by their schemas.

use crate::evaluation::run_on;
use crate::frames::{tcp, udp};
use diag::SourceMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;
use std::time::Duration;
use telemetry::view::table;
use telemetry::{Catalogue, Cell, Evaluator, Messages, Payload, Schemas, Transport, compile};

pub(crate) static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::builtin);

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// Builds a client's packet to a port.
pub(crate) fn asked(port: u16, payload: &[u8]) -> Vec<u8> {
    tcp(CLIENT, SERVER, (40000, port), payload)
}

/// Builds a server's packet.
fn answered(port: u16, payload: &[u8]) -> Vec<u8> {
    tcp(SERVER, CLIENT, (port, 40000), payload)
}

fn shown(query: &str, packets: &[Vec<u8>]) -> String {
    table::text(&run_on(&*SCHEMAS, query, packets, None), 20)
}

/// Returns requests and answers. Some are in one segment, one is a continuation, and one is malformed.
fn http() -> Vec<Vec<u8>> {
    vec![
        asked(80, b"GET /a?x=1 HTTP/1.1\r\nHost: a.example\r\n\r\n"),
        asked(
            80,
            b"POST /b HTTP/1.1\r\nHost: b.example\r\nContent-Length: 4\r\n\r\nGET GET /c HTTP/1.1\r\nHost: a.example\r\n\r\n",
        ),
        asked(80, b"the rest of a body"),
        asked(80, b"GET /d HTTP/1.1\r\nno colon\r\n\r\n"),
        asked(80, b""),
        answered(
            80,
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
        ),
    ]
}

#[test]
fn http_requests_are_counted_one_by_one() {
    assert_eq!(
        shown(
            "count, bytes by http.host where http.method in [\"GET\", \"POST\"]",
            &http()
        ),
        "\
HTTP.HOST  COUNT  BYTES
a.example  2      244
b.example  1      150
1 packet with a malformed message
"
    );
    assert_eq!(
        shown("count by http.status", &http()),
        "\
HTTP.STATUS  COUNT
200          1
404          1
3 records without http.status
1 packet with a malformed message
"
    );
    // The path comes before the fault.
    assert!(shown("count by http.path", &http()).contains("\n/d         1\n"));
    assert!(
        shown("count by http.query.x, http.header.host", &http())
            .contains("\n1             a.example         1\n")
    );
}

/// An application that receives the same payloads gets the same result.
#[test]
fn what_an_application_received_is_what_its_packets_carried() {
    let text = "count, top(5, http.path), max(tcp.dst_port) by http.host, tcp.src_port where http.method in [\"GET\", \"POST\"] and not tcp.dst_port == 81";
    let mut map = diag::SourceMap::new();
    let compiled = |map: &mut _| compile(text, &Catalogue::new(&*SCHEMAS), map).expect("a query");
    let mut evaluator = Evaluator::new(compiled(&mut map), &*SCHEMAS, None, [0, 1]);
    for packet in http() {
        // The packets have Ethernet, IPv4 and TCP headers without options.
        let (ports, bytes) = (&packet[34..38], &packet[54..]);
        let payload = Payload {
            transport: Transport::Tcp,
            source_port: u16::from_be_bytes([ports[0], ports[1]]),
            destination_port: u16::from_be_bytes([ports[2], ports[3]]),
            bytes,
        };
        evaluator.received(payload, Duration::ZERO);
    }
    let counts = evaluator.counts();
    let report = evaluator.report(0.0);
    let of_packets = run_on(&*SCHEMAS, text, &http(), None);
    assert_eq!((report.rows.len(), report.rows), (2, of_packets.rows));
    assert_eq!(counts, of_packets.counts);

    let headers = "count, bytes where packet.length == 3 and udp.dst_port == 53 and not ip.ttl >= 0 and not udp.length >= 0 and not tcp.dst_port == 53";
    let query = compile(headers, &Catalogue::new(&*SCHEMAS), &mut map).expect("a query");
    let mut evaluator = Evaluator::new(query, &*SCHEMAS, None, [0, 1]);
    let payload = Payload {
        transport: Transport::Udp,
        source_port: 9,
        destination_port: 53,
        bytes: b"abc",
    };
    evaluator.received(payload, Duration::ZERO);
    let cells = &evaluator.report(0.0).rows[0].cells;
    assert_eq!(cells[..], [Cell::Number(1), Cell::Number(3)]);
}

#[test]
fn dns_names_are_those_that_were_asked_for() {
    let mut query = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    query.extend(b"\x03www\x07example\x00\x00\x01\x00\x01");
    let mut answer = query.clone();
    answer[2] |= 0x80;
    let packets = [
        udp(1, 1, (5000, 53), &query),
        udp(1, 1, (53, 5000), &answer),
        udp(1, 1, (5000, 53), &query[..20]),
        udp(1, 1, (5000, 54), &query),
    ];
    assert_eq!(
        shown("count by dns.qname, dns.response", &packets),
        "\
DNS.QNAME    DNS.RESPONSE  COUNT
www.example  0             1
www.example  1             1
1 packet with a malformed message
"
    );
    assert!(
        shown(
            "count, distinct(dns.qname) where dns.response == 0",
            &packets
        )
        .starts_with("count: 1\n")
    );
}

#[test]
fn servers_are_named_in_client_hellos() {
    let mut hello = vec![3, 3];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0x13, 1, 1, 0]);
    let name = b"tls.example";
    let list = name.len() as u8 + 3;
    hello.extend([
        0,
        list + 6,
        0,
        0,
        0,
        list + 2,
        0,
        list,
        0,
        0,
        name.len() as u8,
    ]);
    hello.extend(name);
    let length = hello.len() as u8;
    let mut record = vec![0x16, 3, 1, 0, length + 4, 1, 0, 0, length];
    record.extend(&hello);
    let mut server = record.clone();
    server[5] = 2;
    let packets = [
        asked(443, &record),
        // A hello that continues in the next segment has its name in this one.
        asked(8443, &record),
        answered(443, &server),
        asked(443, b"\x17\x03\x03\x00\x02ab"),
    ];
    assert_eq!(
        shown("count by tls.sni, tcp.dst_port", &packets),
        "\
TLS.SNI      TCP.DST_PORT  COUNT
tls.example  443           1
tls.example  8443          1
"
    );
}

#[test]
fn every_built_in_schema_is_a_kind_with_attributes() {
    assert_eq!(SCHEMAS.kinds().len(), payload::builtin::ALL.len());
    let ty = |name: &str| {
        let (kind, name) = name.split_once('.').expect("a kind");
        let kind = SCHEMAS.kinds().iter().position(|k| k == kind)?;
        SCHEMAS.attribute(kind, name)
    };
    use telemetry::Type;
    for (name, expected) in [
        ("http.host", Some(Type::Text)),
        ("http.status", Some(Type::Number(10))),
        ("http.header.x-y", Some(Type::Text)),
        ("http.header.", None),
        ("http.nothing", None),
        ("dns.id", Some(Type::Number(16))),
        ("dns.response", Some(Type::Number(1))),
        ("json.a.b", Some(Type::Text)),
        ("json.rows[1].x", Some(Type::Text)),
        ("xml.order/item/@id", Some(Type::Text)),
        ("xml.order", None),
    ] {
        assert_eq!(ty(name), expected, "{name}");
    }
}

/// Random bytes, and messages with any byte changed, are read without a panic.
#[test]
fn damaged_messages_are_counted_or_read() {
    for (number, packet) in http().into_iter().enumerate() {
        for at in 54..packet.len() {
            for byte in [0, b' ', b'\n', 0xff] {
                let mut damaged = packet.clone();
                damaged[at] = byte;
                let report = run_on(&*SCHEMAS, "count by http.host", &[damaged], None);
                assert!(report.counts.records <= 3, "{number}");
            }
        }
    }
}

/// An invalid name is refused, with a suggestion. It would silently find nothing otherwise.
#[test]
fn names_are_written_as_messages_are_read() {
    let help = |text: &str| {
        let mut map = SourceMap::new();
        let wrong = compile(text, &Catalogue::new(&*SCHEMAS), &mut map).expect_err(text);
        let first = wrong.iter().next().expect("an error");
        (first.code.0, first.help.clone().unwrap_or_default())
    };
    assert_eq!(
        help("count by http.header.Accept"),
        ("E1120", "did you mean `http.header.accept`?".into())
    );
    let numbers = "in the place of NAME in `tls.extension.NAME` stands a number from 0 to 65535";
    for name in ["016", "65536", "sni"] {
        let wrong = help(&format!("count by tls.extension.{name}"));
        assert_eq!(wrong, ("E1120", numbers.into()));
    }
    assert_eq!(help("count where http.status == 1024").0, "E1123");
}

/// After a message with an unreadable length, the start of the next one is not known.
#[test]
fn behind_a_length_that_is_none_nothing_is_looked_for() {
    let next = "GET /b HTTP/1.1\r\n\r\n";
    let requests = |length: &[u8]| {
        let first = b"GET /a HTTP/1.1\r\nContent-Length: ";
        let text = [first, length, b"\r\n\r\n", next.as_bytes()].concat();
        run_on(&*SCHEMAS, "count by http.path", &[asked(80, &text)], None)
            .rows
            .len()
    };
    assert_eq!(requests(b"0"), 2);
    for none in [&b"\xff"[..], b"", b"-1", b"1a", b"123456"] {
        assert_eq!(requests(none), 1, "{none:?}");
    }
}
