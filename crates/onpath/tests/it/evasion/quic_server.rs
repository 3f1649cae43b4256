//! Servers of QUIC, as far as they read the name of a client.

use quic_parser::InitialHeader;
use std::collections::BTreeMap;

/// A connection as servers know it: bytes by their place, of which some keep the first and some the last.
#[derive(Default)]
struct Known {
    first: BTreeMap<usize, u8>,
    last: BTreeMap<usize, u8>,
}

impl Known {
    fn add(&mut self, frames: &[quic_parser::CryptoFrame]) {
        for frame in frames {
            for (at, byte) in (frame.offset as usize..).zip(&frame.data) {
                self.first.entry(at).or_insert(*byte);
                self.last.insert(at, *byte);
            }
        }
    }

    /// Returns true if a server has a whole ClientHello with the name.
    fn has(&self, name: &str) -> bool {
        [&self.first, &self.last].into_iter().any(|bytes| {
            let whole = (0..).map_while(|at| bytes.get(&at).copied());
            let whole: Vec<u8> = whole.collect();
            let [_, a, b, c, ref rest @ ..] = whole[..] else {
                return false;
            };
            let size = u32::from_be_bytes([0, a, b, c]) as usize;
            let body = rest.get(..size).unwrap_or_default();
            body.windows(name.len()).any(|part| part == name.as_bytes())
        })
    }
}

/// Returns true if a server reads a name in the datagrams of a client.
pub(super) fn shows(datagrams: &[Vec<u8>], name: &str) -> bool {
    let mut all: BTreeMap<(u32, Vec<u8>), Known> = BTreeMap::new();
    for datagram in datagrams {
        let mut rest = &datagram[..];
        while let Ok(packet) = quic_parser::parse_initial(rest) {
            rest = &rest[packet.header_bytes.len() + packet.payload.len()..];
            let own = (packet.version, packet.dcid.to_vec());
            // A client goes on with another id under the keys of the first one.
            let mut ids: Vec<_> = all.keys().cloned().collect();
            ids.push(own);
            for (version, id) in ids {
                let under = InitialHeader {
                    version,
                    dcid: &id,
                    ..packet.clone()
                };
                let frames = quic_parser::decrypt_initial(&under);
                let frames = frames.and_then(|opened| quic_parser::parse_crypto_frames(&opened));
                if let Ok(frames) = frames {
                    all.entry((version, id)).or_default().add(&frames);
                    break;
                }
            }
        }
    }
    all.values().any(|known| known.has(name))
}
