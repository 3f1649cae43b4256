//! Errors in the use of names (E02xx).

use super::did_you_mean;
use diag::{Diagnostic, Span};
use syntax::ast::Ident;

/// An unknown name.
pub(crate) fn unknown(name: &Ident, what: &str, help: String) -> Diagnostic {
    Diagnostic::error(
        "E0201",
        name.span,
        format!("unknown {what} `{}`", name.name),
    )
    .label("not declared")
    .help(help)
}

/// Two declarations of a name in one scope.
pub(crate) fn duplicate(name: &Ident, earlier: Span) -> Diagnostic {
    Diagnostic::error(
        "E0202",
        name.span,
        format!("`{}` is declared twice in the same scope", name.name),
    )
    .label("declared again")
    .also(earlier, "first declared here")
    .help("rename one of the two")
}

/// A name used above its declaration.
pub(crate) fn used_before(name: &Ident, declared: Span) -> Diagnostic {
    Diagnostic::error(
        "E0203",
        name.span,
        format!("`{}` is used before its declaration", name.name),
    )
    .label("not yet declared")
    .also(declared, "declared here")
    .help("move the declaration above its first use")
}

/// A type's name where a value is expected.
pub(crate) fn type_as_value(span: Span, name: &str, what: &str) -> Diagnostic {
    let help = match what {
        "a control" | "a parser" => {
            format!("declare an instance, as in `{name}() x;`, and apply it: `x.apply(...);`")
        }
        "an extern" => format!("declare an instance, as in `{name}(...) x;`, and call its methods"),
        "a package" => format!("a program has one instance of a package: `{name}(...) main;`"),
        _ => "name a variable, parameter or constant of that type".to_owned(),
    };
    Diagnostic::error("E0204", span, format!("`{name}` is {what}, not a value"))
        .label(what.to_owned())
        .help(help)
}

/// A name of something that is neither value nor type.
pub(crate) fn not_a_value(span: Span, name: &str, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0205",
        span,
        format!("`{name}` is {what} and has no value"),
    )
    .label(what)
    .help(match what {
        "a table" => {
            format!("apply it: `{name}.apply()`, which has `hit`, `miss` and `action_run`")
        }
        "a value set" => format!("use it in a case of `select`, as in `{name}: state;`"),
        "an action" | "a function" => format!("call it, as in `{name}(...)`"),
        _ => "it cannot be stored, compared or passed on".to_owned(),
    })
}

/// A value's name where a type is expected.
pub(crate) fn not_a_type(name: &Ident, what: &str) -> Diagnostic {
    Diagnostic::error("E0206", name.span, format!("`{}` is {what}, not a type", name.name))
        .label("expected a type")
        .help("name a type; an inner declaration may shadow the type (write `.name` for the one at top level)")
}

/// A member, field, method or action that its owner does not have.
pub(crate) fn no_member(name: &Ident, of: &str, what: &str, near: Option<&str>) -> Diagnostic {
    let help = did_you_mean(near, format!("see the declaration of {of}"));
    Diagnostic::error(
        "E0207",
        name.span,
        format!("{of} has no {what} `{}`", name.name),
    )
    .label(format!("no such {what}"))
    .help(help)
}

/// A declaration that uses itself.
pub(crate) fn recursion(name: &Ident, kind: &str, declared: Span) -> Diagnostic {
    let help = match kind {
        "a type" => format!(
            "a value has no end then; for several of a kind, use a header stack or an array, as in `{}[4]`",
            name.name
        ),
        "a table" => "a table cannot apply itself".to_owned(),
        "a control" | "a parser" => {
            "write the repetition as a loop, or as a cycle of parser states".to_owned()
        }
        _ => "write the repetition as a loop".to_owned(),
    };
    Diagnostic::error(
        "E0208",
        name.span,
        format!("`{}` uses itself: P4 has no recursion", name.name),
    )
    .label(format!("recursive use in {kind}"))
    .also(declared, "declared here")
    .help(help)
}

/// Turns `found`, about a recursion, into the error that the declaration hides another entity of the same name.
pub(crate) fn hidden_by(name: &Ident, kind: &str, hidden: Span, found: Diagnostic) -> Diagnostic {
    Diagnostic {
        message: format!(
            "`{}` is {kind} here, which hides what else has the name",
            name.name
        ),
        ..found
    }
    .label(format!("{kind} that is being declared"))
    .also(hidden, "the one that is hidden")
    .help("rename one of the two")
}

/// A transition to a state that does not exist.
pub(crate) fn unknown_state(name: &Ident, near: Option<&str>) -> Diagnostic {
    let help = did_you_mean(
        near,
        "declare the state in this parser, or go to `accept` or `reject`",
    );
    Diagnostic::error(
        "E0209",
        name.span,
        format!("this parser has no state `{}`", name.name),
    )
    .label("no such state")
    .help(help)
}

/// A state named `accept` or `reject`.
pub(crate) fn reserved_state(name: &Ident) -> Diagnostic {
    Diagnostic::error(
        "E0210",
        name.span,
        format!("the state `{}` is built in", name.name),
    )
    .label("cannot be declared")
    .help("choose another name; every parser has `accept` and `reject` already")
}

/// A parser without `start`.
pub(crate) fn no_start(parser: &Ident, near: Option<&Ident>) -> Diagnostic {
    let help = match near {
        Some(near) => format!(
            "name the first state `start`: did you mean `{}`?",
            near.name
        ),
        None => "name the first state `start`".to_owned(),
    };
    Diagnostic::error(
        "E0211",
        parser.span,
        format!("the parser `{}` has no state `start`", parser.name),
    )
    .label("no start state")
    .also(
        near.map_or(Span::NONE, |near| near.span),
        "names are case-sensitive",
    )
    .help(help)
}

/// A match kind that is not declared.
pub(crate) fn unknown_match_kind(name: &Ident, near: Option<&str>) -> Diagnostic {
    let help = match &*name.name {
        "exact" | "ternary" | "lpm" => "add `#include <core.p4>`, which declares it".to_owned(),
        _ => did_you_mean(
            near,
            "core.p4 declares `exact`, `ternary` and `lpm`; architectures add others: include the right one",
        ),
    };
    Diagnostic::error(
        "E0212",
        name.span,
        format!("unknown match kind `{}`", name.name),
    )
    .label("not declared")
    .help(help)
}

/// A member of `error` or `match_kind` declared twice anywhere.
pub(crate) fn member_twice(name: &Ident, of: &str) -> Diagnostic {
    Diagnostic::error(
        "E0213",
        name.span,
        format!("`{of}` has a member `{}` already", name.name),
    )
    .label("declared again")
    .help("all its declarations share one list of members: remove or rename this one")
}

/// `this` outside an object's methods.
pub(crate) fn this_elsewhere(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0214",
        span,
        "`this` outside an abstract method's implementation",
    )
    .label("no object here")
    .help("name the instance instead")
}

/// Something other than an action where one is expected.
pub(crate) fn not_an_action(name: &Ident, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0215",
        name.span,
        format!("`{}` is {what}, not an action", name.name),
    )
    .label("expected an action")
    .help("tables run actions: declare one, and call what you need in it")
}
