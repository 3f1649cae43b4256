//! HTTP/1.1, against `httparse`.

use crate::common::{changed, random, reading, texts};
use payload::{Found, Reason};
use proptest::prelude::*;

const REQUEST: &[u8] = b"GET /a/b?user=me&empty&x=1 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent:curl/8.5 \r\nX-A: \r\n\r\nbody";

#[test]
fn a_request_has_its_attributes() {
    let found = reading("http", REQUEST).unwrap();
    assert_eq!(texts(&found, "method"), ["GET"]);
    assert_eq!(texts(&found, "target"), ["/a/b?user=me&empty&x=1"]);
    assert_eq!(texts(&found, "path"), ["/a/b"]);
    assert_eq!(texts(&found, "query.user"), ["me"]);
    assert_eq!(texts(&found, "query.empty"), [""]);
    assert_eq!(texts(&found, "query.x"), ["1"]);
    assert_eq!(texts(&found, "host"), ["www.example.com"]);
    assert_eq!(texts(&found, "header.user-agent"), ["curl/8.5"]);
    assert_eq!(texts(&found, "header.x-a"), [""]);
    assert_eq!(texts(&found, "body"), ["body"]);
    let host = found.iter().find(|found| found.name == "host").unwrap();
    assert_eq!(
        &REQUEST[host.offset..host.offset + host.length],
        b"www.example.com"
    );
}

#[test]
fn a_response_has_its_status() {
    let found = reading("http", b"HTTP/1.0 404 Not Found\nContent-Length: 0\n\n").unwrap();
    assert_eq!(texts(&found, "status"), ["404"]);
    assert_eq!(texts(&found, "reason"), ["Not Found"]);
    assert_eq!(texts(&found, "content_length"), ["0"]);
    let found = reading("http", b"HTTP/1.1 200\r\n\r\n").unwrap();
    assert!(texts(&found, "reason").is_empty());
}

#[test]
fn a_head_that_is_cut_is_truncated_and_keeps_what_was_read() {
    let cut = reading("http", &REQUEST[..70]).unwrap_err();
    assert_eq!((cut.reason, cut.at), (Reason::Truncated, 70));
    assert_eq!(texts(&cut.before, "host"), ["www.example.com"]);
    let cut = reading("http", &REQUEST[..30]).unwrap_err();
    assert_eq!(cut.reason, Reason::Truncated);
    assert!(cut.before.is_empty());
}

/// A malformed or folded line has no value (RFC 9112, sections 2.2, 5.1 and 5.2).
#[test]
fn a_line_that_is_not_whole_has_no_value() {
    let request = |head: &str| reading("http", format!("{head}\r\n\r\n").as_bytes());
    for (head, missing) in [
        ("GET / HTTP/1.1\r\nHost: ex\r\n\tample.com\r\nA: b", "host"),
        ("GET / HTTP/1.1\nUser-Agent: a\n b", "user_agent"),
        ("GET / HTTP/1.1\r\nHost : ex", "host"),
        ("GET / HTTP/1.1\r\n Host: ex", "host"),
        ("GET / HTTP/1.1\r\nHost: e\u{1}x", "host"),
        ("GET / HTTP/1.1\r\nHost: e\rx", "host"),
        ("GET / HTTP/1.1\r\nHo(st: ex", "header.host"),
        ("GET /a b HTTP/1.1", "path"),
        ("GET /a HTTP/1.1 ", "target"),
        ("GET /a\u{e9} HTTP/1.1", "target"),
        ("G@T /a HTTP/1.1", "method"),
        ("GET /a", "method"),
        ("HTTP/1.1 2000 OK", "status"),
        ("HTTP/1.1 20 OK", "status"),
        ("HTTP/1.1 2x0 OK", "status"),
        ("HTTP/1.1 200OK", "status"),
        ("HTTP/1.1  200 OK", "status"),
        ("HTTP/1.1 200 O\u{1}K", "reason"),
    ] {
        let malformed = request(head).unwrap_err();
        assert_eq!(malformed.reason, Reason::Unexpected, "{head:?}");
        assert!(texts(&malformed.before, missing).is_empty(), "{head:?}");
        let lines = head.lines().count();
        let start = ["method", "status"].map(|name| texts(&malformed.before, name).len());
        assert_eq!(
            start.iter().sum::<usize>(),
            usize::from(lines > 1),
            "{head:?}"
        );
    }
    // What follows may be a blank.
    let cut = reading("http", b"GET / HTTP/1.1\r\nHost: ex\r\n").unwrap_err();
    assert_eq!(cut.reason, Reason::Truncated);
    assert!(texts(&cut.before, "host").is_empty());
}

