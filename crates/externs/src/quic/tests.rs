//! Handshakes of clients, cut and mixed at random, against what they say and against another reader.

use super::packet::Version;
use super::{Connections, Status};
use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockEncrypt, KeyInit};
use aes_gcm::Aes128Gcm;
use aes_gcm::aead::{Aead, Payload};
use payload::builtin::Builtin;
use payload::{Value, read_up_to};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Bytes of a key, of the vector and of the header's key, by the other reader's derivation.
type Secrets = ([u8; 16], [u8; 12], [u8; 16]);

/// A connection of a client.
#[derive(Clone, Debug)]
struct Client {
    is_second: bool,
    id: Vec<u8>,
    source: Vec<u8>,
    token: Vec<u8>,
    /// Bytes in which packet numbers are written.
    number_size: usize,
}

fn client() -> impl Strategy<Value = Client> {
    let ids = || vec(any::<u8>(), 0..=20);
    let parts = (
        any::<bool>(),
        ids(),
        ids(),
        vec(any::<u8>(), 0..90),
        1..=4usize,
    );
    parts.prop_map(|(is_second, id, source, token, number_size)| Client {
        is_second,
        id,
        source,
        token,
        number_size,
    })
}

impl Client {
    fn secrets(&self) -> Secrets {
        let version = if self.is_second {
            Version::Two
        } else {
            Version::One
        };
        let keys = super::packet::Keys::of(&self.id, version).expect("keys");
        keys.parts()
    }

    /// Returns an Initial with these frames.
    fn initial(&self, number: u32, frames: &[u8]) -> Vec<u8> {
        let (key, vector, header_key) = self.secrets();
        let kind = u8::from(self.is_second);
        let version: u32 = if self.is_second { 0x6b33_43cf } else { 1 };
        let mut header = vec![0xc0 | kind << 4 | (self.number_size - 1) as u8];
        header.extend(version.to_be_bytes());
        for id in [&self.id, &self.source] {
            header.push(id.len() as u8);
            header.extend(id);
        }
        header.extend(variable(self.token.len()));
        header.extend(&self.token);
        header.extend(variable(self.number_size + frames.len() + 16));
        let number_at = header.len();
        header.extend(&number.to_be_bytes()[4 - self.number_size..]);
        let mut nonce = vector;
        for (byte, by) in nonce[8..].iter_mut().zip(number.to_be_bytes()) {
            *byte ^= by;
        }
        let sealed = Payload {
            msg: frames,
            aad: &header,
        };
        let cipher = Aes128Gcm::new(&GenericArray::from(key));
        let sealed = cipher.encrypt(&GenericArray::from(nonce), sealed);
        let mut packet = header;
        packet.extend(sealed.expect("a packet"));
        let mut mask = GenericArray::clone_from_slice(&packet[number_at + 4..][..16]);
        Aes128::new(&GenericArray::from(header_key)).encrypt_block(&mut mask);
        packet[0] ^= mask[0] & 0x0f;
        let number = packet[number_at..][..self.number_size].iter_mut();
        number.zip(&mask[1..]).for_each(|(byte, by)| *byte ^= by);
        packet
    }
}

/// Writes a number of variable length in two bytes.
fn variable(number: usize) -> [u8; 2] {
    (number as u16 | 0x4000).to_be_bytes()
}

fn crypto(offset: usize, bytes: &[u8]) -> Vec<u8> {
    [&[6][..], &variable(offset), &variable(bytes.len()), bytes].concat()
}

/// Returns a ClientHello with a server's name behind `padding` bytes of another extension.
fn hello(name: &str, padding: usize) -> Vec<u8> {
    let size = |more: usize| ((name.len() + more) as u16).to_be_bytes();
    let mut extensions = [&[0, 21][..], &(padding as u16).to_be_bytes()].concat();
    extensions.resize(4 + padding, 0);
    extensions.extend([0, 0]);
    extensions.extend(size(5));
    extensions.extend(size(3));
    extensions.push(0);
    extensions.extend(size(0));
    extensions.extend(name.as_bytes());
    let mut body = vec![3, 3];
    body.extend(0..32);
    body.extend([0, 0, 2, 0x13, 1, 1, 0]);
    body.extend((extensions.len() as u16).to_be_bytes());
    body.extend(extensions);
    let length = (body.len() as u32).to_be_bytes();
    [&[1][..], &length[1..], &body].concat()
}

