//! Bytes of TCP streams by their sequence numbers (`p4include/payload.p4`).
//!
//! ```p4
//! extern stream_bytes {
//!     stream_bytes(bit<32> streams);
//!     bit<64> hold(in bit<64> ticket, in bit<32> sequence, in bit<32> offset, in bit<32> length);
//!     bool equal(in bit<64> ticket, in bit<32> sequence, in bit<32> offset, in bit<32> length);
//!     bool release(in bit<64> ticket);
//! }
//! ```
//!
//! `message.read_held` reads a message there.

use crate::call::{Arg, Env, Fault, Reply, index};
use crate::{Extern, ExternState, Meaning};
use ir::{Bits, ExternData};
use num_traits::ToPrimitive;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Extern whose objects hold bytes of streams.
pub const STREAM_BYTES: &str = "stream_bytes";
/// Method that adds bytes of the payload.
pub const HOLD: &str = "hold";
/// Method that compares bytes of the payload.
pub const EQUAL: &str = "equal";
/// Method that lets another stream have the place of one.
pub const RELEASE: &str = "release";

/// Slots of which a new stream takes one: a free one, or that of the stream that was begun first. Streams that begin one
/// after the other do not try the same ones, since packets of several processors may begin them at the same time.
pub const CANDIDATES: u32 = 8;

/// Size of the ring that has a stream's last bytes; a power of two.
pub const RING: u32 = 16 << 10;

/// Position of a ticket's generation. The bits below it are the stream's slot, from 1 on.
pub const GENERATION: u32 = 17;

/// Most streams of an object: their slots, and slot 0, fit below a ticket's generation.
pub const MOST_STREAMS: u32 = 1 << (GENERATION - 1);

/// `stream_bytes`
pub(crate) const EXTERN: Extern = Extern {
    name: STREAM_BYTES,
    meaning: Meaning::Object {
        create: |data| ExternState::Streams(Arc::new(StreamBytes::new(data))),
        methods: &[(HOLD, hold), (EQUAL, equal), (RELEASE, release)],
    },
};

/// Last bytes of streams. Of those that may make room for a new one, the one that was begun first is forgotten.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamBytes {
    /// Number of slots.
    slots: u32,
    /// Number of streams that were begun.
    begun: u64,
    /// Streams by slot: those whose slot was used.
    streams: BTreeMap<u32, Stream>,
}

/// Bytes of a stream: the one with sequence number n has index n modulo [`RING`].
#[derive(Clone, Debug, PartialEq)]
struct Stream {
    ticket: u64,
    /// Number of the stream, from 1 on; 0 if the slot is free.
    begun: u64,
    ring: Vec<u8>,
}

impl StreamBytes {
    fn new(data: &ExternData) -> StreamBytes {
        StreamBytes {
            slots: data
                .int_arg("streams")
                .and_then(ToPrimitive::to_u32)
                .unwrap_or(1),
            begun: 0,
            streams: BTreeMap::new(),
        }
    }

    /// Returns the bytes of the stream that a ticket leads to, from a sequence number on, [`RING`] at most. `None` if
    /// they were forgotten.
    pub(crate) fn from(&self, ticket: u64, sequence: u32, length: usize) -> Option<Vec<u8>> {
        let slot = (ticket & ((1 << GENERATION) - 1)) as u32;
        let stream = self.streams.get(&slot).filter(|s| s.ticket == ticket)?;
        let length = length.min(RING as usize) as u32;
        let at = |n: u32| stream.ring[(sequence.wrapping_add(n) % RING) as usize];
        Some((0..length).map(at).collect())
    }

    /// Returns the slot of a new stream.
    fn place(&self) -> u32 {
        let slots = u64::from(self.slots);
        let (count, first) = (u64::from(CANDIDATES), self.begun * u64::from(CANDIDATES));
        let candidates = (0..count).map(|n| 1 + ((first + n) % slots) as u32);
        let begun = |slot: &u32| self.streams.get(slot).map_or(0, |stream| stream.begun);
        // Of free ones the first.
        candidates.min_by_key(begun).unwrap_or(1)
    }

    /// Lets another stream have the place of the one that a ticket leads to. Returns false if there is none.
    fn release(&mut self, ticket: u64) -> bool {
        let slot = (ticket & ((1 << GENERATION) - 1)) as u32;
        let stream = self.streams.get_mut(&slot);
        let stream = stream.filter(|stream| stream.ticket == ticket);
        stream.is_some_and(|stream| {
            stream.ticket += 1 << GENERATION;
            stream.begun = 0;
            true
        })
    }

    /// Writes bytes behind others of a stream, or begins one if the ticket is 0. Returns the ticket that leads to them.
    fn hold(&mut self, ticket: u64, sequence: u32, bytes: &[u8]) -> Option<u64> {
        let next = 1 << GENERATION;
        let stream = match ticket {
            0 => {
                let slot = self.place();
                self.begun += 1;
                let stream = self.streams.entry(slot).or_insert_with(|| Stream {
                    ticket: slot.into(),
                    begun: 0,
                    ring: vec![0; RING as usize],
                });
                stream.begun = self.begun;
                stream
            }
            _ => {
                let slot = (ticket % next) as u32;
                self.streams.get_mut(&slot).filter(|s| s.ticket == ticket)?
            }
        };
        for (at, byte) in (0..).zip(bytes) {
            stream.ring[(sequence.wrapping_add(at) % RING) as usize] = *byte;
        }
        stream.ticket += next;
        Some(stream.ticket)
    }
}

