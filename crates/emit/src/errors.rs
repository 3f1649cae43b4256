//! Refusals of programs that no target can lower. Codes E0722 to E0731 (targets define some between them), E0747
//! and E0749.
//!
//! `target` is the name of a target as messages show it.

use diag::{Diagnostic, Span};

/// A parameter of a user's extern that has no C type.
pub fn extern_parameter(name: &str, what: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0722",
        at,
        format!("`{name}` cannot be called in C: {what}"),
    )
    .help("an extern in C takes values of up to 64 bits and `bool`; pass a header's fields one by one")
}

/// Varbits to be hashed or compared that may be longer than the memory for them.
pub fn long_varbits(target: &str, bytes: u64, most: u32, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0723",
        at,
        format!(
            "the {target} target hashes and compares values of up to {most} bytes, and these may have {bytes}"
        ),
    )
    .label("a varbit counts with the size of its type")
    .help("give the varbit the size that packets really have, as in varbit<320>, or leave it out")
}

/// An emit of a header in a loop, or at an index that is not constant.
pub fn dynamic_emit(target: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0724",
        at,
        format!(
            "the {target} target cannot emit headers in a loop or by an index that is not constant"
        ),
    )
    .help("emit each header, or the whole stack with `packet.emit(hdr.stack)`")
}

/// A construct that the pass pipeline should have removed.
pub fn not_lowered(target: &str, what: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0728", at, format!("the {target} target was given {what}"))
        .help("this is a compiler bug: please report it with the program")
}

/// A stack of headers with varbit fields that is indexed by a value.
pub fn dynamic_varbit(target: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0729",
        at,
        format!(
            "the {target} target cannot index a stack of headers with varbit fields by a value"
        ),
    )
    .help("use constant indices, or a header with fields of fixed width")
}

/// A key that only feeds an action selector's hash.
pub fn selector_key(target: &str, table: &str, key: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0731",
        at,
        format!(
            "the {target} target has no `selector` match kind, which key `{key}` of table `{table}` has"
        ),
    )
    .help(
        "match it as `exact`: on a hash of the fields if one of several actions is to be chosen by \
         them, with an entry for each value",
    )
}

/// A table that has no key to match.
pub fn only_selectors(target: &str, table: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0731",
        at,
        format!("the {target} target needs a key to match in table `{table}`, whose keys are all `selector`"),
    )
    .help("add a key that all entries match alike, such as a constant as `exact`")
}

/// An extern on numbers that is called with more than 64 bits.
pub fn wide_number(target: &str, name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0747",
        at,
        format!("the {target} target computes `{name}` with numbers of up to 64 bits"),
    )
    .help("use a narrower type for the result and the bounds")
}

/// A hash algorithm that the target has, but not for this input.
pub fn algorithm(target: &str, algorithm: &str, of: &str, instead: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0749",
        at,
        format!("the {target} target computes no `HashAlgorithm.{algorithm}` of {of}"),
    )
    .help(instead)
}
