//! Response times: requests with their responses, one packet a millisecond.

use crate::evaluation::run_on;
use crate::frames::{End, End::Client, End::Server, segment, udp};
use crate::program::on_path;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use telemetry::view::table;
use telemetry::{Cell, Report, Schemas, Value};

const MILLISECOND: u64 = 1_000_000;

/// Returns the report of a query, after checking that the evaluation and the program agree.
fn both(text: &str, packets: &[Vec<u8>]) -> Report {
    let schemas = Schemas::builtin();
    let report = run_on(&schemas, text, packets, None);
    let mut found = on_path(text, &schemas, packets, report.seconds);
    found.text = report.text;
    assert_eq!(found, report, "{text}");
    report
}

/// Returns the keys and numbers of each group, in the order of the keys.
fn groups(report: &Report) -> Vec<String> {
    let row = |row: &telemetry::Row| {
        let cells = row.cells.iter().map(|cell| match cell {
            Cell::Number(number) => number.to_string(),
            other => format!("{other:?}"),
        });
        let keys = row.keys.iter().map(Value::to_string);
        keys.chain(cells).collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<String> = report.rows.iter().map(row).collect();
    rows.sort();
    rows
}

/// Returns the numbers of requests without a response, and of responses without a request.
fn missing(report: &Report) -> (u64, u64) {
    (report.counts.unanswered, report.counts.unmatched)
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a.example\r\n\r\n")
}

fn status(status: u16) -> String {
    format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nhi")
}

fn http(from: End, first: u32, text: &str) -> Vec<u8> {
    segment(40000, 80, from, first, text.as_bytes())
}

fn dns(from: End, id: u8, response: bool) -> Vec<u8> {
    let flags = if response { 0x80 } else { 0 };
    let head = [0, id, flags, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let message = [&head[..], b"\x01a\0\0\x01\0\x01"].concat();
    let (mut packet, ports) = match from {
        Client => (udp(1, 1, (5000, 53), &message), (5000, 53)),
        Server => (udp(1, 1, (53, 5000), &message), (53, 5000)),
    };
    if ports.0 == 53 {
        // The opposite direction: 10.0.1.1 to 10.0.0.1.
        packet[26..34].copy_from_slice(&[10, 0, 1, 1, 10, 0, 0, 1]);
    }
    packet
}

#[test]
fn a_response_has_its_requests_attributes_and_the_time_since() {
    let packets = [
        http(Client, 1000, &get("/a")),
        http(Client, 1100, &get("/b")),
        http(Server, 9000, &status(200)),
        http(Server, 9100, &status(404)),
        http(Client, 1200, &get("/c")),
    ];
    let report = both(
        "count, min(http.response_time), max(http.response_time) by http.path, http.status, ip.src",
        &packets,
    );
    let time = 2 * MILLISECOND;
    assert_eq!(
        groups(&report),
        [
            format!("/a 200 10.0.1.1 1 {time} {time}"),
            format!("/b 404 10.0.1.1 1 {time} {time}"),
        ]
    );
    assert_eq!(missing(&report), (1, 0));
    assert_eq!((report.counts.records, report.counts.packets), (2, 5));
    let report = both(
        "histogram(http.response_time), mean(http.response_time)",
        &packets,
    );
    assert_eq!(
        table::text(&report, 9),
        "\
histogram(http.response_time): p50 2.03 ms, p90 2.03 ms, p99 2.03 ms (within 6.2 %)
  1.05 ms to 2.10 ms  2  ########################################
mean(http.response_time): 2.00 ms
1 request without a response so far
3 segments behind something that is missing: lost, or late
"
    );
}

#[test]
fn conditions_are_about_the_request_and_the_response() {
    let packets = [
        http(Client, 1000, &get("/fast")),
        http(Server, 9000, &status(200)),
        http(Client, 1100, &get("/slow")),
        udp(1, 1, (1, 2), b"x"),
        udp(1, 1, (1, 2), b"x"),
        http(Server, 9100, &status(500)),
    ];
    for (condition, expected) in [
        ("http.response_time >= 2ms", "/slow"),
        ("http.response_time < 1.5ms", "/fast"),
        ("http.response_time in [1ms, 7s]", "/fast"),
        (
            "http.path ~ \"^/sl.w$\" and http.response_time > 0ns",
            "/slow",
        ),
        (
            "not http.path ~ \"slow\" and http.response_time > 0ns",
            "/fast",
        ),
        ("http.status == 500 and http.response_time > 0ns", "/slow"),
        (
            "http.reason ~ \"X\" and http.path starts with \"/f\" and http.response_time > 0ns",
            "/fast",
        ),
    ] {
        let report = both(&format!("count by http.path where {condition}"), &packets);
        assert_eq!(groups(&report), [format!("{expected} 1")], "{condition}");
    }
}

#[test]
fn what_is_sent_again_counts_once() {
    let packets = [
        http(Client, u32::MAX - 10, &get("/a")),
        http(Client, u32::MAX - 10, &get("/a")),
        http(Server, 9000, &status(200)),
        http(Server, 9000, &status(200)),
        http(Client, 100, &get("/b")),
        http(Server, 9100, &status(200)),
    ];
    let report = both("count, sum(http.response_time) by http.path", &packets);
    let (first, second) = (2 * MILLISECOND, MILLISECOND);
    assert_eq!(
        groups(&report),
        [format!("/a 1 {first}"), format!("/b 1 {second}")]
    );
    assert_eq!(missing(&report), (0, 0));
}

#[test]
fn requests_in_one_segment_are_answered_in_order() {
    let requests: String = (0..20).map(|i| get(&format!("/{i}"))).collect();
    let answers: String = (0..20).map(|i| status(210 + i)).collect();
    let packets = [
        http(Client, 1000, &requests),
        http(Server, 9000, &answers),
        http(Server, 9900, &status(200)),
    ];
    let report = both(
        "count by http.path, http.status where http.response_time == 1ms",
        &packets,
    );
    let mut expected: Vec<String> = (0..20).map(|i| format!("/{i} {} 1", 210 + i)).collect();
    expected.sort();
    assert_eq!(groups(&report), expected);
    assert_eq!(missing(&report), (0, 1));
}

/// A connection with the same ports has no state of an earlier one.
#[test]
fn a_connection_begins_anew() {
    let packets = [
        http(Client, 1000, &get("/lost")),
        segment(40000, 80, Client, 500, b""),
        http(Client, 501, &get("/a")),
        http(Server, 9000, &status(200)),
        http(Server, 9100, &status(200)),
    ];
    let report = both(
        "count by http.path where http.response_time > 0ns",
        &packets,
    );
    assert_eq!(groups(&report), ["/a 1"]);
    assert_eq!(missing(&report), (1, 1));
}

/// An unreadable request has the number of a request that an earlier connection with the same ports left waiting.
#[test]
fn a_response_is_not_that_of_an_earlier_connection() {
    let packets = [
        http(Client, 1000, &get("/lost")),
        segment(40000, 80, Client, 500, b""),
        http(Client, 501, "GET /cut HTTP/1.1\r\nHo"),
        http(Server, 9000, &status(200)),
    ];
    let report = both(
        "count by http.path where http.response_time > 0ns",
        &packets,
    );
    assert_eq!(groups(&report), [""; 0]);
    assert_eq!(missing(&report), (1, 1));
}

#[test]
fn an_interim_response_answers_nothing() {
    let packets = [
        http(
            Client,
            1000,
            "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
        ),
        http(Server, 9000, "HTTP/1.1 100 Continue\r\n\r\n"),
        http(Server, 9100, &status(201)),
    ];
    let report = both(
        "sum(http.response_time) by http.method, http.status",
        &packets,
    );
    assert_eq!(groups(&report), [format!("POST 201 {}", 2 * MILLISECOND)]);
    assert_eq!(missing(&report), (0, 0));
}

/// A malformed message has a number, so that later ones find their requests.
#[test]
fn a_malformed_message_keeps_its_place() {
    let wrong = "HTTP/1.1 200 OK\r\nX y\r\n\r\n";
    let packets = [
        http(Client, 1000, &get("/a")),
        http(Client, 1100, "GET /b HTTP/1.1\r\nHo st\r\n\r\n"),
        http(Client, 1200, &get("/c")),
        http(Client, 1300, &get("/d")),
        http(Server, 9000, &status(200)),
        http(Server, 9100, &status(201)),
        http(Server, 9200, wrong),
        http(Server, 9300, &status(203)),
    ];
    let report = both(
        "count by http.path, http.status where http.response_time > 0ns",
        &packets,
    );
    assert_eq!(groups(&report), ["/a 200 1", "/d 203 1"]);
    assert_eq!(missing(&report), (0, 1));
    assert_eq!(report.counts.malformed, 2);
}

/// A truncated answer has a number, whether its second part arrives, is lost, or arrives late.
#[test]
fn an_answer_that_is_cut_keeps_its_place() {
    let head = |status: u16| {
        let x = "y".repeat(300);
        format!("HTTP/1.1 {status} OK\r\nX: {x}\r\nContent-Length: 0\r\n\r\n")
    };
    let size = head(201).len() as u32;
    let (front, behind) = (head(202)[..150].to_owned(), head(202)[150..].to_owned());
    let conversation = |second: bool, late: bool| {
        let mut packets = Vec::new();
        for number in 1..=5 {
            let (asked, answered) = (number * 100, 9000 + (number - 1) * size);
            packets.push(http(Client, asked, &get(&format!("/{number}"))));
            match number {
                2 => packets.push(http(Server, answered, &front)),
                _ => packets.push(http(Server, answered, &head(200 + number as u16))),
            }
            if number == 2 && second || number == 3 && late {
                packets.push(http(Server, 9000 + size + 150, &behind));
            }
        }
        packets
    };
    let text = "count by http.path, http.status where http.response_time > 0ns";
    let pairs = |numbers: &[u16]| -> Vec<String> {
        let pair = |n: &u16| format!("/{n} {} 1", 200 + n);
        numbers.iter().map(pair).collect()
    };
    for (second, late) in [(true, false), (false, false), (false, true)] {
        let report = both(text, &conversation(second, late));
        assert_eq!(groups(&report), pairs(&[1, 3, 4, 5]));
        assert_eq!(missing(&report), (0, 0));
        assert_eq!(report.counts.streams.unfollowed, 1);
    }
}

/// A truncated request has a number too, even if its answer arrives before its rest, or the rest is lost.
#[test]
fn a_request_that_is_cut_keeps_its_place() {
    let request = |path: u32| {
        let cookie = "c".repeat(300);
        format!("GET /{path} HTTP/1.1\r\nHost: a\r\nCookie: {cookie}\r\n\r\n")
    };
    let size = request(1).len() as u32;
    let rest = http(Client, 1 + size + 200, &request(2)[200..]);
    // Number of segments before the rest; all of them if it is lost.
    for before in [2, 3, 4, 5, usize::MAX] {
        let mut packets = Vec::new();
        for number in 1..=6 {
            let text = request(number);
            let end = if number == 2 { 200 } else { text.len() };
            packets.push(http(Client, 1 + (number - 1) * size, &text[..end]));
            packets.push(http(
                Server,
                9000 + number * 100,
                &status(210 + number as u16),
            ));
        }
        if before < packets.len() {
            packets.insert(before + 1, rest.clone());
        }
        let report = both(
            "count by http.path, http.status where http.response_time >= 0ns",
            &packets,
        );
        let expected = [1, 3, 4, 5, 6].map(|n| format!("/{n} {} 1", 210 + n));
        assert_eq!(groups(&report), expected, "{before}");
        assert_eq!(missing(&report), (0, 1), "{before}");
    }
}

/// Builds segments with these texts, one after the other, from a sequence number on.
fn sent(from: End, first: u32, texts: &[&str]) -> Vec<Vec<u8>> {
    let mut next = first;
    let one = |text: &&str| {
        let packet = http(from, next, text);
        next += text.len() as u32;
        packet
    };
    texts.iter().map(one).collect()
}

/// A malformed request, or bytes that are not a request: no other request gets its answer.
#[test]
fn a_request_that_is_none_gives_its_answer_to_no_other() {
    let text = "count by http.path, http.status where http.response_time >= 0ns";
    let answers = [200, 400, 203].map(status);
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    let (a, c) = (get("/a"), get("/c"));
    // Requests that are recognised count as malformed, others as not followed.
    for (wrong, malformed) in [
        ("GET /b c HTTP/1.1\r\nHost: a\r\n\r\n", 1),
        ("GET /b HTTP/1.2\r\n\r\n", 1),
        ("GET \x01 HTTP/1.1\r\nHost: a\r\n\r\n", 1),
        ("POST  HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 1),
        ("GET /b\r\n", 1),
        ("G@T /b HTTP/1.1\r\n\r\n", 0),
        ("FETCH /b HTTP/1.7\r\n\r\n", 0),
        ("hello\r\n", 0),
        ("\x16\x03\x01", 0),
    ] {
        let mut packets = sent(Client, 100, &[&a, wrong, &c]);
        packets.extend(sent(Server, 9000, &answers));
        let report = both(text, &packets);
        assert_eq!(groups(&report), ["/a 200 1"], "{wrong:?}");
        assert_eq!(missing(&report), (0, 2), "{wrong:?}");
        assert_eq!(report.counts.malformed, malformed, "{wrong:?}");
        // The request after it has no number.
        let unfollowed = 1 + u64::from(malformed == 0);
        assert_eq!(report.counts.streams.unfollowed, unfollowed, "{wrong:?}");
        // In the same segment, requests after it are not read.
        let mut packets = sent(Client, 100, &[&[&a, wrong, &c].concat(), &get("/d")]);
        packets.extend(sent(Server, 9000, &answers));
        packets.extend(sent(
            Server,
            9000 + answers.concat().len() as u32,
            &[&status(205)],
        ));
        let report = both(text, &packets);
        assert_eq!(groups(&report), ["/a 200 1"], "{wrong:?}");
        assert_eq!(missing(&report), (0, 3), "{wrong:?}");
        // A new connection has all its requests.
        packets.extend([
            http(Client, 99, ""),
            http(Client, 100, &a),
            http(Server, 9999, &status(201)),
        ]);
        let report = both(text, &packets);
        assert_eq!(groups(&report), ["/a 200 1", "/a 201 1"], "{wrong:?}");
        if malformed == 1 {
            // The malformed request may be the first one of a connection.
            let mut packets = sent(Client, 100, &[wrong, &c]);
            packets.extend(sent(Server, 9000, &answers[1..]));
            let report = both(text, &packets);
            assert_eq!(groups(&report), [""; 0], "{wrong:?}");
            assert_eq!(missing(&report), (0, 2), "{wrong:?}");
        }
    }
}

#[test]
fn an_answer_that_is_none_takes_no_others_request() {
    let text = "count by http.path, http.status where http.response_time >= 0ns";
    for wrong in [
        "HTTP/1.1 20x OK\r\n\r\n",
        "HTTP/1.0200\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
    ] {
        let mut packets = sent(Client, 100, &[&get("/a"), &get("/b"), &get("/c")]);
        packets.extend(sent(Server, 9000, &[&status(200), wrong, &status(202)]));
        let report = both(text, &packets);
        assert_eq!(groups(&report), ["/a 200 1"], "{wrong:?}");
        assert_eq!(missing(&report), (2, 1), "{wrong:?}");
    }
}

/// A truncated first line waits for its rest. If that is lost, no other request gets its answer.
#[test]
fn a_first_line_that_is_cut_keeps_its_place() {
    let text = "count by http.path, http.status where http.response_time >= 0ns";
    let path = format!("/{}", "b".repeat(40));
    let (a, b, c) = (get("/a"), get(&path), get("/c"));
    for cut in 1..60 {
        let (front, rest) = b.split_at(cut);
        let mut packets = sent(Client, 100, &[&a, front, rest, &c]);
        packets.extend(sent(
            Server,
            9000,
            &[&status(200), &status(201), &status(202)],
        ));
        let pairs = [
            "/a 200 1".to_owned(),
            format!("{path} 201 1"),
            "/c 202 1".to_owned(),
        ];
        let report = both(text, &packets);
        let mut found = groups(&report);
        found.sort();
        // A head that is truncated after its first line is accepted as it is.
        let is_whole = cut < b.find('\n').expect("a line") + 1;
        assert_eq!(found.len(), if is_whole { 3 } else { 2 }, "{cut}");
        assert!(found.iter().all(|pair| pairs.contains(pair)), "{found:?}");
        assert_eq!(missing(&report), (0, u64::from(!is_whole)), "{cut}");
        packets.remove(2);
        let report = both(text, &packets);
        let expected: &[&str] = match is_whole {
            true => &["/a 200 1"],
            false => &["/a 200 1", "/c 202 1"],
        };
        assert_eq!(groups(&report), expected, "{cut}");
    }
}

/// The answer to HEAD has no body, even if only its first bytes are in the segment of the answer before it.
#[test]
fn the_answer_behind_that_to_head_is_numbered() {
    let head = |path: &str| format!("HEAD {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    let answer = |status: u16| format!("HTTP/1.1 {status} X\r\nContent-Length: 5000\r\n\r\n");
    let first = answer(201).len();
    let all = answer(201) + &answer(202) + &answer(203);
    for cut in 0..answer(202).len() {
        let (front, rest) = all.split_at(first + cut);
        let packets = [
            http(Client, 1, &(head("/1") + &head("/2") + &head("/3"))),
            http(Server, 9000, front),
            http(Server, 9000 + front.len() as u32, rest),
        ];
        let report = both(
            "count by http.path, http.status where http.response_time >= 0ns",
            &packets,
        );
        let found = groups(&report);
        assert!(found.contains(&"/1 201 1".to_owned()), "{cut}: {found:?}");
        // A message whose side is not yet known waits for its rest.
        if cut < "HTTP/1.".len() {
            assert_eq!(found, ["/1 201 1", "/2 202 1", "/3 203 1"], "{cut}");
        }
    }
}

#[test]
fn a_number_pairs_messages_in_any_order() {
    let packets = [
        dns(Client, 1, false),
        dns(Client, 2, false),
        dns(Server, 2, true),
        dns(Server, 1, true),
        dns(Server, 1, true),
        dns(Client, 3, false),
    ];
    let report = both("sum(dns.response_time) by dns.id, dns.qname", &packets);
    assert_eq!(
        groups(&report),
        [
            format!("1 a {}", 3 * MILLISECOND),
            format!("2 a {}", MILLISECOND)
        ]
    );
    assert_eq!(missing(&report), (1, 1));
}

/// The response to a query that UDP carried twice is paired with the second one.
#[test]
fn a_query_that_is_sent_again_takes_the_place_of_the_first() {
    let packets = [
        dns(Client, 1, false),
        dns(Client, 1, false),
        dns(Server, 1, true),
    ];
    let report = both("sum(dns.response_time)", &packets);
    assert_eq!(groups(&report), [MILLISECOND.to_string()]);
    assert_eq!(missing(&report), (1, 0));
}

#[test]
fn ports_show_requests_where_nothing_else_does() {
    let redis = |from, first, text: &str| segment(40000, 6379, from, first, text.as_bytes());
    let packets = [
        redis(Client, 1000, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"),
        redis(Server, 9000, "$2\r\nhi\r\n"),
        redis(Client, 1100, "*2\r\n$4\r\nLLEN\r\n$1\r\nk\r\n"),
        redis(Server, 9100, "-WRONGTYPE\r\n"),
        // A packet neither to nor from the port.
        segment(40000, 7000, Client, 1, b"*1\r\n$4\r\nPING\r\n"),
    ];
    let report = both(
        "count by redis.command where redis.response_time < 2ms",
        &packets,
    );
    assert_eq!(groups(&report), ["GET 1", "LLEN 1"]);
    assert_eq!(missing(&report), (0, 0));
    let report = both(
        "count by redis.command, redis.error where redis.response_time < 2ms",
        &packets,
    );
    assert_eq!(groups(&report), ["LLEN WRONGTYPE 1"]);

    let cached = |from, magic: u8, opaque: u8| {
        let head = [magic, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, opaque];
        let bytes = [&head[..], &[0; 8], b"k"].concat();
        segment(40000, 11211, from, 1, &bytes)
    };
    let packets = [
        cached(Client, 0x80, 1),
        cached(Client, 0x80, 2),
        cached(Server, 0x81, 2),
    ];
    let report = both("sum(memcached-binary.response_time)", &packets);
    assert_eq!(groups(&report), [MILLISECOND.to_string()]);
    assert_eq!(missing(&report), (1, 0));
}

/// Clients that reuse connections, skip answers, retransmit and reconnect, in random order.
#[test]
fn random_exchanges_are_paired_alike() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut next = [[1000u32; 2]; 6];
    let mut packets = Vec::new();
    for _ in 0..2500 {
        let flow = random.random_range(0..next.len());
        let from = *[Client, Server].choose(&mut random).expect("one");
        let at = &mut next[flow][usize::from(from == Server)];
        let path = format!("/{}", random.random_range(0..5));
        let (code, number) = (200 + random.random_range(0..4), random.random_range(1..4));
        let text = match (from, random.random_range(0..20)) {
            (_, 0) => String::new(),
            (Client, 1) => "GET /cut HTTP/1.1\r\nHost".into(),
            (Server, 1) => "HTTP/1.1 200 OK\r\nX".into(),
            (Server, 2) => "HTTP/1.1 100 Continue\r\n\r\n".into(),
            (Client, _) => get(&path).repeat(number),
            (Server, _) => status(code).repeat(number),
        };
        let first = match random.random_range(0..10) {
            0 => at.wrapping_sub(random.random_range(0..200)),
            _ => *at,
        };
        *at = at.wrapping_add(text.len() as u32 * 40_000);
        packets.push(segment(
            40_000 + flow as u16,
            80,
            from,
            first,
            text.as_bytes(),
        ));
    }
    for text in [
        "count, sum(http.response_time), min(http.response_time) by http.path, http.status",
        "bytes, max(http.response_time) by http.host, tcp.dst_port",
        "count by http.status where http.path ~ \"[12]\" or http.response_time > 20ms",
        "histogram(http.response_time), rate(http.response_time)",
    ] {
        let report = both(text, &packets);
        assert!(report.counts.matched > 100, "{:?}", report.counts);
        assert!(report.counts.unanswered > 10 && report.counts.unmatched > 10);
    }
}

#[test]
fn what_waits_is_bounded() {
    let schemas = Schemas::builtin();
    let request = |id: u16| {
        let [high, low] = id.to_be_bytes();
        udp(
            1,
            1,
            (5000, 53),
            &[
                high, low, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, b'a', 0, 0, 1, 0, 1,
            ],
        )
    };
    let response = |id: u16| {
        let mut packet = dns(Server, 0, true);
        packet[42..44].copy_from_slice(&id.to_be_bytes());
        packet
    };
    let mut packets: Vec<Vec<u8>> = (0..4097).map(request).collect();
    packets.extend([response(0), response(1), response(4096)]);
    let report = run_on(
        &schemas,
        "count where dns.response_time > 0ns",
        &packets,
        None,
    );
    assert_eq!(report.counts.records, 2);
    assert_eq!(missing(&report), (4095, 1));
}
