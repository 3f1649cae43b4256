//! Streams: where the messages of each direction of a connection begin, from one segment to the next.
//!
//! A program on the path does the same (`program/stream.rs`).

use crate::catalogue::Field;
use crate::messages::{Found, LOOKED_AT, Payload, Place, Reader};
use crate::packet::Packet;
use crate::value::Value;
use lru::LruCache;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Streams that are followed; beyond, the one that was quiet for longest is forgotten.
pub(crate) const STREAMS: usize = 4096;

/// How many bytes in front of the end of a stream a segment may begin that came late, or again: what begins further in front is of another connection
/// with the same ports, or the segment in front of it was not of this one.
pub(crate) const REACH: u32 = (1 << 24) - 1;

const SYN: u32 = 2;

/// The streams of a query.
pub(crate) struct Streams {
    streams: LruCache<Source, Stream>,
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

/// What a stream is told from others by.
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
    /// The number, in those of TCP, of the byte behind the last one.
    next: u32,
    /// Bytes in front of `next` of which it is known whether they came, [`REACH`] at most: those of the `hole` did not, all others did.
    certain: u32,
    /// The bytes that are missing: from so many in front of `next` to so many. There are none if both are the same.
    hole: (u32, u32),
    /// Whether it may have ended, as a connection between the same ports was opened.
    opened: bool,
    place: Place,
}

/// Which bytes of a segment came for the first time.
#[derive(PartialEq, Eq, Debug)]
struct Arrival {
    /// Whether bytes in front of them are missing.
    behind_gap: bool,
    /// Those in front of others that came.
    late: Option<Range<usize>>,
    /// From which one on they are behind all others, if some are.
    rest: Option<usize>,
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
            streams: LruCache::new(NonZeroUsize::new(STREAMS)?),
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

    /// Reads the messages in what a packet carries, from where they begin or go on. An application numbers its streams; those in other packets are
    /// told apart by their headers.
    pub(crate) fn read(
        &mut self,
        (packet, payload): (&Packet, &Payload),
        number: Option<u64>,
        reader: &mut dyn Reader,
        each: &mut dyn FnMut(Found),
    ) {
        let Some(source) = source(packet, payload, number) else {
            // Nothing says what it is a part of.
            let mut place = Place::alone();
            reader.read(payload, &mut place, each);
            self.counts.unfollowed += place.unfollowed;
            return;
        };
        let Streams {
            streams,
            in_order,
            counts,
        } = self;
        let field = |field| match packet.field(field) {
            Some(Value::Number(number)) => Some(number as u32),
            _ => None,
        };
        let opens = field(Field::TcpFlags).is_some_and(|flags| flags & SYN != 0);
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
        let known = stream.filter(|s| !s.opened || first == Some(s.next));
        if let Some(stream) = known {
            stream.opened = false;
            // An application has its stream in order.
            segment.first = first.unwrap_or(stream.next);
            return stream.read(&segment, reader, counts, each);
        }
        let mut place = Place::default();
        segment.read(0..usize::MAX, &mut place, reader, counts, each);
        if place.seen {
            counts.begun(false, place.begun);
            streams.push(source, Stream::new(&segment, place));
        }
    }
}

impl Stream {
    /// One of which nothing came in front of a segment.
    fn new(segment: &Segment, place: Place) -> Stream {
        let length = segment.length() as u32;
        Stream {
            next: segment.first.wrapping_add(length),
            certain: length,
            hole: (length, length),
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
        } = self.arrive(segment.first, segment.length() as u32);
        if behind_gap {
            counts.gaps += 1;
            // What has begun never ends.
            self.place = Place::default();
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
            segment.read(late, &mut Place::alone(), reader, counts, each);
        }
        if let Some(rest) = rest {
            let was_begun = self.place.begun;
            let at = self.skip(segment, rest, reader);
            if at < segment.length() {
                segment.read(at..usize::MAX, &mut self.place, reader, counts, each);
            }
            counts.begun(was_begun, self.place.begun);
        }
    }

    /// Takes note of a segment that is not empty: which of its bytes are to be read.
    fn arrive(&mut self, first: u32, length: u32) -> Arrival {
        let ahead = first.wrapping_sub(self.next);
        let before = ahead.wrapping_neg();
        let is_ahead = ahead != 0 && ahead < 1 << 31;
        if is_ahead {
            // There is room for one hole: in front of an earlier one, nothing is known any more.
            let (from, to) = self.hole;
            if from != to {
                self.certain = to;
            }
            self.go_on(ahead.saturating_add(length));
            self.next = first.wrapping_add(length);
            self.hole = (ahead.saturating_add(length).min(REACH), length.min(REACH));
        } else if before > REACH {
            self.next = first.wrapping_add(length);
            (self.certain, self.hole) = (length, (length, length));
        }
        if is_ahead || before > REACH {
            return Arrival {
                behind_gap: true,
                late: None,
                rest: Some(0),
            };
        }
        let late = self.late(before, length);
        let rest = (length > before).then(|| {
            self.next = first.wrapping_add(length);
            self.go_on(length - before);
            before as usize
        });
        Arrival {
            behind_gap: false,
            late: late.map(|late| late.start as usize..late.end as usize),
            rest,
        }
    }

