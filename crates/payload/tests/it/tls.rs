//! TLS ClientHello, against `tls-parser`.

use crate::common::{changed, random, reading, texts, values};
use payload::{Reason, Value};
use proptest::prelude::*;
use tls_parser::{
    TlsExtension, TlsMessage, TlsMessageHandshake, parse_tls_client_hello_extensions,
    parse_tls_plaintext,
};

fn with_length(width: usize, bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u32).to_be_bytes();
    [&length[4 - width..], bytes].concat()
}

fn extension(number: u16, data: &[u8]) -> Vec<u8> {
    [&number.to_be_bytes()[..], &with_length(2, data)].concat()
}

struct Hello {
    session: Vec<u8>,
    name: Option<Vec<u8>>,
    protocols: Vec<Vec<u8>>,
    versions: Vec<u16>,
    other: Vec<(u16, Vec<u8>)>,
}

impl Hello {
    fn handshake(&self) -> Vec<u8> {
        let mut extensions = Vec::new();
        for (number, data) in &self.other {
            extensions.extend(extension(*number, data));
        }
        if let Some(name) = &self.name {
            let entry = [&[0][..], &with_length(2, name)].concat();
            extensions.extend(extension(0, &with_length(2, &entry)));
        }
        if !self.protocols.is_empty() {
            let list: Vec<u8> = self
                .protocols
                .iter()
                .flat_map(|p| with_length(1, p))
                .collect();
            extensions.extend(extension(16, &with_length(2, &list)));
        }
        if !self.versions.is_empty() {
            let list: Vec<u8> = self.versions.iter().flat_map(|v| v.to_be_bytes()).collect();
            extensions.extend(extension(43, &with_length(1, &list)));
        }
        let mut hello = vec![3, 3];
        hello.extend([7; 32]);
        hello.extend(with_length(1, &self.session));
        hello.extend(with_length(2, &[0x13, 0x01, 0x13, 0x02]));
        hello.extend(with_length(1, &[0]));
        hello.extend(with_length(2, &extensions));
        [&[1][..], &with_length(3, &hello)].concat()
    }
}

fn record(fragment: &[u8]) -> Vec<u8> {
    [&[22, 3, 1][..], &with_length(2, fragment)].concat()
}

fn sample() -> Hello {
    Hello {
        session: vec![9; 32],
        name: Some(b"www.example.com".to_vec()),
        protocols: vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        versions: vec![0x0304, 0x0303],
        other: vec![(10, vec![0, 2, 0, 29])],
    }
}

#[test]
fn name_protocols_and_versions() {
    let bytes = record(&sample().handshake());
    let found = reading("tls", &bytes).unwrap();
    assert_eq!(texts(&found, "sni"), ["www.example.com"]);
    assert_eq!(texts(&found, "alpn"), ["h2", "http/1.1"]);
    assert_eq!(
        values(&found, "supported_version"),
        [&Value::Number(0x304), &Value::Number(0x303)]
    );
    assert_eq!(texts(&found, "cipher"), ["4865", "4866"]);
    let sni = found.iter().find(|found| found.name == "sni").unwrap();
    assert_eq!(
        &bytes[sni.offset..sni.offset + sni.length],
        b"www.example.com"
    );
}

#[test]
fn a_hello_in_several_records_is_read_as_one() {
    let handshake = sample().handshake();
    for cut in [1, 4, 50, 100, 120, handshake.len() - 1] {
        let bytes = [record(&handshake[..cut]), record(&handshake[cut..])].concat();
        let found = reading("tls", &bytes).unwrap();
        assert_eq!(texts(&found, "sni"), ["www.example.com"], "{cut}");
        let sni = found.iter().find(|found| found.name == "sni").unwrap();
        assert_eq!(bytes[sni.offset], b'w', "{cut}");
    }
}

/// Otherwise a sender could have a packet of 1,500 bytes read as 300 records.
#[test]
fn a_record_without_bytes_is_none_of_a_hello() {
    let handshake = sample().handshake();
    let empty = reading("tls", &record(&[])).unwrap_err();
    assert_eq!(
        (empty.reason, empty.field.as_str()),
        (Reason::Unexpected, "record.fragment")
    );
    let (front, behind) = handshake.split_at(50);
    let bytes = [record(front), record(&[]), record(behind)].concat();
    let cut = reading("tls", &bytes).unwrap_err();
    assert_eq!(cut.reason, Reason::LengthPastEnd);
    let found = reading("tls", &[record(&handshake), record(&[])].concat()).unwrap();
    assert_eq!(texts(&found, "sni"), ["www.example.com"]);
}

