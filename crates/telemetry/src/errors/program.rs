//! Queries that no P4 program keeps.

use diag::{Code, Diagnostic, Span};

/// An attribute of a message.
pub(crate) fn message(name: &str) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E1135"),
        Span::NONE,
        format!("a P4 program of a query does not read `{name}`: it is in the payload"),
    )
    .help("ask for fields of headers, or answer the query by `--off-path` or `--read`")
    .into()
}
