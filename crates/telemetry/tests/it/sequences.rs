//! Sequences of segments with losses, reordering, retransmissions and oddities, each with the expected counts. The
//! evaluation and the program must agree.

use crate::frames::{End, segment};
use crate::schemas::SCHEMAS;
use crate::streams::{counts_by_path, same};
use diag::SourceMap;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use telemetry::{Catalogue, Evaluator, Followed, Frame, Link, Report, compile};

pub(crate) fn get(path: u32) -> Vec<u8> {
    format!("GET /{path} HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes()
}

pub(crate) fn status(status: u32, announced: usize) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {announced}\r\n\r\n").into_bytes()
}

/// Builds a client's segment that begins at a sequence number. An empty one opens the connection.
pub(crate) fn at(first: u32, bytes: &[u8]) -> Vec<u8> {
    segment(40_000, 80, End::Client, first, bytes)
}

/// Builds consecutive segments.
pub(crate) fn stream(first: u32, parts: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut next = first;
    let one = |part: &Vec<u8>| {
        let packet = at(next, part);
        next = next.wrapping_add(part.len() as u32);
        packet
    };
    parts.iter().map(one).collect()
}

pub(crate) fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Sequence of packets with the expected result: the values of the query's key, once for each record, and the outcome
/// of the stream.
struct Case {
    name: &'static str,
    text: &'static str,
    packets: Vec<Vec<u8>>,
    found: Vec<String>,
    streams: Followed,
}

fn paths(name: &'static str, packets: Vec<Vec<u8>>, paths: &[u32], streams: Followed) -> Case {
    Case {
        name,
        text: "count by http.path",
        packets,
        found: paths.iter().map(|path| format!("/{path}")).collect(),
        streams,
    }
}

fn statuses(name: &'static str, packets: Vec<Vec<u8>>, found: &[u32]) -> Case {
    Case {
        name,
        text: "count by http.status",
        packets,
        found: found.iter().map(u32::to_string).collect(),
        streams: Followed::default(),
    }
}

pub(crate) const NOTHING: Followed = Followed {
    unfinished: 0,
    gaps: 0,
    sent_again: 0,
    unfollowed: 0,
};

/// Sequences with bytes that are not a message, or are unusual ones, where a message is expected.
fn unusual() -> Vec<Case> {
    let crlf = b"\r\n".to_vec();
    let unfollowed = |unfollowed| Followed {
        unfollowed,
        ..NOTHING
    };
    let wrong = b"GET /1 HTTP/1.1\r\nX: \x01\r\n\r\n";
    let long = format!("{} /9 HTTP/1.1\r\n\r\n", "A".repeat(33));
    vec![
        paths(
            "empty lines between messages are passed over",
            stream(
                1,
                &[
                    get(1),
                    crlf.clone(),
                    get(2),
                    joined(&[&get(3), &crlf]),
                    joined(&[b"\n", &crlf, &get(4), &crlf, &get(5), b"\r"]),
                    joined(&[b"\n", &get(6)]),
                ],
            ),
            &[1, 2, 3, 4, 5, 6],
            NOTHING,
        ),
        paths(
            "any token is a method",
            stream(
                1,
                &[
                    b"PROPFIND /1 HTTP/1.1\r\nHost: a\r\n\r\nx /2 HTTP/1.0\n\n".to_vec(),
                    b"m-search /3 HT".to_vec(),
                    b"TP/1.1\r\n\r\n".to_vec(),
                ],
            ),
            &[1, 2, 3],
            NOTHING,
        ),
        paths(
            "one that is not recognised hides nothing behind it",
            stream(1, &[get(1), long.into_bytes(), get(2)]),
            &[1, 2],
            unfollowed(1),
        ),
        paths(
            "the first bytes of a method may be those of none",
            stream(
                1,
                &[get(1), b"GE".to_vec(), b"\x01".to_vec(), get(2), get(3)],
            ),
            &[1, 2, 3],
            unfollowed(1),
        ),
        paths(
            "or of one that goes on",
            stream(
                1,
                &[get(1), b"G".to_vec(), b"E".to_vec(), get(2)[2..].to_vec()],
            ),
            &[1, 2],
            NOTHING,
        ),
        paths(
            "behind a head that is wrong behind what is asked for, nothing is known",
            stream(1, &[joined(&[wrong, &get(2)]), get(3)]),
            &[1, 3],
            unfollowed(1),
        ),
        paths(
            "a body may look like a message",
            stream(
                1,
                &[
                    b"POST /1 HTTP/1.1\r\nContent-Length: 4\r\n\r\nGET ".to_vec(),
                    b"POST /2 HTTP/1.1\r\nContent-Length: 4\r\n\r\n".to_vec(),
                    b"GET GET /3 HTTP/1.1\r\n\r\n".to_vec(),
                ],
            ),
            &[1, 2, 3],
            NOTHING,
        ),
        statuses(
            "304 has no body",
            stream(
                1,
                &[
                    joined(&[&status(304, 5000), &status(201, 0)]),
                    status(202, 0),
                ],
            ),
            &[201, 202, 304],
        ),
        statuses(
            "nor has it one in a later segment",
            stream(
                1,
                &[
                    status(304, 5000),
                    b"HTTP/1".to_vec(),
                    b".1 201 X\r\n\r\n".to_vec(),
                ],
            ),
            &[201, 304],
        ),
    ]
}

