//! Diagnostics of messages that a target's programs cannot read. Code E0749.

use diag::{Diagnostic, Span};

/// A message in a program whose packets may be copied, resubmitted or recirculated.
pub fn of_copies(target: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0749",
        at,
        format!("the {target} target reads no payload in a program that copies packets or sends them round"),
    )
    .help("read it in a program of its own, a tap for example")
}

/// A schema for which no function can be generated.
pub(crate) fn unreadable(target: &str, schema: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0749",
        at,
        format!("the {target} target cannot read messages of `{schema}`: {why}"),
    )
    .help("test the program with `onpath test --target interp`, or query such messages with `onpath query --off-path`")
}
