//! Packets of a QUIC datagram (RFC 9000, section 17; RFC 9369), their protection and tag (RFC 9001, section 5).

use super::{MOST_BYTES, Status};
use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockEncrypt, KeyInit};
use aes_gcm::Aes128Gcm;
use aes_gcm::aead::{Aead, Payload};
use hkdf::Hkdf;
use sha2::Sha256;

/// Most packets of a datagram.
const MOST_PACKETS: u32 = 16;
/// Most bytes of a connection id.
const ID_BYTES: usize = 20;
/// Bytes of the tag behind a packet.
const TAG: usize = 16;

/// Version of QUIC that is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Version {
    One,
    Two,
}

impl Version {
    fn salt(self) -> [u8; 20] {
        match self {
            Version::One => [
                0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8,
                0x0c, 0xad, 0xcc, 0xbb, 0x7f, 0x0a,
            ],
            Version::Two => [
                0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26,
                0x9d, 0xcb, 0xf9, 0xbd, 0x2e, 0xd9,
            ],
        }
    }
}

/// Keys of the client's Initials.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Keys {
    key: [u8; 16],
    vector: [u8; 12],
    header: [u8; 16],
}

impl Keys {
    /// Derives the keys from the id that a connection begins with.
    pub(super) fn of(id: &[u8], version: Version) -> Option<Keys> {
        let labels = match version {
            Version::One => ["quic key", "quic iv", "quic hp"],
            Version::Two => ["quicv2 key", "quicv2 iv", "quicv2 hp"],
        };
        let (_, initial) = Hkdf::<Sha256>::extract(Some(&version.salt()), id);
        let mut secret = [0; 32];
        expand(&initial, "client in", &mut secret)?;
        let client = Hkdf::<Sha256>::from_prk(&secret).ok()?;
        let mut keys = Keys {
            key: [0; 16],
            vector: [0; 12],
            header: [0; 16],
        };
        expand(&client, labels[0], &mut keys.key)?;
        expand(&client, labels[1], &mut keys.vector)?;
        expand(&client, labels[2], &mut keys.header)?;
        Some(keys)
    }

    /// Returns the key of packets, the vector and the key of headers, for tests that write packets.
    #[cfg(test)]
    pub(super) fn parts(&self) -> ([u8; 16], [u8; 12], [u8; 16]) {
        (self.key, self.vector, self.header)
    }

    fn nonce(&self, number: u32) -> [u8; 12] {
        let mut nonce = self.vector;
        for (byte, of_number) in nonce[8..].iter_mut().zip(number.to_be_bytes()) {
            *byte ^= of_number;
        }
        nonce
    }
}

/// Expands a label (RFC 8446, section 7.1).
fn expand(secret: &Hkdf<Sha256>, label: &str, to: &mut [u8]) -> Option<()> {
    let label = format!("tls13 {label}");
    let mut info = (to.len() as u16).to_be_bytes().to_vec();
    info.push(label.len() as u8);
    info.extend(label.as_bytes());
    info.push(0);
    secret.expand(&info, to).ok()
}

/// Encrypts a block.
fn encrypted(key: &[u8; 16], block: [u8; 16]) -> [u8; 16] {
    let mut block = GenericArray::from(block);
    Aes128::new(&GenericArray::from(*key)).encrypt_block(&mut block);
    block.into()
}

/// An Initial packet, as it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Initial<'d> {
    pub(super) version: Version,
    pub(super) id: &'d [u8],
    /// All of its bytes.
    bytes: &'d [u8],
    /// Offset of its number.
    number_at: usize,
}

/// An Initial without the protection of its header.
pub(super) struct Opened {
    pub(super) first: u8,
    pub(super) number: u32,
    pub(super) number_size: u32,
    header: Vec<u8>,
}

