//! Queries that no P4 program keeps, or none that the kernel loads. Codes E1135, E1137, E1138 and E1146.

use diag::{Code, Diagnostic, Span};

/// What to do instead.
const ELSEWHERE: &str = "answer the query by `--off-path` or `--read`";

fn refused(code: &'static str, what: String, help: String) -> Box<Diagnostic> {
    Diagnostic::error(Code(code), Span::NONE, what)
        .help(help)
        .into()
}

/// An attribute of a message that no program reads.
pub(crate) fn message(name: &str) -> Box<Diagnostic> {
    refused(
        "E1135",
        format!("no program on the packets' path reads `{name}`"),
        format!("ask for fields of headers or for other attributes, or {ELSEWHERE}"),
    )
}

/// Response times of messages of which several may follow one another in a packet.
pub(crate) fn too_many_paths(kind: &str) -> Box<Diagnostic> {
    refused(
        "E1146",
        format!(
            "the kernel's verifier takes no program that pairs the requests and responses of {kind}, of which a packet may have several"
        ),
        ELSEWHERE.into(),
    )
}

/// A text in a condition that is longer than what a program has of an attribute.
pub(crate) fn long_text(name: &str, most: usize) -> Box<Diagnostic> {
    refused(
        "E1137",
        format!("a program on the packets' path compares `{name}` with {most} bytes at most"),
        format!("compare its first bytes by `starts with`, or {ELSEWHERE}"),
    )
}

/// Keys that take more bytes than a program keeps.
pub(crate) fn too_many_texts(most: usize) -> Box<Diagnostic> {
    refused(
        "E1138",
        format!(
            "the keys of this query take more than the {most} bytes that a program on the packets' path keeps of them"
        ),
        format!("group by fewer texts or flows, or {ELSEWHERE}"),
    )
}
