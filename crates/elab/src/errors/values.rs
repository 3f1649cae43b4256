//! Compile-time values.

use crate::expansion::Cause;
use diag::{Diagnostic, Span};
use num_bigint::BigInt;

/// A value that must be a compile-time constant but isn't.
pub(crate) fn not_constant(at: Span) -> Diagnostic {
    Diagnostic::error("E0555", at, "this value must be a compile-time constant")
        .help("use only literals, constants and constructor parameters")
}

/// A divisor that is 0 with the constructor arguments of an instance.
pub(crate) fn division_by_zero(at: Span, instance: &str) -> Diagnostic {
    Diagnostic::error("E0501", at, "division by zero")
        .label(format!("this is 0 in the instance `{instance}`"))
        .help("give the constructor of this instance another argument, or use a non-zero divisor")
}

/// A shift that is negative with the constructor arguments of an instance.
pub(crate) fn negative_shift(at: Span, by: &BigInt, instance: &str) -> Diagnostic {
    Diagnostic::error("E0503", at, "a shift by a negative number")
        .label(format!("this is {by} in the instance `{instance}`"))
        .help("give the constructor of this instance another argument, or shift in the other direction")
}

/// A size that is below 1 or too large.
pub(crate) fn bad_size(at: Span, what: &str, value: &BigInt) -> Diagnostic {
    Diagnostic::error("E0556", at, format!("{what} is {value}"))
        .help("use a number from 1 to 4,294,967,295")
}

/// Functions, controls, parsers or types that use one another in too long a chain.
pub(crate) fn too_deep(at: Span, limit: u32) -> Diagnostic {
    Diagnostic::error(
        "E0563",
        at,
        format!("calls, instances, statements and types nest deeper than {limit} levels"),
    )
    .help("shorten the chain of functions, controls, parsers or structs that use one another")
}

/// A program that instantiation makes too big.
pub(crate) fn too_big(at: Span, limit: usize) -> Diagnostic {
    Diagnostic::error("E0558",
        at,
        format!("the program grows beyond {limit} statements and expressions"),
    )
    .help(
        "look for parsers or controls that each instantiate several others, level upon level, for loops over long \
         lists, and for large arrays that are copied or compared as a whole",
    )
}

/// More statements than any target could hold. The cause may be calls of routines that in turn call others more
/// than once.
pub(crate) fn too_big_expanded(cause: Cause, most: u64) -> Diagnostic {
    let refused = |at, what: &str| {
        let message = format!("{what} more than {most} statements");
        Diagnostic::error("E0577", at, message)
    };
    match cause {
        Cause::Calls(at) => refused(at, "with every call expanded, this program has")
            .label("its calls, and theirs, make up most of them")
            .help("targets expand every call: call it fewer times, or keep its result in a variable"),
        Cause::Statements(at) => refused(at, "this program has")
            .label("it has most of them")
            .help("put what differs only in values into the entries of a table, or split the program and run its parts as a bundle"),
    }
}

/// A member of an enum whose parameters nothing sets.
pub(crate) fn fixed_member(at: Span, member: &str, like: &str) -> Diagnostic {
    Diagnostic::warning(
        "W0554",
        at,
        format!("`{member}` has no parameters of its own here: it does what `{like}` does"),
    )
    .label(format!("the same as `{like}`"))
    .help(format!(
        "write `{like}` if this is what you mean; Onpath has no other polynomials"
    ))
}
