//! The lexer: text to raw tokens. It never fails: invalid text becomes [`TokenKind::Bad`], and code that uses such a
//! token reports it. Text that `#if` leaves out may hold anything.

use std::cell::Cell;
use std::sync::Arc;

use crate::token::{Bad, OPERATORS, TokenKind};

/// A token and its byte range in the file. Keywords are still [`TokenKind::Ident`] here, because macros may have their
/// names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Raw {
    /// Kind of the token.
    pub kind: TokenKind,
    /// Offset of its first byte.
    pub lo: usize,
    /// Offset after its last byte.
    pub hi: usize,
    /// True if it is the first on its line.
    pub first: bool,
    /// True if white space or a comment comes before it.
    pub space: bool,
}

/// A cursor over a text.
#[derive(Clone, Debug)]
pub(crate) struct Lexer {
    text: Arc<str>,
    at: usize,
    line_start: bool,
    /// True on the line of a `@pragma`.
    pragma: bool,
    /// Next token, if it was looked at and not taken.
    ahead: Cell<Option<Ahead>>,
}

/// The next token, and the cursor after it.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    raw: Raw,
    at: usize,
    line_start: bool,
    pragma: bool,
}

impl Lexer {
    /// Makes a cursor at the beginning of `text`, after a byte order mark if there is one.
    pub(crate) fn new(text: Arc<str>) -> Lexer {
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Lexer {
            text,
            at,
            line_start: true,
            pragma: false,
            ahead: Cell::new(None),
        }
    }

    /// Makes a cursor over the same text at another byte, in the middle of a line.
    pub(crate) fn at(other: &Lexer, at: usize) -> Lexer {
        Lexer {
            text: Arc::clone(&other.text),
            at,
            line_start: false,
            pragma: false,
            ahead: Cell::new(None),
        }
    }

    /// Returns the next token without taking it.
    pub(crate) fn peek(&self) -> Raw {
        if let Some(ahead) = self.ahead.get() {
            return ahead.raw;
        }
        let mut behind = self.clone();
        let raw = behind.next();
        let Lexer {
            at,
            line_start,
            pragma,
            ..
        } = behind;
        let ahead = Ahead {
            raw,
            at,
            line_start,
            pragma,
        };
        self.ahead.set(Some(ahead));
        raw
    }

    /// Takes the rest of the line (continued lines included). Returns its range.
    pub(crate) fn rest_of_line(&mut self) -> (usize, usize) {
        self.ahead.set(None);
        let from = self.at;
        let bytes = self.text.as_bytes();
        let mut to = from;
        while to < bytes.len() && bytes[to] != b'\n' {
            to += continuation(&bytes[to..]).unwrap_or(1);
        }
        self.at = to.min(bytes.len());
        (from, self.at)
    }

