//! Keys of flow states and of figures by group that cannot become BPF. Codes E0741 and E0742.

use crate::abi::Hook;
use diag::{Diagnostic, Span};

/// A varbit in a key or value.
pub fn varbit(what: &str, name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0741",
        at,
        format!("the {what} `{name}` has a varbit in its key or value"),
    )
    .help("keep fields of fixed width")
}

/// A key that is too long to be made on the stack.
pub fn too_long(hook: Hook, name: &str, bytes: u32, limit: u32, at: Span) -> Diagnostic {
    let target = hook.target();
    Diagnostic::error(
        "E0742",
        at,
        format!("the key of `{name}` takes {bytes} bytes; the {target} target takes up to {limit}"),
    )
    .help("use fewer or narrower fields as key, or a hash of them")
}
