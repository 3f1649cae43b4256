//! Queries of DNS, against `hickory-proto`.

use super::{Expected, Judged, Protocol, tried};
use hickory_proto::op::{Header, Message, Query};
use hickory_proto::rr::Name;
use hickory_proto::serialize::binary::{BinDecodable, BinDecoder, DecodeError};
use payload::Status;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

const DNS: Protocol = Protocol {
    name: "dns",
    wanted: "qname",
    attribute: "qname",
    limit: 500,
    make,
    judge,
    refuses,
};

/// Appends a name, which may end in a pointer.
fn put_name(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>) {
    let labels = [
        &b"www"[..],
        b"blocked",
        b"EXAMPLE",
        b"a.b",
        b"\\",
        b"\0\xff ",
        b"a-label-of-many-bytes-that-is-as-long-as-labels-may-be-63-bytes",
    ];
    for _ in 0..random.random_range(0..6) {
        let label = labels.choose(random).copied().unwrap_or_default();
        let wrong = match random.random_range(0..80) {
            0 => 1,
            1 => 0x40,
            _ => 0,
        };
        bytes.push(label.len() as u8 + wrong);
        bytes.extend(label);
    }
    match random.random_range(0..6) {
        // The first question has its name at byte 12.
        0 => bytes.extend([
            0xc0,
            *[12, 12, 12, random.random_range(0..40)]
                .choose(random)
                .unwrap_or(&12),
        ]),
        _ => bytes.push(0),
    }
}

/// Appends a record.
fn put_record(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>) {
    put_name(random, bytes);
    let kind = [
        1, 1, 2, 2, 5, 5, 12, 12, 15, 15, 28, 28, 16, 33, 41, 46, 65, 250, 999,
    ];
    let kind = kind.choose(random).copied().unwrap_or(1);
    bytes.extend(u16::to_be_bytes(kind));
    bytes.extend([0, 1]);
    bytes.extend(random.random::<u32>().to_be_bytes());
    let mut data = Vec::new();
    match kind {
        2 | 5 | 12 => put_name(random, &mut data),
        15 => {
            data.extend([0, 10]);
            put_name(random, &mut data);
        }
        1 => data = vec![192, 0, 2, 1],
        28 => data = vec![0x20; 16],
        _ => data = vec![1; random.random_range(0..20)],
    }
    let wrong = u16::from(random.random_range(0..30) == 0);
    bytes.extend((data.len() as u16 + wrong).to_be_bytes());
    bytes.extend(data);
}

/// Makes a query or an answer.
fn make(random: &mut ChaCha8Rng) -> Vec<u8> {
    let questions = [0, 1, 1, 1, 1, 1, 1, 2, 3];
    let questions = questions.choose(random).copied().unwrap_or(1);
    let records = [(); 3].map(|()| [0, 0, 0, 1, 2].choose(random).copied().unwrap_or(0));
    let flags = [[1, 0], [0x81, 0x80], [0x28, 0], [0x78, 0x0f], [1, 0x20]];
    let mut bytes = vec![0x12, 0x34];
    bytes.extend(flags.choose(random).copied().unwrap_or_default());
    for count in [questions].iter().chain(&records) {
        let wrong = u16::from(random.random_range(0..40) == 0);
        bytes.extend((count + wrong).to_be_bytes());
    }
    for _ in 0..questions {
        put_name(random, &mut bytes);
        let kind = [1u16, 28, 65, 255, 999].choose(random).copied();
        bytes.extend(kind.unwrap_or(1).to_be_bytes());
        bytes.extend([0, 1]);
    }
    for _ in 0..records.iter().sum() {
        put_record(random, &mut bytes);
    }
    if random.random_range(0..20) == 0 {
        bytes.extend(b"behind");
    }
    bytes
}

/// Returns a name as text: labels with dots between them, in which other bytes than visible ones are three digits.
fn text(name: &Name) -> Vec<u8> {
    let mut text = Vec::new();
    for label in name.iter() {
        for byte in label {
            match byte {
                b'.' | b'\\' => text.extend([b'\\', *byte]),
                _ if byte.is_ascii_graphic() => text.push(*byte),
                _ => text.extend(format!("\\{byte:03}").bytes()),
            }
        }
        text.push(b'.');
    }
    if text.len() > 1 {
        text.pop();
    }
    if text.is_empty() { b".".to_vec() } else { text }
}

/// Walks through a message by the library's reader of names, without a look at data that Onpath does not read either.
fn walked(bytes: &[u8]) -> Result<(), DecodeError> {
    let mut decoder = BinDecoder::new(bytes);
    let counts = Header::read(&mut decoder)?.counts;
    for _ in 0..counts.queries {
        Query::read(&mut decoder)?;
    }
    let mut record = |is_answer: bool| -> Result<(), DecodeError> {
        Name::read(&mut decoder)?;
        let kind = decoder.read_u16()?.unverified();
        decoder.read_slice(6)?;
        let length = usize::from(decoder.read_u16()?.unverified());
        let begin = decoder.index();
        decoder.read_slice(length)?;
        let mut inside = BinDecoder::new(&bytes[..begin + length]).clone(begin as u16);
        match kind {
            1 | 28 if is_answer => {
                let is_long = length == if kind == 1 { 4 } else { 16 };
                is_long.then_some(()).ok_or(DecodeError::InsufficientBytes)
            }
            2 | 5 | 12 if is_answer => Name::read(&mut inside).map(drop),
            15 if is_answer => {
                inside.read_u16()?;
                Name::read(&mut inside).map(drop)
            }
            _ => Ok(()),
        }
    };
    for _ in 0..counts.answers {
        record(true)?;
    }
    for _ in 0..u32::from(counts.authorities) + u32::from(counts.additionals) {
        record(false)?;
    }
    Ok(())
}

/// Reads a message, and the first question alone.
fn judge(bytes: &[u8]) -> Judged {
    let mut decoder = BinDecoder::new(bytes);
    let first = Header::read(&mut decoder).and_then(|header| match header.counts.queries {
        0 => Ok(None),
        _ => Query::read(&mut decoder).map(|query| Some(text(query.name()))),
    });
    let name = first.ok().flatten();
    let whole = match (Message::from_vec(bytes), walked(bytes)) {
        (Ok(message), _) => {
            Expected::Whole(message.queries.first().map(|query| text(query.name())))
        }
        (Err(_), Ok(())) => Expected::Unknown,
        (Err(_), Err(_)) => Expected::Refused,
    };
    Judged { whole, name }
}

/// Messages of updates may have addresses without bytes (RFC 2136, 2.4 and 2.5), which are not read.
fn refuses(bytes: &[u8], _: Status) -> bool {
    let is_update = bytes.get(2).is_some_and(|flags| flags >> 3 & 15 == 5);
    is_update && walked(bytes).is_err()
}

#[test]
fn questions_are_read_as_by_hickory() {
    tried(&DNS);
}