    /// Takes the next token; [`TokenKind::Eof`] at the end, on every call.
    pub(crate) fn next(&mut self) -> Raw {
        if let Some(ahead) = self.ahead.take() {
            (self.at, self.line_start) = (ahead.at, ahead.line_start);
            self.pragma = ahead.pragma;
            return ahead.raw;
        }
        let text = Arc::clone(&self.text);
        let bytes = text.as_bytes();
        let mut first = std::mem::take(&mut self.line_start);
        let mut space = false;
        let token = |kind, lo, hi, first, space| Raw {
            kind,
            lo,
            hi,
            first,
            space,
        };
        loop {
            let rest = &bytes[self.at..];
            match rest {
                [] => {
                    // Keep the flag for another call at the end.
                    self.line_start = true;
                    return token(TokenKind::Eof, self.at, self.at, true, space);
                }
                [b'\n', ..] => {
                    first = true;
                    self.pragma = false;
                    self.at += 1;
                }
                [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => self.at += 1,
                [b'\\', ..] if continuation(rest).is_some() => {
                    self.at += continuation(rest).unwrap_or(1)
                }
                [b'/', b'/', ..] => {
                    self.rest_of_line();
                }
                [b'/', b'*', ..] => match text[self.at + 2..].find("*/") {
                    Some(length) => self.at += 2 + length + 2,
                    None => {
                        let lo = self.at;
                        self.at = bytes.len();
                        return token(TokenKind::Bad(Bad::Comment), lo, lo + 2, first, space);
                    }
                },
                _ => break,
            }
            space = true;
        }
        let lo = self.at;
        let kind = self.token(&text[lo..]);
        self.pragma |= &text[lo..self.at] == "pragma" && text[..lo].ends_with('@');
        token(kind, lo, self.at, first, space)
    }

    /// Takes one token at the start of `rest`, which is not empty.
    fn token(&mut self, rest: &str) -> TokenKind {
        let bytes = rest.as_bytes();
        let word = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
                .count()
        };
        match bytes[0] {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.at += word(0);
                return TokenKind::Ident;
            }
            b'0'..=b'9' => {
                self.at += word(0);
                return TokenKind::Int;
            }
            b'"' => return self.string(bytes),
            b'\'' => {
                if let Some(length) = character(bytes) {
                    self.at += length;
                    return TokenKind::Bad(Bad::Char);
                }
            }
            _ => {}
        }
        let mut operators = OPERATORS
            .iter()
            .filter(|(text, _)| text.as_bytes()[0] == bytes[0]);
        if let Some((text, kind)) = operators.find(|(text, _)| rest.starts_with(text)) {
            self.at += text.len();
            return *kind;
        }
        // A run of invalid characters is one error.
        let foreign = |c: &char| {
            !c.is_ascii() || matches!(c, '$' | '`' | '\'' | '\\') || c.is_ascii_control()
        };
        let run: usize = rest
            .chars()
            .enumerate()
            .take_while(|(i, c)| *i == 0 || (foreign(c) && !c.is_whitespace()))
            .map(|(_, c)| c.len_utf8())
            .sum();
        self.at += run;
        TokenKind::Bad(Bad::Char)
    }

    /// Takes a string. It may span lines, as some annotations do. It ends with its first line if the text after its
    /// closing quote shows that a quote was forgotten. In a `@pragma` any text may follow it.
    fn string(&mut self, bytes: &[u8]) -> TokenKind {
        /// Most bytes that are searched for a closing quote, so that unterminated quotes cost little.
        const LONGEST_OF_LINES: usize = 16 << 10;
        let mut i = 1;
        let mut first_line = None;
        while i < bytes.len() && (first_line.is_none() || i < LONGEST_OF_LINES) {
            match bytes[i] {
                b'"' if first_line.is_none()
                    || self.pragma
                    || may_follow_string(&bytes[i + 1..]) =>
                {
                    self.at += i + 1;
                    return TokenKind::Str;
                }
                b'"' => break,
                b'\n' => {
                    first_line = first_line.or(Some(i));
                    i += 1;
                }
                b'\\' => i += continuation(&bytes[i..]).unwrap_or(2),
                _ => i += 1,
            }
        }
        let mut end = self.at + first_line.unwrap_or(i).min(bytes.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.at = end;
        TokenKind::Bad(Bad::String)
    }
}

/// Replacement for a byte that is not UTF-8, see [`crate::Loaded::replaced`].
pub(crate) const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Returns the first byte of a text where a [`REPLACEMENT`] is outside all tokens, in a comment.
pub(crate) fn replaced_in_comment(text: Arc<str>) -> Option<usize> {
    let mut lexer = Lexer::new(Arc::clone(&text));
    let mut from = 0;
    loop {
        let raw = lexer.next();
        if let Some(found) = text[from..raw.lo].find(REPLACEMENT) {
            return Some(from + found);
        }
        if raw.kind == TokenKind::Eof {
            return None;
        }
        from = raw.hi;
    }
}

/// True if text may follow a string in an annotation or argument list: a closing token, `++`, or another word or string
/// after white space. Neither follows a quote that begins a string.
fn may_follow_string(bytes: &[u8]) -> bool {
    let space = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    match &bytes[space..] {
        [b')' | b']' | b'}' | b',' | b';', ..] | [b'+', b'+', ..] => true,
        [b'"' | b'_', ..] => space > 0,
        [next, ..] => space > 0 && next.is_ascii_alphanumeric(),
        [] => false,
    }
}

