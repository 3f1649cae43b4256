//! P4Runtime ids.

use diag::{Diagnostic, Span};
use p4runtime::{NUMBER, Prefix};

/// An `@id` that is no number.
pub(crate) fn id_form(at: Span) -> Diagnostic {
    Diagnostic::error("E0580", at, "`@id` takes one number of at most 32 bits")
        .help("write it as P4 writes numbers, such as `@id(5)`, `@id(0x2000005)` or `@id(8w5)`")
}

/// An id that consists only of a prefix.
pub(crate) fn id_zero(at: Span) -> Diagnostic {
    Diagnostic::error("E0581", at, "no id is 0")
        .label("P4Runtime takes 0 for an id that is not given")
        .help("use another number, or omit `@id` to have one chosen")
}

/// An id with the prefix of another kind of thing.
pub(crate) fn id_prefix(at: Span, id: u32, prefix: Prefix) -> Diagnostic {
    let right = (prefix as u32) << 24;
    Diagnostic::error(
        "E0582",
        at,
        format!(
            "the id {id:#010x} has the prefix {:#04x}, and the prefix of {} is {:#04x}",
            id >> 24,
            prefix.plural(),
            prefix as u32
        ),
    )
    .help(format!(
        "write `@id({:#010x})`, or `@id({:#x})` without the prefix",
        right | (id & NUMBER),
        id & NUMBER
    ))
}

/// An id that something else has.
pub(crate) fn same_id(at: Span, what: &str, id: u32, first: Span) -> Diagnostic {
    Diagnostic::error("E0583", at, format!("{what} have the id {id:#x}"))
        .label("the control plane could not tell them apart")
        .also(first, "has this id already")
        .help("give one of them another number, or omit `@id` to have one chosen")
}
