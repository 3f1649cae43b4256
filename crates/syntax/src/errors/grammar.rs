//! Violations of the grammar: E011x and E012x.

use crate::ast::Ident;
use diag::{Diagnostic, Span};

/// A token other than the expected one.
pub(crate) fn expected(span: Span, wanted: &str, found: &str) -> Diagnostic {
    let help = match found {
        "the end of the file" => format!("the file ends too early: add {wanted} here"),
        _ => format!("put {wanted} here, or remove {found}"),
    };
    Diagnostic::error("E0110", span, format!("expected {wanted}, found {found}"))
        .label(format!("expected {wanted}"))
        .help(help)
}

/// `list<A, B>`
pub(crate) fn list_of_several(span: Span) -> Diagnostic {
    Diagnostic::error("E0110", span, "`list` takes one type argument")
        .label("several types")
        .help("for a list whose elements have several parts, write `list<tuple<A, B>>`")
}

/// A missing semicolon after the previous token.
pub(crate) fn missing_semicolon(after: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0111", after, format!("missing `;` after {what}"))
        .label("put `;` here")
        .help("every declaration and statement that has no braces ends with `;`")
}

/// A bracket without its partner.
pub(crate) fn unclosed(at: Span, opener: Span, open: &str, close: &str, found: &str) -> Diagnostic {
    Diagnostic::error("E0112", at, format!("expected `{close}`, found {found}"))
        .label(format!("`{close}` is missing before this"))
        .also(opener, format!("this `{open}` is not closed"))
        .help(format!("close the `{open}` with `{close}`"))
}

/// A program nested deeper than the limit.
pub(crate) fn too_deep(span: Span, limit: u32) -> Diagnostic {
    Diagnostic::error(
        "E0113",
        span,
        format!("the program is nested more than {limit} levels deep"),
    )
    .label("one level too many")
    .help("split the expression or block: name parts of it with variables, actions or functions")
}

/// A keyword as a name.
pub(crate) fn reserved_name(span: Span, word: &str, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0118",
        span,
        format!("`{word}` is a keyword and cannot name {what}"),
    )
    .help(format!("choose another name, such as `{word}_`"))
}

/// A declaration in a context that does not allow its kind.
pub(crate) fn misplaced(span: Span, what: &str, place: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0119", span, format!("{what} is not allowed {place}")).help(help)
}

/// An expression that is not a statement.
pub(crate) fn expression_statement(span: Span) -> Diagnostic {
    Diagnostic::error("E0120", span, "this expression is not a statement")
        .label("its value is unused")
        .help("assign it to something, or call something")
}

/// `h.setInvalid;`
pub(crate) fn method_not_called(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0120", span, format!("the method `{name}` is not called"))
        .label("does nothing without parentheses")
        .help(match name {
            "setValid" | "setInvalid" | "apply" | "clear" => format!("call it: `{name}()`"),
            _ => format!("call it with its arguments: `{name}(...)`"),
        })
}

/// `{a, x = b}`.
pub(crate) fn mixed_fields(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0122", span, "fields with and without names in one list")
        .also(first, "the list begins like this")
        .help("name all fields, `{x = 1, y = 2}`, or none, `{1, 2}`")
}

/// An annotation without anything to annotate.
pub(crate) fn stray_annotation(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0123",
        span,
        "this annotation is not attached to a declaration",
    )
    .help("put it before a declaration, or remove it")
}

/// More errors than anyone reads.
pub(crate) fn too_many(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error(
        "E0124",
        span,
        format!("more than {limit} errors: Onpath skips the rest of the program"),
    )
    .help("fix the first errors; later ones often follow from them")
}

/// A local declaration of a parser after a state.
pub(crate) fn after_state(span: Span, state: Span) -> Diagnostic {
    Diagnostic::error("E0126", span, "a declaration after a state")
        .also(state, "the first state")
        .help("the declarations of a parser come first; move this before the states")
}

/// A second `apply` in a control.
pub(crate) fn second_apply(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0125", span, "a second `apply` in this control")
        .label("one too many")
        .also(first, "the first `apply`")
        .help("merge the two: a control has one `apply` block, its last part")
}

/// A second `transition` in a state.
pub(crate) fn second_transition(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0125", span, "a second `transition` in this state")
        .label("one too many")
        .also(first, "the first `transition`")
        .help("remove one, or choose between the two with `transition select`")
}

/// Something after the `apply` of a control or the `transition` of a state.
pub(crate) fn after_last(span: Span, what: &str, last: &str, last_span: Span) -> Diagnostic {
    Diagnostic::error("E0125", span, format!("{what} after the `{last}`"))
        .also(last_span, format!("the `{last}`"))
        .help(format!("`{last}` comes last; move this before it"))
}

/// `for (x in c)`: the type of the loop's variable is missing.
pub(crate) fn loop_variable_type(name: &Ident) -> Diagnostic {
    let text = &name.name;
    Diagnostic::error(
        "E0170",
        name.span,
        format!("the loop variable `{text}` has no type"),
    )
    .label("every such loop declares a variable of its own")
    .help(format!(
        "write its type before it: `for (bit<8> {text} in ...)`"
    ))
}
