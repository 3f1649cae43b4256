//! ClientHellos of TLS, against `tls-parser`.

use super::{Expected, Judged, Protocol, tried};
use payload::Status;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;
use tls_parser::nom::Err;
use tls_parser::{
    TlsRecordType, parse_tls_extension_sni_hostname, parse_tls_handshake_client_hello,
    parse_tls_raw_record,
};

const TLS: Protocol = Protocol {
    name: "tls",
    wanted: "sni",
    attribute: "sni",
    limit: 1_300,
    make,
    judge,
    refuses,
};

const NAMES: &[&[u8]] = &[
    b"www.blocked.example",
    b"BLOCKED.example",
    b"blocked.example.",
    b"xn--bcher-kva.example",
    b"other.example",
    b"192.0.2.1",
    b"a\0.example",
    b"",
];

/// Puts a length in front of bytes, which is sometimes wrong.
fn sized(random: &mut ChaCha8Rng, size: usize, bytes: &[u8]) -> Vec<u8> {
    let wrong = match random.random_range(0..60) {
        0 => 1,
        1 => usize::MAX,
        2 => random.random_range(0..300),
        _ => 0,
    };
    let length = bytes.len().wrapping_add(wrong).to_be_bytes();
    [&length[length.len() - size..], bytes].concat()
}

/// Makes an extension with server names.
fn names(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut list = Vec::new();
    for _ in 0..*[0, 1, 1, 1, 1, 2, 3].choose(random).unwrap_or(&1) {
        list.push(u8::from(random.random_range(0..8) == 0));
        let name = NAMES.choose(random).copied().unwrap_or_default();
        list.extend(sized(random, 2, name));
    }
    match random.random_range(0..20) {
        0 => Vec::new(),
        _ => sized(random, 2, &list),
    }
}

/// Makes an extension.
fn extension(random: &mut ChaCha8Rng) -> Vec<u8> {
    let (kind, data) = match random.random_range(0..8) {
        0..3 => (0, names(random)),
        3 => {
            let protocols = [&b"\x02h2\x08http/1.1"[..], b"\x00", b"\x03h2", b""];
            let protocols = protocols.choose(random).copied().unwrap_or_default();
            (16, sized(random, 2, protocols))
        }
        4 => {
            let versions = &[3, 4, 3, 3, 0x1a][..random.random_range(0..6)];
            (43, sized(random, 1, versions))
        }
        5 => (0x2a2a, vec![0; random.random_range(0..3)]),
        6 => (21, vec![0; random.random_range(0..200)]),
        _ => {
            let mut data = vec![0; random.random_range(0..40)];
            random.fill_bytes(&mut data);
            (random.random_range(0..60), data)
        }
    };
    [&u16::to_be_bytes(kind)[..], &sized(random, 2, &data)].concat()
}

/// Makes a ClientHello.
fn make(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    let session = vec![9; *[0, 32, 32, 33].choose(random).unwrap_or(&0)];
    body.extend(sized(random, 1, &session));
    body.extend(sized(random, 2, &[0x13, 1, 0xc0, 0x2f]));
    body.extend(sized(random, 1, &[0]));
    let mut extensions: Vec<Vec<u8>> = (0..random.random_range(0..5))
        .map(|_| extension(random))
        .collect();
    extensions.shuffle(random);
    if random.random_range(0..10) > 0 {
        body.extend(sized(random, 2, &extensions.concat()));
    }
    let kind = [1, 1, 1, 1, 1, 1, 1, 2]
        .choose(random)
        .copied()
        .unwrap_or(1);
    let message = [&[kind][..], &sized(random, 3, &body)].concat();
    let most = match random.random_range(0..3) {
        0 => random.random_range(1..100),
        _ => message.len(),
    };
    let mut flight = Vec::new();
    for part in message.chunks(most) {
        let kind = if random.random_range(0..100) == 0 {
            21
        } else {
            22
        };
        flight.extend([kind, 3, random.random_range(0..5)]);
        flight.extend(sized(random, 2, part));
    }
    if random.random_range(0..10) == 0 {
        flight.extend(b"\x14\x03\x03\x00\x01\x01");
    }
    flight
}

