//! Warnings about likely errors (Wxxxx).

use diag::{Code, Diagnostic, Span};
use num_bigint::BigInt;
use syntax::ast::Ident;

/// Returns the names by which `@noWarn` silences a kind of warning, beside its code.
pub(crate) fn families(code: Code) -> &'static [&'static str] {
    match code.0 {
        "W0201" => &["unused"],
        "W0202" => &["deprecated"],
        "W0203" => &["missing"],
        "W0204" => &["duplicate"],
        "W0205" => &["shadow"],
        "W0301" | "W0302" | "W0303" => &["overflow", "mismatch"],
        "W0401" => &["uninitialized", "uninitialized_use"],
        "W0402" => &["invalid_header"],
        "W0403" => &["uninitialized", "uninitialized_out_param"],
        "W0404" | "W0405" | "W0406" | "W0407" => &["unreachable", "parser-transition"],
        _ => &[],
    }
}

/// A declaration that nothing uses.
pub(crate) fn unused(span: Span, what: &str, name: &str) -> Diagnostic {
    Diagnostic::warning("W0201", span, format!("unused {what} `{name}`"))
        .label("never used")
        .help("remove it, or write `@noWarn(\"unused\")` before it")
}

/// Use of something deprecated.
pub(crate) fn deprecated(name: &Ident, why: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::warning("W0202", name.span, format!("`{}` is deprecated", name.name))
            .label("deprecated");
    diagnostic.help(if why.is_empty() {
        "see its declaration for a replacement"
    } else {
        why
    })
}

/// A program without `main`.
pub(crate) fn no_main(span: Span) -> Diagnostic {
    Diagnostic::warning("W0203", span, "the program has no `main`")
        .label("a library of declarations")
        .help("instantiate the architecture's package as `main` to make a program of it")
}

/// `@name` for the second time.
pub(crate) fn second_name(span: Span, first: Span) -> Diagnostic {
    Diagnostic::warning("W0204", span, "a second `@name`")
        .label("has no effect")
        .also(first, "given here first")
        .help("remove it")
}

/// A local that hides a parameter of the body around it.
pub(crate) fn hides_parameter(name: &Ident, param: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0205",
        name.span,
        format!("`{}` hides a parameter of the same name", name.name),
    )
    .label("names the local from here to the end of the block")
    .also(param, "the parameter")
    .help("choose another name, or write `@noWarn(\"shadow\")` before it")
}

/// A constant that loses bits.
pub(crate) fn truncated(span: Span, value: &BigInt, ty: &str, kept: &BigInt) -> Diagnostic {
    Diagnostic::warning("W0301", span, format!("{value} does not fit in `{ty}`"))
        .label(format!("becomes {kept}"))
        .help("use a wider type, or a cast if this is intended")
}

/// A negative constant for an unsigned type.
pub(crate) fn negative(span: Span, value: &BigInt, ty: &str, kept: &BigInt) -> Diagnostic {
    Diagnostic::warning(
        "W0302",
        span,
        format!("the negative number {value} in the unsigned type `{ty}`"),
    )
    .label(format!("becomes {kept}"))
    .help("use a signed type, or a cast if this is intended")
}

/// A shift by the whole width or more.
pub(crate) fn shift_width(span: Span, by: &BigInt, ty: &str) -> Diagnostic {
    Diagnostic::warning("W0303", span, format!("a shift of `{ty}` by {by}"))
        .label("all bits are shifted out")
        .help("shift by less than the width")
}

/// Division or modulo by a divisor that is known only at run time.
pub(crate) fn run_time_divisor(span: Span, op: &str) -> Diagnostic {
    let message = format!("the right operand of `{op}` is known only at run time");
    Diagnostic::warning("W0304", span, message)
        .label("where it is 0, so is the result")
        .help(match op {
            "%" => {
                "other compilers take constants only; for a power of two that is computed, mask: `a & (n - 1)`"
            }
            _ => "other compilers take constants only; by a power of two that is computed, shift",
        })
}

/// A variable read before anything was written to it.
pub(crate) fn uninitialized(span: Span, what: &str) -> Diagnostic {
    Diagnostic::warning(
        "W0401",
        span,
        format!("`{what}` may be read before it is written"),
    )
    .label("perhaps undefined here")
    .help("initialise it on every path")
}

/// A read of a field of a header that is certainly invalid.
pub(crate) fn invalid_header(span: Span, what: &str) -> Diagnostic {
    in_invalid(span, what)
        .label("its fields are undefined")
        .help("make it valid first: extract it, call `setValid()`, or assign all of it")
}

/// A write to a field of a header that is certainly invalid.
pub(crate) fn invalid_written(span: Span, what: &str) -> Diagnostic {
    in_invalid(span, what)
        .label("it need not keep what is written to it")
        .help("make it valid first: call `setValid()` before this, or assign all of it")
}

fn in_invalid(span: Span, what: &str) -> Diagnostic {
    Diagnostic::warning(
        "W0402",
        span,
        format!("the header `{what}` is invalid here"),
    )
}

/// An `out` parameter that may be left without a value.
pub(crate) fn out_unset(span: Span, what: &str, of: &str) -> Diagnostic {
    Diagnostic::warning(
        "W0403",
        span,
        format!("the `out` parameter `{what}` may be unset when `{of}` ends"),
    )
    .label("not written on every path")
    .help("write it on every path through the body")
}

/// A state that no transition leads to.
pub(crate) fn unreachable_state(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning(
        "W0404",
        span,
        format!("no transition leads to the state `{name}`"),
    )
    .label("never reached")
    .help("remove it, or add the missing transition")
}

/// A select case after one that matches everything.
pub(crate) fn unreachable_case(span: Span, all: Span) -> Diagnostic {
    Diagnostic::warning("W0405", span, "this case is never reached")
        .label("never reached")
        .also(all, "this one matches everything")
        .help("the first matching case applies: move the general one to the end")
}

/// A statement after one that never continues.
pub(crate) fn unreachable_statement(span: Span, by: Span) -> Diagnostic {
    Diagnostic::warning("W0406", span, "this statement is never reached")
        .label("never reached")
        .also(by, "control does not continue past this")
        .help("remove it")
}

/// An entry that equals an earlier one.
pub(crate) fn entry_twice(span: Span, first: Span) -> Diagnostic {
    Diagnostic::warning("W0407", span, "an earlier entry has the same key")
        .label("never matched")
        .also(first, "the first")
        .help("remove one of the two")
}

/// A range that contains nothing.
pub(crate) fn empty_range(span: Span, lo: &BigInt, hi: &BigInt) -> Diagnostic {
    Diagnostic::warning("W0408", span, format!("the range {lo} .. {hi} is empty"))
        .label("matches nothing")
        .help("write the lower end first")
}

/// A key that is not a plain name, field, index or slice, and has no `@name`.
pub(crate) fn key_without_name(span: Span, made: &str) -> Diagnostic {
    Diagnostic::warning("W0409", span, "this key has no name for the control plane")
        .label(format!("it is called `{made}`"))
        .help("put `@name(\"...\")` after the match kind, or `@hidden`")
}