#[test]
fn malformed_hellos_have_a_reason() {
    let whole = record(&sample().handshake());
    let cut = reading("tls", &whole[..60]).unwrap_err();
    assert_eq!(
        (cut.reason, cut.field.as_str()),
        (Reason::LengthPastEnd, "record.fragment")
    );
    let mut long = sample().handshake();
    let at = long.len() - 1;
    long.truncate(at);
    let reason = reading("tls", &record(&long)).unwrap_err().reason;
    assert_eq!(reason, Reason::LengthPastEnd);
    assert_eq!(
        reading("tls", b"\x17\x03\x03").unwrap_err().reason,
        Reason::Unexpected
    );
}

/// Session, names, protocols and versions.
type Parts = (Vec<u8>, Vec<Vec<u8>>, Vec<Vec<u8>>, Vec<u16>);

/// Reads the parts by the library.
fn expected(bytes: &[u8]) -> Option<Parts> {
    let (_, plain) = parse_tls_plaintext(bytes).ok()?;
    let Some(TlsMessage::Handshake(TlsMessageHandshake::ClientHello(hello))) = plain.msg.first()
    else {
        return None;
    };
    let (mut names, mut protocols, mut versions) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(bytes) = hello.ext {
        let (rest, extensions) = parse_tls_client_hello_extensions(bytes).ok()?;
        if !rest.is_empty() {
            return None;
        }
        for extension in extensions {
            match extension {
                TlsExtension::SNI(list) => {
                    let hosts = list.iter().filter(|(kind, _)| kind.0 == 0);
                    names.extend(hosts.map(|(_, name)| name.to_vec()));
                }
                TlsExtension::ALPN(list) => protocols.extend(list.iter().map(|p| p.to_vec())),
                TlsExtension::SupportedVersions(list) => versions.extend(list.iter().map(|v| v.0)),
                _ => {}
            }
        }
    }
    let session = hello.session_id.unwrap_or_default().to_vec();
    Some((session, names, protocols, versions))
}

random! {
    600 fn hellos_are_read_alike(
        session in prop::collection::vec(any::<u8>(), 0..=32),
        name in prop::option::of(prop::collection::vec(any::<u8>(), 1..40)),
        protocols in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..10), 0..4),
        versions in prop::collection::vec(any::<u16>(), 0..4),
        other in prop::collection::vec((0x1000..0x2000u16, prop::collection::vec(any::<u8>(), 0..20)), 0..4),
    ) {
        let bytes = record(&Hello { session, name, protocols, versions, other }.handshake());
        let found = reading("tls", &bytes).map_err(|m| TestCaseError::fail(m.to_string()))?;
        let raw = |name| values(&found, name).into_iter().map(|value| match value {
            Value::Bytes(bytes) => bytes.clone(),
            Value::Number(number) => number.to_string().into_bytes(),
        }).collect::<Vec<_>>();
        let (session, names, protocols, versions) = expected(&bytes).expect("a ClientHello");
        prop_assert_eq!(raw("session").concat(), session);
        prop_assert_eq!(raw("sni"), names);
        prop_assert_eq!(raw("alpn"), protocols);
        let numbers: Vec<Vec<u8>> = versions.iter().map(|v| v.to_string().into_bytes()).collect();
        prop_assert_eq!(raw("supported_version"), numbers);
    }

    600 fn what_is_read_of_a_changed_hello_is_what_the_library_reads(
        changes in prop::collection::vec((any::<usize>(), prop::option::of(any::<u8>())), 1..3),
    ) {
        let bytes = changed(record(&sample().handshake()), &changes);
        // The library refuses more (contents of other extensions, versions). The tests compare messages that both
        // accept.
        if let (Ok(found), Some((_, names, protocols, _))) = (reading("tls", &bytes), expected(&bytes)) {
            let lossy = |list: Vec<Vec<u8>>| list.iter().map(|b| String::from_utf8_lossy(b).into_owned()).collect::<Vec<_>>();
            prop_assert_eq!(texts(&found, "sni"), lossy(names));
            prop_assert_eq!(texts(&found, "alpn"), lossy(protocols));
        }
    }
}
