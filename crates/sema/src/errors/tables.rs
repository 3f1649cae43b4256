//! Tables (E046x to E048x).

use super::{did_you_mean, tick};
use diag::{Diagnostic, Span, counted};
use syntax::ast::Ident;

/// A table without `actions`.
pub(crate) fn no_actions(name: &Ident) -> Diagnostic {
    Diagnostic::error(
        "E0460",
        name.span,
        format!("the table `{}` has no `actions`", name.name),
    )
    .label("nothing to run")
    .help("list its actions: `actions = { a; b; }`")
}

/// A property that occurs twice.
pub(crate) fn property_twice(name: &Ident, first: Span) -> Diagnostic {
    Diagnostic::error(
        "E0461",
        name.span,
        format!("a second property `{}`", name.name),
    )
    .label("given again")
    .also(first, "given here first")
    .help(match &*name.name {
        "key" | "actions" | "entries" => "merge the two",
        _ => "remove one of the two",
    })
}

/// An action that occurs twice in the list.
pub(crate) fn action_twice(name: &Ident, first: Span) -> Diagnostic {
    Diagnostic::error(
        "E0462",
        name.span,
        format!("the action `{}` is listed twice", name.name),
    )
    .label("listed again")
    .also(first, "listed here first")
    .help("remove one of the two")
}

/// An action that the table does not list.
pub(crate) fn action_not_listed(name: &Ident, table: &str, near: Option<&str>) -> Diagnostic {
    let mut help = format!("add `{}` to the `actions` of the table", name.name);
    if let Some(near) = near {
        help += &format!(", or did you mean `{near}`?");
    }
    Diagnostic::error(
        "E0463",
        name.span,
        format!("`{}` is not among the actions of `{table}`", name.name),
    )
    .label("not listed")
    .help(help)
}

/// An argument for a directed parameter that differs from the one in the list of actions.
pub(crate) fn bound_otherwise(span: Span, action: &str, listed: Span) -> Diagnostic {
    Diagnostic::error(
        "E0473",
        span,
        format!("`{action}` is bound to a different argument here than in the list of actions"),
    )
    .label("differs from the list")
    .also(listed, "listed with this argument")
    .help("repeat the arguments of the list: every use of the action must bind the same ones")
}

/// A default action that is not a call of an action.
pub(crate) fn not_an_action_call(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0464",
        span,
        "a default action is an action with its arguments",
    )
    .label("not an action")
    .help("write `default_action = a(1, 2);`")
}

/// A `@tableonly` action as default.
pub(crate) fn table_only(span: Span, name: &str, listed: Span) -> Diagnostic {
    Diagnostic::error(
        "E0465",
        span,
        format!("`{name}` is allowed in entries only"),
    )
    .label("used as default action")
    .also(listed, "listed as `@tableonly`")
    .help("remove `@tableonly`, or choose another default action")
}

/// A `@defaultonly` action in an entry.
pub(crate) fn default_only(span: Span, name: &str, listed: Span) -> Diagnostic {
    Diagnostic::error(
        "E0466",
        span,
        format!("`{name}` is allowed as default action only"),
    )
    .label("used in an entry")
    .also(listed, "listed as `@defaultonly`")
    .help("remove `@defaultonly`, or choose another action")
}

/// Entries without keys.
pub(crate) fn entries_without_key(span: Span) -> Diagnostic {
    Diagnostic::error("E0467", span, "entries in a table without a key")
        .label("nothing to match")
        .help("add a `key`, or use `default_action`")
}

/// A number of elements that differs from the number of keys.
pub(crate) fn key_count(span: Span, table: &str, want: usize, got: usize) -> Diagnostic {
    Diagnostic::error(
        "E0468",
        span,
        format!(
            "`{table}` has {}, this entry {got}",
            counted(want, "key field")
        ),
    )
    .label("one element per key field")
    .help("give one element for each key field, `_` where the match kind allows it")
}

