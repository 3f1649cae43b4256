//! Streams: where the messages of each direction of a connection begin, from one segment to the next.
//!
//! A program on the path does the same (`program/stream.rs`).

use crate::catalogue::Field;
use crate::messages::{Found, Payload, Place, Reader};
use crate::packet::Packet;
use crate::value::Value;
use lru::LruCache;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroUsize;

/// Streams that are followed; beyond, the one that was quiet for longest is forgotten.
pub(crate) const STREAMS: usize = 4096;

const SYN: u64 = 2;

/// The streams of a query.
pub(crate) struct Streams {
    streams: LruCache<Direction, Stream>,
    counts: Followed,
}

/// What became of streams.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Followed {
    /// Messages whose rest has not come so far, among them those of streams that were forgotten since.
    pub unfinished: u64,
    /// Segments in front of which something is missing: it was lost, or comes late.
    pub gaps: u64,
    /// Segments whose bytes came before; they are not read again.
    pub sent_again: u64,
    /// Messages behind which it is not known where the next one begins: of some, the head is longer than what is kept, of others nothing says how
    /// long the body is.
    pub unfollowed: u64,
}

impl Followed {
    /// Takes note of whether a message has begun and not ended, before and now.
    fn begun(&mut self, before: bool, now: bool) {
        self.unfinished += u64::from(now && !before);
        self.unfinished -= u64::from(before && !now);
    }
}

/// Who sends to whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Direction {
    source: (IpAddr, u16),
    destination: (IpAddr, u16),
}

/// What is known of a stream. Numbers are those of TCP.
struct Stream {
    /// The number of the byte behind the last one that came in order.
    next: u32,
    /// The numbers of the bytes that were missing last, and may still come: the first, and the one behind them.
    missing: (u32, u32),
    place: Place,
}

/// What is to be read of a segment.
enum Part {
    /// From the stream's place on.
    Rest,
    /// So many bytes, which were missing.
    Late(usize),
    /// Nothing.
    None,
}

impl Streams {
    pub(crate) fn new() -> Option<Streams> {
        Some(Streams {
            streams: LruCache::new(NonZeroUsize::new(STREAMS)?),
            counts: Followed::default(),
        })
    }

    /// What became of them so far.
    pub(crate) fn counts(&self) -> Followed {
        self.counts
    }

    /// Forgets the stream that an application received between two ports.
    pub(crate) fn end(&mut self, source_port: u16, destination_port: u16) {
        self.streams
            .pop(&Direction::received(source_port, destination_port));
    }

    /// Reads the messages in what a packet carries, from where they begin or go on.
    pub(crate) fn read(
        &mut self,
        (packet, payload): (&Packet, &Payload),
        reader: &mut dyn Reader,
        each: &mut dyn FnMut(Found),
    ) {
        let Streams { streams, counts } = self;
        let direction = Direction::of(packet, payload);
        let number = |field| match packet.field(field) {
            Some(Value::Number(number)) => Some(number as u32),
            _ => None,
        };
        let opens = number(Field::TcpFlags).is_some_and(|flags| u64::from(flags) & SYN != 0);
        if opens {
            streams.pop(&direction);
        }
        let bytes = payload.bytes;
        if bytes.is_empty() || !reader.follows(payload) {
            return;
        }
        let first = number(Field::TcpSequence).map(|first| first.wrapping_add(opens.into()));
        let Some(stream) = streams.get_mut(&direction) else {
            let mut place = Place::default();
            reader.read(payload, &mut place, each);
            counts.unfollowed += place.unfollowed;
            if place.seen {
                counts.begun(false, place.begun);
                let next = first.unwrap_or(0).wrapping_add(bytes.len() as u32);
                let stream = Stream {
                    next,
                    missing: (next, next),
                    place,
                };
                streams.push(direction, stream);
            }
            return;
        };
        // An application has its stream in order.
        let first = first.unwrap_or(stream.next);
        match stream.arrive(first, bytes, reader, counts) {
            Part::None => {}
            Part::Late(length) => {
                let mut place = Place {
                    alone: true,
                    ..Place::default()
                };
                let payload = Payload {
                    bytes: &bytes[..length],
                    ..*payload
                };
                reader.read(&payload, &mut place, each);
                counts.unfollowed += place.unfollowed;
            }
            Part::Rest => {
                let place = &mut stream.place;
                let was_begun = place.begun;
                place.unfollowed = 0;
                reader.read(payload, place, each);
                counts.unfollowed += place.unfollowed;
                counts.begun(was_begun, place.begun);
            }
        }
    }
}

impl Stream {
    /// Takes note of a segment that is not empty: what of it is to be read.
    fn arrive(
        &mut self,
        first: u32,
        bytes: &[u8],
        reader: &dyn Reader,
        counts: &mut Followed,
    ) -> Part {
        let length = bytes.len() as u32;
        let ahead = first.wrapping_sub(self.next) as i32;
        self.place.at = 0;
        if ahead > 0 {
            counts.gaps += 1;
            self.missing = (self.next, first);
            // What has begun never ends.
            self.place = Place::default();
        } else if ahead < 0 {
            let (from, to) = self.missing;
            let (into, missing) = (first.wrapping_sub(from), to.wrapping_sub(from));
            if into < missing {
                let late = length.min(missing - into);
                self.missing.0 = first.wrapping_add(late);
                return Part::Late(late as usize);
            }
            let before = ahead.unsigned_abs();
            if before >= length {
                counts.sent_again += 1;
                return Part::None;
            }
            self.place.at = before as usize;
        }
        self.next = first.wrapping_add(length);
        if self.place.at > 0 && !self.place.known {
            return Part::None;
        }
        self.skip(bytes, reader, counts);
        match self.place.at < bytes.len() {
            true => Part::Rest,
            false => Part::None,
        }
    }

    /// Passes over what belongs to a body.
    fn skip(&mut self, bytes: &[u8], reader: &dyn Reader, counts: &mut Followed) {
        let place = &mut self.place;
        if place.skip == 0 {
            return;
        }
        if !place.begun && place.at == 0 && reader.begins(bytes) {
            // An answer to HEAD announces a body, and has none.
            place.skip = 0;
            return;
        }
        let left = (bytes.len() - place.at) as u64;
        let passed = place.skip.min(left);
        place.skip -= passed;
        place.at += passed as usize;
        let was_begun = std::mem::replace(&mut place.begun, place.skip > 0);
        counts.begun(was_begun, place.begun);
    }
}

impl Direction {
    /// Of what an application receives, whose ports it knows.
    fn received(source_port: u16, destination_port: u16) -> Direction {
        let unknown = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Direction {
            source: (unknown, source_port),
            destination: (unknown, destination_port),
        }
    }

    fn of(packet: &Packet, payload: &Payload) -> Direction {
        let (source, destination) = (payload.source_port, payload.destination_port);
        match packet.field(Field::Flow) {
            Some(Value::Flow(flow)) => Direction {
                source: (flow.source, source),
                destination: (flow.destination, destination),
            },
            _ => Direction::received(source, destination),
        }
    }
}