/// Arguments of `hold` and `equal`: the ticket, the first sequence number, and the bytes of the payload. These are `None` if
/// the payload has fewer where reads may begin, or if there are none or more than [`RING`].
struct Asked<'e> {
    ticket: u64,
    sequence: u32,
    bytes: Option<&'e [u8]>,
}

fn asked<'e>(args: &[Arg], env: &'e Env<'_>) -> Result<Asked<'e>, Fault> {
    let length = usize::try_from(index(args, 3)?).unwrap_or(usize::MAX);
    let offset = index(args, 2)?;
    let bytes = env.payload_from(offset).get(..length);
    let end = env.parsed as u64 + offset + length as u64;
    let fits = |bytes: &&[u8]| {
        (1..=RING as usize).contains(&bytes.len()) && end <= crate::call::LAST_BEGIN + 1
    };
    Ok(Asked {
        ticket: index(args, 0)?,
        sequence: index(args, 1)? as u32,
        bytes: bytes.filter(fits),
    })
}

fn hold(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Streams(streams) = state else {
        return Err(Fault::Malformed);
    };
    let asked = asked(args, env)?;
    let held = asked
        .bytes
        .and_then(|bytes| Arc::make_mut(streams).hold(asked.ticket, asked.sequence, bytes));
    Ok(Reply::value(Bits::new(64, held.unwrap_or(0))))
}

fn equal(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Streams(streams) = state else {
        return Err(Fault::Malformed);
    };
    let asked = asked(args, env)?;
    let is_equal = asked.bytes.is_some_and(|bytes| {
        let held = streams.from(asked.ticket, asked.sequence, bytes.len());
        held.is_some_and(|held| held == bytes)
    });
    Ok(Reply::value(Bits::new(1, u32::from(is_equal))))
}

fn release(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Streams(streams) = state else {
        return Err(Fault::Malformed);
    };
    let is_held = Arc::make_mut(streams).release(index(args, 0)?);
    Ok(Reply::value(Bits::new(1, u32::from(is_held))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    fn object(streams: u32) -> StreamBytes {
        StreamBytes {
            slots: streams,
            begun: 0,
            streams: BTreeMap::new(),
        }
    }

    #[test]
    fn bytes_are_found_by_their_sequence_numbers() {
        let mut streams = object(2);
        // The ring and the sequence numbers wrap.
        let begin = 0u32.wrapping_sub(3);
        let ticket = streams.hold(0, begin, b"abcdef").expect("room");
        let more = streams.hold(ticket, 3, b"gh").expect("known");
        assert_eq!(streams.from(more, begin, 8).expect("held"), b"abcdefgh");
        assert_eq!(streams.from(ticket, begin, 6), None, "it was replaced");
        assert_eq!(streams.hold(ticket, 3, b"gh"), None);
    }

    #[test]
    fn what_was_begun_first_is_forgotten_first() {
        let mut streams = object(2);
        let first = streams.hold(0, 0, b"a").expect("room");
        let second = streams.hold(0, 0, b"b").expect("room");
        let third = streams.hold(0, 0, b"c").expect("room");
        assert_eq!(streams.from(first, 0, 1), None);
        assert_eq!(streams.from(second, 0, 1).expect("held"), b"b");
        assert_eq!(streams.from(third, 0, 1).expect("held"), b"c");
    }

    #[test]
    fn what_was_released_makes_room_first() {
        let mut streams = object(2);
        let first = streams.hold(0, 0, b"a").expect("room");
        let second = streams.hold(0, 0, b"b").expect("room");
        assert!(streams.release(second) && !streams.release(second));
        assert_eq!(streams.from(second, 0, 1), None);
        let third = streams.hold(0, 0, b"c").expect("room");
        assert_eq!(streams.from(first, 0, 1).expect("held"), b"a");
        assert_eq!(streams.from(third, 0, 1).expect("held"), b"c");
        assert!(!streams.release(0) && !streams.release(9));
    }

    #[test]
    fn streams_that_wait_outlast_any_number_of_others() {
        let mut streams = object(64);
        let waits = streams.hold(0, 0, b"a").expect("room");
        for _ in 0..1000 {
            let other = streams.hold(0, 0, b"b").expect("room");
            assert!(streams.release(other));
        }
        assert_eq!(streams.from(waits, 0, 1).expect("held"), b"a");
    }

    #[test]
    fn the_payload_must_have_all_bytes() {
        let mut state = ExternState::Streams(Arc::new(object(1)));
        let mut call = |method: crate::Method, ticket: u64, offset: u64, length: u64| {
            let args = [
                arg(64, ticket),
                arg(32, 7),
                arg(32, offset),
                arg(32, length),
            ];
            let called = |env: &mut Env<'_>| method(&mut state, &args, env);
            let reply = with_env(b"....abc", 4, called).0.expect("a reply");
            reply.result[0].to_u64().expect("a number")
        };
        assert_eq!(call(hold, 0, 0, 4), 0, "past the end");
        assert_eq!(call(hold, 0, 0, 0), 0, "nothing");
        let ticket = call(hold, 0, 0, 3);
        assert_ne!(ticket, 0);
        assert_eq!(call(equal, ticket, 0, 3), 1);
        assert_eq!(call(equal, ticket, 1, 2), 0, "other bytes");
        assert_eq!(call(equal, 0, 0, 3), 0, "no stream");
    }
}
