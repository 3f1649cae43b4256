//! Streams: where the messages of each direction of a connection begin, from one segment to the next.
//!
//! A program on the path does the same (`p4include/streams.p4`).

mod received;

use crate::awaited::Awaited;
use crate::behind::NO_END;
use crate::catalogue::Field;
use crate::messages::{Found, Payload, Position, Reader};
use crate::packet::Packet;
use crate::value::Value;
use lru::LruCache;
use payload::chunks;
#[cfg(test)]
pub(crate) use received::REACH;
use received::{Arrival, Received};
use std::hash::RandomState;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Streams that are followed; beyond, the one that was quiet for longest is forgotten.
pub(crate) const STREAMS: usize = 4096;

const SYN: u32 = 2;

/// The streams of a query.
pub(crate) struct Streams {
    /// By a hash that senders cannot make collide: the standard library's, not the cache's own.
    streams: LruCache<Source, Stream, RandomState>,
    /// The requests that the messages of a stream may answer.
    awaited: LruCache<Source, Awaited, RandomState>,
    /// Whether the order of messages counts, so that none waits for its rest: that may be lost, and others pass meanwhile.
    in_order: bool,
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
    /// Messages behind which it is not known where the next one begins: of some, the head is longer than what is kept, or cut, of others nothing says how
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

/// What identifies a stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Source {
    /// Who sends to whom.
    Packets {
        source: (IpAddr, u16),
        destination: (IpAddr, u16),
    },
    /// The number that an application gave it.
    Application(u64),
}

/// What is known of a stream.
struct Stream {
    received: Received,
    /// Whether it may have ended, as a connection between the same ports was opened.
    opened: bool,
    place: Position,
}

/// A segment that is not empty.
struct Segment<'p, 'a> {
    /// The number of its first byte.
    first: u32,
    payload: &'p Payload<'a>,
    /// Bytes behind those of the payload that the capture left out.
    cut: usize,
    /// Whether none of its messages waits for its rest.
    in_order: bool,
}

impl Segment<'_, '_> {
    fn length(&self) -> usize {
        self.payload.bytes.len() + self.cut
    }
}

impl Streams {
    /// Those of messages whose order counts, or does not.
    pub(crate) fn new(in_order: bool) -> Option<Streams> {
        Some(Streams {
            streams: LruCache::with_hasher(NonZeroUsize::new(STREAMS)?, RandomState::new()),
            awaited: LruCache::with_hasher(NonZeroUsize::new(STREAMS)?, RandomState::new()),
            in_order,
            counts: Followed::default(),
        })
    }

    /// What became of them so far.
    pub(crate) fn counts(&self) -> Followed {
        self.counts
    }

    /// Forgets the stream to which an application gave a number.
    pub(crate) fn end(&mut self, number: u64) {
        self.streams.pop(&Source::Application(number));
    }

    /// Reads the messages in what a packet carries, from where they begin or go on. An application numbers its streams; those in other packets
    /// differ by their headers.
    pub(crate) fn read(
        &mut self,
        (packet, payload): (&Packet, &Payload),
        number: Option<u64>,
        reader: &mut dyn Reader,
        each: &mut dyn FnMut(Found),
    ) {
        let Some(source) = source(packet, payload, number) else {
            // Nothing says what it is a part of.
            let mut place = Position::alone();
            reader.read(payload, &mut place, each);
            self.counts.unfollowed += place.unfollowed;
            return;
        };
        let Streams {
            streams,
            awaited,
            in_order,
            counts,
        } = self;
        let field = |field| match packet.field(field) {
            Some(Value::Number(number)) => Some(number as u32),
            _ => None,
        };
        let opens = field(Field::TcpFlags).is_some_and(|flags| flags & SYN != 0);
        if opens && let Some(answers) = source.answers() {
            awaited.pop(&answers);
        }
        let mut stream = streams.get_mut(&source);
        if let Some(stream) = &mut stream {
            stream.opened |= opens;
        }
        let cut = packet.cut_payload();
        if payload.bytes.len() + cut == 0 || !reader.follows(payload) {
            return;
        }
        let first = field(Field::TcpSequence).map(|first| first.wrapping_add(opens.into()));
        let mut segment = Segment {
            first: first.unwrap_or(0),
            payload,
            cut,
            in_order: *in_order,
        };
        // What goes on with a stream does not begin another one.
        let known = stream.filter(|s| !s.opened || first == Some(s.received.next));
        if let Some(stream) = known {
            stream.opened = false;
            // An application has its stream in order.
            segment.first = first.unwrap_or(stream.received.next);
            stream.place.awaited = awaited.get(&source).copied().unwrap_or_default();
            stream.read(&segment, reader, counts, each);
            return keep_requests(awaited, source, &mut stream.place, counts);
        }
        let mut place = Position {
            awaited: awaited.get(&source).copied().unwrap_or_default(),
            ..Position::default()
        };
        segment.read(0..usize::MAX, &mut place, reader, counts, each);
        keep_requests(awaited, source, &mut place, counts);
        if place.seen || place.begun {
            counts.begun(false, place.begun);
            streams.push(source, Stream::new(&segment, place));
        }
    }
}

