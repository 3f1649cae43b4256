//! Errors inside a token: E010x.

use diag::{Diagnostic, Span, grouped};

/// A character that P4 does not use.
pub(crate) fn unknown_character(span: Span, text: &str) -> Diagnostic {
    let quoted: String = text
        .chars()
        .take(20)
        .flat_map(char::escape_default)
        .collect();
    let shown: String = text.chars().take(20).collect();
    let (what, help) = match text.chars().next() {
        Some('\u{201c}' | '\u{201d}') => (shown, "write strings with plain quotes: `\"text\"`"),
        Some('\'') => (
            shown,
            "P4 has no character literals; write a number, or a string, `\"...\"`",
        ),
        Some('\\') => (
            shown,
            "a backslash continues a line only if nothing follows it on the line",
        ),
        Some('\u{a0}' | '\u{200b}' | '\u{feff}') => (quoted, "delete the invisible character"),
        Some(c) if c.is_control() => (quoted, "delete the invisible character"),
        Some('#') => (shown, "a directive must come first on its line"),
        _ => (
            shown,
            "names consist of a-z, A-Z, digits and `_`; other text belongs in comments and strings",
        ),
    };
    Diagnostic::error("E0101", span, format!("unexpected `{what}`")).help(help)
}

/// Bytes in code or in a string that are not UTF-8.
pub(crate) fn not_utf8(span: Span) -> Diagnostic {
    Diagnostic::error("E0108", span, "invalid UTF-8")
        .label("these bytes are in another encoding")
        .help("save the file as UTF-8, or remove the character")
}

/// Bytes in a comment that are not UTF-8.
pub(crate) fn not_utf8_comment(span: Span) -> Diagnostic {
    Diagnostic::warning("W0005", span, "invalid UTF-8 in a comment")
        .label("the first byte in another encoding")
        .help("save the file as UTF-8; Onpath accepts it anyway, because comments have no effect")
}

/// A string without its closing quote.
pub(crate) fn unclosed_string(span: Span) -> Diagnostic {
    Diagnostic::error("E0102", span, "unterminated string")
        .label("begins here")
        .help("close it with `\"`")
}

/// A comment without its end.
pub(crate) fn unclosed_comment(span: Span) -> Diagnostic {
    Diagnostic::error("E0103", span, "unterminated comment")
        .label("begins here")
        .help("close it with `*/`; comments do not nest")
}

/// `\q` in a string.
pub(crate) fn bad_escape(span: Span, escape: &str) -> Diagnostic {
    Diagnostic::error(
        "E0104",
        span,
        format!("unknown escape `\\{escape}` in a string"),
    )
    .help(
        "the escapes are `\\\"` `\\'` `\\\\` `\\n` `\\r` `\\t` `\\0`; write a backslash as `\\\\`",
    )
}

/// A malformed number.
pub(crate) fn malformed_number(span: Span, text: &str, why: &str) -> Diagnostic {
    let text: String = text.chars().take(40).collect();
    Diagnostic::error("E0105",
        span,
        format!("`{text}` is not a number: {why}"),
    )
    .help("write numbers as `10`, `0x1f`, `0b101`, `0o17` or `1_000`, with a width as `8w10` or `8s10`")
}

/// A width that no target could have.
pub(crate) fn number_width(span: Span, limit: u32) -> Diagnostic {
    Diagnostic::error(
        "E0106",
        span,
        format!(
            "the number is more than {} bits wide",
            grouped(limit.into())
        ),
    )
    .help("the width in bits comes before `w` or `s`: `32w1` is a 32-bit 1")
}

/// A number with more digits than any width holds.
pub(crate) fn number_long(span: Span, limit: u32) -> Diagnostic {
    Diagnostic::error(
        "E0107",
        span,
        format!("the number does not fit in {} bits", grouped(limit.into())),
    )
    .help("no value in P4 needs so many digits; is a separator missing?")
}
