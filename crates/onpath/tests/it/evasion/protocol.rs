//! Streams of clients, each with a name in its last message.

use rand::seq::SliceRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The name that is blocked, and one of the same length that is not.
pub(crate) const BLOCKED: &str = "www.blocked.example";
pub(crate) const OTHER: &str = "www.another.example";

/// Protocol of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Protocol {
    Tls,
    Http,
    Dns,
}

impl Protocol {
    pub(super) const ALL: [Protocol; 3] = [Protocol::Tls, Protocol::Http, Protocol::Dns];

    /// Returns the server's port.
    pub(super) fn port(self) -> u16 {
        match self {
            Protocol::Tls => 443,
            Protocol::Http => 80,
            Protocol::Dns => 53,
        }
    }

    /// Returns a stream with a name in it. The same random numbers give streams that differ in the name alone.
    pub(crate) fn stream(self, name: &str, random: &mut ChaCha8Rng) -> Vec<u8> {
        match self {
            Protocol::Tls => records(name, random),
            Protocol::Http => requests(name, random),
            Protocol::Dns => queries(name, random),
        }
    }

    /// Returns true if the application of a server reads the blocked name in these bytes.
    pub(super) fn shows_blocked(self, read: &[u8]) -> bool {
        let text = match self {
            Protocol::Tls => handshake(read),
            Protocol::Http => read.to_vec(),
            Protocol::Dns => read
                .iter()
                .map(|byte| if *byte < 32 { b'.' } else { *byte })
                .collect(),
        };
        let name = BLOCKED.as_bytes();
        text.windows(name.len()).any(|part| part == name)
    }
}

/// Returns bytes behind their number, which has some bytes itself.
fn sized(size: usize, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len().to_be_bytes();
    [&length[length.len() - size..], bytes].concat()
}

/// Returns a ClientHello.
pub(super) fn hello(name: &str, random: &mut ChaCha8Rng) -> Vec<u8> {
    let extension = |kind: u16, data: &[u8]| [&kind.to_be_bytes()[..], &sized(2, data)].concat();
    let padding = vec![0; random.random_range(0..300)];
    let entry = [&[0][..], &sized(2, name.as_bytes())].concat();
    let mut extensions = [extension(0, &sized(2, &entry)), extension(21, &padding)];
    extensions.shuffle(random);
    let mut body = vec![3, 3];
    let mut nonce = [0; 32];
    random.fill_bytes(&mut nonce);
    // No letter stands in it.
    body.extend(nonce.map(|byte| byte & 31));
    body.extend([0, 0, 2, 0x13, 1, 1, 0]);
    body.extend(sized(2, &extensions.concat()));
    [&[1][..], &sized(3, &body)].concat()
}

/// Returns a ClientHello in records of one size.
fn records(name: &str, random: &mut ChaCha8Rng) -> Vec<u8> {
    let message = hello(name, random);
    let size = match random.random_range(0..3) {
        0 => random.random_range(1..100),
        _ => message.len(),
    };
    let record = |part: &[u8]| [&[22, 3, 1][..], &sized(2, part)].concat();
    message.chunks(size).flat_map(record).collect()
}

/// Returns the bytes of records that are whole, and of the one that is not.
fn handshake(mut read: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some((head, rest)) = read.split_at_checked(5) {
        let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
        let (part, behind) = rest.split_at(length.min(rest.len()));
        all.extend(part);
        read = behind;
    }
    all
}

/// Returns requests, of which the last one has the name.
fn requests(name: &str, random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut all = String::new();
    for _ in 0..random.random_range(0..3) {
        all += match random.random_range(0..4) {
            0 => "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            1 => {
                "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 20\r\n\r\nGET / HTTP/1.1\r\n\r\nxx"
            }
            2 => {
                "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: a.example\r\n\r\n3\r\nabc\r\n4;x=y\r\nGET \r\n0\r\n\r\n"
            }
            _ => "\r\nPURGE http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
        };
    }
    all += &match random.random_range(0..3) {
        0 => format!("GET http://{name}/x HTTP/1.1\r\nHost: b.example\r\n\r\n"),
        1 => format!("CONNECT {name}:443 HTTP/1.1\r\nHost: b.example\r\n\r\n"),
        _ => format!("GET /x HTTP/1.1\r\nAccept: *\r\nhost:{name}\r\nX: y\r\n\r\n"),
    };
    all.into_bytes()
}

/// Returns queries, each behind its length, of which the last one has the name.
fn queries(name: &str, random: &mut ChaCha8Rng) -> Vec<u8> {
    let others = ["a.example"; 2];
    let others = &others[..random.random_range(0..3)];
    let query = |name: &str| {
        let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            query.push(label.len() as u8);
            query.extend(label.as_bytes());
        }
        query.extend([0, 0, 1, 0, 1]);
        [&(query.len() as u16).to_be_bytes()[..], &query].concat()
    };
    others
        .iter()
        .chain([&name])
        .flat_map(|name| query(name))
        .collect()
}

/// Streams of a random schedule.
pub(super) struct Streams {
    pub(super) protocol: Protocol,
    /// Seed of the streams' shapes.
    shape: u64,
    /// The name of the stream is the blocked one.
    pub(super) is_blocked: bool,
    pub(super) stream: Vec<u8>,
    /// A stream of the same shape with the other name.
    pub(super) decoy: Vec<u8>,
}

impl Streams {
    /// Chooses a protocol and a name.
    pub(super) fn random(random: &mut ChaCha8Rng) -> Streams {
        let protocol = Protocol::ALL[random.random_range(0..3)];
        let shape = random.random();
        let is_blocked = random.random_range(0..3) > 0;
        let [name, other] = match is_blocked {
            true => [BLOCKED, OTHER],
            false => [OTHER, BLOCKED],
        };
        let of = |name| protocol.stream(name, &mut ChaCha8Rng::seed_from_u64(shape));
        Streams {
            protocol,
            shape,
            is_blocked,
            stream: of(name),
            decoy: of(other),
        }
    }

    /// Returns a stream of the same shape with a name.
    pub(super) fn of(&self, name: &str) -> Vec<u8> {
        let mut random = ChaCha8Rng::seed_from_u64(self.shape);
        self.protocol.stream(name, &mut random)
    }
}
