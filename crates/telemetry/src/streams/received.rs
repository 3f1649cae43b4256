//! Bytes of a stream that have arrived.

use std::ops::Range;

/// Greatest distance from the end of a stream at which a late or retransmitted segment may begin, in bytes. A segment
/// before that belongs to another connection with the same ports; or the last segment did.
pub(crate) const REACH: u32 = (1 << 24) - 1;

/// Knowledge of which bytes of a stream have arrived, by TCP sequence number.
pub(super) struct Received {
    /// Sequence number after the last byte.
    pub next: u32,
    /// Number of bytes before `next` with a known state, [`REACH`] at most. Those in `hole` are missing, all others
    /// have arrived.
    certain: u32,
    /// Range of missing bytes, as distances from `next`: the start and the end. It is empty if both are equal.
    hole: (u32, u32),
}

/// Bytes of a segment that arrived for the first time.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Arrival {
    /// True if bytes before them are missing.
    pub behind_gap: bool,
    /// Late bytes: later ones have already arrived.
    pub late: Option<Range<usize>>,
    /// Offset from which on they are after all others, if some are.
    pub rest: Option<usize>,
}

impl Received {
    /// Returns the state of a stream that begins with a segment.
    pub(super) fn new(first: u32, length: u32) -> Received {
        Received {
            next: first.wrapping_add(length),
            certain: length,
            hole: (length, length),
        }
    }

    /// Adds a segment that is not empty. Returns its bytes that are to be read.
    pub(super) fn arrive(&mut self, first: u32, length: u32) -> Arrival {
        let ahead = first.wrapping_sub(self.next);
        let before = ahead.wrapping_neg();
        let is_ahead = ahead != 0 && ahead < 1 << 31;
        if is_ahead {
            // Only one hole is kept: before an earlier one, nothing is known any more.
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

    /// Advances the stream's end by a number of bytes.
    fn go_on(&mut self, bytes: u32) {
        for distance in [&mut self.certain, &mut self.hole.0, &mut self.hole.1] {
            *distance = distance.saturating_add(bytes).min(REACH);
        }
    }

    /// Returns the bytes that are new in a segment that begins `before` bytes before the stream's end; later ones have
    /// already arrived.
    fn late(&mut self, before: u32, length: u32) -> Option<Range<u32>> {
        let (from, to) = self.hole;
        if before > self.certain {
            if from != to && length > before - from {
                // It covers the hole and more: bytes between them are read again.
                let end = length.min(before - to);
                (self.certain, self.hole.0) = (before, before - end);
                return Some(0..end);
            }
            let end = length.min(before - self.certain);
            if end == before - self.certain {
                self.certain = before;
            }
            return Some(0..end);
        }
        let start = before.saturating_sub(from);
        let end = length.min(before.saturating_sub(to));
        if start >= end {
            return None;
        }
        // Bytes in the middle leave the hole as it is.
        if before - start == from {
            self.hole.0 = before - end;
        } else if before - end == to {
            self.hole.1 = before - start;
        }
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neither a hole nor the state of earlier bytes applies to the bytes with the same sequence numbers, 4 GiB later.
    #[test]
    fn what_is_missing_is_forgotten_behind_its_reach() {
        let mut stream = Received::new(0, 0);
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
        // It arrived before.
        let again = stream.arrive(next.wrapping_sub(length), length);
        assert_eq!((again.late, again.rest), (None, None));
        // A segment that begins before the reach belongs to another stream.
        assert!(
            stream
                .arrive(next.wrapping_sub(REACH + 1), length)
                .behind_gap
        );
    }

    #[test]
    fn a_hole_is_filled_from_either_end() {
        let mut stream = Received::new(0, 0);
        let mut arrived = |first: u32, length: u32| {
            let arrival = stream.arrive(first, length);
            (arrival.late, arrival.rest)
        };
        assert_eq!(arrived(0, 10), (None, Some(0)));
        assert_eq!(arrived(50, 10), (None, Some(0)));
        assert_eq!(arrived(8, 12), (Some(2..12), None));
        assert_eq!(arrived(40, 10), (Some(0..10), None));
        assert_eq!(arrived(40, 10), (None, None));
        // In its middle, nothing is recorded.
        assert_eq!(arrived(25, 5), (Some(0..5), None));
        assert_eq!(arrived(18, 50), (Some(2..22), Some(42)));
        assert_eq!(arrived(20, 30), (None, None));
    }
}
