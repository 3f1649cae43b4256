//! Errors and warnings of the preprocessor: E00xx and W00xx.

use diag::{Diagnostic, Span};

/// Returns the architecture of another vendor's well-known header.
fn foreign(path: &str) -> Option<&'static str> {
    let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "psa.p4" => Some("PSA, the Portable Switch Architecture"),
        "pna.p4" => Some("PNA, the Portable NIC Architecture"),
        "tna.p4" | "t2na.p4" => Some("Tofino's architecture"),
        _ => None,
    }
}

/// `#include` of a file that does not exist.
pub(crate) fn include_not_found(
    span: Span,
    path: &str,
    tried: &[String],
    built_in: &[String],
) -> Diagnostic {
    let paths = tried
        .iter()
        .map(|t| format!("`{t}`"))
        .collect::<Vec<_>>()
        .join(", ");
    let looked = if paths.is_empty() {
        String::new()
    } else {
        format!(" (looked for {paths})")
    };
    let help = "correct the name, or pass the directory of the file with -I";
    let help = if let Some(of) = foreign(path) {
        format!(
            "it is the header of {of}, which does not come with Onpath: with the directory of the header (-I), `onpath check` checks the \
             program's syntax, names and types; no target or interpreter runs it: for that, write it for <v1model.p4>, <xdp_model.p4> or <tc_model.p4>"
        )
    } else if built_in.is_empty() {
        help.to_string()
    } else {
        let names: Vec<String> = built_in.iter().map(|name| format!("<{name}>")).collect();
        format!(
            "the headers that come with Onpath are {}; {help}",
            names.join(", ")
        )
    };
    Diagnostic::error("E0001", span, format!("cannot find `{path}`{looked}"))
        .label("included here")
        .help(help)
}

/// `#include` of a file that cannot be read or is not text.
pub(crate) fn include_unreadable(span: Span, name: &str, reason: &str) -> Diagnostic {
    Diagnostic::error("E0002", span, format!("cannot read `{name}`: {reason}"))
        .label("included here")
        .help("an `#include` needs a text file that exists and can be read")
}

/// `#include` without a file name.
pub(crate) fn include_malformed(span: Span) -> Diagnostic {
    Diagnostic::error("E0003", span, "#include needs a file name")
        .label("no file name here")
        .help("write `#include \"file.p4\"` or `#include <file.p4>`")
}

/// Includes nested too deeply, mostly because a file includes itself.
pub(crate) fn include_depth(
    span: Span,
    chain: &[(Span, String)],
    cycle: Option<&str>,
) -> Diagnostic {
    const SHOWN: usize = 4;
    let message = match cycle {
        Some(name) => format!("`{name}` includes itself endlessly"),
        None => format!("#include is nested {} files deep", chain.len()),
    };
    let mut d = Diagnostic::error("E0004", span, message).label("one include too many");
    // A cycle repeats its locations: each is shown once.
    let mut shown = vec![span];
    for (at, name) in chain.iter().rev() {
        if !shown.contains(at) && shown.len() <= SHOWN {
            shown.push(*at);
            d = d.also(*at, format!("`{name}` is included here"));
        }
    }
    d.help(
        "guard each file that may be included twice with `#ifndef NAME`, `#define NAME`, ..., `#endif`",
    )
}

/// `#something` that is not a directive.
pub(crate) fn unknown_directive(span: Span, name: &str, close: Option<&str>) -> Diagnostic {
    let help = match close {
        Some(close) => format!("did you mean `#{close}`?"),
        None => "no directive has this name; write a remark as `// text`".into(),
    };
    Diagnostic::warning("W0006", span, format!("unknown directive #{name}"))
        .label("the line is ignored")
        .help(help)
}

/// `#define`, `#undef`, `#ifdef` without a macro name.
pub(crate) fn macro_name_missing(span: Span, directive: &str) -> Diagnostic {
    Diagnostic::error("E0006", span, format!("#{directive} needs a name"))
        .label("no name here")
        .help(format!("write `#{directive} NAME`"))
}

/// `#define f(` with invalid parameters.
pub(crate) fn macro_params(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        "E0007",
        span,
        format!("the parameters of the macro `{name}` are malformed"),
    )
    .label("expected a new name, `...` last, or `)`")
    .help(format!(
        "write `#define {name}(a, b) ...` or `#define {name}(a, ...) ...`"
    ))
}

/// A macro used with too many or too few arguments.
pub(crate) fn macro_args(
    span: Span,
    name: &str,
    wanted: &str,
    given: usize,
    defined: Span,
) -> Diagnostic {
    Diagnostic::error(
        "E0008",
        span,
        format!("the macro `{name}` takes {wanted}, not {given}"),
    )
    .also(defined, format!("`{name}` is defined here"))
    .help("give as many arguments as the macro has parameters")
}

