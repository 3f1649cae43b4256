//! The bytes that a QUIC connection begins with, from the CRYPTO frames of its Initials.

use super::packet::{Initial, Keys, Version, number};
use super::{MOST_BYTES, Status};

/// Most ids that a connection may begin anew with.
const MOST_IDS: usize = 4;
/// First byte of a ClientHello (RFC 8446, section 4).
const CLIENT_HELLO: u8 = 1;

/// A connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Connection {
    /// Bytes by their offset, as far as they came.
    bytes: Vec<Option<u8>>,
    /// The bytes without a gap.
    upto: Vec<u8>,
    /// Number of bytes of the first message, if it is known.
    hello: Option<usize>,
    /// One more than the largest packet number.
    expected: u64,
    version: Option<Version>,
    /// Ids that it began with, the present one first.
    ids: Vec<Vec<u8>>,
}

impl Connection {
    /// Returns the bytes without a gap of the first message.
    pub(super) fn first_message(&self) -> &[u8] {
        let size = self.hello.unwrap_or(usize::MAX).min(self.upto.len());
        &self.upto[..size]
    }

    /// Tells whether the first message is whole.
    pub(super) fn is_whole(&self) -> bool {
        self.hello.is_some_and(|size| self.upto.len() >= size)
    }

    /// Reads an Initial.
    pub(super) fn read(&mut self, initial: &Initial<'_>) -> Result<(), Status> {
        let (keys, begins) = self.keys(initial)?;
        let opened = initial.open(&keys);
        let payload = initial.payload(&keys, &opened);
        if opened.first & 0x0c != 0 || payload.is_empty() {
            return Err(Status::Malformed);
        }
        // A number is written in so many bytes that it is the only one, whichever packets came to the server.
        let number = u64::from(opened.number);
        if number + (1 << (8 * opened.number_size - 1)) <= self.expected {
            return Err(Status::Malformed);
        }
        if begins {
            self.ids.insert(0, initial.id.to_vec());
            self.version = Some(initial.version);
            self.bytes.clear();
            self.upto.clear();
            self.hello = None;
        }
        self.expected = self.expected.max((number + 1).min(u32::MAX.into()));
        self.frames(&payload)
    }

    /// Returns the keys of an Initial, and whether the connection begins with it.
    fn keys(&self, initial: &Initial<'_>) -> Result<(Keys, bool), Status> {
        let of = |id: &[u8]| Keys::of(id, initial.version).ok_or(Status::Malformed);
        let new = of(initial.id)?;
        let Some((first, old)) = self.ids.split_first() else {
            return Ok((new, true));
        };
        if first == initial.id {
            return Ok((new, false));
        }
        let mut is_of_old = false;
        for id in old {
            if id == initial.id {
                return Err(Status::Conflict);
            }
            is_of_old |= initial.is_authentic(&of(id)?);
        }
        let first = of(first)?;
        match (initial.is_authentic(&first), initial.is_authentic(&new)) {
            _ if is_of_old => Err(Status::Conflict),
            (true, true) => Err(Status::Conflict),
            (true, false) => Ok((first, false)),
            (false, true) if self.ids.len() < MOST_IDS => Ok((new, true)),
            (false, true) => Err(Status::Conflict),
            (false, false) => Err(Status::Malformed),
        }
    }

    /// Reads the frames of a payload (RFC 9000, section 12.4, table 3).
    fn frames(&mut self, payload: &[u8]) -> Result<(), Status> {
        let mut at = 0;
        while let Some(kind) = payload.get(at) {
            at += 1;
            let mut next = || number(payload, &mut at).ok_or(Status::Malformed);
            match kind {
                0 | 1 => {}
                2 | 3 => {
                    next()?;
                    next()?;
                    let ranges = next()?;
                    let counts = if *kind == 3 { 3 } else { 0 };
                    for _ in 0..1 + 2 * ranges + counts {
                        next()?;
                    }
                }
                6 => {
                    let (offset, length) = (next()?, next()?);
                    let bytes = cut(payload, &mut at, length)?;
                    self.merge(offset, bytes)?;
                }
                0x1c => {
                    next()?;
                    next()?;
                    let length = next()?;
                    cut(payload, &mut at, length)?;
                }
                _ => return Err(Status::Malformed),
            }
        }
        Ok(())
    }

    /// Adds bytes at an offset. What came before has to be the same.
    fn merge(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Status> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = offset.saturating_add(bytes.len());
        let end = match self.hello {
            // What follows the first message is not read.
            Some(size) => end.min(size),
            None if end > MOST_BYTES => return Err(Status::TooLong),
            None => end,
        };
        if offset >= end {
            return Ok(());
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, None);
        }
        for (word, byte) in self.bytes[offset..end].iter_mut().zip(bytes) {
            if word.is_some_and(|known| known != *byte) {
                return Err(Status::Conflict);
            }
            *word = Some(*byte);
        }
        self.advance()
    }

    /// Moves the end of the bytes without a gap, and finds out how many the first message has.
    fn advance(&mut self) -> Result<(), Status> {
        let more = self.bytes[self.upto.len()..].iter();
        let more: Vec<u8> = more.map_while(|byte| *byte).collect();
        self.upto.extend(more);
        match self.upto[..] {
            [kind, ..] if kind != CLIENT_HELLO => return Err(Status::Malformed),
            [_, a, b, c, ..] if self.hello.is_none() => {
                let size = 4 + u32::from_be_bytes([0, a, b, c]) as usize;
                if size > MOST_BYTES {
                    return Err(Status::TooLong);
                }
                self.hello = Some(size);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Takes bytes at an offset, which is moved behind them.
fn cut<'p>(payload: &'p [u8], at: &mut usize, length: u64) -> Result<&'p [u8], Status> {
    let length = usize::try_from(length).map_err(|_| Status::Malformed)?;
    let found = payload[*at..].get(..length).ok_or(Status::Malformed)?;
    *at += length;
    Ok(found)
}
