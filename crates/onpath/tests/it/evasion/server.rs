//! A TCP server as its application sees it: what arrives in order.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Bytes ahead of the next one that are taken.
const WINDOW: u32 = 65_535;

/// A server at which one connection may open.
pub(super) struct Server {
    /// True if bytes that come again replace those that are not in order yet; false if the first ones stay.
    takes_last: bool,
    /// True if data in a SYN is taken (RFC 7413).
    takes_early: bool,
    /// Sequence number of the first byte, once the connection is open.
    pub first: Option<u32>,
    /// Bytes by their distance from the first one.
    waiting: BTreeMap<u32, u8>,
    /// Distances of the byte that is urgent, which the application does not read, and of the stream's end.
    urgent: Option<u32>,
    end: Option<u32>,
    /// Number of bytes that came in order.
    pub taken: u32,
    /// Bytes that the application reads.
    pub read: Vec<u8>,
}

/// Answer to a segment.
pub(super) struct Answer {
    pub acknowledged: u32,
    /// True for a SYN-ACK.
    pub opens: bool,
}

impl Server {
    pub(super) fn new(random: &mut ChaCha8Rng) -> Server {
        Server {
            takes_last: random.random(),
            takes_early: random.random(),
            first: None,
            waiting: BTreeMap::new(),
            urgent: None,
            end: None,
            taken: 0,
            read: Vec::new(),
        }
    }

    /// Takes a SYN with its data.
    pub(super) fn open(&mut self, sequence: u32, data: &[u8]) -> Answer {
        let opens = self.first.is_none();
        if opens {
            self.first = Some(sequence.wrapping_add(1));
            if self.takes_early {
                self.take(sequence.wrapping_add(1), data);
            }
        }
        Answer {
            acknowledged: self.next(),
            opens,
        }
    }

    /// Takes a segment, with the offset of its byte that is urgent. It may be the last one. There is no answer to one of no connection.
    pub(super) fn segment(
        &mut self,
        sequence: u32,
        data: &[u8],
        urgent: Option<u32>,
        is_last: bool,
    ) -> Option<Answer> {
        let at = sequence.wrapping_sub(self.first?);
        self.urgent = urgent.map(|urgent| at.wrapping_add(urgent)).or(self.urgent);
        let end = at.wrapping_add(data.len() as u32);
        if is_last && end.wrapping_sub(self.taken) < WINDOW {
            self.end.get_or_insert(end);
        }
        self.take(sequence, data);
        Some(Answer {
            acknowledged: self.next(),
            opens: false,
        })
    }

    /// Returns the sequence number of the next byte.
    fn next(&self) -> u32 {
        self.first.unwrap_or_default().wrapping_add(self.taken)
    }

    fn take(&mut self, sequence: u32, data: &[u8]) {
        let next = self.next();
        let taken = self.taken;
        for (at, byte) in (0..).zip(data) {
            let ahead = sequence.wrapping_add(at).wrapping_sub(next);
            if ahead < WINDOW {
                let place = self.waiting.entry(taken + ahead).or_insert(*byte);
                if self.takes_last {
                    *place = *byte;
                }
            }
        }
        while self.end.is_none_or(|end| self.taken < end)
            && let Some(byte) = self.waiting.remove(&self.taken)
        {
            if self.urgent != Some(self.taken) {
                self.read.push(byte);
            }
            self.taken += 1;
        }
    }
}