/// Sequences with segments that are late, retransmitted, or split differently.
fn out_of_order() -> Vec<Case> {
    let size = get(1).len() as u32;
    let one = |path: u32| at(1 + (path - 1) * size, &get(path));
    let several = |first: u32, last: u32| {
        let bytes: Vec<u8> = (first..=last).flat_map(get).collect();
        at(1 + (first - 1) * size, &bytes)
    };
    let syn = || at(0, b"");
    let gaps = |gaps, sent_again| Followed {
        gaps,
        sent_again,
        ..NOTHING
    };
    vec![
        paths(
            "the first two segments are swapped",
            vec![syn(), one(2), one(1), one(3)],
            &[1, 2, 3],
            NOTHING,
        ),
        paths(
            "the first three come in reverse order",
            vec![syn(), one(3), one(2), one(1), one(4), one(1)],
            &[1, 2, 3, 4],
            gaps(0, 1),
        ),
        paths(
            "two that were late come in reverse order, and again",
            vec![one(1), one(4), one(3), one(2), one(5), one(2), one(3)],
            &[1, 2, 3, 4, 5],
            gaps(1, 2),
        ),
        paths(
            "two holes",
            vec![one(1), one(3), one(5), one(2), one(4), one(4), one(6)],
            &[1, 2, 3, 4, 5, 6],
            gaps(2, 1),
        ),
        paths(
            "two holes, and one segment over both: what is between them is read again",
            vec![one(1), one(3), one(5), several(2, 4), one(6), one(4)],
            &[1, 2, 3, 3, 4, 5, 6],
            gaps(2, 1),
        ),
        paths(
            "two holes, and one segment over the first and a part of the second",
            vec![
                one(1),
                one(3),
                one(6),
                several(2, 4),
                one(5),
                one(7),
                one(4),
            ],
            &[1, 2, 3, 3, 4, 5, 6, 7],
            gaps(2, 1),
        ),
        paths(
            "a late segment has bytes that came, and new ones",
            vec![one(1), one(3), several(2, 4), one(5)],
            &[1, 2, 3, 4, 5],
            gaps(1, 0),
        ),
        paths(
            "what is late is in the middle of a segment",
            vec![one(1), one(3), several(1, 3), one(4)],
            &[1, 2, 3, 4],
            gaps(1, 0),
        ),
        paths(
            "a late segment does not disturb a head that waits",
            vec![
                one(1),
                at(1 + 2 * size, &get(3)[..20]),
                one(2),
                at(1 + 2 * size + 20, &get(3)[20..]),
            ],
            &[1, 2, 3],
            gaps(1, 0),
        ),
    ]
}

