//! Bodies of messages: whether there is one, where it ends, and what it looks like.

use crate::frames::{End, segment};
use crate::sequences::{NOTHING, at, get, joined, status, stream};
use crate::streams::{counts_by_path, same};
use std::collections::BTreeSet;
use telemetry::Report;

/// Of the server, from the byte with a number on.
fn answer_at(first: u32, bytes: &[u8]) -> Vec<u8> {
    segment(40_000, 80, End::Server, first, bytes)
}

/// The server's answers to requests that came before, as one segment or one each.
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
    // What comes before the answer is none.
    let interim = b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec();
    assert_eq!(
        status_of(
            &["HEAD", "GET"],
            &[interim, status(200, 70), with(201, like)]
        ),
        ["103 1", "200 1", "201 1"]
    );
    // A tunnel is no body, a refusal has one.
    let through = b"HTTP/1.1 299 Go\r\n\r\nHTTP/1.1 250 Inside\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(
        status_of(&["CONNECT"], &[through.to_vec()]),
        ["250 1", "299 1"]
    );
    assert_eq!(
        status_of(&["CONNECT", "GET"], &[with(407, like), status(201, 0)]),
        ["201 1", "407 1"]
    );
    // Nobody knows of a request.
    assert_eq!(
        status_of(&[], &[with(200, like), status(201, 0)]),
        ["200 1", "201 1"]
    );
}

/// There is room for 32 requests; what does not fit is counted.
#[test]
fn more_requests_than_there_is_room_for_are_counted() {
    let heads = ["HEAD"; 34];
    let answered = |report: &Report| counts_by_path(report).values().sum::<u64>();
    let answers = vec![status(200, status(200, 10).len()); 40];
    for at_once in [true, false] {
        let report = same("count by http.status", &asked(&heads, &answers, at_once));
        // Behind the room, each answer is taken with the body that it announces: the next answer.
        assert_eq!(answered(&report), 32 + 4, "{at_once}");
        assert_eq!(report.counts.streams.unfollowed, 1);
    }
    // A connection that is opened has nothing of the one before.
    let mut packets = asked(&["HEAD"], &[], true);
    packets.extend([
        at(99, b""),
        answer_at(1, &[status(200, 40), status(201, 0)].concat()),
    ]);
    let report = same("count by http.status", &packets);
    assert_eq!(answered(&report), 1);
    // Where it is not known what came before, no request is known.
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
    // Also behind what is missing.
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
    // A request without one has no body.
    let report = same(
        "count by http.path",
        &stream(1, &[[get.clone(), get].concat()]),
    );
    assert_eq!(report.counts.records, 2);
}

/// A connection whose answers come in these parts, and what was asked.
type Answers = (Vec<Vec<u8>>, &'static str);

/// Responses to HEAD, which announce so much, with only the first bytes of the next one in their segment, whose rest comes over several segments.
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

/// Responses with bodies that begin like messages, also over several segments, with the next response behind the last one.
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
