//! Source files laid end to end in one address space, and spans in it.

use std::ops::Range;
use std::sync::Arc;

/// A range of bytes in the [`SourceMap`]'s address space, end exclusive.
///
/// Tokens that come out of a macro carry the span of the macro's use, so that an error always points
/// at text the user can see in place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    /// First byte, as an offset in the address space.
    pub lo: u32,
    /// End, exclusive: one past the last byte.
    pub hi: u32,
}

impl Span {
    /// Synthetic span, which stands for no source text. Byte 0 of the map belongs to no file.
    pub const NONE: Span = Span { lo: 0, hi: 0 };

    /// Returns the span from the first byte of `self` to the last byte of `other`.
    pub fn to(self, other: Span) -> Span {
        if self == Span::NONE {
            return other;
        }
        if other == Span::NONE {
            return self;
        }
        Span {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }

    /// Returns true if this is the synthetic span [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self == Span::NONE
    }
}

/// Index of a file in a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(pub u32);

/// A line and a column, both from 1; the column counts characters, as editors do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LineCol {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One source text and its range in the address space.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name to show, as the user or the `#include` wrote it.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
    start: u32,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// Returns the text of a line (from 1), without its line end.
    pub fn line(&self, line: u32) -> &str {
        let index = line as usize - 1;
        let from = self.line_starts[index] as usize;
        let to = self
            .line_starts
            .get(index + 1)
            .map_or(self.text.len(), |&next| next as usize);
        self.text[from..to].trim_end_matches(['\n', '\r'])
    }
}

/// Every source text of one compilation. Positions never move once a file is added.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Returns an empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a text. Returns `None` if the address space (4 GiB) is full.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> Option<FileId> {
        let text = text.into();
        let start = self
            .files
            .last()
            .map_or(1, |f| f.start + f.text.len() as u32 + 1);
        u32::try_from(text.len())
            .ok()
            .and_then(|len| start.checked_add(len)?.checked_add(1))?;
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes()
                    .enumerate()
                    .filter(|&(_, b)| b == b'\n')
                    .map(|(i, _)| i as u32 + 1),
            )
            .collect();
        self.files.push(SourceFile {
            name: name.into(),
            text,
            start,
            line_starts,
        });
        Some(FileId(self.files.len() as u32 - 1))
    }

    /// Returns the file with this id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Returns all files, in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, f)| (FileId(i as u32), f))
    }

    /// Returns the span over the bytes `range` of a file.
    pub fn span(&self, file: FileId, range: Range<usize>) -> Span {
        let start = self.file(file).start;
        Span {
            lo: start + range.start as u32,
            hi: start + range.end as u32,
        }
    }

    /// Returns the file that a span lies in, and its byte range there. `None` for [`Span::NONE`].
    pub fn locate(&self, span: Span) -> Option<(FileId, Range<usize>)> {
        if span.is_none() {
            return None;
        }
        let index = self
            .files
            .partition_point(|f| f.start <= span.lo)
            .checked_sub(1)?;
        let file = &self.files[index];
        let lo = ((span.lo - file.start) as usize).min(file.text.len());
        let hi = (span.hi.max(span.lo) - file.start) as usize;
        Some((FileId(index as u32), lo..hi.min(file.text.len())))
    }

    /// Returns file and line (from 1) of a span's first byte. In a long line this costs less than the column of a byte.
    /// `None` for [`Span::NONE`].
    pub fn line(&self, span: Span) -> Option<(FileId, u32)> {
        let (id, range) = self.locate(span)?;
        let starts = &self.file(id).line_starts;
        Some((
            id,
            starts.partition_point(|&s| s as usize <= range.start) as u32,
        ))
    }

    /// Returns file, line and column of a span's first byte. `None` for [`Span::NONE`].
    pub fn line_col(&self, span: Span) -> Option<(FileId, LineCol)> {
        let (id, range) = self.locate(span)?;
        let file = self.file(id);
        let line = file
            .line_starts
            .partition_point(|&s| s as usize <= range.start);
        let from = file.line_starts[line - 1] as usize;
        let mut at = range.start;
        while !file.text.is_char_boundary(at) {
            at -= 1;
        }
        let column = file.text[from..at].chars().count() as u32 + 1;
        Some((
            id,
            LineCol {
                line: line as u32,
                column,
            },
        ))
    }

    /// Returns the text that a span covers. Empty for [`Span::NONE`], and for a span that cuts a character.
    pub fn text(&self, span: Span) -> &str {
        self.locate(span)
            .and_then(|(id, range)| self.file(id).text.get(range))
            .unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_two_files_do_not_mix() {
        let mut map = SourceMap::new();
        let a = map.add("a.p4", "one\ntwo\n").unwrap();
        let b = map.add("b.p4", "drei\nvier").unwrap();
        let two = map.span(a, 4..7);
        let vier = map.span(b, 5..9);
        assert_eq!(map.text(two), "two");
        assert_eq!(map.line_col(two), Some((a, LineCol { line: 2, column: 1 })));
        assert_eq!(map.text(vier), "vier");
        assert_eq!(
            map.line_col(vier),
            Some((b, LineCol { line: 2, column: 1 }))
        );
        assert_eq!(map.file(b).line(2), "vier");
    }

    #[test]
    fn the_end_of_a_file_belongs_to_it() {
        let mut map = SourceMap::new();
        let a = map.add("a.p4", "x").unwrap();
        map.add("b.p4", "y").unwrap();
        let end = map.span(a, 1..1);
        assert_eq!(map.line_col(end), Some((a, LineCol { line: 1, column: 2 })));
    }

    #[test]
    fn a_line_is_that_of_the_line_and_column() {
        let mut map = SourceMap::new();
        let a = map.add("a.p4", "x\ny").unwrap();
        assert_eq!(map.line(map.span(a, 2..3)), Some((a, 2)));
        assert_eq!(map.line(map.span(a, 1..1)), Some((a, 1)));
        assert_eq!(map.line(Span::NONE), None);
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        let mut map = SourceMap::new();
        let a = map.add("a.p4", "\u{fc}\u{fc}x").unwrap();
        assert_eq!(map.line_col(map.span(a, 4..5)).unwrap().1.column, 3);
    }
}
