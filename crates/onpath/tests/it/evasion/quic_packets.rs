//! Initial packets of QUIC, as a client writes them (RFC 9000, section 17.2.2; RFC 9001, section 5).

use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockEncrypt, KeyInit};
use aes_gcm::Aes128Gcm;
use aes_gcm::aead::{Aead, Payload};
use hkdf::Hkdf;
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;
use sha2::Sha256;

/// Salts and labels of the keys of versions 1 and 2.
const SALTS: [[u8; 20]; 2] = [
    [
        0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c,
        0xad, 0xcc, 0xbb, 0x7f, 0x0a,
    ],
    [
        0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d,
        0xcb, 0xf9, 0xbd, 0x2e, 0xd9,
    ],
];
const LABELS: [&str; 2] = ["quic", "quicv2"];

/// A client, by what is in the headers of its packets.
#[derive(Clone, Debug)]
pub(super) struct Quic {
    is_second: bool,
    pub id: Vec<u8>,
    source: Vec<u8>,
    token: Vec<u8>,
    number: u32,
}

impl Quic {
    pub(super) fn random(random: &mut ChaCha8Rng) -> Quic {
        let bytes = |most: usize, random: &mut ChaCha8Rng| {
            let mut bytes = vec![0; random.random_range(0..=most)];
            random.fill_bytes(&mut bytes);
            bytes
        };
        Quic {
            is_second: random.random(),
            id: bytes(20, random),
            source: bytes(20, random),
            token: bytes(60, random),
            number: random.random_range(0..3),
        }
    }

    /// Returns an Initial with these frames, which has the next number.
    pub(super) fn initial(&mut self, frames: &[u8], number_size: usize) -> Vec<u8> {
        let which = usize::from(self.is_second);
        let [key, vector, header_key] = keys(which, &self.id);
        let version: u32 = if self.is_second { 0x6b33_43cf } else { 1 };
        let kind = u8::from(self.is_second);
        let mut packet = vec![0xc0 | kind << 4 | (number_size - 1) as u8];
        packet.extend(version.to_be_bytes());
        for id in [&self.id, &self.source] {
            packet.push(id.len() as u8);
            packet.extend(id);
        }
        packet.extend(variable(self.token.len()));
        packet.extend(&self.token);
        packet.extend(variable(number_size + frames.len() + 16));
        let number_at = packet.len();
        packet.extend(&self.number.to_be_bytes()[4 - number_size..]);
        let mut nonce = vector;
        for (byte, by) in nonce[8..12].iter_mut().zip(self.number.to_be_bytes()) {
            *byte ^= by;
        }
        self.number += 1;
        let sealed = Payload {
            msg: frames,
            aad: &packet,
        };
        let cipher = Aes128Gcm::new(GenericArray::from_slice(&key));
        let sealed = cipher.encrypt(GenericArray::from_slice(&nonce[..12]), sealed);
        packet.extend(sealed.expect("a packet"));
        let mut mask = GenericArray::clone_from_slice(&packet[number_at + 4..][..16]);
        Aes128::new(GenericArray::from_slice(&header_key)).encrypt_block(&mut mask);
        packet[0] ^= mask[0] & 0x0f;
        let number = packet[number_at..][..number_size].iter_mut();
        number.zip(&mask[1..]).for_each(|(byte, by)| *byte ^= by);
        packet
    }
}

/// Returns the key of packets, the vector, of which 12 bytes count, and the key of headers.
fn keys(which: usize, id: &[u8]) -> [[u8; 16]; 3] {
    let (_, initial) = Hkdf::<Sha256>::extract(Some(&SALTS[which]), id);
    let mut secret = [0; 32];
    expand(&initial, "client in", &mut secret);
    let client = Hkdf::<Sha256>::from_prk(&secret).expect("a secret");
    let label = |end: &str| format!("{} {end}", LABELS[which]);
    let mut keys = [[0; 16]; 3];
    expand(&client, &label("key"), &mut keys[0]);
    expand(&client, &label("iv"), &mut keys[1][..12]);
    expand(&client, &label("hp"), &mut keys[2]);
    keys
}

/// Expands a label (RFC 8446, section 7.1).
fn expand(secret: &Hkdf<Sha256>, label: &str, to: &mut [u8]) {
    let label = format!("tls13 {label}");
    let length = (to.len() as u16).to_be_bytes();
    let size = [label.len() as u8];
    let info = [&length[..], &size, label.as_bytes(), &[0]].concat();
    secret.expand(&info, to).expect("a short key");
}

/// Writes a number of variable length in two bytes.
pub(super) fn variable(number: usize) -> [u8; 2] {
    (number as u16 | 0x4000).to_be_bytes()
}