/// Returns the length of a backslash and line end at the start of `bytes`. Blanks between the two are allowed, as in
/// common preprocessors.
pub(crate) fn continuation(bytes: &[u8]) -> Option<usize> {
    let after = bytes.strip_prefix(b"\\")?;
    let blanks = after
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | 0x0b | 0x0c))
        .count();
    (after.get(blanks) == Some(&b'\n')).then_some(blanks + 2)
}

/// Returns the length of a character constant of C at the start of `bytes`. P4 has none, but conditions of the
/// preprocessor do.
fn character(bytes: &[u8]) -> Option<usize> {
    let text = bytes.strip_prefix(b"'")?;
    let escape = match text {
        [b'\\', b'x', digits @ ..] => {
            2 + digits.iter().take_while(|b| b.is_ascii_hexdigit()).count()
        }
        [b'\\', b'0'..=b'7', digits @ ..] => {
            let octal = digits
                .iter()
                .take(2)
                .take_while(|b| matches!(b, b'0'..=b'7'));
            2 + octal.count()
        }
        [b'\\', _, ..] => 2,
        [b'\'' | b'\n', ..] | [] => return None,
        [_, ..] => 1,
    };
    (text.get(escape) == Some(&b'\'')).then_some(escape + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, String)> {
        let mut lexer = Lexer::new(text.into());
        let mut out = Vec::new();
        loop {
            let raw = lexer.next();
            if raw.kind == TokenKind::Eof {
                return out;
            }
            out.push((raw.kind, text[raw.lo..raw.hi].to_string()));
        }
    }

    fn texts(text: &str) -> Vec<String> {
        kinds(text).into_iter().map(|(_, t)| t).collect()
    }

    #[test]
    fn operators_are_as_long_as_they_can_be() {
        assert_eq!(
            texts("a|+|b |-|=c &&&d..e...f++g<<=h>>i{#}j"),
            [
                "a", "|+|", "b", "|-|=", "c", "&&&", "d", "..", "e", "...", "f", "++", "g", "<<=",
                "h", ">>", "i", "{#}", "j"
            ]
        );
    }

    #[test]
    fn a_number_ends_before_a_range() {
        assert_eq!(texts("1..0x1F 8w0b1_0"), ["1", "..", "0x1F", "8w0b1_0"]);
    }

    #[test]
    fn comments_and_continued_lines_are_space() {
        assert_eq!(
            texts("a/*x\ny*/b // c \\\n d\n e \\\n f"),
            ["a", "b", "e", "f"]
        );
    }

    #[test]
    fn a_comment_over_lines_does_not_begin_a_line() {
        let mut lexer = Lexer::new("a /*\n*/ b\nc".into());
        assert!(lexer.next().first);
        assert!(!lexer.next().first);
        assert!(lexer.next().first);
    }

    #[test]
    fn foreign_text_is_one_bad_token() {
        assert_eq!(
            kinds("a äöü$ b")[1],
            (TokenKind::Bad(Bad::Char), "äöü$".into())
        );
        assert_eq!(
            kinds("\"abc\nd")[0],
            (TokenKind::Bad(Bad::String), "\"abc".into())
        );
        assert_eq!(kinds("/* abc")[0].0, TokenKind::Bad(Bad::Comment));
        assert_eq!(kinds("\"a\\\"b\"")[0].0, TokenKind::Str);
        assert_eq!(kinds("\"a\n b\")")[0].0, TokenKind::Str);
        assert_eq!(
            kinds("\"a\n\"b\"")[0],
            (TokenKind::Bad(Bad::String), "\"a".into())
        );
        assert_eq!(kinds("@pragma a \"b\nc\" d").len(), 5);
        assert_eq!(kinds("\"\\").len(), 1);
        assert_eq!(kinds("\"\\ü").len(), 1);
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        assert_eq!(kinds("\u{feff}x"), [(TokenKind::Ident, "x".to_string())]);
    }
}