/// A use of a function-like macro without its closing parenthesis.
pub(crate) fn macro_unclosed(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        "E0009",
        span,
        format!("unterminated arguments of the macro `{name}`"),
    )
    .label("begins here")
    .help("close them with `)` before the end of the file and before the next `#include`")
}

/// `#if` without `#endif`.
pub(crate) fn if_unclosed(span: Span) -> Diagnostic {
    Diagnostic::error("E0010", span, "this conditional has no #endif")
        .label("begins here")
        .help("add `#endif` where the conditional text ends, in the same file")
}

/// `#else`, `#elif` or `#endif` without `#if`.
pub(crate) fn if_missing(span: Span, directive: &str) -> Diagnostic {
    Diagnostic::error("E0011", span, format!("#{directive} without #if")).help(format!(
        "remove it, or add the `#if`, `#ifdef` or `#ifndef` that this `#{directive}` belongs to"
    ))
}

/// A condition that is not a constant expression.
pub(crate) fn condition(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0012", span, format!("malformed condition: {what}")).help(
        "a condition is an integer expression of numbers, macros, `defined(NAME)` and operators",
    )
}

/// Division by zero in a condition.
pub(crate) fn condition_zero(span: Span) -> Diagnostic {
    Diagnostic::error("E0013", span, "division by zero in a condition")
        .help("test the divisor first: `#if N != 0 && 10 / N > 1`")
}

/// `#error`.
pub(crate) fn user_error(span: Span, text: &str) -> Diagnostic {
    let text = if text.is_empty() { "#error" } else { text };
    Diagnostic::error("E0014", span, text)
        .help("an `#error` directive rejects this configuration; see the conditions around it")
}

/// Macros that expand to more tokens than the limit.
pub(crate) fn expansion_budget(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error(
        "E0015",
        span,
        format!("macros expand to more than {limit} tokens"),
    )
    .label("this use goes over the limit")
    .help("look for macros that double each other; Onpath skips the rest of the program")
}

/// `#` or `##` misplaced in a macro.
pub(crate) fn macro_operator(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0017", span, what)
        .help("`#` goes before a parameter, `##` between two tokens of a macro's text")
}

/// `#elif` or `#else` after `#else`.
pub(crate) fn after_else(span: Span, directive: &str, before: Span) -> Diagnostic {
    Diagnostic::error("E0018", span, format!("#{directive} after #else"))
        .also(before, "the #else")
        .help("`#else` is the last branch; end it with `#endif`")
}

/// Macro uses nested too deeply in arguments.
pub(crate) fn expansion_depth(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error(
        "E0019",
        span,
        format!("macro arguments are nested more than {limit} deep"),
    )
    .help("use fewer macros inside the arguments of macros")
}

/// More source text than spans can address, or more includes or tokens than the limit.
pub(crate) fn source_too_large(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0020",
        span,
        format!("the program has too much text: {what}"),
    )
    .help("look for a file that is included repeatedly")
}

/// A main file that cannot be loaded.
pub(crate) fn main_unreadable(name: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(
        "E0021",
        Span::NONE,
        format!("cannot read `{name}`: {reason}"),
    )
    .help("give the path of a P4-16 file that exists and is UTF-8 text")
}

/// A name that cannot be a macro.
pub(crate) fn macro_reserved(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        "E0022",
        span,
        format!("`{name}` cannot be defined or undefined"),
    )
    .help("the preprocessor reserves this name; use another")
}

/// `#line` or a line marker without a number.
pub(crate) fn line_malformed(span: Span) -> Diagnostic {
    Diagnostic::error("E0023", span, "#line needs a line number")
        .help("write `#line 12` or `#line 12 \"file.p4\"`")
}

/// `#warning`.
pub(crate) fn user_warning(span: Span, text: &str) -> Diagnostic {
    let text = if text.is_empty() { "#warning" } else { text };
    Diagnostic::warning("W0001", span, text).help("a `#warning` directive prints this")
}

/// A macro that is redefined with another body.
pub(crate) fn macro_redefined(span: Span, name: &str, before: Span) -> Diagnostic {
    Diagnostic::warning("W0002", span, format!("the macro `{name}` is redefined"))
        .also(before, "first defined here")
        .help(format!(
            "write `#undef {name}` before it if this is intended"
        ))
}

/// Text after a directive that takes none.
pub(crate) fn extra_tokens(span: Span, directive: &str) -> Diagnostic {
    Diagnostic::warning(
        "W0003",
        span,
        format!("the text after #{directive} is ignored"),
    )
    .help("remove it or make it a comment")
}
