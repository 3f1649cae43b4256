//! Messages that continue in later segments. The evaluation and the program must find them as they were sent, wherever
//! the stream is cut. They must also agree about losses, reordering and retransmissions.

use crate::evaluation::run_on;
use crate::frames::{self, End};
use crate::program::{on_path, shorten};
use crate::schemas::{SCHEMAS, asked};
use diag::SourceMap;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::time::Duration;
use telemetry::view::table;
use telemetry::{Catalogue, Cell, Evaluator, Followed, Payload, Report, Transport, compile};

/// Segment: its connection, its sender, the sequence number of its first byte, and its bytes. An empty one opens the
/// connection.
#[derive(Clone, Debug)]
struct Segment {
    port: u16,
    of: u16,
    from: End,
    first: u32,
    bytes: Vec<u8>,
}

impl Segment {
    fn packet(&self) -> Vec<u8> {
        frames::segment(self.port, self.of, self.from, self.first, &self.bytes)
    }
}

fn packets(segments: &[Segment]) -> Vec<Vec<u8>> {
    segments.iter().map(Segment::packet).collect()
}

/// Builds a request with a cookie of this size before the host, and a body.
fn request(method: &str, path: u32, cookie: usize, body: Option<&[u8]>) -> Vec<u8> {
    let mut text = format!("{method} /{path} HTTP/1.1\r\n").into_bytes();
    if cookie > 0 {
        text.extend(format!("Cookie: {}\r\n", "c".repeat(cookie)).bytes());
    }
    text.extend(format!("Host: h{}.example\r\n", path % 5).bytes());
    if let Some(body) = body {
        text.extend(format!("Content-Length: {}\r\n", body.len()).bytes());
    }
    text.extend(b"\r\n");
    text.extend(body.unwrap_or_default());
    text
}

/// Builds a ClientHello, in one record, with a session ticket of this size before the server's name.
fn hello(name: &str, ticket: usize) -> Vec<u8> {
    let two = |n: usize| (n as u16).to_be_bytes();
    let mut extensions = [&[0, 35][..], &two(ticket), &vec![b'#'; ticket]].concat();
    let list = name.len() + 3;
    extensions.extend(
        [
            &[0, 0][..],
            &two(list + 2),
            &two(list),
            &[0],
            &two(name.len()),
        ]
        .concat(),
    );
    extensions.extend(name.bytes());
    let mut body = [&[3, 3][..], &[7; 32], &[0, 0, 2, 0x13, 1, 1, 0]].concat();
    body.extend(two(extensions.len()));
    body.extend(extensions);
    let handshake = [&[1, 0][..], &two(body.len()), &body].concat();
    [&[0x16, 3, 1][..], &two(handshake.len()), &handshake].concat()
}

/// Cuts bytes into segments of at most `most` bytes each.
fn cut(random: &mut ChaCha8Rng, stream: &Segment, most: usize) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut at = 0;
    while at < stream.bytes.len() {
        let size = random.random_range(1..=most);
        let size = size.min(stream.bytes.len() - at);
        segments.push(Segment {
            first: stream.first.wrapping_add(at as u32),
            bytes: stream.bytes[at..at + size].to_vec(),
            ..stream.clone()
        });
        at += size;
    }
    segments
}

/// Interleaves streams, each in its order.
fn mixed(random: &mut ChaCha8Rng, mut streams: Vec<Vec<Segment>>) -> Vec<Segment> {
    streams.iter_mut().for_each(|stream| stream.reverse());
    let mut all = Vec::new();
    while !streams.is_empty() {
        let number = random.random_range(0..streams.len());
        match streams[number].pop() {
            Some(segment) => all.push(segment),
            None => drop(streams.swap_remove(number)),
        }
    }
    all
}

