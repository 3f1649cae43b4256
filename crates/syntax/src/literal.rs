//! Values of integer and string literals (specification section "Literals").

use num_bigint::BigInt;

use crate::ast::IntWidth;
use crate::lexer::continuation;

/// Width of the widest literal, in bits. No target has wider fields.
pub(crate) const MAX_BITS: u32 = 65_536;

/// Error in an integer literal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BadInt {
    /// Not a number, for this reason.
    Malformed(String),
    /// Width over [`MAX_BITS`].
    Width,
    /// Value with more than [`MAX_BITS`] bits.
    Long,
}

/// Returns value and width of an integer literal.
pub(crate) fn integer(text: &str) -> Result<(BigInt, Option<IntWidth>), BadInt> {
    let (width, digits) = match text.find(['w', 's']) {
        Some(at) => {
            let (bits, rest) = text.split_at(at);
            if !bits.bytes().all(|b| b.is_ascii_digit()) {
                return Err(BadInt::Malformed(format!(
                    "the width `{bits}` is not decimal"
                )));
            }
            let bits: u32 = bits.parse().map_err(|_| BadInt::Width)?;
            if bits > MAX_BITS {
                return Err(BadInt::Width);
            }
            (
                Some(IntWidth {
                    bits,
                    signed: rest.starts_with('s'),
                }),
                &rest[1..],
            )
        }
        None => (None, text),
    };
    if digits.starts_with('_') {
        return Err(BadInt::Malformed("the digits begin with `_`".into()));
    }
    // After a base, `_` may come first.
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'd' | b'D', ..] => (10, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        _ => (10, digits),
    };
    let plain: String = digits.chars().filter(|c| *c != '_').collect();
    if plain.is_empty() {
        return Err(BadInt::Malformed("there are no digits".into()));
    }
    if let Some(wrong) = plain.chars().find(|c| !c.is_digit(radix)) {
        return Err(BadInt::Malformed(format!(
            "`{wrong}` is not a digit of base {radix}"
        )));
    }
    let plain = plain.trim_start_matches('0');
    if plain.is_empty() {
        return Ok((BigInt::ZERO, width));
    }
    // Each digit has at least this number of bits, so the length bounds the work before it is done.
    let least_bits = match radix {
        16 => 4,
        2 => 1,
        _ => 3,
    };
    let too_long = plain.len() > (MAX_BITS / least_bits) as usize + 1;
    let value = if too_long {
        None
    } else {
        BigInt::parse_bytes(plain.as_bytes(), radix)
    };
    match value {
        Some(value) if value.bits() <= u64::from(MAX_BITS) => Ok((value, width)),
        _ => Err(BadInt::Long),
    }
}

/// Returns the text of a string literal, and its first unknown escape with its byte offset in the literal. An unknown
/// escape stands for itself.
pub(crate) fn string(literal: &str) -> (String, Option<(usize, char)>) {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut text = String::with_capacity(inner.len());
    let mut bad = None;
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        if let Some(length) = continuation(&inner.as_bytes()[at..]) {
            chars.nth(length - 2);
            continue;
        }
        match chars.next().map(|(_, c)| c) {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('0') => text.push('\0'),
            Some(c @ ('"' | '\\' | '\'')) => text.push(c),
            Some(c) => {
                bad = bad.or(Some((at + 1, c)));
                text.push(c);
            }
            None => {}
        }
    }
    (text, bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> (i64, Option<(u32, bool)>) {
        let (value, width) = integer(text).unwrap();
        (
            i64::try_from(value).unwrap(),
            width.map(|w| (w.bits, w.signed)),
        )
    }

    #[test]
    fn every_base_with_and_without_width() {
        assert_eq!(value("0"), (0, None));
        assert_eq!(value("1_000"), (1000, None));
        assert_eq!(value("0x1F"), (31, None));
        assert_eq!(value("0Xff_ff"), (65535, None));
        assert_eq!(value("0b1010"), (10, None));
        assert_eq!(value("0o17"), (15, None));
        assert_eq!(value("0d19"), (19, None));
        assert_eq!(value("017"), (17, None));
        assert_eq!(value("8w255"), (255, Some((8, false))));
        assert_eq!(value("4s0b0101"), (5, Some((4, true))));
        assert_eq!(value("32w0xDEAD_BEEF"), (0xdead_beef, Some((32, false))));
        assert_eq!(value("1w1"), (1, Some((1, false))));
        assert_eq!(value("48w0x_6A_F3"), (0x6af3, Some((48, false))));
        assert_eq!(value("0b_1"), (1, None));
    }

    #[test]
    fn what_is_no_number_says_why() {
        for text in [
            "0x", "8w", "8wx", "0b12", "12ab", "0o8", "0xfwff", "5x", "0x_", "8w_1",
        ] {
            assert!(matches!(integer(text), Err(BadInt::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn absurd_sizes_are_refused_before_they_cost_anything() {
        assert_eq!(integer("99999999999w1"), Err(BadInt::Width));
        assert_eq!(integer("70000w1"), Err(BadInt::Width));
        assert_eq!(integer(&"9".repeat(1_000_000)), Err(BadInt::Long));
        assert_eq!(
            integer(&format!("0x{}", "f".repeat(16_385))),
            Err(BadInt::Long)
        );
        assert!(integer(&format!("0x{}", "f".repeat(16_384))).is_ok());
        assert!(integer(&"0".repeat(100_000)).is_ok());
    }

    #[test]
    fn escapes_are_resolved_and_unknown_ones_reported() {
        assert_eq!(string(r#""a\"b\\c\n""#), ("a\"b\\c\n".into(), None));
        assert_eq!(string("\"a \\ \t\nb\\\r\nc\\\nd\""), ("a bcd".into(), None));
        assert_eq!(string(r#""a\qb""#), ("aqb".into(), Some((2, 'q'))));
    }
}
