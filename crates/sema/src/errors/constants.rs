//! Errors in compile-time evaluation (E05xx).

use crate::constant::Fault;
use diag::{Diagnostic, Span};

/// An operation on constants that has no value.
pub(crate) fn fault(fault: Fault, span: Span, right: Span, op: &str) -> Diagnostic {
    match fault {
        Fault::DivisionByZero => Diagnostic::error("E0501", right, "division by zero")
            .label("this is 0")
            .help("use a non-zero divisor"),
        Fault::Negative => Diagnostic::error(
            "E0502",
            span,
            format!("operator `{op}` on a negative number"),
        )
        .label("an operand is negative")
        .help("use non-negative operands"),
        Fault::NegativeShift => Diagnostic::error("E0503", right, "a shift by a negative number")
            .label("negative")
            .help("shift in the other direction"),
        Fault::TooLarge => Diagnostic::error("E0504", span, "this constant is too large")
            .label("more than 131,072 bits")
            .help("no value can be that wide: check the operands"),
    }
}

/// A value that is not a compile-time constant, where it must be.
pub(crate) fn not_constant(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0505",
        span,
        format!("{what} must be a compile-time constant"),
    )
    .label("known only at run time")
    .help("use literals, constants, or constructor parameters in scope")
}

/// Turns `found` into the error that a value depends on the instance, but types need the same one for all instances.
pub(crate) fn of_an_instance(found: Diagnostic) -> Diagnostic {
    found
        .label("each instance has its own, by a constructor parameter")
        .help("widths, sizes, counts and bounds of slices are the same for all instances: use literals and constants")
}

/// A `static_assert` that does not hold.
pub(crate) fn static_assert(span: Span, text: Option<&str>) -> Diagnostic {
    let message = match text {
        Some(text) => format!("static assertion failed: {text}"),
        None => "static assertion failed".to_owned(),
    };
    Diagnostic::error("E0506", span, message)
        .label("this is false")
        .help("the program requires this condition to be true")
}

/// Nesting that exceeds the limit.
pub(crate) fn too_deep(span: Span, limit: u32) -> Diagnostic {
    Diagnostic::error(
        "E0507",
        span,
        format!("nested more than {limit} levels deep"),
    )
    .label("too deep")
    .help("move inner parts into constants, variables or functions")
}