/// Builds a stream of requests, several of them sent at once; adds the count of each path.
fn sent(random: &mut ChaCha8Rng, port: u16, paths: &mut BTreeMap<String, u64>) -> Segment {
    let mut bytes = Vec::new();
    for _ in 0..random.random_range(3..12) {
        let path = random.random_range(0..20);
        let cookie = *[0, 0, 30, 700, 2500].choose(random).unwrap_or(&0);
        let size = *[0, 1, 40, 900, 5000].choose(random).unwrap_or(&0);
        // The bodies contain bytes that look like messages.
        let body = b"=GET /no HTTP/1.1\r\nHost: no\r\n\r\n".repeat(size / 30 + 1);
        bytes.extend(match random.random_range(0..3) {
            0 => request("POST", path, cookie, Some(&body[..size])),
            1 => request("HEAD", path, cookie, None),
            _ => request("GET", path, cookie, None),
        });
        *paths.entry(format!("/{path}")).or_default() += 1;
    }
    Segment {
        port,
        of: 80,
        from: End::Client,
        // The sequence numbers wrap within some streams.
        first: *[1000, u32::MAX - 2000].choose(random).unwrap_or(&0),
        bytes,
    }
}

pub(crate) fn counts_by_path(report: &Report) -> BTreeMap<String, u64> {
    let rows = report.rows.iter().map(|row| {
        let Cell::Number(count) = row.cells[0] else {
            panic!("{row:?}");
        };
        (row.keys[0].to_string(), count)
    });
    rows.collect()
}

#[test]
fn every_message_is_counted_once_however_streams_are_cut() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for most in [1, 7, 100, 536, 1460, 9000] {
        let mut paths = BTreeMap::new();
        let streams: Vec<Segment> = (0..if most < 100 { 2 } else { 12 })
            .map(|port| sent(&mut random, 40_000 + port, &mut paths))
            .collect();
        let streams = streams.iter().map(|stream| cut(&mut random, stream, most));
        let streams = streams.collect();
        let mut segments = mixed(&mut random, streams);
        // Some of them are retransmitted.
        if most > 100 {
            for _ in 0..10 {
                let at = random.random_range(0..segments.len());
                let again = segments[at].clone();
                segments.insert(at + 1, again);
            }
        }
        let packets = packets(&segments);
        let text = "count by http.path where http.host ~ \"example\"";
        let report = run_on(&*SCHEMAS, text, &packets, None);
        assert_eq!(counts_by_path(&report), paths, "{most}");
        let expected = Followed {
            sent_again: if most > 100 { 10 } else { 0 },
            ..Followed::default()
        };
        assert_eq!(
            (report.counts.streams, report.counts.malformed),
            (expected, 0)
        );
    }
}

/// Returns the report of the evaluation, after checking that the program agrees.
pub(crate) fn same(text: &str, packets: &[Vec<u8>]) -> Report {
    let mut expected = run_on(&*SCHEMAS, text, packets, None);
    let found = on_path(text, &*SCHEMAS, packets, expected.seconds);
    let report = expected.clone();
    assert_eq!(found.counts.unread, 0);
    shorten(&mut expected, found.text);
    expected.counts.cut = found.counts.cut;
    let mut both = expected.rows.iter().zip(&found.rows);
    assert_eq!(both.find(|(a, b)| a != b), None, "{text}");
    assert_eq!(found, expected, "{text}");
    report
}

#[test]
fn streams_that_are_disturbed_are_followed_alike_on_the_path() {
    let mut sum = Followed::default();
    for seed in 0..6 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut streams = Vec::new();
        for port in 40_000..40_006 {
            let mut stream = sent(&mut random, port, &mut BTreeMap::new());
            // Heads that are too long, unknown lengths, and bytes that are not a message.
            for wrong in [
                request("GET", 77, 5000, None),
                b"POST /78 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
                    .to_vec(),
                b"GET /79 HTTP/1.1\r\nno colon\r\n\r\n".to_vec(),
                b"nothing".to_vec(),
                Vec::new(),
            ] {
                if random.random_range(0..3) == 0 {
                    stream.bytes.extend(wrong);
                    stream
                        .bytes
                        .extend(sent(&mut random, port, &mut BTreeMap::new()).bytes);
                }
            }
            let most = *[11, 60, 400, 1460].choose(&mut random).unwrap_or(&1460);
            let mut segments = cut(&mut random, &stream, most);
            if random.random_range(0..2) == 0 {
                let opening = Segment {
                    first: stream.first.wrapping_sub(1),
                    bytes: Vec::new(),
                    ..stream.clone()
                };
                segments.insert(0, opening);
            }
            disturb(&mut random, &mut segments);
            streams.push(segments);
            let answers = answers(&mut random, port);
            streams.push(cut(&mut random, &answers, most));
        }
        let segments = mixed(&mut random, streams);
        let packets = packets(&segments);
        for text in [
            "count by http.path",
            "count, sum(packet.length) by http.host, http.method where not http.path == \"/3\"",
            "count by http.status",
            "count by http.header.cookie, http.path where tcp.dst_port == 80",
        ] {
            let streams = same(text, &packets).counts.streams;
            sum.gaps += streams.gaps;
            sum.sent_again += streams.sent_again;
            sum.unfollowed += streams.unfollowed;
            sum.unfinished += streams.unfinished;
        }
    }
    // All cases occur.
    let all = [sum.gaps, sum.sent_again, sum.unfollowed, sum.unfinished];
    assert!(all.iter().all(|&count| count > 20), "{sum:?}");
}

