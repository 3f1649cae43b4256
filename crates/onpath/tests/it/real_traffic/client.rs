//! Client that keeps connections and sends several requests at once. They fit one segment together, or span several
//! segments.

use lab::SERVER;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Maximum size of requests that are sent at once in one segment, in bytes.
const SEGMENT: usize = 1300;
/// Maximum number of requests that are sent at once. Their answers fit the initial congestion window.
const AT_ONCE: usize = 8;

/// Length of requests, compared with segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Length {
    /// Each request is in one segment.
    OneSegment,
    /// Requests have long cookies and bodies, so that they may end in a later segment.
    Several,
}

/// Makes `count` requests over consecutive connections, with `kept` requests on each.
pub(super) fn requests(seed: u64, count: usize, kept: usize, length: Length) -> io::Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut made = 0;
    while made < count {
        let mut stream = TcpStream::connect((SERVER, 80))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let end = count.min(made + kept);
        while made < end {
            let at_once = random.random_range(1..=AT_ONCE.min(end - made));
            made += pipelined(&mut stream, &mut random, at_once, length)?;
        }
    }
    Ok(())
}

/// Sends requests at once and reads the answers. Returns the number of requests.
fn pipelined(
    stream: &mut TcpStream,
    random: &mut ChaCha8Rng,
    most: usize,
    length: Length,
) -> io::Result<usize> {
    let mut bytes = Vec::new();
    let mut count = 0;
    while count < most {
        let next = request(random, length);
        if length == Length::OneSegment && bytes.len() + next.len() > SEGMENT {
            break;
        }
        bytes.extend(next);
        count += 1;
    }
    stream.write_all(&bytes)?;
    let mut answers = Vec::new();
    for _ in 0..count {
        while !take_answer(&mut answers) {
            let mut some = [0; 4096];
            let read = stream.read(&mut some)?;
            if read == 0 {
                return Err(io::Error::other("nginx closed a connection"));
            }
            answers.extend(&some[..read]);
        }
    }
    match answers.is_empty() {
        true => Ok(count),
        false => Err(io::Error::other("more answers than requests")),
    }
}

fn request(random: &mut ChaCha8Rng, length: Length) -> Vec<u8> {
    // Some paths are frequent, and many rare.
    let number = 1500_f64.powf(random.random_range(0.0..1.0)) as u32;
    let place = ["", "", "", "moved/", "none/", "gone/", "broken/"][random.random_range(0..7)];
    let query = ["", "", "?q=1", "?page=2&q=a%20b"][random.random_range(0..4)];
    let host = random.random_range(0..6) * random.random_range(1..3);
    let (cookie, body) = match length {
        Length::OneSegment => (String::new(), "name=onpath".to_owned()),
        Length::Several => {
            let cookie = "c".repeat(*[10, 200, 900, 3000].choose(random).unwrap_or(&0));
            let body = *[3, 100, 1500, 6000].choose(random).unwrap_or(&0);
            (format!("Cookie: {cookie}\r\n"), "=".repeat(body))
        }
    };
    let (method, body) = match random.random_range(0..10) {
        0 => ("POST", body.as_str()),
        1 => ("PUT", "abc"),
        2 => ("DELETE", ""),
        _ => ("GET", ""),
    };
    let announced = match body.len() {
        0 => String::new(),
        bytes => format!("Content-Length: {bytes}\r\n"),
    };
    format!(
        "{method} /{place}{number}{query} HTTP/1.1\r\n{cookie}Host: h{host}.example\r\nAccept: */*\r\n{announced}\r\n{body}"
    )
    .into_bytes()
}

/// Removes a complete answer from the front, if there is one.
fn take_answer(bytes: &mut Vec<u8>) -> bool {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&bytes[..end]);
    let mut lengths = head
        .lines()
        .filter_map(|line| line.strip_prefix("Content-Length: "));
    let body = lengths.next().map_or(0, |n| n.parse().expect("a length"));
    let whole = end + 4 + body;
    let is_there = bytes.len() >= whole;
    if is_there {
        bytes.drain(..whole);
    }
    is_there
}