impl Initial<'_> {
    /// Removes the protection of the header.
    pub(super) fn open(&self, keys: &Keys) -> Opened {
        let mut sample = [0; 16];
        sample.copy_from_slice(&self.bytes[self.number_at + 4..][..16]);
        let mask = encrypted(&keys.header, sample);
        let first = self.bytes[0] ^ mask[0] & 0x0f;
        let number_size = usize::from(first & 3) + 1;
        let mut header = self.bytes[..self.number_at + number_size].to_vec();
        header[0] = first;
        let bytes = header[self.number_at..].iter_mut().zip(&mask[1..]);
        let number = bytes.fold(0, |number, (byte, mask)| {
            *byte ^= mask;
            number << 8 | u32::from(*byte)
        });
        Opened {
            first,
            number,
            number_size: number_size as u32,
            header,
        }
    }

    /// Tells whether the tag is that of these keys.
    pub(super) fn is_authentic(&self, keys: &Keys) -> bool {
        let opened = self.open(keys);
        let payload = Payload {
            msg: &self.bytes[opened.header.len()..],
            aad: &opened.header,
        };
        let nonce = GenericArray::from(keys.nonce(opened.number));
        let cipher = Aes128Gcm::new(&GenericArray::from(keys.key));
        cipher.decrypt(&nonce, payload).is_ok()
    }

    /// Decrypts the payload, whatever the tag is.
    pub(super) fn payload(&self, keys: &Keys, opened: &Opened) -> Vec<u8> {
        let mut bytes = self.bytes[opened.header.len()..self.bytes.len() - TAG].to_vec();
        for (counter, block) in (2u32..).zip(bytes.chunks_mut(16)) {
            let mut input = [0; 16];
            input[..12].copy_from_slice(&keys.nonce(opened.number));
            input[12..].copy_from_slice(&counter.to_be_bytes());
            let stream = encrypted(&keys.key, input);
            block
                .iter_mut()
                .zip(stream)
                .for_each(|(byte, by)| *byte ^= by);
        }
        bytes
    }
}

/// A datagram, of which some packets were passed over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram<'d> {
    rest: &'d [u8],
    is_too_long: bool,
    packets: u32,
}

impl<'d> Datagram<'d> {
    pub(super) fn new(bytes: &'d [u8]) -> Datagram<'d> {
        Datagram {
            rest: &bytes[..bytes.len().min(MOST_BYTES)],
            is_too_long: bytes.len() > MOST_BYTES,
            packets: 0,
        }
    }

    /// Returns the next Initial behind other packets, or what the datagram is without one.
    pub(super) fn next_initial(&mut self) -> Result<Initial<'d>, Status> {
        match self.find() {
            Ok(_) | Err(Status::Malformed) if self.is_too_long => Err(Status::TooLong),
            found => found,
        }
    }

    fn find(&mut self) -> Result<Initial<'d>, Status> {
        loop {
            let bytes = self.rest;
            match bytes.first() {
                Some(first) if first & 0x80 != 0 => {}
                _ => return Err(Status::Other),
            }
            let mut at = 1;
            if bytes.len() < 7 {
                return Err(Status::Malformed);
            }
            let version = match taken(bytes, &mut at, 4)? {
                [0, 0, 0, 0] => return Err(Status::Other),
                [0, 0, 0, 1] => Version::One,
                [0x6b, 0x33, 0x43, 0xcf] => Version::Two,
                _ => return Err(Status::Version),
            };
            self.packets += 1;
            if self.packets > MOST_PACKETS {
                return Err(Status::Malformed);
            }
            let kind = ((bytes[0] >> 4 & 3) + 4 - u8::from(version == Version::Two)) & 3;
            if kind == 3 {
                return Err(Status::Other);
            }
            let id = connection_id(bytes, &mut at)?;
            connection_id(bytes, &mut at)?;
            if kind == 0 {
                let token = number(bytes, &mut at).ok_or(Status::Malformed)?;
                taken(bytes, &mut at, token)?;
            }
            let length = number(bytes, &mut at).ok_or(Status::Malformed)?;
            let number_at = at;
            taken(bytes, &mut at, length)?;
            self.rest = &bytes[at..];
            if kind == 0 {
                if at - number_at < 4 + TAG {
                    return Err(Status::Malformed);
                }
                return Ok(Initial {
                    version,
                    id,
                    bytes: &bytes[..at],
                    number_at,
                });
            }
        }
    }
}

/// Takes bytes at an offset, which is moved behind them.
fn taken<'d>(bytes: &'d [u8], at: &mut usize, count: u64) -> Result<&'d [u8], Status> {
    let rest = bytes.get(*at..).ok_or(Status::Malformed)?;
    let count = usize::try_from(count).map_err(|_| Status::Malformed)?;
    let found = rest.get(..count).ok_or(Status::Malformed)?;
    *at += count;
    Ok(found)
}

fn connection_id<'d>(bytes: &'d [u8], at: &mut usize) -> Result<&'d [u8], Status> {
    let size = taken(bytes, at, 1)?[0];
    if usize::from(size) > ID_BYTES {
        return Err(Status::Malformed);
    }
    taken(bytes, at, size.into())
}

/// Takes a number of variable length (RFC 9000, section 16).
pub(super) fn number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    let rest = bytes.get(*at..*at + (1 << (first >> 6)))?;
    *at += rest.len();
    let start = u64::from(rest[0] & 0x3f);
    Some(
        rest[1..]
            .iter()
            .fold(start, |n, byte| n << 8 | u64::from(*byte)),
    )
}
