//! Bodies of messages: their presence, their end, and their contents.

use crate::frames::{End, segment};
use crate::sequences::{NOTHING, at, get, joined, status, stream};
use crate::streams::{counts_by_path, same};
use std::collections::BTreeSet;
use telemetry::Report;

/// Builds a server's segment that begins at a sequence number.
fn answer_at(first: u32, bytes: &[u8]) -> Vec<u8> {
    segment(40_000, 80, End::Server, first, bytes)
}

/// Builds the packets of requests and the server's answers to them. The answers are in one segment, or in one each.
fn asked(requests: &[&str], answers: &[Vec<u8>], at_once: bool) -> Vec<Vec<u8>> {
    let text: String = requests
        .iter()
        .map(|method| format!("{method} /a HTTP/1.1\r\nHost: a\r\n\r\n"))
        .collect();
    let mut packets = vec![at(1, text.as_bytes())];
    let parts = match at_once {
        true => vec![answers.concat()],
        false => answers.to_vec(),
    };
    let mut next = 1;
    for part in parts {
        packets.push(answer_at(next, &part));
        next += part.len() as u32;
    }
    packets
}

fn status_of(requests: &[&str], answers: &[Vec<u8>]) -> Vec<String> {
    let [one, each] = [true, false].map(|at_once| {
        let report = same("count by http.status", &asked(requests, answers, at_once));
        assert_eq!(report.counts.streams, NOTHING, "{requests:?}");
        assert_eq!(report.counts.malformed, 0, "{requests:?}");
        let found = counts_by_path(&report).into_iter();
        found
            .map(|(status, count)| format!("{status} {count}"))
            .collect::<Vec<_>>()
    });
    assert_eq!(one, each, "{requests:?}");
    one
}

/// RFC 9112, section 6.3: the request says whether an answer has a body.
#[test]
fn the_request_decides_whether_an_answer_has_a_body() {
    let with = |number: u32, body: &[u8]| [status(number, body.len()), body.to_vec()].concat();
    let like = b"HTTP/1.1 500 X\r\n\r\n";
    assert_eq!(
        status_of(&["GET", "GET"], &[with(200, like), status(201, 0)]),
        ["200 1", "201 1"]
    );
    assert_eq!(
        status_of(
            &["HEAD", "GET", "HEAD"],
            &[
                status(200, 5000),
                with(201, like),
                status(202, 18),
                status(203, 0)
            ]
        ),
        ["200 1", "201 1", "202 1", "203 1"]
    );
    // An interim response is not the answer.
    let interim = b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec();
    assert_eq!(
        status_of(
            &["HEAD", "GET"],
            &[interim, status(200, 70), with(201, like)]
        ),
        ["103 1", "200 1", "201 1"]
    );
    // A tunnel is not a body, but a refusal has one.
    let through = b"HTTP/1.1 299 Go\r\n\r\nHTTP/1.1 250 Inside\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(
        status_of(&["CONNECT"], &[through.to_vec()]),
        ["250 1", "299 1"]
    );
    assert_eq!(
        status_of(&["CONNECT", "GET"], &[with(407, like), status(201, 0)]),
        ["201 1", "407 1"]
    );
    // No request is known.
    assert_eq!(
        status_of(&[], &[with(200, like), status(201, 0)]),
        ["200 1", "201 1"]
    );
}

/// Requests beyond the first 32 of a connection are counted.
#[test]
fn more_requests_than_there_is_room_for_are_counted() {
    let heads = ["HEAD"; 34];
    let answered = |report: &Report| counts_by_path(report).values().sum::<u64>();
    let answers = vec![status(200, status(200, 10).len()); 40];
    for at_once in [true, false] {
        let report = same("count by http.status", &asked(&heads, &answers, at_once));
        // After those, each answer is read with the body that it announces: the next answer.
        assert_eq!(answered(&report), 32 + 4, "{at_once}");
        assert_eq!(report.counts.streams.unfollowed, 1);
    }
    // A new connection has no state of an earlier one.
    let mut packets = asked(&["HEAD"], &[], true);
    packets.extend([
        at(99, b""),
        answer_at(1, &[status(200, 40), status(201, 0)].concat()),
    ]);
    let report = same("count by http.status", &packets);
    assert_eq!(answered(&report), 1);
    // After a gap, no request is known.
    let mut packets = asked(&["HEAD", "HEAD"], &[status(200, 40)], true);
    packets.push(answer_at(9000, &[status(201, 40), status(202, 0)].concat()));
    let report = same("count by http.status", &packets);
    assert_eq!((answered(&report), report.counts.streams.gaps), (2, 1));
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let open = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let get = get(1);
    let mut packets = asked(&["GET"], &[open.clone(), status(500, 0)], false);
    // The same after a gap.
    packets.push(answer_at(5000, &status(501, 0)));
    let first = u32::try_from(1 + open.len() + status(500, 0).len()).expect("it fits");
    packets.push(answer_at(first, b"late"));
    packets.push(answer_at(
        5000 + status(501, 0).len() as u32,
        &status(502, 0),
    ));
    packets.push(answer_at(8999, b""));
    packets.push(answer_at(9000, &status(201, 0)));
    let report = same("count by http.status", &packets);
    let found: Vec<String> = counts_by_path(&report).into_keys().collect();
    assert_eq!(found, ["200", "201"]);
    assert_eq!(
        (
            report.counts.streams.unfinished,
            report.counts.streams.unfollowed
        ),
        (0, 0)
    );
    // A request without a length has no body.
    let report = same(
        "count by http.path",
        &stream(1, &[[get.clone(), get].concat()]),
    );
    assert_eq!(report.counts.records, 2);
}

