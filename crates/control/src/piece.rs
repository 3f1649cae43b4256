//! A piece of text with its location in the source.

use diag::Span;

/// Text and its location.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The text.
    pub text: &'a str,
    lo: u32,
}

impl<'a> Piece<'a> {
    /// Makes a piece of text that begins at byte `lo` of the source map's address space.
    pub fn new(text: &'a str, lo: u32) -> Piece<'a> {
        Piece { text, lo }
    }

    /// Returns the location of the text.
    pub fn span(self) -> Span {
        Span {
            lo: self.lo,
            hi: self.lo + self.text.len() as u32,
        }
    }

    /// Returns the bytes `from..to` of it; both must be character boundaries within it.
    pub fn part(self, from: usize, to: usize) -> Piece<'a> {
        Piece {
            text: &self.text[from..to],
            lo: self.lo + from as u32,
        }
    }

    /// Returns the text without blanks around it.
    pub fn trim(self) -> Piece<'a> {
        let from = self.text.len() - self.text.trim_start().len();
        let to = from + self.text.trim().len();
        self.part(from, to)
    }

    /// Splits the text at the first character for which `at` holds, which is left out.
    pub fn split_once(self, at: impl Fn(char) -> bool) -> Option<(Piece<'a>, Piece<'a>)> {
        let (index, c) = self.text.char_indices().find(|&(_, c)| at(c))?;
        Some((
            self.part(0, index),
            self.part(index + c.len_utf8(), self.text.len()),
        ))
    }

    /// Splits `name:value` or `name=value`. A colon in brackets belongs to the name, as in `x[3:0]:5`.
    pub fn split_named(self) -> Option<(Piece<'a>, Piece<'a>)> {
        let mut depth = 0usize;
        let index = self.text.find(|c| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && (c == ':' || c == '=')
        })?;
        Some((self.part(0, index), self.part(index + 1, self.text.len())))
    }

    /// Returns the first word and the rest, both trimmed.
    pub fn first_word(self) -> (Piece<'a>, Piece<'a>) {
        let all = self.trim();
        match all.split_once(char::is_whitespace) {
            Some((word, rest)) => (word, rest.trim()),
            None => (all, all.part(all.text.len(), all.text.len())),
        }
    }

    /// Splits the text into words at blanks. Blanks in parentheses, and around `&&&`, `..` and `->`, do not separate.
    pub fn words(self) -> Vec<Piece<'a>> {
        let mut words: Vec<(usize, usize)> = Vec::new();
        let mut start = None;
        let mut depth = 0usize;
        for (index, c) in self.text.char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if c.is_whitespace() && depth == 0 {
                words.extend(start.take().map(|from| (from, index)));
            } else if start.is_none() {
                start = Some(index);
            }
        }
        words.extend(start.map(|from| (from, self.text.len())));
        let binds = |text: &str| matches!(text, "&&&" | ".." | "->");
        let mut joined: Vec<(usize, usize)> = Vec::new();
        let mut bind_next = false;
        for (from, to) in words {
            let word = &self.text[from..to];
            let starts = binds(word) || word.starts_with("&&&");
            match joined.last_mut() {
                Some(last) if bind_next || starts => last.1 = to,
                _ => joined.push((from, to)),
            }
            bind_next = binds(word) || word.ends_with("&&&");
        }
        joined
            .into_iter()
            .map(|(from, to)| self.part(from, to))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        Piece::new(text, 0)
            .words()
            .into_iter()
            .map(|p| p.text)
            .collect()
    }

    #[test]
    fn parentheses_and_masks_hold_together() {
        assert_eq!(words(" a  b(1, 2) c"), ["a", "b(1, 2)", "c"]);
        assert_eq!(words("k:0x1 &&& 0xf act()"), ["k:0x1 &&& 0xf", "act()"]);
        assert_eq!(words("1 .. 5 x"), ["1 .. 5", "x"]);
        assert_eq!(words(""), [""; 0]);
    }

    #[test]
    fn a_slice_is_part_of_a_name() {
        let split = |text| {
            let (name, value) = Piece::new(text, 0).split_named()?;
            Some((name.text, value.text))
        };
        assert_eq!(split("hdr.x[3:0]:5"), Some(("hdr.x[3:0]", "5")));
        assert_eq!(split("mac=02:00"), Some(("mac", "02:00")));
        assert_eq!(split("hdr.x[3:0]"), None);
    }

    #[test]
    fn locations_follow_the_text() {
        let piece = Piece::new("ab cd", 10);
        let (first, rest) = piece.first_word();
        assert_eq!(
            (first.span(), rest.span()),
            (Span { lo: 10, hi: 12 }, Span { lo: 13, hi: 15 })
        );
    }
}
