//! What is read from and written to packets.

use diag::{Code, Diagnostic, Span};

/// `extract` of something that isn't a header.
pub(crate) fn extract_type(at: Span) -> Diagnostic {
    Diagnostic::error(
        Code("E0567"),
        at,
        "only headers, and structs of headers, can be extracted",
    )
    .help("extract the headers in it one by one")
}

/// The form of `extract` that doesn't fit the header.
pub(crate) fn extract_varbit(at: Span, header: &str, has_varbit: bool) -> Diagnostic {
    if has_varbit {
        Diagnostic::error(
            Code("E0568"),
            at,
            format!("header `{header}` has a varbit field, whose size `extract` is not told"),
        )
        .help("give the size of the varbit field in bits as a second argument")
    } else {
        Diagnostic::error(
            Code("E0568"),
            at,
            format!("header `{header}` has no varbit field to give a size for"),
        )
        .help("leave the second argument out")
    }
}

/// `lookahead` of a type without a fixed number of bits.
pub(crate) fn lookahead_type(at: Span) -> Diagnostic {
    Diagnostic::error(
        Code("E0569"),
        at,
        "lookahead needs a type with a fixed number of bits",
    )
    .help("look at the fixed part of the header: a header or struct without varbits, unions and stacks")
}

/// `emit` of something that isn't a header.
pub(crate) fn emit_type(at: Span) -> Diagnostic {
    Diagnostic::error(
        Code("E0570"),
        at,
        "only headers, and structs, stacks and unions of headers, can be emitted",
    )
    .help("put the value into a header's field and emit the header")
}

/// A method of the packet that the core library doesn't have.
pub(crate) fn packet_method(at: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        Code("E0571"),
        at,
        format!("the packet has no method `{name}` with these arguments"),
    )
    .help("include the built-in <core.p4> instead of a declaration of your own")
}