/// RFC 9112, section 6.3: a body with a coding other than `chunked` also ends with the connection, since its bytes do
/// not show the end.
#[test]
fn a_body_with_another_coding_ends_with_the_connection() {
    for coding in ["gzip", "chunked, gzip", "identity"] {
        let head = format!("HTTP/1.1 200 X\r\nTransfer-Encoding: {coding}\r\n\r\n");
        let front = [head.as_bytes(), b"body"].concat();
        // In the segment of the head, or in the next one.
        let like = status(500, 0);
        for answers in [
            vec![front.clone(), like.clone(), status(501, 0)],
            vec![[front, like].concat(), status(501, 0)],
        ] {
            for at_once in [true, false] {
                let report = same("count by http.status", &asked(&["GET"], &answers, at_once));
                let found: Vec<String> = counts_by_path(&report).into_keys().collect();
                assert_eq!(found, ["200"], "{coding} {at_once}");
                assert_eq!(report.counts.streams, NOTHING, "{coding} {at_once}");
            }
        }
    }
    // Without a body, the coding does not matter.
    let head = b"HTTP/1.1 204 X\r\nTransfer-Encoding: gzip\r\n\r\n".to_vec();
    assert_eq!(
        status_of(&["GET", "GET"], &[head, status(201, 0)]),
        ["201 1", "204 1"]
    );
}

