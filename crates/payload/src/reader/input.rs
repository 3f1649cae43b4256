//! The bytes that a layout is read from.

/// Bytes, and where they stand in the message.
pub(super) struct Input {
    pub(super) bytes: Vec<u8>,
    /// Where pieces begin: in `bytes`, and in the message; the first begins at 0.
    pieces: Vec<(usize, usize)>,
}

impl Input {
    /// The whole message.
    pub(super) fn whole(message: &[u8]) -> Input {
        Input {
            bytes: message.to_vec(),
            pieces: vec![(0, 0)],
        }
    }

    /// Parts of another input, read as one.
    pub(super) fn joined(input: &Input, parts: &[(usize, usize)]) -> Input {
        let mut joined = Input {
            bytes: Vec::new(),
            pieces: Vec::new(),
        };
        for &(start, end) in parts {
            joined
                .pieces
                .push((joined.bytes.len(), input.offset(start)));
            joined.bytes.extend(&input.bytes[start..end]);
        }
        joined
    }

    /// The offset in the message.
    pub(super) fn offset(&self, at: usize) -> usize {
        let piece = self.pieces.partition_point(|&(start, _)| start <= at);
        match piece.checked_sub(1).map(|piece| self.pieces[piece]) {
            Some((start, offset)) => offset + (at - start),
            None => at,
        }
    }
}

/// Bytes up to an end, at a depth.
#[derive(Clone, Copy)]
pub(super) struct Window<'i> {
    pub(super) input: &'i Input,
    pub(super) end: usize,
    pub(super) depth: usize,
}

impl Window<'_> {
    /// The bytes from `at` on.
    pub(super) fn from(&self, at: usize) -> &[u8] {
        self.input.bytes.get(at..self.end).unwrap_or(&[])
    }

    /// The same bytes up to another end, one level further in.
    pub(super) fn inner(self, end: usize) -> Self {
        Window {
            end,
            depth: self.depth + 1,
            ..self
        }
    }

    /// How long the longest of these is that stands at `at`.
    pub(super) fn stands(&self, any: &[Vec<u8>], at: usize) -> Option<usize> {
        let here = self.from(at);
        let those = any.iter().filter(|bytes| here.starts_with(bytes));
        those.map(Vec::len).max()
    }
}