/// Joins the records that a handshake message is in.
fn handshake(mut rest: &[u8]) -> Result<Vec<u8>, Expected> {
    let mut joined: Vec<u8> = Vec::new();
    loop {
        if let Some(head) = joined.first_chunk::<4>() {
            let length = u32::from_be_bytes([0, head[1], head[2], head[3]]) as usize;
            if let Some(message) = joined.get(4..4 + length) {
                return match head[0] {
                    1 => Ok(message.to_vec()),
                    _ => Err(Expected::Refused),
                };
            }
        }
        match parse_tls_raw_record(rest) {
            // A record of a handshake is not empty (RFC 8446, 5.1), which this library lets pass.
            Ok((behind, record))
                if record.hdr.record_type == TlsRecordType::Handshake
                    && !record.data.is_empty() =>
            {
                joined.extend(record.data);
                rest = behind;
            }
            Err(Err::Incomplete(_)) => return Err(Expected::Cut),
            _ => return Err(Expected::Refused),
        }
    }
}

/// Takes a length of `size` bytes and as many bytes as it says. Bytes behind them are passed over, as by this library;
/// servers refuse them.
fn list(size: usize, bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_at_checked(size)?;
    let length = length
        .iter()
        .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    rest.get(..length)
}

/// Returns the first name of hosts in extensions of a hello. This library ends a list at a wrong entry, so each entry is read
/// by itself here.
fn first_name(mut extensions: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut first = None;
    while !extensions.is_empty() {
        let (head, rest) = extensions.split_at_checked(4)?;
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let (data, behind) = rest.split_at_checked(length)?;
        extensions = behind;
        match [head[0], head[1]] {
            // RFC 6066, section 3, allows an empty one in answers.
            [0, 0] if !data.is_empty() => {
                let mut list = list(2, data)?;
                while !list.is_empty() {
                    let (behind, (kind, name)) = parse_tls_extension_sni_hostname(list).ok()?;
                    list = behind;
                    if kind.0 == 0 && first.is_none() {
                        first = Some(name.to_vec());
                    }
                }
            }
            [0, 16] => {
                let mut list = list(2, data)?;
                while let Some((length, rest)) = list.split_first() {
                    // No name of a protocol is empty (RFC 7301, 3.1).
                    list = rest.get(usize::from(*length)..).filter(|_| *length > 0)?;
                }
            }
            [0, 43] => {
                list(1, data).filter(|list| list.len() % 2 == 0)?;
            }
            _ => {}
        }
    }
    Some(first)
}

/// Reads a hello.
fn judge(bytes: &[u8]) -> Judged {
    let hello = match handshake(bytes) {
        Ok(hello) => hello,
        Err(why) => return why.into(),
    };
    let whole = match parse_tls_handshake_client_hello(&hello) {
        // Bytes behind the extensions are passed over. A server refuses them.
        Ok((behind, read)) if read.ext.is_some() || behind.is_empty() => {
            let name = first_name(read.ext.unwrap_or_default());
            name.map_or(Expected::Refused, Expected::Whole)
        }
        // Sessions of more than 32 bytes, which this library refuses, make no difference to the name.
        _ if hello.get(34).is_some_and(|length| *length > 32) => Expected::Unknown,
        _ => Expected::Refused,
    };
    whole.into()
}

/// Only records of SSL 3 and of TLS are read, of which the first byte of the version is 3. This library takes any.
fn refuses(bytes: &[u8], status: Status) -> bool {
    bytes[1] != 3 && status == Status::Other
}

#[test]
fn server_names_are_read_as_by_tls_parser() {
    tried(&TLS);
}
