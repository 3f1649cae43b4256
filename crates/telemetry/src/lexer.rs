//! Lexer: text to tokens.

use crate::errors::syntax;
use diag::{Diagnostic, Span};
use std::net::IpAddr;

/// Token with its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// Kind and value of a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// A name or a word of the language.
    Word(String),
    /// A number, decimal or `0x` and hexadecimal.
    Number(u64),
    /// A time, in nanoseconds: a decimal number with a unit.
    Time(u64),
    /// An address, or a prefix if it has a length.
    Address(IpAddr, Option<u8>),
    /// A link-layer address.
    Mac([u8; 6]),
    /// A text between double quotes, as it was written.
    Quoted(String),
    /// Punctuation.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// Symbols. Longer ones come first.
const SYMBOLS: [&str; 12] = [
    "==", "!=", "<=", ">=", "<", ">", "~", "(", ")", "[", "]", ",",
];

/// Splits a text into tokens, of which the last one is the end. Byte `i` of the text is byte `base + i` of the source
/// map.
pub(crate) fn tokens(text: &str, base: u32) -> Result<Vec<Token>, Box<Diagnostic>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let span = |length: usize| Span {
            lo: base + at as u32,
            hi: base + (at + length) as u32,
        };
        let (kind, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first == '"' {
            let length = quoted(rest).ok_or_else(|| syntax::open_text(span(1)))?;
            (TokenKind::Quoted(rest[1..length - 1].to_string()), length)
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            (TokenKind::Symbol(symbol), symbol.len())
        } else if first.is_ascii_alphanumeric() || first == '_' || first == ':' {
            let length = word_length(rest);
            let word = &rest[..length];
            (
                word_kind(word).ok_or_else(|| syntax::no_value(span(length), word))?,
                length,
            )
        } else {
            let length = first.len_utf8();
            return Err(syntax::unexpected(span(length), rest));
        };
        tokens.push(Token {
            kind,
            span: span(length),
        });
        at += length;
    }
    let end = base + text.len() as u32;
    tokens.push(Token {
        kind: TokenKind::End,
        span: Span { lo: end, hi: end },
    });
    Ok(tokens)
}

/// Returns the length of a quoted text with its quotes. A backslash escapes the next character.
fn quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the length of a name, number, address or prefix.
fn word_length(text: &str) -> usize {
    let length = part_length(text);
    let is_of_message =
        text.starts_with(|c: char| c.is_ascii_alphabetic()) && text[..length].contains('.');
    match text[length..].strip_prefix('/') {
        Some(rest) if text[..length].parse::<IpAddr>().is_ok() => length + 1 + part_length(rest),
        _ if is_of_message => length + path_length(&text[length..]),
        _ => length,
    }
}

fn part_length(text: &str) -> usize {
    let inside = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    text.find(|c| !inside(c)).unwrap_or(text.len())
}

/// Returns the length of the rest of a member's path: `[0]` in JSON, `/` and `/@` in XML, with the names after them.
fn path_length(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let element = rest.strip_prefix('[').map_or(0, |inside| {
            let digits = inside.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            if digits > 0 && inside[digits..].starts_with(']') {
                digits + 2
            } else {
                0
            }
        });
        let separator = match rest.strip_prefix('/') {
            Some(name) => 1 + usize::from(name.starts_with('@')),
            None => element,
        };
        if separator == 0 {
            return at;
        }
        at += separator + part_length(&rest[separator..]);
    }
}

/// Classifies a word. `None` if it begins as a number or an address but is neither.
fn word_kind(word: &str) -> Option<TokenKind> {
    if word.contains(['[', '@']) || word.split('/').count() > 2 {
        return Some(TokenKind::Word(word.to_string()));
    }
    let (address, length) = match word.split_once('/') {
        Some((address, length)) => (address, Some(length.parse::<u8>().ok()?)),
        None => (word, None),
    };
    if let Ok(address) = address.parse::<IpAddr>() {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        return (length.unwrap_or(0) <= bits).then_some(TokenKind::Address(address, length));
    }
    if let Some(mac) = mac(word) {
        return Some(TokenKind::Mac(mac));
    }
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        let number = match word.strip_prefix("0x") {
            // A sign is no digit.
            Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16),
            _ => word.parse(),
        };
        return number.ok().map(TokenKind::Number).or_else(|| time(word));
    }
    (!word.contains(':')).then(|| TokenKind::Word(word.to_string()))
}

