//! Bytes that a layout is read from.

use std::borrow::Cow;

/// Bytes, and their position in the message.
pub(super) struct Input<'m> {
    bytes: Cow<'m, [u8]>,
    /// The first byte's offset in the message.
    first: usize,
    /// Pieces, if there are several: the start of each in `bytes`, and in the message.
    pieces: Vec<(usize, usize)>,
}

impl<'m> Input<'m> {
    /// The whole message.
    pub(super) fn whole(message: &'m [u8]) -> Input<'m> {
        Input {
            bytes: Cow::Borrowed(message),
            first: 0,
            pieces: Vec::new(),
        }
    }

    /// Concatenates parts of another input.
    pub(super) fn joined(input: &'m Input, parts: &[(usize, usize)]) -> Input<'m> {
        if let ([(start, end)], true) = (parts, input.is_one_piece()) {
            return Input {
                bytes: Cow::Borrowed(&input.bytes[*start..*end]),
                first: input.offset(*start),
                pieces: Vec::new(),
            };
        }
        let (mut bytes, mut pieces) = (Vec::new(), Vec::new());
        for &(start, end) in parts {
            pieces.push((bytes.len(), input.offset(start)));
            bytes.extend(&input.bytes[start..end]);
        }
        Input {
            bytes: bytes.into(),
            first: 0,
            pieces,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns true if the bytes are contiguous in the message.
    pub(super) fn is_one_piece(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the offset in the message.
    pub(super) fn offset(&self, at: usize) -> usize {
        let piece = self.pieces.partition_point(|&(start, _)| start <= at);
        match piece.checked_sub(1).map(|piece| self.pieces[piece]) {
            Some((start, offset)) => offset + (at - start),
            None => self.first + at,
        }
    }
}

/// Bytes up to an end, with a nesting depth.
#[derive(Clone, Copy)]
pub(super) struct Window<'i> {
    pub(super) input: &'i Input<'i>,
    /// Bytes of the input.
    pub(super) bytes: &'i [u8],
    pub(super) end: usize,
    pub(super) depth: usize,
}

impl<'i> Window<'i> {
    /// Returns a window of all bytes of an input.
    pub(super) fn of(input: &'i Input<'i>, depth: usize) -> Window<'i> {
        let bytes = input.bytes();
        Window {
            input,
            bytes,
            end: bytes.len(),
            depth,
        }
    }

    /// Returns the bytes from `at` on.
    pub(super) fn from(&self, at: usize) -> &'i [u8] {
        self.bytes.get(at..self.end).unwrap_or(&[])
    }

    /// Returns the same bytes up to another end, one level deeper.
    pub(super) fn inner(self, end: usize) -> Self {
        Window {
            end,
            depth: self.depth + 1,
            ..self
        }
    }

    /// Returns the length of the longest of these byte strings that stands at `at`.
    pub(super) fn stands(&self, any: &[Vec<u8>], at: usize) -> Option<usize> {
        let here = self.from(at);
        let those = any.iter().filter(|bytes| here.starts_with(bytes));
        those.map(Vec::len).max()
    }
}