    /// Takes note that the stream's end moves on by so many bytes.
    fn go_on(&mut self, bytes: u32) {
        for distance in [&mut self.certain, &mut self.hole.0, &mut self.hole.1] {
            *distance = distance.saturating_add(bytes).min(REACH);
        }
    }

    /// Which bytes did not come before of a segment that begins so many bytes in front of the stream's end; they are in front of others that did.
    fn late(&mut self, before: u32, length: u32) -> Option<Range<u32>> {
        if before > self.certain {
            let end = length.min(before - self.certain);
            if end == before - self.certain {
                self.certain = before;
            }
            return Some(0..end);
        }
        let (from, to) = self.hole;
        let start = before.saturating_sub(from);
        let end = length.min(before.saturating_sub(to));
        if start >= end {
            return None;
        }
        // What is in its middle leaves the hole as it is.
        if before - start == from {
            self.hole.0 = before - end;
        } else if before - end == to {
            self.hole.1 = before - start;
        }
        Some(start..end)
    }

    /// Passes over what belongs to a body, from a byte of the segment on: from which one on the next message is read.
    fn skip(&mut self, segment: &Segment, at: usize, reader: &mut dyn Reader) -> usize {
        let place = &mut self.place;
        if place.skip == 0 {
            return at;
        }
        let rest = segment.payload.bytes.get(at..).unwrap_or_default();
        if place.unsure {
            let came = rest.len() as u64;
            let looked_at = &rest[..rest.len().min(LOOKED_AT)];
            let seen = [place.kept.as_slice(), looked_at].concat();
            let begins = reader.begins(&seen);
            if begins == Some(true) || begins.is_none() && came > place.skip {
                // An answer to HEAD announces a body, and has none. What was kept is the next message's.
                place.skip = 0;
                return at;
            }
            if begins.is_none() && came < place.skip && segment.cut == 0 {
                place.skip -= came;
                place.kept = seen;
                place.begun = true;
                return segment.length();
            }
        }
        place.unsure = false;
        place.kept.clear();
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
        place: &mut Place,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream {
            next: 0,
            certain: 0,
            hole: (0, 0),
            opened: false,
            place: Place::default(),
        }
    }

    /// Neither a hole nor what is known of earlier bytes is taken for one of the bytes that have the same numbers, 4 GiB later.
    #[test]
    fn what_is_missing_is_forgotten_behind_its_reach() {
        let mut stream = stream();
        let length = 60_000;
        assert_eq!(stream.arrive(0, length).rest, Some(0));
        assert!(stream.arrive(2 * length, length).behind_gap);
        let mut next = 3 * length;
        for _ in 0..2 * (u32::MAX / length) {
            let arrival = stream.arrive(next, length);
            next = next.wrapping_add(length);
            let expected = Arrival {
                behind_gap: false,
                late: None,
                rest: Some(0),
            };
            assert_eq!(arrival, expected);
            let (from, to) = stream.hole;
            assert!(to <= from && from <= stream.certain && stream.certain <= REACH);
        }
        assert_eq!(stream.hole, (REACH, REACH));
        // It came before.
        let again = stream.arrive(next.wrapping_sub(length), length);
        assert_eq!((again.late, again.rest), (None, None));
        // What begins further in front than any may come late is of another stream.
        assert!(
            stream
                .arrive(next.wrapping_sub(REACH + 1), length)
                .behind_gap
        );
    }

    #[test]
    fn a_hole_is_filled_from_either_end() {
        let mut stream = stream();
        let mut arrived = |first: u32, length: u32| {
            let arrival = stream.arrive(first, length);
            (arrival.late, arrival.rest)
        };
        assert_eq!(arrived(0, 10), (None, Some(0)));
        assert_eq!(arrived(50, 10), (None, Some(0)));
        assert_eq!(arrived(8, 12), (Some(2..12), None));
        assert_eq!(arrived(40, 10), (Some(0..10), None));
        assert_eq!(arrived(40, 10), (None, None));
        // In its middle, nothing is noted.
        assert_eq!(arrived(25, 5), (Some(0..5), None));
        assert_eq!(arrived(18, 50), (Some(2..22), Some(42)));
        assert_eq!(arrived(20, 30), (None, None));
    }
}
