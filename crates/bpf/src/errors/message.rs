//! Messages that no program in the kernel can read. Codes E0748 and E0749.

use crate::abi::Hook;
use diag::{Diagnostic, Span};

/// A message in a program of which packets may be copies, or begin anew.
pub fn of_copies(hook: Hook, at: Span) -> Diagnostic {
    let target = hook.target();
    Diagnostic::error("E0749",
        at,
        format!("the {target} target reads no payload in a program that copies packets or sends them round"),
    )
    .help("read it in a program of its own, a tap for example")
}

/// A schema for which no function can be written.
pub fn unreadable(hook: Hook, schema: &str, why: &str, at: Span) -> Diagnostic {
    let target = hook.target();
    Diagnostic::error("E0749",
        at,
        format!("the {target} target cannot read messages of `{schema}`: {why}"),
    )
    .help("test the program with `onpath test --target interp`, or query such messages with `onpath query --off-path`")
}

/// A payload that is read in a loop, for a kernel that cannot verify it.
pub fn needs_newer(at: Span) -> Diagnostic {
    Diagnostic::error("E0748",
        at,
        "a program that reads messages, or looks for bytes in the payload, needs Linux 6.9 (may_goto)",
    )
    .label("this asks for it")
    .help("run it on a newer kernel; `payload_read` and `payload_matches_ignore_case` run on older ones")
}