/// Parses a time in nanoseconds: digits, perhaps with a point and more digits, and a unit.
fn time(word: &str) -> Option<TokenKind> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (_, unit) = UNITS
        .iter()
        .find(|(unit, _)| *unit == &word[digits.len()..])?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 9 {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(*unit)?;
    // Fractions of a nanosecond are dropped.
    let part = part.parse::<u64>().ok()? * unit / 10u64.pow(part.len() as u32);
    whole.checked_add(part).map(TokenKind::Time)
}

/// Units of time, in nanoseconds.
pub(crate) const UNITS: [(&str, u64); 4] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

/// Parses a link-layer address: six pairs of digits.
fn mac(word: &str) -> Option<[u8; 6]> {
    let mut bytes = [0; 6];
    let mut parts = word.split(':');
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.len() == 2)?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let tokens = tokens(text, 1).unwrap();
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn values_are_read_by_their_form() {
        assert_eq!(
            kinds("80 0x1F 10.0.0.0/8 fe80::1 ::/0 02:00:00:00:00:0a"),
            [
                TokenKind::Number(80),
                TokenKind::Number(31),
                TokenKind::Address("10.0.0.0".parse().unwrap(), Some(8)),
                TokenKind::Address("fe80::1".parse().unwrap(), None),
                TokenKind::Address("::".parse().unwrap(), Some(0)),
                TokenKind::Mac([2, 0, 0, 0, 0, 10]),
                TokenKind::End,
            ]
        );
    }

    #[test]
    fn times_have_units() {
        assert_eq!(
            kinds("0ns 250us 1.5ms 2s 0.000000001s 0.1ns"),
            [
                TokenKind::Time(0),
                TokenKind::Time(250_000),
                TokenKind::Time(1_500_000),
                TokenKind::Time(2_000_000_000),
                TokenKind::Time(1),
                TokenKind::Time(0),
                TokenKind::End,
            ]
        );
        for wrong in ["1m", "1.s", "1.2.3s", "0x1s", "99999999999s", "1e3s"] {
            assert!(tokens(wrong, 1).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_have_points_and_hyphens_and_symbols_need_no_blanks() {
        assert_eq!(
            kinds("http.header.user-agent<=\"a\\\"b\""),
            [
                TokenKind::Word("http.header.user-agent".into()),
                TokenKind::Symbol("<="),
                TokenKind::Quoted("a\\\"b".into()),
                TokenKind::End,
            ]
        );
    }

    #[test]
    fn paths_of_members_are_names() {
        let path = |text: &str| TokenKind::Word(text.into());
        assert_eq!(
            kinds("json.rows[10].x[0]==1"),
            [
                path("json.rows[10].x[0]"),
                TokenKind::Symbol("=="),
                TokenKind::Number(1),
                TokenKind::End
            ]
        );
        assert_eq!(
            kinds("xml.s:order/item/@id, xml.a/@b"),
            [
                path("xml.s:order/item/@id"),
                TokenKind::Symbol(","),
                path("xml.a/@b"),
                TokenKind::End
            ]
        );
        assert_eq!(kinds("in[7]").len(), 5);
    }

    #[test]
    fn a_token_knows_where_it_stands() {
        let tokens = tokens(" count\n", 10).unwrap();
        assert_eq!(tokens[0].span, Span { lo: 11, hi: 16 });
        assert_eq!(tokens[1].span, Span { lo: 17, hi: 17 });
    }

    #[test]
    fn what_begins_as_a_value_and_is_none_is_refused() {
        for wrong in [
            "10.0.0",
            "1e3",
            "0x",
            "0x+1",
            "10.0.0.0/33",
            "10.0.0.0/x",
            "1:2",
            "99999999999999999999",
        ] {
            assert!(tokens(wrong, 1).is_err(), "{wrong}");
        }
    }
}
