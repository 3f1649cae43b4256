//! DNS, against `hickory-proto`.

use crate::common::{changed, hex, random, reading, texts};
use hickory_proto::op::{Message, Query};
use hickory_proto::rr::{Name, RData, Record};
use payload::Reason;
use proptest::prelude::*;

/// A response to www.example.com with a CNAME and an address, whose names are compressed.
fn response() -> Vec<u8> {
    hex("1234 8180 0001 0002 0000 0000
         03777777 076578616d706c65 03636f6d 00 0001 0001
         c00c 0005 0001 0000003c 0006 0363646e c010
         c02d 0001 0001 0000012c 0004 5db8d822")
}

#[test]
fn compressed_names_are_followed() {
    let found = reading("dns", &response()).unwrap();
    assert_eq!(texts(&found, "id"), ["4660"]);
    assert_eq!(texts(&found, "response"), ["1"]);
    assert_eq!(texts(&found, "question.name"), ["www.example.com"]);
    assert_eq!(
        texts(&found, "answer.name"),
        ["www.example.com", "cdn.example.com"]
    );
    assert_eq!(texts(&found, "answer.target"), ["cdn.example.com"]);
    assert_eq!(texts(&found, "answer.ttl"), ["60", "300"]);
    let address = found
        .iter()
        .find(|found| found.name == "answer.ipv4")
        .unwrap();
    assert_eq!(
        response()[address.offset..address.offset + address.length],
        [93, 184, 216, 34]
    );
}

#[test]
fn malformed_messages_have_a_reason() {
    let reason = |text: &str| reading("dns", &hex(text)).unwrap_err().reason;
    let head = "1234 0100 0001 0000 0000 0000";
    assert_eq!(
        reason(&format!("{head} c00c 0001 0001")),
        Reason::PointerLoop
    );
    assert_eq!(
        reason(&format!("{head} 0161 c00c 0001 0001")),
        Reason::PointerLoop
    );
    // Labels after a pointer that run into the name itself.
    assert_eq!(
        reason("1234 0100 0002 0000 0000 0000 00 0001 0001 01 61 c00e 0001 0001"),
        Reason::PointerLoop
    );
    assert_eq!(reason(&format!("{head} 05616263")), Reason::LengthPastEnd);
    assert_eq!(reason(&format!("{head} 0161")), Reason::Truncated);
    assert_eq!(
        reason(&format!("{head} 8061 00 0001 0001")),
        Reason::Unexpected
    );
    let long = "3f".to_string() + &"61".repeat(63);
    assert_eq!(
        reason(&format!("{head} {} 00 0001 0001", long.repeat(4))),
        Reason::Unexpected
    );
}

#[test]
fn labels_with_dots_and_other_bytes_are_escaped() {
    let found = reading(
        "dns",
        &hex("1234 0100 0001 0000 0000 0000 04 612e5c00 00 0001 0001"),
    );
    assert_eq!(texts(&found.unwrap(), "qname"), ["a\\.\\\\\\000"]);
}

/// Returns a name's labels with dots, escaped as the reader does it.
fn text(name: &Name) -> String {
    let labels = name.iter().map(|label| {
        let escape = |&byte: &u8| match byte {
            b'.' | b'\\' => format!("\\{}", byte as char),
            b'!'..=b'~' => (byte as char).to_string(),
            _ => format!("\\{byte:03}"),
        };
        label.iter().map(escape).collect::<String>()
    });
    let name = labels.collect::<Vec<_>>().join(".");
    if name.is_empty() {
        ".".to_string()
    } else {
        name
    }
}

/// Returns the questions' names and types.
fn questions(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let message = Message::from_vec(bytes).ok()?;
    let one = |query: &Query| {
        (
            text(query.name()),
            u16::from(query.query_type()).to_string(),
        )
    };
    Some(message.queries.iter().map(one).collect())
}

/// The answers' names, types and times to live, and the targets of those that have one.
type Answers = (Vec<[String; 3]>, Vec<String>);

fn answers(bytes: &[u8]) -> Option<Answers> {
    let message = Message::from_vec(bytes).ok()?;
    let one = |record: &Record| {
        let kind = u16::from(record.record_type());
        [text(&record.name), kind.to_string(), record.ttl.to_string()]
    };
    let target = |record: &Record| match &record.data {
        RData::CNAME(name) => Some(text(name)),
        _ => None,
    };
    let all = &message.answers;
    Some((
        all.iter().map(one).collect(),
        all.iter().filter_map(target).collect(),
    ))
}

/// Builds a question, and answers whose names and targets are labels before a pointer into the question's name, or
/// before the root label.
fn response_message(name: &[Vec<u8>], answers: &[(Vec<u8>, Option<u8>, u32, bool)]) -> Vec<u8> {
    let mut bytes = hex("1234 8180 0001");
    bytes.extend((answers.len() as u16).to_be_bytes());
    bytes.extend([0; 4]);
    for label in name {
        bytes.push(label.len() as u8);
        bytes.extend(label);
    }
    bytes.extend([0, 0, 1, 0, 1]);
    for (label, pointer, ttl, is_alias) in answers {
        let mut owner = vec![label.len() as u8];
        owner.extend(label);
        match pointer {
            Some(low) => owner.extend([0xc0, *low]),
            None => owner.push(0),
        }
        bytes.extend(&owner);
        bytes.extend([0, if *is_alias { 5 } else { 1 }, 0, 1]);
        bytes.extend(ttl.to_be_bytes());
        let data = if *is_alias { owner } else { vec![192, 0, 2, 1] };
        bytes.extend((data.len() as u16).to_be_bytes());
        bytes.extend(data);
    }
    bytes
}

fn question_message(names: &[Vec<Vec<u8>>], pointer: Option<u8>) -> Vec<u8> {
    let mut bytes = hex("1234 0100");
    bytes.extend((names.len() as u16).to_be_bytes());
    bytes.extend([0; 6]);
    for (index, name) in names.iter().enumerate() {
        for label in name {
            bytes.push(label.len() as u8);
            bytes.extend(label);
        }
        match pointer {
            Some(low) if index > 0 => bytes.extend([0xc0, low]),
            _ => bytes.push(0),
        }
        bytes.extend([0, 1, 0, 1]);
    }
    bytes
}

random! {
    1_000 fn questions_are_read_alike(
        names in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 0..5), 0..4),
        pointer in prop::option::of(12..40u8),
        changes in prop::collection::vec((12..usize::MAX, prop::option::of(any::<u8>())), 0..3),
    ) {
        let bytes = changed(question_message(&names, pointer), &changes);
        // A change within the head makes other counts; records are compared one by one.
        prop_assume!(bytes.len() >= 12 && bytes[..4] == [0x12, 0x34, 1, 0] && bytes[6..12] == [0; 6]);
        let read = reading("dns", &bytes).ok().map(|found| {
            texts(&found, "question.name").into_iter().zip(texts(&found, "question.type")).collect::<Vec<_>>()
        });
        prop_assert_eq!(read, questions(&bytes), "{:02x?}", bytes);
    }

    1_000 fn answers_are_read_alike(
        name in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..12), 1..4),
        list in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..12), prop::option::of(12..30u8), 0..0x7fff_ffffu32, any::<bool>()), 0..4),
    ) {
        let bytes = response_message(&name, &list);
        let read = reading("dns", &bytes).ok().map(|found| {
            let parts = ["answer.name", "answer.type", "answer.ttl"].map(|name| texts(&found, name));
            let all = (0..parts[0].len()).map(|i| [0, 1, 2].map(|part: usize| parts[part][i].clone()));
            (all.collect::<Vec<_>>(), texts(&found, "answer.target"))
        });
        prop_assert_eq!(read, answers(&bytes), "{:02x?}", bytes);
    }
}
