//! Streams: the positions of messages in each direction of a connection, from one segment to the next.
//!
//! A program on the path does the same (`p4include/streams.p4`).

mod received;

use crate::awaited::Awaited;
use crate::behind::NO_END;
use crate::catalogue::HeaderField;
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

/// Greatest number of streams that are followed. The least recently used one is forgotten first.
pub(crate) const STREAMS: usize = 4096;

const SYN: u32 = 2;

/// Streams of a query.
pub(crate) struct Streams {
    /// Streams by source. Unlike the default hash of the cache, the standard library's cannot be attacked with
    /// collisions.
    streams: LruCache<Source, Stream, RandomState>,
    /// Requests that the messages of a stream may answer.
    awaited: LruCache<Source, Awaited, RandomState>,
    /// True if the order of messages counts. Then none waits for its rest, which may be lost while others pass.
    in_order: bool,
    counts: Followed,
}

/// Outcome of following streams.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Followed {
    /// Messages whose rest has not arrived, including those of streams that have been forgotten.
    pub unfinished: u64,
    /// Segments after a gap: the missing bytes were lost, or arrive late.
    pub gaps: u64,
    /// Retransmitted segments, which are not read again.
    pub sent_again: u64,
    /// Messages whose end is unknown, so that the next one could not be located. Some have a head that is truncated or
    /// longer than the preserved bytes, others a body of unknown length.
    pub unfollowed: u64,
}

impl Followed {
    /// Counts messages that have begun and not ended, from the state before and now.
    fn begun(&mut self, before: bool, now: bool) {
        self.unfinished += u64::from(now && !before);
        self.unfinished -= u64::from(before && !now);
    }
}

/// Identity of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Source {
    /// Sender and receiver.
    Packets {
        source: (IpAddr, u16),
        destination: (IpAddr, u16),
    },
    /// Number that an application gave to the stream.
    Application(u64),
}

/// State of a stream.
struct Stream {
    received: Received,
    /// True if it may have ended, since a connection between the same ports was opened.
    opened: bool,
    place: Position,
}

/// Segment that is not empty.
struct Segment<'p, 'a> {
    /// Sequence number of its first byte.
    first: u32,
    payload: &'p Payload<'a>,
    /// Number of bytes after the payload that the capture left out.
    cut: usize,
    /// True if none of its messages waits for its rest.
    in_order: bool,
}

impl Segment<'_, '_> {
    fn length(&self) -> usize {
        self.payload.bytes.len() + self.cut
    }
}

impl Streams {
    /// Returns an empty table. `in_order` is true if the order of messages counts.
    pub(crate) fn new(in_order: bool) -> Option<Streams> {
        Some(Streams {
            streams: LruCache::with_hasher(NonZeroUsize::new(STREAMS)?, RandomState::new()),
            awaited: LruCache::with_hasher(NonZeroUsize::new(STREAMS)?, RandomState::new()),
            in_order,
            counts: Followed::default(),
        })
    }

    /// Returns the outcome so far.
    pub(crate) fn counts(&self) -> Followed {
        self.counts
    }

    /// Forgets the stream with an application's number.
    pub(crate) fn end(&mut self, number: u64) {
        self.streams.pop(&Source::Application(number));
    }

    /// Reads the messages in a packet's payload, from where they begin or continue. An application numbers its streams;
    /// other packets are assigned to streams by their headers.
    pub(crate) fn read(
        &mut self,
        (packet, payload): (&Packet, &Payload),
        number: Option<u64>,
        reader: &mut dyn Reader,
        each: &mut dyn FnMut(Found),
    ) {
        let Some(source) = source(packet, payload, number) else {
            // Nothing identifies the stream.
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
        let opens = field(HeaderField::TcpFlags).is_some_and(|flags| flags & SYN != 0);
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
        let first = field(HeaderField::TcpSequence).map(|first| first.wrapping_add(opens.into()));
        let mut segment = Segment {
            first: first.unwrap_or(0),
            payload,
            cut,
            in_order: *in_order,
        };
        // A segment that continues a stream does not begin another one.
        let known = stream.filter(|s| !s.opened || first == Some(s.received.next));
        if let Some(stream) = known {
            stream.opened = false;
            // An application reads its stream in order.
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
    /// Returns the stream of the answers to this one, if it is known.
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

/// Records, after a segment, which requests wait for answers.
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
    /// Returns a stream that begins with a segment.
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
            // The message that has begun never ends.
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

    /// Passes over bytes of a body, from a byte of the segment on. Returns the offset from which the next message is
    /// read.
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
    /// Reads the messages that begin or continue in a range of its bytes.
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

/// Returns the stream of a packet; `None` if an application has not numbered it.
fn source(packet: &Packet, payload: &Payload, number: Option<u64>) -> Option<Source> {
    if let Some(number) = number {
        return Some(Source::Application(number));
    }
    match packet.field(HeaderField::Flow) {
        Some(Value::Flow(flow)) => Some(Source::Packets {
            source: (flow.source, payload.source_port),
            destination: (flow.destination, payload.destination_port),
        }),
        _ => None,
    }
}