/// Parts of a connection's answers, and the query.
type Answers = (Vec<Vec<u8>>, &'static str);

/// Responses to HEAD, which announce a length. The segment of a response holds only the first bytes of the next one,
/// whose rest follows in several segments.
fn answers_to_head() -> Vec<Answers> {
    let (mut all, next) = (Vec::new(), status(201, 7));
    for announced in [5, 9, 70, 5000] {
        for cut in [1, 4, 7, 12, 20, next.len() - 1] {
            for piece in [1, 2, 5, 100] {
                let (front, rest) = next.split_at(cut);
                let mut parts = vec![joined(&[&status(200, announced), front])];
                parts.extend(rest.chunks(piece).map(<[u8]>::to_vec));
                parts.extend([status(202, 900), status(203, 0)]);
                all.push((parts, "HEAD"));
            }
        }
    }
    all
}

/// Responses with bodies that begin like messages, some in several segments. The next response follows the last body.
fn bodies_like_messages() -> Vec<Answers> {
    let mut all = Vec::new();
    for body in [
        &b"HTTP"[..],
        b"HTTP/1.1 is what this page is about",
        b"HTTP/1.1 500 X\r\n\r\n",
        b"GET the book from the shelf, and not the other one",
        b"G",
        b"Have a nice day",
    ] {
        let head = status(200, body.len());
        for piece in [1, 2, 3, 7, 100] {
            for cut in [0, 1, 3] {
                let (front, rest) = body.split_at(cut.min(body.len()));
                let mut parts = vec![joined(&[&head, front])];
                parts.extend(rest.chunks(piece).map(<[u8]>::to_vec));
                let last = parts.len() - 1;
                parts[last].extend(status(201, 0));
                parts.extend([status(202, 0), status(203, 0)]);
                all.push((parts, "GET"));
            }
        }
    }
    all
}

#[test]
fn what_stands_in_the_place_of_a_body_may_be_cut() {
    let all = [answers_to_head(), bodies_like_messages()].concat();
    let (mut packets, mut expected) = (Vec::new(), BTreeSet::new());
    for (port, (parts, method)) in (10_000..).zip(all) {
        let request = format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n").repeat(4);
        packets.push(segment(port, 80, End::Client, 1, request.as_bytes()));
        let mut next = 1;
        for part in parts {
            packets.push(segment(port, 80, End::Server, next, &part));
            next += part.len() as u32;
        }
        expected.extend((200..=203).map(|status| format!("{port} {status}")));
    }
    let text = "count by tcp.dst_port, http.status where tcp.src_port == 80";
    let report = same(text, &packets);
    let keys = report.rows.iter().map(|row| row.keys.iter());
    let found: BTreeSet<String> = keys
        .map(|keys| {
            keys.map(|key| key.to_string())
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert!(
        found == expected,
        "{:?}",
        found.symmetric_difference(&expected)
    );
    assert_eq!(report.counts.streams, NOTHING);
}

/// Builds a request with a chunked body. Some chunks look like messages; there is an extension, and fields follow the
/// last chunk.
fn chunked(path: u32, sizes: &[usize], fields: &str) -> Vec<u8> {
    let mut text =
        format!("POST /{path} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").into_bytes();
    let decoy =
        b"\r\n\r\nGET /no HTTP/1.1\r\n\r\n".repeat(1 + sizes.iter().max().unwrap_or(&0) / 20);
    for (number, size) in sizes.iter().enumerate() {
        let line = match number % 3 {
            0 => format!("{size:x}\r\n"),
            1 => format!("00{size:X};name=\"GET /no\"\r\n"),
            _ => format!("{size:x} ;a\r\n"),
        };
        text.extend(line.bytes());
        text.extend(&decoy[..*size]);
        text.extend(b"\r\n");
    }
    text.extend(format!("0\r\n{fields}\r\n").bytes());
    text
}

fn paths_of(packets: &[Vec<u8>]) -> (Vec<String>, Report) {
    let report = same("count by http.path", packets);
    let found = counts_by_path(&report).into_iter();
    (
        found
            .map(|(path, count)| format!("{path} {count}"))
            .collect(),
        report,
    )
}

/// RFC 9112, section 7.1. Segments may end anywhere in the body.
#[test]
fn chunks_are_passed_over_from_segment_to_segment() {
    let body = chunked(1, &[1, 40, 17], "X-Sum: 1\r\nY:\r\n");
    let all = joined(&[&get(0), &body, &chunked(2, &[], ""), &get(3)]);
    let expected = ["/0 1", "/1 1", "/2 1", "/3 1"];
    for cut in 1..all.len() {
        let (front, behind) = all.split_at(cut);
        let (found, report) = paths_of(&stream(1, &[front.to_vec(), behind.to_vec()]));
        assert_eq!(found, expected, "{cut}");
        assert_eq!(report.counts.streams, NOTHING, "{cut}");
    }
    for size in [1, 2, 3, 5, 7, 16, 17, 33, 100] {
        let parts: Vec<Vec<u8>> = all.chunks(size).map(<[u8]>::to_vec).collect();
        let (found, report) = paths_of(&stream(u32::MAX - 90, &parts));
        assert_eq!(found, expected, "{size}");
        assert_eq!(report.counts.streams, NOTHING, "{size}");
    }
    // More chunks of one byte each than messages that are read of a segment; a large chunk.
    let all = joined(&[
        &chunked(1, &[1; 150], "a: b\n"),
        &chunked(2, &[5000], ""),
        &get(3),
    ]);
    for size in [400, 1000, all.len()] {
        let parts: Vec<Vec<u8>> = all.chunks(size).map(<[u8]>::to_vec).collect();
        let (found, report) = paths_of(&stream(1, &parts));
        assert_eq!(found, ["/1 1", "/2 1", "/3 1"], "{size}");
        assert_eq!(report.counts.streams, NOTHING, "{size}");
    }
}

/// The end of a body that is malformed or missing is not known.
#[test]
fn a_body_that_is_not_in_chunks_is_not_followed() {
    let with = |coding: &str, body: &str| {
        format!("POST /1 HTTP/1.1\r\nTransfer-Encoding: {coding}\r\n\r\n{body}").into_bytes()
    };
    for (coding, body) in [
        ("chunked", "5\r\nhelloGET /no HTTP/1.1\r\n\r\n"),
        ("chunked", "x\r\nGET /no HTTP/1.1\r\n\r\n"),
        ("chunked", "5\nhello\r\n0\r\n\r\n"),
        ("chunked", "0\r\na b: c\r\n\r\nGET /no HTTP/1.1\r\n\r\n"),
        ("chunked, gzip", "0\r\n\r\nGET /no HTTP/1.1\r\n\r\n"),
        ("identity", "0\r\n\r\n"),
        ("xchunked", "0\r\n\r\n"),
    ] {
        let parts = [with(coding, body), get(2), get(3)];
        let (found, report) = paths_of(&stream(1, &parts));
        assert_eq!(found, ["/1 1", "/2 1", "/3 1"], "{coding} {body:?}");
        assert_eq!(report.counts.streams.unfollowed, 1, "{coding} {body:?}");
        // The segment ends in the body.
        if coding == "chunked" && !body.starts_with('x') {
            let head = with(coding, &body[..2]);
            let parts = [head, body.as_bytes()[2..].to_vec(), get(2), get(3)];
            let (found, report) = paths_of(&stream(1, &parts));
            assert_eq!(found, ["/1 1", "/2 1", "/3 1"], "{body:?}");
            assert_eq!(report.counts.streams.unfollowed, 1, "{body:?}");
        }
    }
    for coding in ["gzip, chunked", "CHUNKED", "a;b=c ,\tChunked "] {
        let parts = [joined(&[&with(coding, "1\r\nx\r\n0\r\n\r\n"), &get(2)])];
        let (found, report) = paths_of(&stream(1, &parts));
        assert_eq!(found, ["/1 1", "/2 1"], "{coding}");
        assert_eq!(report.counts.streams, NOTHING, "{coding}");
    }
    // A segment of it is missing.
    let text = format!("12c\r\n{}\r\n0\r\n\r\n", "x".repeat(300));
    let body = with("chunked", &text);
    let parts = [&body[..100], &body[100..200], &body[200..], &get(2)];
    let mut packets = stream(1, &parts.map(<[u8]>::to_vec));
    packets.remove(1);
    let (found, report) = paths_of(&packets);
    assert_eq!(found, ["/1 1", "/2 1"]);
    let streams = report.counts.streams;
    assert_eq!((streams.gaps, streams.unfollowed), (1, 0));
}

/// An answer may be chunked too, unless it has no body.
#[test]
fn answers_are_in_chunks_where_they_have_a_body() {
    let head = |number: u32| {
        format!("HTTP/1.1 {number} X\r\nTransfer-Encoding: chunked\r\n\r\n").into_bytes()
    };
    let with = |number: u32| {
        [
            head(number),
            b"12\r\nHTTP/1.1 500 X\r\n\r\n\r\n0\r\n\r\n".to_vec(),
        ]
        .concat()
    };
    assert_eq!(
        status_of(&["GET", "HEAD", "GET"], &[with(200), head(201), with(202)]),
        ["200 1", "201 1", "202 1"]
    );
    assert_eq!(
        status_of(&["GET", "GET"], &[head(204), with(203)]),
        ["203 1", "204 1"]
    );
}

/// RFC 9112, section 6.3: conflicting lengths make a message malformed, duplicates do not.
#[test]
fn lengths_that_do_not_agree_are_malformed() {
    let of = |lines: &str, body: &str| {
        format!("POST /1 HTTP/1.1\r\n{lines}Host: a\r\n\r\n{body}").into_bytes()
    };
    for lines in [
        "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Content-Length: 3\r\nX: y\r\ncontent-length: 03\r\n",
        "Content-Length: 30\r\nContent-Length: 3\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nTRANSFER-ENCODING: gzip\r\n",
        "Content-Length: 3\r\nContent-Length: 3\r\nContent-Length: 12345678901\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked\r\nX: y\r\ntransfer-encoding: chunked\r\n",
    ] {
        let packets = stream(1, &[of(lines, "abc"), get(2)]);
        let report = same("count by http.host", &packets);
        assert_eq!(counts_by_path(&report).len(), 1, "{lines:?}");
        assert_eq!(report.counts.malformed, 1, "{lines:?}");
        // The attribute of the query comes before the fault.
        let (found, report) = paths_of(&packets);
        assert_eq!(found, ["/1 1", "/2 1"], "{lines:?}");
        let counts = report.counts;
        assert_eq!(
            (counts.malformed, counts.streams.unfollowed),
            (0, 1),
            "{lines:?}"
        );
    }
    for (lines, body) in [
        ("Content-Length: 3\r\ncontent-length:  3 \r\n", "abc"),
        (
            "Content-Length: 0000000018\r\nContent-Length: 0000000018\r\n",
            "HTTP/1.1 500 X\r\n\r\n",
        ),
    ] {
        let (found, report) = paths_of(&stream(1, &[joined(&[&of(lines, body), &get(2)])]));
        assert_eq!(found, ["/1 1", "/2 1"], "{lines:?}");
        assert_eq!(report.counts.streams, NOTHING, "{lines:?}");
        assert_eq!(report.counts.malformed, 0, "{lines:?}");
    }
}