/// A set that the match kind does not allow.
pub(crate) fn keyset_kind(span: Span, what: &str, kind: &str, key: Span) -> Diagnostic {
    Diagnostic::error("E0469",
        span,
        format!("{what} does not fit the match kind `{kind}`"),
    )
    .label("not possible here")
    .also(key, "the key field")
    .help(match (kind, what) {
        (_, "a value set") => "value sets are for the cases of `select`",
        ("exact", "a mask") => "an exact key is one value; match kind `ternary` takes masks",
        ("exact", "a range") => "an exact key is one value; match kind `range` takes ranges",
        ("exact", _) => "an exact key is one value; match kinds `optional` and `ternary` take `_`",
        ("lpm", _) => "a prefix is a value, or a value `&&&` a mask of leading ones; match kind `range` takes ranges",
        ("ternary", _) => "write value `&&&` mask; match kind `range` takes ranges",
        ("range", _) => "write lowest `..` highest; match kind `ternary` takes masks",
        (_, "a mask") => "write one value, or `_`; match kind `ternary` takes masks",
        (_, "a range") => "write one value, or `_`; match kind `range` takes ranges",
        _ => "write one value, or `_`",
    })
}

/// A mask with holes in place of a prefix.
pub(crate) fn mask_not_prefix(span: Span) -> Diagnostic {
    Diagnostic::error("E0470", span, "the mask of an `lpm` entry is not a prefix")
        .label("ones must come before zeros")
        .help("use a mask of leading ones such as `0xFFFF0000`, or the match kind `ternary`")
}

/// A match kind for numbers on a type without numbers.
pub(crate) fn match_kind_type(kind: &Ident, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0471",
        kind.span,
        format!("`{}` cannot match on {}", kind.name, tick(ty)),
    )
    .label("needs bit<N> or int<N>")
    .help("use `exact` or `ternary`")
}

/// `@atomic` before a table.
pub(crate) fn atomic_table(span: Span) -> Diagnostic {
    Diagnostic::error("E0474", span, "a table cannot be `@atomic`")
        .label("blocks and controls can")
        .help("put `@atomic` before the block that must run for one packet at a time")
}

/// A property with a value of the wrong type.
pub(crate) fn property_type(span: Span, name: &str, wanted: &str, got: &str) -> Diagnostic {
    Diagnostic::error(
        "E0475",
        span,
        format!(
            "the property `{name}` is {wanted}, and this is {}",
            tick(got)
        ),
    )
    .label(format!("this is {}", tick(got)))
    .help(format!("give {wanted}, or remove the property"))
}

/// A priority in a table in which at most one entry matches.
pub(crate) fn priority_unused(span: Span, table: &str) -> Diagnostic {
    Diagnostic::error(
        "E0476",
        span,
        format!("the entries of `{table}` have no priorities"),
    )
    .label("not allowed here")
    .help("exact keys match one entry, and of prefixes the longest wins: remove the priority")
}

/// A first entry without a priority, while another has one.
pub(crate) fn priority_missing(span: Span, other: Span) -> Diagnostic {
    Diagnostic::error(
        "E0477",
        span,
        "the first entry has no priority, but another one has",
    )
    .label("which priority?")
    .also(other, "given here")
    .help("give the first entry a priority: those without one follow the entry before them")
}

/// A parameter of a listed action whose values the control plane cannot send.
pub(crate) fn not_carried(span: Span, param: &str, ty: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0479",
        span,
        format!("the control plane cannot give `{param}`, which is a `{ty}`"),
    )
    .label("entries would have to give it")
    .also(declared, "the parameter")
    .help(
        "give an enum a type, as in `enum bit<8> E { A = 0 }`, and take the header of a union that is meant; or write `const entries`",
    )
}

/// A priority in a table that the control plane cannot add entries to.
pub(crate) fn priority_of_const(span: Span, table: &str) -> Diagnostic {
    Diagnostic::error("E0480",
        span,
        format!("the entries of `{table}` are constant, and have no priorities"),
    )
    .label("not allowed here")
    .help("constant entries match in their order: put them in that order, or write `entries` without `const`")
}

/// `@match` without a match kind.
pub(crate) fn match_without_kind(
    span: Span,
    given: Option<&str>,
    near: Option<&str>,
) -> Diagnostic {
    let (message, label) = match given {
        Some(given) => (format!("`{given}` is no match kind"), "not declared"),
        None => (
            "this `@match` names no match kind".to_owned(),
            "which match kind?",
        ),
    };
    Diagnostic::error("E0478", span, message)
        .label(label)
        .help(did_you_mean(
            near,
            "write one that is declared, as in `@match(ternary)`",
        ))
}