impl Source {
    /// The stream of the answers to what this one asks, if it is known.
    fn answers(self) -> Option<Source> {
        match self {
            Source::Packets {
                source,
                destination,
            } => Some(Source::Packets {
                source: destination,
                destination: source,
            }),
            Source::Application(_) => None,
        }
    }
}

/// Keeps which requests wait for answers, behind a segment.
fn keep_requests(
    awaited: &mut LruCache<Source, Awaited, RandomState>,
    source: Source,
    place: &mut Position,
    counts: &mut Followed,
) {
    let known = awaited.peek_mut(&source);
    if let Some(known) = known {
        *known = place.awaited;
    }
    let asks = std::mem::take(&mut place.asks);
    if !asks.is_empty()
        && let Some(answers) = source.answers()
    {
        let known = awaited.get_or_insert_mut(answers, Awaited::default);
        counts.unfollowed += u64::from(!known.add(asks));
    }
}

impl Stream {
    /// One of which nothing came in front of a segment.
    fn new(segment: &Segment, place: Position) -> Stream {
        Stream {
            received: Received::new(segment.first, segment.length() as u32),
            opened: false,
            place,
        }
    }

    fn read(
        &mut self,
        segment: &Segment,
        reader: &mut dyn Reader,
        counts: &mut Followed,
        each: &mut dyn FnMut(Found),
    ) {
        let Arrival {
            behind_gap,
            mut late,
            mut rest,
        } = self.received.arrive(segment.first, segment.length() as u32);
        if behind_gap {
            counts.gaps += 1;
            if self.place.known && !self.place.kept.is_empty() {
                each(Found::MISSED);
            }
            // What has begun never ends.
            self.place = Position {
                skip: if self.place.skip == NO_END { NO_END } else { 0 },
                awaited: self.place.awaited,
                ..Position::default()
            };
        }
        if late.is_none() && rest.is_none() {
            counts.sent_again += 1;
        }
        if !reader.several() && late.is_some() && rest.is_some() {
            match self.place.kept.is_empty() {
                true => rest = None,
                false => late = None,
            }
        }
        if let Some(late) = late {
            segment.read(late, &mut Position::alone(), reader, counts, each);
        }
        if let Some(rest) = rest {
            let was_begun = self.place.begun;
            let at = self.skip(segment, rest, counts);
            if at < segment.length() {
                if !self.place.known && self.place.kept.is_empty() {
                    // Answers may have been missed.
                    self.place.awaited = Awaited::default();
                }
                segment.read(at..usize::MAX, &mut self.place, reader, counts, each);
            }
            counts.begun(was_begun, self.place.begun);
        }
    }

    /// Passes over what belongs to a body, from a byte of the segment on: from which one on the next message is read.
    fn skip(&mut self, segment: &Segment, at: usize, counts: &mut Followed) -> usize {
        let place = &mut self.place;
        if place.skip == 0 {
            return at;
        }
        if place.skip == NO_END {
            return segment.length();
        }
        if place.skip >= chunks::BEGIN {
            let bytes = segment.payload.bytes;
            let seen = bytes.get(at..).unwrap_or_default();
            let passed = chunks::pass(seen, place.skip);
            if passed < chunks::BEGIN {
                (place.skip, place.begun) = (0, false);
                return at + passed as usize;
            }
            place.unfollowed = 0;
            place.go_on_in_chunks(passed, segment.length() - at - seen.len());
            counts.unfollowed += std::mem::take(&mut place.unfollowed);
            return segment.length();
        }
        let passed = place.skip.min((segment.length() - at) as u64);
        place.skip -= passed;
        place.begun = place.skip > 0;
        at + passed as usize
    }
}

impl Segment<'_, '_> {
    /// Reads the messages that begin in some of its bytes, or go on there.
    fn read(
        &self,
        bytes: Range<usize>,
        place: &mut Position,
        reader: &mut dyn Reader,
        counts: &mut Followed,
        each: &mut dyn FnMut(Found),
    ) {
        (place.at, place.until) = (bytes.start, bytes.end);
        (place.cut, place.in_order) = (self.cut, self.in_order);
        (place.seen, place.unfollowed) = (false, 0);
        reader.read(self.payload, place, each);
        counts.unfollowed += place.unfollowed;
    }
}

/// The stream that a packet is of; none of what an application received without saying so.
fn source(packet: &Packet, payload: &Payload, number: Option<u64>) -> Option<Source> {
    if let Some(number) = number {
        return Some(Source::Application(number));
    }
    match packet.field(Field::Flow) {
        Some(Value::Flow(flow)) => Some(Source::Packets {
            source: (flow.source, payload.source_port),
            destination: (flow.destination, payload.destination_port),
        }),
        _ => None,
    }
}