/// Connections with the same endpoints, and segments that belong to neither.
fn other_connections() -> Vec<Case> {
    let size = get(1).len() as u32;
    let gap = Followed { gaps: 1, ..NOTHING };
    let seven: Vec<Vec<u8>> = (1..8).map(get).collect();
    let mut behind_decoy = vec![at(0, b""), at(1 + (1 << 30), &get(99))];
    behind_decoy.extend(stream(1, &seven));
    let mut decoy_within = stream(1, &seven[..3]);
    decoy_within.push(at(1 + (1 << 30), &get(99)));
    decoy_within.extend(stream(1 + 3 * size, &seven[3..]));
    let mut anew = stream(3_000_000_000, &[get(99)]);
    anew.extend(stream(2_000_000_000, &seven));
    let head = b"POST /98 HTTP/1.1\r\nContent-Length: 900\r\n\r\n";
    let mut opened = stream(3_000_000_000, &[head.to_vec(), b"body".to_vec()]);
    opened.push(at(2_999_999_990, b""));
    opened.extend(stream(2_999_999_991, &seven));
    let (front, behind) = head.split_at(20);
    let mut stray = stream(77, &[get(1), front.to_vec()]);
    stray.push(at(5, b""));
    stray.extend(stream(
        77 + size + 20,
        &[behind.to_vec(), vec![b'.'; 900], get(2)],
    ));
    vec![
        paths(
            "one far ahead at the start",
            behind_decoy,
            &[1, 2, 3, 4, 5, 6, 7, 99],
            gap,
        ),
        paths(
            "one far ahead in the midst",
            decoy_within,
            &[1, 2, 3, 4, 5, 6, 7, 99],
            Followed { gaps: 2, ..gap },
        ),
        paths(
            "a connection whose start was not seen",
            anew,
            &[1, 2, 3, 4, 5, 6, 7, 99],
            gap,
        ),
        paths(
            "a connection that is opened where another one was within a body",
            opened,
            &[1, 2, 3, 4, 5, 6, 7, 98],
            Followed {
                unfinished: 1,
                ..NOTHING
            },
        ),
        paths("an opening that is none", stray, &[1, 2, 98], NOTHING),
        paths(
            "the numbers begin anew",
            [
                vec![at(u32::MAX, b"")],
                stream(0, &[get(1), get(2)[..9].to_vec(), get(2)[9..].to_vec()]),
                stream(u32::MAX - 60, &[get(3)]),
            ]
            .concat(),
            &[1, 2, 3],
            NOTHING,
        ),
    ]
}

/// Streams whose first segments are too short to recognise a message.
fn short_beginnings() -> Vec<Case> {
    let opened = |parts: &[&[u8]]| {
        let parts: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
        [vec![at(0, b"")], stream(1, &parts)].concat()
    };
    let size = get(1).len() as u32;
    let (first, second) = (get(1), get(2));
    let waits = Followed {
        unfinished: 1,
        ..NOTHING
    };
    let gap = Followed { gaps: 1, ..waits };
    vec![
        paths(
            "one byte behind the opening",
            opened(&[&first[..1], &joined(&[&first[1..], &second])]),
            &[1, 2],
            NOTHING,
        ),
        paths(
            "a byte a segment",
            opened(&first.chunks(1).chain([&second[..]]).collect::<Vec<_>>()),
            &[1, 2],
            NOTHING,
        ),
        paths(
            "without an opening, as the query begins with it",
            stream(9, &[first[..3].to_vec(), first[3..].to_vec()]),
            &[1],
            NOTHING,
        ),
        paths(
            "what never goes on is counted",
            opened(&[b"PO"]),
            &[],
            waits,
        ),
        paths(
            "what is sent again, is",
            vec![
                at(1, &first[..2]),
                at(1, &first[..2]),
                at(3, &first[2..]),
                at(1, &first),
            ],
            &[1],
            Followed {
                sent_again: 2,
                ..NOTHING
            },
        ),
        paths(
            "what is no message is none of the query's",
            opened(&[b"G", b"OOD DAY\r\n", b"HELO there\r\n"]),
            &[],
            NOTHING,
        ),
        paths(
            "bytes of a token in front make another method",
            opened(&[b"G", &first, b"P", b"U", &second]),
            &[1, 2],
            NOTHING,
        ),
        paths(
            "something is lost behind the first byte",
            vec![at(1, b"G"), at(1 + size, &second)],
            &[2],
            gap,
        ),
        paths(
            "and found again",
            vec![at(1, b"G"), at(1 + size, &second), at(2, &first[1..])],
            // Its rest alone begins with a method too.
            &[1, 2],
            gap,
        ),
        paths(
            "another connection is opened",
            [
                opened(&[b"G"]),
                vec![at(70_000, b"")],
                stream(70_001, std::slice::from_ref(&second)),
            ]
            .concat(),
            &[2],
            waits,
        ),
    ]
}

