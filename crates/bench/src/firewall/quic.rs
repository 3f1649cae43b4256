//! Times of QUIC Initials by test runs: the first datagram of a new connection, whose keys are derived, and the same one again.

use super::messages::{Kind, unlisted};
use super::peers::load_quic;
use super::times::{self, DROP, Extent, PASS, Time};
use crate::error::Error;
use crate::programs::Ready;
use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockEncrypt, KeyInit};
use aes_gcm::Aes128Gcm;
use aes_gcm::aead::{Aead, Payload};
use hkdf::Hkdf;
use kernel::bench::{attached, median};
use serde::Serialize;
use sha2::Sha256;
use std::path::Path;

const PORT: u16 = 443;
/// Offset of the destination port in a frame.
const PORT_AT: usize = 36;
/// Bytes of a datagram that begins a connection (RFC 9000, section 14.1).
const DATAGRAM: usize = 1200;
/// Bytes of the ClientHello, and of the header of TLS's records before it.
const HELLO: usize = 400;
const RECORD: usize = 5;
/// Salt of version 1 (RFC 9001, section 5.2).
const SALT: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad,
    0xcc, 0xbb, 0x7f, 0x0a,
];

/// Instructions that the verifier processes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Verified {
    /// By which reading QUIC exceeds the firewall without it.
    pub(super) ours: u32,
    pub(super) hand_written: u32,
}

/// Measures Initials of names on a list and on none.
pub(super) fn measure(
    root: &Path,
    no_op: &Ready,
    names: &[String],
    extent: Extent,
) -> Result<(Vec<Time>, Verified), Error> {
    let ours = times::ours(root, names, "#define READ_QUIC\n")?;
    let hand_written = load_quic(root, names)?;
    let verified = Verified {
        ours: ours.verified - times::ours(root, names, "")?.verified,
        hand_written: hand_written.verified,
    };
    let programs = [no_op, &hand_written, &ours];
    let mut all = Vec::new();
    // A connection that is blocked is not read again.
    for (at, (is_listed, is_fresh)) in [(true, true), (false, true), (false, false)]
        .into_iter()
        .enumerate()
    {
        let first = at * extent.packets;
        let numbers = first..first + extent.packets;
        let numbers = numbers.map(|number| if is_fresh { number } else { first });
        all.push(time(&programs, names, numbers, is_listed, is_fresh)?);
    }
    Ok((all, verified))
}

fn time(
    programs: &[&Ready; 3],
    names: &[String],
    numbers: impl ExactSizeIterator<Item = usize>,
    is_listed: bool,
    is_fresh: bool,
) -> Result<Time, Error> {
    let _attached =
        attached(&programs.map(|ready| &ready.prog)).map_err(Error::system("devices"))?;
    let rotated = if is_fresh { numbers.len() } else { 1 };
    let mut samples = [const { Vec::new() }; 3];
    for number in numbers {
        let name = match is_listed {
            true => names[number * 7919 % names.len()].clone(),
            false => unlisted(number as u64),
        };
        let packet = packet(&name, number as u64)?;
        for (which, (program, samples)) in programs.iter().zip(&mut samples).enumerate() {
            let (verdict, nanoseconds) = times::run(&program.prog, &packet)?;
            let expected = if is_listed && which > 0 { DROP } else { PASS };
            if verdict != expected {
                return Err(Error::new(format!(
                    "program {which}, QUIC for {name}: verdict {verdict}"
                )));
            }
            samples.push(nanoseconds);
        }
    }
    let [no_op, hand_written, ours] = samples.map(|samples| median(&samples));
    Ok(Time {
        names: names.len(),
        message: "QUIC Initial",
        is_listed,
        rotated,
        ours: ours - no_op,
        hand_written: hand_written - no_op,
        no_op,
    })
}

/// Returns a frame with the first datagram of a connection.
fn packet(name: &str, number: u64) -> Result<Vec<u8>, Error> {
    let initial =
        initial(name, number).ok_or_else(|| Error::new("an Initial cannot be written"))?;
    let mut frame = times::packet(Kind::Dns, number as u32, 0, 0, &initial);
    frame[PORT_AT..PORT_AT + 2].copy_from_slice(&PORT.to_be_bytes());
    Ok(frame)
}

fn expand(secret: &Hkdf<Sha256>, label: &str, bytes: usize) -> Option<Vec<u8>> {
    let mut info = vec![0, bytes as u8, label.len() as u8 + 6];
    info.extend(b"tls13 ");
    info.extend(label.as_bytes());
    info.push(0);
    let mut out = vec![0; bytes];
    secret.expand(&info, &mut out).ok()?;
    Some(out)
}

/// Returns an Initial with a ClientHello. Its connection id is the number.
fn initial(name: &str, number: u64) -> Option<Vec<u8>> {
    let id = number.to_be_bytes();
    let (_, secret) = Hkdf::<Sha256>::extract(Some(&SALT), &id);
    let secret = Hkdf::<Sha256>::from_prk(&expand(&secret, "client in", 32)?).ok()?;
    let key = expand(&secret, "quic key", 16)?;
    let vector = expand(&secret, "quic iv", 12)?;
    let header_key = expand(&secret, "quic hp", 16)?;
    let hello = Kind::Tls.request(name, number, HELLO);
    let hello = hello.get(RECORD..)?;
    let variable = |number: usize| (number as u16 | 0x4000).to_be_bytes();
    let mut header = vec![0xc0, 0, 0, 0, 1, 8];
    header.extend(id);
    // No id of the client and no token; a packet number of one byte.
    header.extend([0, 0]);
    let number_at = header.len() + 2;
    header.extend(variable(DATAGRAM - number_at));
    header.push(0);
    let mut frames = vec![6, 0];
    frames.extend(variable(hello.len()));
    frames.extend(hello);
    frames.resize(DATAGRAM - header.len() - 16, 0);
    let sealed = Payload {
        msg: &frames,
        aad: &header,
    };
    let cipher = Aes128Gcm::new_from_slice(&key).ok()?;
    let sealed = cipher
        .encrypt(GenericArray::from_slice(&vector), sealed)
        .ok()?;
    header.extend(sealed);
    let sample = header.get(number_at + 4..number_at + 20)?;
    let mut mask = *GenericArray::from_slice(sample);
    Aes128::new_from_slice(&header_key)
        .ok()?
        .encrypt_block(&mut mask);
    header[0] ^= mask[0] & 0x0f;
    header[number_at] ^= mask[1];
    Some(header)
}
