//! Copies with bytes of their own, as a program compiled for test runs reports them: those that left, and those that
//! are to come in again. The layout is that of `struct observed_packet` in `onpath/traffic.h`.

use crate::store::KernelStore;
use control::{Packet, StoreError};

/// Name of the map.
const MAP: &str = "observed_packets";
/// First word of the control block of a packet that comes in again.
const BEGUN_ANEW: u32 = 0x4f6e_7061;
/// Bytes before the packet. `u64`: the port, or the number of its preserved fields; `u32`: 0 if it left, 1 if it comes
/// in again; `u32`: number of bytes that follow.
const HEAD: usize = 16;

/// Copies of a run by their fate, in order.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// Packets that left.
    pub left: Vec<Packet>,
    /// Packets that come in again.
    pub again: Vec<Again>,
}

/// A packet that comes in again.
#[derive(Debug)]
pub(super) struct Again {
    pub bytes: Vec<u8>,
    /// Control block that leads to its preserved fields.
    pub block: [u32; 5],
}

impl Rounds {
    /// Reads this number of copies. Returns `None` if the program makes no copies that differ.
    pub(super) fn of(store: &KernelStore, copies: usize) -> Result<Option<Rounds>, StoreError> {
        let failed = |e: std::io::Error| StoreError::System {
            what: format!("could not read the copies of a packet: {e}"),
        };
        let Some(map) = store.memory.maps.get(MAP).map_err(failed)? else {
            return Ok(None);
        };
        let mut rounds = Rounds::default();
        for at in 0..copies {
            let key = u32::try_from(at).unwrap_or(u32::MAX).to_ne_bytes();
            let bytes = map.get(&key).map_err(failed)?;
            let copy = bytes
                .as_deref()
                .and_then(read)
                .ok_or_else(|| StoreError::System {
                    what: format!(
                        "the program reports {copies} copies of a packet, and not what they are"
                    ),
                })?;
            match copy {
                Copy::Left(packet) => rounds.left.push(packet),
                Copy::Again(again) => rounds.again.push(again),
            }
        }
        Ok(Some(rounds))
    }
}

enum Copy {
    Left(Packet),
    Again(Again),
}

fn read(bytes: &[u8]) -> Option<Copy> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let number = u64::from_ne_bytes(*head.first_chunk()?);
    let word = |at: usize| Some(u32::from_ne_bytes(*head.get(at..)?.first_chunk()?));
    let bytes = rest.get(..word(12)? as usize)?.to_vec();
    Some(match word(8)? {
        0 => Copy::Left(Packet {
            port: u32::try_from(number).ok()?,
            bytes,
        }),
        _ => Copy::Again(Again {
            bytes,
            block: [BEGUN_ANEW, (number >> 32) as u32, number as u32, 0, 0],
        }),
    })
}