/// Response times of a request that is sent byte by byte.
#[test]
fn the_first_byte_of_a_request_may_stand_alone() {
    let answer = status(200, 0);
    let from_server = |first: u32, bytes: &[u8]| segment(40_000, 80, End::Server, first, bytes);
    let packets = vec![
        at(0, b""),
        at(1, b"G"),
        at(2, &get(1)[1..]),
        from_server(1, &answer[..1]),
        from_server(2, &answer[1..]),
        at(1 + get(1).len() as u32, &get(2)),
        from_server(1 + answer.len() as u32, &answer),
    ];
    let report = same(
        "count by http.path, http.status where http.response_time >= 0ms",
        &packets,
    );
    assert_eq!(report.rows.len(), 2);
    assert_eq!((report.counts.unanswered, report.counts.unmatched), (0, 0));
    assert_eq!(report.counts.streams, NOTHING);
}

#[test]
fn each_sequence_is_counted_alike_in_each_place() {
    let cases = [
        unusual(),
        out_of_order(),
        other_connections(),
        short_beginnings(),
    ];
    for case in cases.into_iter().flatten() {
        let report = same(case.text, &case.packets);
        let found: Vec<(String, u64)> = counts_by_path(&report).into_iter().collect();
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for key in case.found {
            *expected.entry(key).or_default() += 1;
        }
        let expected: Vec<(String, u64)> = expected.into_iter().collect();
        assert_eq!(found, expected, "{}", case.name);
        assert_eq!(report.counts.streams, case.streams, "{}", case.name);
        assert_eq!(report.counts.malformed, 0, "{}", case.name);
    }
}

/// A malformed line has no value, whatever follows it.
#[test]
fn a_line_that_is_not_whole_has_no_value() {
    for (text, head) in [
        (
            "count by http.host",
            "GET / HTTP/1.1\r\nHost: ex\r\n\tample.com\r\n\r\n",
        ),
        ("count by http.host", "GET / HTTP/1.1\r\nHost : ex\r\n\r\n"),
        ("count by http.path", "GET /a b HTTP/1.1\r\n\r\n"),
        ("count by http.status", "HTTP/1.1 2000 OK\r\n\r\n"),
    ] {
        for cut in [0, head.len() - 3] {
            let (front, rest) = head.split_at(cut);
            let parts = [front, rest].map(|part| part.as_bytes().to_vec());
            let parts: Vec<Vec<u8>> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let report = same(text, &stream(1, &parts));
            assert_eq!(report.rows.len(), 0, "{head:?}");
            assert_eq!(report.counts.malformed, 1, "{head:?}");
        }
    }
}

/// A connection that sends a head byte by byte does not evict the state of others.
#[test]
fn a_head_in_many_segments_takes_no_others_place() {
    let waiting = get(1);
    let (front, behind) = waiting.split_at(20);
    let long = format!("GET /2 HTTP/1.1\r\nCookie: {}\r\n\r\n", "c".repeat(1200));
    let mut packets = vec![segment(40_001, 80, End::Client, 1, front)];
    let (start, rest) = long.as_bytes().split_at(8);
    packets.push(at(1, start));
    packets.extend((9..).zip(rest).map(|(first, byte)| at(first, &[*byte])));
    packets.push(segment(40_001, 80, End::Client, 21, behind));
    let report = same("count by http.host", &packets);
    assert_eq!(report.counts.records, 2);
    assert_eq!(report.counts.streams, NOTHING);
}

/// Each message has its own segment. Whatever is lost, late or retransmitted, the messages that arrived are counted.
#[test]
fn no_message_that_fits_its_segment_is_lost_by_following() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for iteration in 0..60 {
        let messages: Vec<Vec<u8>> = (0..random.random_range(3..30)).map(get).collect();
        let first = [1, u32::MAX - 300][iteration % 2];
        let mut packets: Vec<(usize, Vec<u8>)> =
            stream(first, &messages).into_iter().enumerate().collect();
        let mut repeats = false;
        for _ in 0..random.random_range(0..8) {
            let at = random.random_range(0..packets.len());
            let until = (at + random.random_range(1..6)).min(packets.len());
            match random.random_range(0..4) {
                0 => drop(packets.remove(at)),
                1 => packets[at..until].reverse(),
                2 => packets[at..until].shuffle(&mut random),
                _ => {
                    repeats = true;
                    let again = packets[at].clone();
                    packets.insert(until, again);
                }
            }
            if packets.is_empty() {
                break;
            }
        }
        let came: BTreeSet<usize> = packets.iter().map(|(number, _)| *number).collect();
        let all = packets.len() as u64;
        let packets: Vec<Vec<u8>> = packets.into_iter().map(|(_, packet)| packet).collect();
        let report = same("count by http.path", &packets);
        let found = counts_by_path(&report);
        let expected = came.iter().map(|path| format!("/{path}"));
        assert!(
            found.keys().cloned().eq(expected.collect::<BTreeSet<_>>()),
            "{iteration}"
        );
        let sum: u64 = found.values().sum();
        assert_eq!(sum + report.counts.streams.sent_again, all, "{iteration}");
        assert!(repeats || sum == came.len() as u64, "{iteration}");
        assert_eq!(report.counts.streams.unfollowed, 0);
    }
}

