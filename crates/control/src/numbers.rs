//! Numbers in statements.

use crate::Piece;

/// Parses a number in a statement: decimal or, after `0x`, hexadecimal; `_` is allowed between digits.
pub(crate) fn number(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// Splits `NAME[INDEX]` into name and index.
pub(crate) fn bracketed(word: Piece<'_>) -> Option<(Piece<'_>, Piece<'_>)> {
    let open = word.text.rfind('[')?;
    let close = word.text.strip_suffix(']')?.len();
    Some((word.part(0, open), word.part(open + 1, close).trim()))
}