/// RFC 9112, section 3.2: a target as it is written, and the host and path in it.
#[test]
fn a_target_has_a_host_and_a_path() {
    for (line, target, host, path) in [
        ("GET /a?b=1", "/a?b=1", &["h"][..], &["/a"][..]),
        ("OPTIONS *", "*", &["h"], &["*"]),
        (
            "GET http://a.example/x/y?b=1",
            "http://a.example/x/y?b=1",
            &["a.example", "h"],
            &["/x/y"],
        ),
        (
            "GET HTTPS://a.example:8443",
            "HTTPS://a.example:8443",
            &["a.example:8443", "h"],
            &[],
        ),
        (
            "GET ftp://[::1]?b=1",
            "ftp://[::1]?b=1",
            &["[::1]", "h"],
            &[""],
        ),
        // A fragment, which no target has, ends the host as it does for servers.
        (
            "GET http://a.example#x",
            "http://a.example#x",
            &["a.example", "h"],
            &["#x"],
        ),
        (
            "CONNECT a.example:443",
            "a.example:443",
            &["a.example:443", "h"],
            &[],
        ),
        ("GET a", "a", &["h"], &[]),
    ] {
        let text = format!("{line} HTTP/1.1\r\nHost: h\r\n\r\n");
        let found = reading("http", text.as_bytes()).unwrap();
        assert_eq!(texts(&found, "target"), [target], "{line}");
        assert_eq!(texts(&found, "host"), host, "{line}");
        assert_eq!(texts(&found, "path"), path, "{line}");
        let query = if line.ends_with("?b=1") {
            &["1"][..]
        } else {
            &[]
        };
        assert_eq!(texts(&found, "query.b"), query, "{line}");
    }
    for line in [
        "GET a.example/x",
        "GET http:///x",
        "GET http:x",
        "GET ://a",
        "GET ",
    ] {
        let text = format!("{line} HTTP/1.1\r\n\r\n");
        let malformed = reading("http", text.as_bytes()).unwrap_err();
        assert_eq!(
            (malformed.reason, malformed.before.len()),
            (Reason::Unexpected, 0),
            "{line}"
        );
    }
}

#[test]
fn of_several_hosts_the_first_counts() {
    let found = reading("http", b"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n").unwrap();
    assert_eq!(texts(&found, "header.host"), ["a", "b"]);
    assert_eq!(texts(&found, "host"), ["a", "b"]);
    let schema = crate::common::schema("http");
    let first = payload::Wanted::new(schema, &["host"])
        .read(b"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n")
        .values[0]
        .take();
    assert_eq!(
        first.map(|first| (first.offset, first.length)),
        Some((22, 1))
    );
}

/// RFC 9112, section 2.2.
#[test]
fn empty_lines_in_front_are_passed_over() {
    let found = reading("http", b"\r\n\n\r\nGET /a HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(texts(&found, "path"), ["/a"]);
    let method = found.iter().find(|found| found.name == "method");
    assert_eq!(method.map(|method| method.offset), Some(5));
    for cut in [&b"\r\n\r"[..], b"\n", b"\r\nGET"] {
        assert_eq!(reading("http", cut).unwrap_err().reason, Reason::Truncated);
    }
    let wrong = reading("http", b"\r\rGET /a HTTP/1.1\r\n\r\n").unwrap_err();
    assert_eq!(wrong.reason, Reason::Unexpected);
}

/// Result that the two readers are compared by: parts of the start line, and headers.
type Head = (Vec<String>, Vec<(String, Vec<u8>)>);

fn request(bytes: &[u8]) -> Option<Head> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let whole = request.parse(bytes).ok()?.is_complete();
    let start = vec![request.method?.to_string(), request.path?.to_string()];
    whole.then(|| (start, named(request.headers)))
}

fn response(bytes: &[u8]) -> Option<Head> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let whole = response.parse(bytes).ok()?.is_complete();
    let start = vec![response.code?.to_string(), response.reason?.to_string()];
    whole.then(|| (start, named(response.headers)))
}

fn named(headers: &[httparse::Header]) -> Vec<(String, Vec<u8>)> {
    let pair = |h: &httparse::Header| (h.name.to_ascii_lowercase(), h.value.to_vec());
    headers.iter().map(pair).collect()
}

fn head(found: &[Found], start: [&str; 2]) -> Head {
    let start = start.map(|name| texts(found, name).concat());
    let header = |found: &Found| match &found.value {
        payload::Value::Bytes(value) => Some((
            found.name.strip_prefix("header.")?.to_string(),
            value.clone(),
        )),
        payload::Value::Number(_) => None,
    };
    (start.to_vec(), found.iter().filter_map(header).collect())
}

/// Bytes that matter in a message's head.
fn relevant() -> impl Strategy<Value = u8> {
    prop::sample::select(&b" \t\r\n:/?&=\"<{\x00\x7f\x80\xffAH1.;"[..])
}

