//! Requests of HTTP, against `httparse`, and against the address parser of `hyper`.

use super::{Expected, Judged, Protocol, tried};
use hyper::Uri;
use payload::{Reason, Status};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

const HTTP: Protocol = Protocol {
    name: "http",
    // As `programs/url_firewall` reads it.
    wanted: "method,host,body,content_length,header.transfer-encoding,header.upgrade",
    attribute: "host",
    limit: 1_300,
    make,
    judge,
    refuses,
};

/// Hosts as clients write them, and others.
const HOSTS: &[&str] = &[
    "www.blocked.example",
    "WWW.Blocked.Example:8080",
    "blocked.example.",
    "blocked.example.:80",
    "user:word@blocked.example",
    "[2001:db8::1]:80",
    "192.0.2.1",
    "xn--bcher-kva.example",
    "b\u{fc}cher.example",
    "a_b.example",
    "blocked%2eexample",
    "blocked.example, other.example",
    "blocked.example\tother",
    "",
    "\"blocked.example\"",
];

fn of<'t>(random: &mut ChaCha8Rng, all: &[&'t str]) -> &'t str {
    all.choose(random).copied().unwrap_or_default()
}

/// Makes a request.
fn make(random: &mut ChaCha8Rng) -> Vec<u8> {
    let line = |random: &mut ChaCha8Rng| match random.random_range(0..60) {
        0..48 => "\r\n",
        48..58 => "\n",
        58 => "\r",
        _ => "\r\r\n",
    };
    let mut text = String::new();
    if random.random_range(0..8) == 0 {
        text += of(random, &["\r\n", "\n", "\r\n\r\n\n", "\r", " "]);
    }
    let host = of(random, HOSTS);
    let path = of(
        random,
        &[
            "/", "/a/b?x=1", "", "?x", "#part", "/a#b", "\\x", "/\u{fc}", "//",
        ],
    );
    let (method, target) = match random.random_range(0..10) {
        0..5 => ("GET", format!("/{path}")),
        5..8 => {
            let scheme = of(
                random,
                &["http", "HTTPS", "ftp", "h", "ht tp", "http:", "1x", "a+b"],
            );
            ("POST", format!("{scheme}://{host}{path}"))
        }
        8 => ("CONNECT", host.to_owned()),
        _ => (
            of(
                random,
                &[
                    "OPTIONS", "PURGE", "get", "M-SEARCH", "a|b", "G(T", "HTTP/1.1",
                ],
            ),
            of(
                random,
                &["*", "*x", "a", "/", "", "blocked.example/", "://a"],
            )
            .to_owned(),
        ),
    };
    let version = match random.random_range(0..8) {
        0 => of(
            random,
            &[
                "HTTP/1.2",
                "HTTP/2.0",
                "http/1.1",
                "HTTP/1.1 ",
                "HTTP/11",
                "",
            ],
        ),
        1 => "HTTP/1.0",
        _ => "HTTP/1.1",
    };
    text += &format!("{method} {target} {version}{}", line(random));
    for _ in 0..random.random_range(0..5) {
        let (name, value) = match random.random_range(0..12) {
            0..7 => (
                of(random, &["Host", "host", "HOST", "hOsT"]),
                of(random, HOSTS),
            ),
            7 => (
                of(
                    random,
                    &[
                        "Host ",
                        " Host",
                        "Host\t",
                        "Hos",
                        "Hostt",
                        "Ho\u{17f}t",
                        "",
                        "H(st",
                    ],
                ),
                of(random, HOSTS),
            ),
            8..10 => (
                of(random, &["Content-Length", "Transfer-Encoding", "Upgrade"]),
                of(
                    random,
                    &["1", "01", "1, 1", "chunked", "gzip, chunked", "x", ""],
                ),
            ),
            _ => (
                of(random, &["Accept", "X", "X-Host", "Cookie"]),
                of(
                    random,
                    &[
                        "*/*",
                        "Host: blocked.example",
                        "\u{1}",
                        "\u{7f}",
                        "a\tb",
                        "\u{fc}",
                    ],
                ),
            ),
        };
        let blank = match random.random_range(0..20) {
            0 => of(random, &["\r\n ", "\n\t"]),
            _ => of(random, &[" ", "", "\t", "  "]),
        };
        let behind = match random.random_range(0..20) {
            0 => "\n folded",
            _ => of(random, &["", "", " ", "\t "]),
        };
        text += &format!("{name}:{blank}{value}{behind}{}", line(random));
    }
    text += line(random);
    text += of(
        random,
        &["", "", "body", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"],
    );
    text.into_bytes()
}

/// Returns a request's first host: that of its target, or that of its first header of this name.
fn host(method: &str, target: &str, headers: &[httparse::Header]) -> Expected {
    let named = |h: &&httparse::Header| h.name.eq_ignore_ascii_case("host");
    let header = headers.iter().find(named).map(|h| h.value.to_vec());
    // RFC 3986 has no other bytes, which this library lets pass.
    if !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Expected::Refused;
    }
    // Nor has it an empty scheme.
    if target.starts_with("://") {
        return Expected::Refused;
    }
    if method == "CONNECT" {
        return Expected::Whole(Some(target.into()));
    }
    if target.starts_with(['/', '*']) {
        return Expected::Whole(header);
    }
    match target.parse::<Uri>().map(Uri::into_parts) {
        Ok(parts) if parts.scheme.is_some() => {
            let authority = parts.authority.map(|authority| authority.as_str().into());
            Expected::Whole(authority.or(header))
        }
        _ => Expected::Unknown,
    }
}

/// Reads a request.
fn judge(bytes: &[u8]) -> Judged {
    let front = bytes.iter().take_while(|byte| b"\r\n".contains(byte));
    if bytes[front.count()..].starts_with(b"HTTP/") {
        return Expected::Unknown.into();
    }
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut request = httparse::Request::new(&mut headers);
    let whole = match request.parse(bytes) {
        Ok(status) => match (request.method, request.path) {
            (Some(method), Some(target)) => match host(method, target, request.headers) {
                Expected::Whole(_) if status.is_partial() => Expected::Cut,
                whole => whole,
            },
            // A target that is cut has bytes already that none has.
            (Some(_), None) if !bytes.is_ascii() => Expected::Unknown,
            _ => Expected::Cut,
        },
        Err(_) => Expected::Refused,
    };
    whole.into()
}

/// Lengths that do not agree are refused, since two servers may take two different ones. Methods of more than 32 bytes are
/// none, so that other protocols are not taken for HTTP.
fn refuses(bytes: &[u8], status: Status) -> bool {
    let method = bytes.trim_ascii_start().split(|byte| *byte == b' ').next();
    let is_long = method.is_some_and(|method| method.len() > 32);
    status == Status::Malformed(Reason::Conflict) || is_long && status == Status::Other
}

#[test]
fn hosts_are_read_as_by_httparse() {
    tried(&HTTP);
}
