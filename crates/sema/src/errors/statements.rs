//! Statements, l-values and keysets (E043x to E045x).

use super::{inside, tick};
use diag::{Diagnostic, Span, counted};

/// Something that cannot be written to.
pub(crate) fn not_lvalue(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0430", span, format!("{what} cannot be written to"))
        .label("not an l-value")
        .help("write to a variable, a field, an element of a stack, or a slice of these")
}

/// A write to a name that is read-only.
pub(crate) fn read_only(
    span: Span,
    name: &str,
    what: &str,
    declared: Span,
    help: &str,
) -> Diagnostic {
    Diagnostic::error(
        "E0431",
        span,
        format!("`{name}` is {what} and cannot be written to"),
    )
    .label("read only")
    .also(declared, "declared here")
    .help(help)
}

/// A statement in the wrong context.
pub(crate) fn not_here(span: Span, what: &str, context: &str, help: &str) -> Diagnostic {
    Diagnostic::error(
        "E0434",
        span,
        format!("{what} is not allowed {}", inside(context)),
    )
    .label("not allowed here")
    .help(help)
}

/// `break` or `continue` outside a loop.
pub(crate) fn outside_loop(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0435", span, format!("`{what}` outside a loop"))
        .label("no loop around this")
        .help("remove it, or leave with `return`")
}

/// `return;` in a function that must return a value.
pub(crate) fn return_without(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("E0436", span, format!("this function returns `{ty}`"))
        .label("no value returned")
        .help("write the value after `return`")
}

/// `return e;` where none is expected.
pub(crate) fn return_with(span: Span, context: &str) -> Diagnostic {
    let help = match context {
        "a function" => "write `return;`, or give the function a result type",
        "a method's implementation" => "write `return;`: the method's declaration has no result",
        _ => "write `return;`, and give the value by an `out` parameter",
    };
    Diagnostic::error(
        "E0437",
        span,
        format!("a value is returned from {context}, which returns none"),
    )
    .label("unexpected value")
    .help(help)
}

/// A function that may end without a value.
pub(crate) fn missing_return(span: Span, name: &str, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0438",
        span,
        format!("`{name}` can end without returning its `{ty}`"),
    )
    .label("some path through it has no `return`")
    .help("end every branch with a `return`")
}

/// A mask, range or tuple where a single value is expected.
pub(crate) fn keyset_elsewhere(span: Span) -> Diagnostic {
    Diagnostic::error("E0439", span, "expected one value, found a set")
        .label("a set")
        .help("masks and sets are for `select` cases and table entries; loops go through a range, `lo .. hi`")
}

/// A number of keyset elements that differs from the number of keys.
pub(crate) fn keyset_arity(span: Span, want: usize, got: usize) -> Diagnostic {
    Diagnostic::error(
        "E0440",
        span,
        format!("{} for {}", counted(got, "element"), counted(want, "key")),
    )
    .label("one element per key")
    .help("give as many elements as `select` has keys, `_` for those that do not matter")
}

/// A call in a case of `select`.
pub(crate) fn call_in_case(span: Span) -> Diagnostic {
    Diagnostic::error("E0360", span, "a case of `select` cannot call anything")
        .label("called for each packet that gets here")
        .help("call it before `transition`, keep the result in a variable, and compare with that")
}

/// A key that is a number without width.
pub(crate) fn key_without_width(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0441",
        span,
        "a number without a width cannot be matched on",
    )
    .label("unknown width")
    .help("give it a width: `8w5`")
}

/// A label of a table's `switch` that is not an action.
pub(crate) fn action_label(span: Span, table: &str) -> Diagnostic {
    Diagnostic::error(
        "E0442",
        span,
        format!("the labels here are actions of the table `{table}`"),
    )
    .label("not an action's name")
    .help("name one of the table's actions, or `default`")
}

/// A label that occurs twice.
pub(crate) fn label_twice(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0443", span, "duplicate label")
        .label("again")
        .also(first, "first used here")
        .help("remove one of the two")
}

/// A label after `default`.
pub(crate) fn after_default(span: Span, default: Span) -> Diagnostic {
    Diagnostic::error("E0444", span, "a label after `default`")
        .label("must come before `default`")
        .also(default, "the `default`")
        .help("move `default` to the end")
}

/// A loop over a value without elements.
pub(crate) fn not_iterable(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("E0445", span, format!("cannot iterate over {}", tick(ty)))
        .label("no elements")
        .help("loop over a range `lo .. hi`, a list, an array or a header stack")
}