/// Builds a stream of answers. Some announce a body that is missing or incomplete; some bodies begin like answers.
fn answers(random: &mut ChaCha8Rng, port: u16) -> Segment {
    let mut bytes = Vec::new();
    for _ in 0..random.random_range(2..9) {
        let (status, size) = (random.random_range(210..220), random.random_range(0..3000));
        let announced = size + usize::from(random.random_range(0..10) == 0);
        let size = if random.random_range(0..4) == 0 {
            0
        } else {
            size
        };
        let mut body = vec![b'b'; size];
        let like = random.random_range(0..=size.min(12));
        body[..like].copy_from_slice(&b"HTTP/1.1 200"[..like]);
        let head = format!("HTTP/1.1 {status} OK\r\nContent-Length: {announced}\r\n\r\n");
        bytes.extend(head.bytes());
        bytes.extend(body);
    }
    Segment {
        port,
        of: 80,
        from: End::Server,
        first: 5,
        bytes,
    }
}

/// Loses, reorders, retransmits and merges segments.
fn disturb(random: &mut ChaCha8Rng, segments: &mut Vec<Segment>) {
    for at in (1..segments.len()).rev() {
        match random.random_range(0..40) {
            0 => drop(segments.remove(at)),
            1 => segments.swap(at - 1, at),
            2 => {
                let again = segments[at].clone();
                let later = random.random_range(at..segments.len()) + 1;
                segments.insert(later, again);
            }
            3 => {
                let (before, here) = segments.split_at_mut(at);
                let (before, here) = (&before[at - 1], &mut here[0]);
                if here.first == before.first.wrapping_add(before.bytes.len() as u32) {
                    here.first = before.first;
                    here.bytes.splice(0..0, before.bytes.clone());
                }
            }
            _ => {}
        }
    }
}

#[test]
fn names_in_hellos_that_are_cut_are_counted_alike() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut streams = Vec::new();
    for port in 40_000..40_040 {
        let name = format!("{}.tls.example", port % 7);
        let ticket = *[0, 100, 1800, 3000].choose(&mut random).unwrap_or(&0);
        let mut bytes = hello(&name, ticket);
        // The bytes after it are not a message.
        bytes.extend([0x17; 300]);
        let stream = Segment {
            port,
            of: 443,
            from: End::Client,
            first: 77,
            bytes,
        };
        streams.push(cut(&mut random, &stream, 1460));
    }
    let packets = packets(&mixed(&mut random, streams));
    let report = same("count by tls.sni", &packets);
    let expected: Vec<u64> = (0..7)
        .map(|name| (40_000..40_040).filter(|port| port % 7 == name).count() as u64)
        .collect();
    let mut found: Vec<u64> = counts_by_path(&report).into_values().collect();
    found.sort_unstable();
    assert_eq!(found, {
        let mut e = expected;
        e.sort_unstable();
        e
    });
    assert_eq!(report.counts.streams, Followed::default());
    assert_eq!(report.counts.malformed, 0);
    same(
        "count by tls.sni, tls.version where tls.session == \"\"",
        &packets,
    );
}