/// Returns the server's name in the bytes to which a ticket leads.
fn name(connections: &Connections, ticket: u64) -> Option<String> {
    let schema = Builtin::named("quic")?.schema().ok()?;
    let bytes = connections.bytes(ticket)?;
    let (_, found) = read_up_to(&schema, bytes, bytes.len());
    let found = found.into_iter().find(|found| found.name == "sni")?;
    match found.value {
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    }
}

/// Returns the CRYPTO frames of a packet, as the other reader finds them.
fn frames_of(packet: &[u8]) -> Vec<quic_parser::CryptoFrame> {
    let header = quic_parser::parse_initial(packet).expect("an Initial");
    let opened = quic_parser::decrypt_initial(&header).expect("an authentic packet");
    quic_parser::parse_crypto_frames(&opened).expect("frames")
}

/// A handshake in frames, in any order, which begin at these places and overlap by some bytes.
fn frames(hello: &[u8], cuts: &[Index], overlap: usize) -> Vec<Vec<u8>> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(hello.len())).collect();
    ends.push(hello.len());
    ends.sort_unstable();
    let mut begin = 0;
    let mut all = Vec::new();
    for end in ends {
        let from = begin.min(end.saturating_sub(1)).saturating_sub(overlap);
        all.push(crypto(from, &hello[from..end.max(from + 1)]));
        begin = end;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_name_that_is_sent_is_read_however_it_is_cut(
        client in client(),
        name_sent in "[a-z]{1,20}\\.[a-z]{1,20}\\.example",
        padding in 0..1500usize,
        cuts in vec(any::<Index>(), 0..8),
        overlap in 0..9usize,
        order in Just((0..9usize).collect::<Vec<_>>()).prop_shuffle(),
        of_packet in vec(0..4u32, 9),
        fills in vec(select(vec![0usize, 1, 7, 40]), 9),
        decoy in any::<Index>(),
    ) {
        let hello = hello(&name_sent, padding);
        let frames = frames(&hello, &cuts, overlap);
        // Each frame is in one of four packets, two in each datagram.
        let mut packets = vec![Vec::new(); 4];
        for &at in order.iter().filter(|at| **at < frames.len()) {
            let packet = &mut packets[of_packet[at] as usize];
            packet.extend(vec![0; fills[at]]);
            packet.extend(&frames[at]);
        }
        let packets: Vec<Vec<u8>> = (0u32..)
            .zip(packets)
            .filter(|(_, frames)| !frames.is_empty())
            .map(|(number, frames)| client.initial(number, &[frames, vec![0; 4]].concat()))
            .collect();
        let read_elsewhere: Vec<_> = packets.iter().flat_map(|packet| frames_of(packet)).collect();
        let read_elsewhere = quic_parser::reassemble_crypto_stream(&read_elsewhere);
        prop_assert_eq!(&read_elsewhere, &hello);

        let mut connections = Connections::new(4);
        let mut ticket = 0;
        let datagrams: Vec<Vec<u8>> = packets.chunks(2).map(<[_]>::concat).collect();
        for (at, datagram) in datagrams.iter().enumerate() {
            let is_last = at + 1 == datagrams.len();
            let (status, of_all) = connections.take(ticket, datagram);
            if is_last {
                prop_assert_eq!(status, Status::Whole);
            } else {
                prop_assert!(matches!(status, Status::Part | Status::Whole));
            }
            ticket = of_all;
        }
        prop_assert_eq!(connections.bytes(ticket), Some(&hello[..]));
        prop_assert_eq!(name(&connections, ticket), Some(name_sent.clone()));

        // Another byte at any place does not get through, and changes nothing.
        let mut other = hello.clone();
        let at = decoy.index(other.len());
        other[at] ^= 1;
        let (status, of_all) = connections.take(ticket, &client.initial(9, &crypto(at, &other[at..])));
        prop_assert_eq!((status, of_all), (Status::Conflict, ticket));
        prop_assert_eq!(name(&connections, ticket), Some(name_sent));
    }

    #[test]
    fn any_bytes_are_read_without_a_fault(
        client in client(),
        frames in vec(any::<u8>(), 4..200),
        bytes in vec(any::<u8>(), 0..100),
        change in any::<(Index, u8)>(),
    ) {
        let mut connections = Connections::new(2);
        let mut packet = client.initial(0, &frames);
        connections.take(0, &packet);
        let at = change.0.index(packet.len());
        packet[at] ^= change.1;
        let (_, ticket) = connections.take(1, &packet);
        connections.take(ticket, &bytes);
        prop_assert!(connections.all.len() <= 2);
    }
}
