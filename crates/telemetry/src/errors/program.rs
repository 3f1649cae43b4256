//! Diagnostics of queries that no program on the packets' path can answer. Codes E0972, E1135, E1137 and E1138.

use super::refuse;
use diag::{Diagnostic, Span};

/// Help: alternatives to a program on the path.
const ELSEWHERE: &str = "answer the query by `--off-path` or `--read`";

/// An attribute of a message that no program reads.
pub(crate) fn message(at: Span, name: &str) -> Box<Diagnostic> {
    refuse(
        "E1135",
        at,
        format!("no program on the packets' path reads `{name}`"),
        "",
        format!("ask for fields of headers or for other attributes, or {ELSEWHERE}"),
    )
}

/// A text in a condition that is longer than the bytes a program reads of an attribute.
pub(crate) fn long_text(at: Span, name: &str, bytes: usize, most: usize) -> Box<Diagnostic> {
    refuse(
        "E1137",
        at,
        format!("a program on the packets' path compares `{name}` with {most} bytes at most"),
        format!("{bytes} bytes"),
        format!("compare its first bytes by `starts with`, or {ELSEWHERE}"),
    )
}

/// Keys that take more bytes than a program keeps.
pub(crate) fn too_many_texts(at: Span, most: usize) -> Box<Diagnostic> {
    refuse(
        "E1138",
        at,
        format!(
            "the keys of this query take more than the {most} bytes that a program on the packets' path keeps of them"
        ),
        "",
        format!("group by fewer texts or flows, or {ELSEWHERE}"),
    )
}

/// An attribute of which a message may have several values, where a program reads only one.
pub(crate) fn several(at: Span, name: &str, has_noise: bool) -> Box<Diagnostic> {
    let help = match has_noise {
        false => format!("write `first({name})`, or {ELSEWHERE}"),
        true => format!("{ELSEWHERE}; the first value that a program finds may be noise"),
    };
    refuse(
        "E0972",
        at,
        format!("a program on the packets' path does not read all values of `{name}`"),
        "a message may have several",
        help,
    )
}