/// Returns the report of a query on packets of which the capture has at most `most` bytes.
fn captured(text: &str, packets: &[Vec<u8>], most: usize) -> Report {
    let mut map = SourceMap::new();
    let query = compile(text, &Catalogue::new(&*SCHEMAS), &mut map).expect("a query");
    let mut evaluator = Evaluator::new(query, &*SCHEMAS, None, [0, 1]);
    for (number, packet) in packets.iter().enumerate() {
        evaluator.packet(&Frame {
            bytes: &packet[..packet.len().min(most)],
            length: packet.len() as u32,
            time: Some(Duration::from_millis(number as u64)),
            link: Link::Ethernet,
        });
    }
    evaluator.report(1.0)
}

#[test]
fn what_a_capture_left_out_is_passed_over() {
    let body = "x".repeat(3000);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n{body}").into_bytes();
    let chunks: Vec<Vec<u8>> = answer.chunks(1000).map(<[u8]>::to_vec).collect();
    let all = [chunks.clone(), chunks.clone(), chunks].concat();
    let report = captured("count by http.status", &stream(1, &all), 200);
    assert_eq!(counts_by_path(&report), BTreeMap::from([("200".into(), 3)]));
    assert_eq!(report.counts.streams, NOTHING);

    // Heads that the capture truncated, and messages that may begin in the missing bytes.
    let request = |path: u32| {
        let cookie = "x".repeat(1000);
        let text = format!("GET /{path} HTTP/1.1\r\nCookie: {cookie}\r\n\r\n");
        [text.as_bytes(), &get(90)].concat()
    };
    let requests: Vec<Vec<u8>> = (0..5).map(request).collect();
    let report = captured("count by http.path", &stream(1, &requests), 200);
    assert_eq!(counts_by_path(&report).len(), 5);
    let unfollowed = |unfollowed| Followed {
        unfollowed,
        ..NOTHING
    };
    assert_eq!(report.counts.streams, unfollowed(5));
    let padded = [get(1), vec![b' '; 200], get(2)];
    let report = captured("count by http.path", &stream(1, &padded), 54 + 29);
    assert_eq!(counts_by_path(&report).len(), 2);
    let exactly = |path| [get(path), get(90)].concat();
    let report = captured(
        "count by http.path",
        &stream(1, &[exactly(1), exactly(2)]),
        54 + get(1).len(),
    );
    assert_eq!(counts_by_path(&report).len(), 2);
    assert_eq!(report.counts.streams, unfollowed(2));

    // Missing data of a chunk is passed over; a missing end of a chunk is not.
    let head = b"POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n190\r\n".to_vec();
    let end = [&b"\r\n0\r\n\r\n"[..], &get(2)].concat();
    let in_chunks = |sizes: [usize; 3]| {
        let [front, middle, rest] = sizes.map(|size| vec![b'd'; size]);
        let parts = [
            [&head[..], &front].concat(),
            middle,
            [&rest[..], &end].concat(),
        ];
        captured("count by http.path", &stream(1, &parts), 54 + 120)
    };
    for sizes in [[30, 300, 70], [0, 330, 70], [200, 150, 50], [0, 400, 0]] {
        let report = in_chunks(sizes);
        assert_eq!(counts_by_path(&report).len(), 2, "{sizes:?}");
        assert_eq!(report.counts.streams, NOTHING, "{sizes:?}");
    }
    let report = in_chunks([0, 200, 200]);
    assert_eq!(counts_by_path(&report).len(), 1);
    assert_eq!(report.counts.streams, unfollowed(1));
}