random! {
    1_000 fn requests_are_read_alike(
        method in "[A-Z]{1,7}",
        target in "/[!-~]{0,20}",
        version in "HTTP/1\\.[012]",
        headers in prop::collection::vec(("[A-Za-z-]{1,10}", "[ \t]{0,2}", "[ -~]{0,12}"), 0..5),
        newline in prop::sample::select(&["\r\n", "\n"][..]),
        changes in prop::collection::vec((any::<usize>(), prop::option::of(relevant())), 0..3),
    ) {
        let mut text = format!("{method} {target} {version}{newline}");
        for (name, blanks, value) in headers {
            text += &format!("{name}:{blanks}{value}{newline}");
        }
        text += newline;
        let bytes = changed(text.into_bytes(), &changes);
        // It takes targets of any form, and in UTF-8, which RFC 3986 has not.
        let target = bytes.split(|&byte| byte == b' ').nth(1);
        prop_assume!(target.is_some_and(|target| target.starts_with(b"/")));
        prop_assume!(bytes.iter().take_while(|&&byte| byte != b'\n').all(u8::is_ascii));
        let read = reading("http", &bytes).ok().map(|found| head(&found, ["method", "target"]));
        prop_assert_eq!(read, request(&bytes), "{}", String::from_utf8_lossy(&bytes));
    }

    1_000 fn responses_are_read_alike(
        status in "[0-9]{3}",
        reason in "( [ -~]{0,12})?",
        headers in prop::collection::vec(("[A-Za-z-]{1,10}", "[ -~]{0,12}"), 0..4),
        changes in prop::collection::vec((9..usize::MAX, prop::option::of(relevant())), 0..3),
    ) {
        let mut text = format!("HTTP/1.1 {status}{reason}\r\n");
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += "\r\n";
        let bytes = changed(text.into_bytes(), &changes);
        prop_assume!(bytes.starts_with(b"HTTP/1.1 "));
        let read = reading("http", &bytes).ok().map(|found| head(&found, ["status", "reason"]));
        // Its code is a number, and it gives no reason that has other characters than ASCII.
        let alike = |(mut start, headers): Head| {
            start[0] = start[0].trim_start_matches('0').to_string();
            if !start[1].is_ascii() {
                start[1].clear();
            }
            (start, headers)
        };
        let (read, expected) = (read.map(alike), response(&bytes).map(alike));
        prop_assert_eq!(read, expected, "{}", String::from_utf8_lossy(&bytes));
    }
}

/// RFC 9112, section 6.3.
#[test]
fn lengths_that_do_not_agree_have_a_reason_of_their_own() {
    let read_with = |lines: &str| {
        let text = format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
        reading("http", text.as_bytes()).map_err(|wrong| (wrong.reason, wrong.at))
    };
    let first = "POST / HTTP/1.1\r\nHost: a\r\n".len();
    for (front, wrong) in [
        ("Content-Length: 1\r\n", "Content-Length: 2"),
        (
            "content-length: 1\r\nX: y\r\nContent-Length: 1\r\n",
            "CONTENT-LENGTH: 01",
        ),
        ("Content-Length: 12\r\n", "Content-Length: 1"),
        ("Content-Length: 1\r\n", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: gzip\r\n", "Content-Length: 1"),
        // One list in two lines, of which some readers see only one.
        ("Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip"),
        (
            "Transfer-Encoding: chunked\r\n",
            "transfer-encoding: chunked",
        ),
    ] {
        let at = first + front.len() + wrong.find(": ").expect("a value") + 2;
        let found = read_with(&format!("{front}{wrong}\r\n"));
        assert_eq!(found, Err((Reason::Conflict, at)), "{front}{wrong}");
    }
    let agree = "Content-Length: 5\r\ncontent-length:\t5 \r\nX-Content-Length: 6\r\n";
    assert!(read_with(agree).is_ok());
    assert!(read_with("Transfer-Encoding: gzip, chunked\r\n").is_ok());
    assert_eq!(Reason::Conflict.name(), "conflicting lengths");
}

/// Both hosts are found, and the first one wins. A host in the target comes first.
#[test]
fn of_several_hosts_the_first_one_wins() {
    for (text, expected) in [
        (
            "GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n",
            vec!["a", "b"],
        ),
        (
            "GET http://t/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
            vec!["t", "a", "a"],
        ),
        ("CONNECT t:1 HTTP/1.1\r\nHost: a\r\n\r\n", vec!["t:1", "a"]),
        ("GET / HTTP/1.0\r\n\r\n", vec![]),
    ] {
        let found = reading("http", text.as_bytes()).expect("a message");
        assert_eq!(texts(&found, "host"), expected, "{text:?}");
        assert_eq!(texts(&found, "hosts"), expected, "{text:?}");
    }
}