/// An application that receives the same streams, in any pieces, gets the same result.
#[test]
fn what_an_application_receives_in_pieces_is_what_its_packets_carried() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut paths = BTreeMap::new();
    let streams: Vec<Segment> = (40_000..40_008)
        .map(|port| sent(&mut random, port, &mut paths))
        .collect();
    let streams = streams.iter().map(|stream| cut(&mut random, stream, 1460));
    let streams = streams.collect();
    let segments = mixed(&mut random, streams);
    let text = "count by http.path";
    let mut map = SourceMap::new();
    let query = compile(text, &Catalogue::new(&*SCHEMAS), &mut map).expect("a query");
    let mut evaluator = Evaluator::new(query, &*SCHEMAS, None, [0, 1]);
    let receive = |evaluator: &mut Evaluator, segment: &Segment| {
        let payload = Payload {
            transport: Transport::Tcp,
            source_port: segment.port,
            destination_port: segment.of,
            bytes: &segment.bytes,
        };
        evaluator.received_of(segment.port.into(), payload, Duration::ZERO);
    };
    segments
        .iter()
        .for_each(|segment| receive(&mut evaluator, segment));
    let report = evaluator.report(0.0);
    let of_packets = same(text, &packets(&segments));
    assert_eq!(counts_by_path(&report), paths);
    assert_eq!(
        (&report.rows, report.counts),
        (&of_packets.rows, of_packets.counts)
    );

    // A stream that ends within a message does not affect the next one between the same ports.
    let begun = Segment {
        bytes: b"POST /begun HTTP/1.1\r\nContent-Length: 900\r\n\r\n...".to_vec(),
        ..segments[0].clone()
    };
    receive(&mut evaluator, &begun);
    evaluator.ended(begun.port.into());
    let next = Segment {
        bytes: b"GET /next HTTP/1.1\r\n\r\n".to_vec(),
        ..begun
    };
    receive(&mut evaluator, &next);
    let report = evaluator.report(0.0);
    assert_eq!(counts_by_path(&report)["/next"], 1);
    assert_eq!(report.counts.streams.unfinished, 1);
}

#[test]
fn what_is_not_followed_is_reported() {
    let segment = |first: u32, bytes: &[u8]| Segment {
        port: 40_000,
        of: 80,
        from: End::Client,
        first,
        bytes: bytes.to_vec(),
    };
    let long = request("GET", 1, 5000, None);
    let (front, behind) = long.split_at(4500);
    let segments = [
        segment(1, front),
        segment(4501, behind),
        segment(6000, b"GET /2 HTTP/1.1\r\nHos"),
        segment(6000, b"GET /2 HTTP/1.1\r\nHos"),
    ];
    let report = same("count by http.host", &packets(&segments));
    assert_eq!(
        table::text(&report, 20),
        "\
HTTP.HOST  COUNT
1 message of which the rest has not come so far
1 segment behind something that is missing: lost, or late
1 segment with bytes that came before
1 message with an end that is not known: a head that is cut, or of more than 4096 bytes, or a body of no known length
"
    );
    // Late segments are read; retransmitted ones are not.
    let get = |path: u32| request("GET", path, 0, None);
    let all = [get(1), get(2), get(3)];
    let size = all[0].len() as u32;
    let [one, two, three] = [0, 1, 2].map(|i| segment(1 + size * i, &all[i as usize]));
    let late = [one.clone(), three.clone(), two.clone(), two, three, one];
    let report = same("count by http.path", &packets(&late));
    assert_eq!(report.rows.len(), 3);
    assert_eq!(report.counts.records, 3);
    let streams = report.counts.streams;
    assert_eq!((streams.gaps, streams.sent_again), (1, 3));
}

/// A message outside of all groups has no key, even if the next message's key is empty.
#[test]
fn bytes_count_in_the_first_group_that_has_an_empty_key() {
    let get = b"GET / HTTP/1.1\r\nHost: \r\n\r\n".as_slice();
    let post = b"POST / HTTP/1.1\r\nHost: a\r\n\r\n".as_slice();
    let packet = asked(80, &[post, get, get].concat());
    let length = packet.len() as u64;
    let text = "count, bytes by http.host where http.method == \"GET\"";
    let report = same(text, &[packet]);
    let cells: Vec<_> = report.rows.iter().map(|row| row.cells.clone()).collect();
    assert_eq!(cells, [[Cell::Number(2), Cell::Number(length)]]);
}
