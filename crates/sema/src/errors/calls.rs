//! Calls and their arguments (E040x to E042x).

use super::{did_you_mean, inside, quoted, tick};
use diag::{Diagnostic, Span, counted, grouped};
use num_bigint::BigInt;
use smol_str::SmolStr;
use syntax::ast::Ident;

/// A call of something that cannot be called.
pub(crate) fn not_callable(span: Span, what: &str, instead: Option<String>) -> Diagnostic {
    Diagnostic::error("E0401", span, format!("{what} cannot be called"))
        .label("not a function")
        .help(match instead {
            Some(instead) => format!("write `{instead}`"),
            None => "remove the parentheses, or name a function, method or action".to_owned(),
        })
}

/// A method without its parentheses.
pub(crate) fn not_called(name: &Ident) -> Diagnostic {
    Diagnostic::error(
        "E0402",
        name.span,
        format!("the method `{}` is not called", name.name),
    )
    .label("a method, not a value")
    .help(format!("write `{}()`", name.name))
}

/// Missing arguments.
pub(crate) fn missing(span: Span, name: &str, params: &[SmolStr]) -> Diagnostic {
    let what = if params.len() == 1 {
        "parameter"
    } else {
        "parameters"
    };
    Diagnostic::error(
        "E0403",
        span,
        format!(
            "missing argument for the {what} {} of `{name}`",
            quoted(params)
        ),
    )
    .label("missing arguments")
    .help("give a value for each parameter that has no default")
}

/// Too many arguments.
pub(crate) fn too_many(span: Span, name: &str, want: usize, got: usize) -> Diagnostic {
    let (label, help) = match got - want.min(got) {
        0 | 1 => ("one too many".to_owned(), "remove it"),
        more => (format!("{more} too many"), "remove them"),
    };
    let want = if want == 0 {
        "no arguments".to_owned()
    } else {
        counted(want, "argument")
    };
    Diagnostic::error("E0404", span, format!("`{name}` takes {want}, not {got}"))
        .label(label)
        .help(help)
}

/// Turns `found` into the error that a list of actions gives a value for a control-plane parameter.
pub(crate) fn given_in_list(name: &Ident, found: Diagnostic) -> Diagnostic {
    Diagnostic {
        message: format!("in a list of actions `{}` gets no values for the control plane's parameters", name.name),
        ..found
    }
    .label("not given here")
    .help("remove it: entries and the default action give the values of parameters without a direction")
}

/// An argument for a parameter that does not exist.
pub(crate) fn unknown_argument(name: &Ident, of: &str, near: Option<&str>) -> Diagnostic {
    let help = did_you_mean(
        near,
        format!("see the parameters in the declaration of `{of}`"),
    );
    Diagnostic::error(
        "E0405",
        name.span,
        format!("`{of}` has no parameter `{}`", name.name),
    )
    .label("no such parameter")
    .help(help)
}

/// Two arguments for one parameter.
pub(crate) fn argument_twice(name: &Ident) -> Diagnostic {
    Diagnostic::error(
        "E0406",
        name.span,
        format!("a second argument for `{}`", name.name),
    )
    .label("given again")
    .help("remove one of the two")
}

/// Arguments with and without names.
pub(crate) fn mixed(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0407",
        span,
        "arguments with and without names in one call",
    )
    .label("has no name")
    .help("name all of them or none")
}

/// `_` for a parameter that reads.
pub(crate) fn dont_care(span: Span, param: &str) -> Diagnostic {
    Diagnostic::error("E0408", span, format!("`_` gives no value for `{param}`"))
        .label("expected a value")
        .help("use `_` only for an `out` argument that is not needed")
}

/// `_` where a value is expected.
pub(crate) fn dont_care_value(span: Span) -> Diagnostic {
    Diagnostic::error("E0409", span, "`_` is not a value")
        .label("no value")
        .help("`_` matches anything in a keyset and drops an `out` argument")
}

/// No overload takes these arguments.
pub(crate) fn no_overload(
    span: Span,
    name: &str,
    got: usize,
    candidates: Vec<(Span, String)>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0410", span, format!("no `{name}` takes these arguments"))
        .label(format!("{} given", counted(got, "argument")))
        .help(format!(
            "there are {}: give the arguments of one of them",
            candidates.len()
        ));
    (candidates.into_iter()).fold(diagnostic, |d, (at, reason)| d.also(at, reason))
}

/// Several overloads take these arguments.
pub(crate) fn ambiguous(span: Span, name: &str, locations: &[Span]) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        "E0411",
        span,
        format!("more than one `{name}` takes these arguments"),
    )
    .label("ambiguous")
    .help("convert an argument to the type of a parameter by a cast, or name the arguments");
    locations
        .iter()
        .fold(diagnostic, |d, at| d.also(*at, "one of them"))
}

/// An `out` or `inout` argument of another type.
pub(crate) fn lvalue_type(
    span: Span,
    param: &str,
    direction: &str,
    want: &str,
    got: &str,
    declared: Span,
) -> Diagnostic {
    Diagnostic::error(
        "E0412",
        span,
        format!(
            "`{param}` is an `{direction}` parameter of type `{want}`, and this is {}",
            tick(got)
        ),
    )
    .label("must have exactly the parameter's type")
    .also(declared, "the parameter")
    .help("store the result in a variable of the parameter's type, then convert it")
}

/// A call of something in a context that does not allow it.
pub(crate) fn wrong_context(span: Span, what: &str, context: &str, help: &str) -> Diagnostic {
    Diagnostic::error(
        "E0413",
        span,
        format!("{what} cannot be called {}", inside(context)),
    )
    .label("not allowed here")
    .help(help)
}

/// `T.apply()` of something that is not applied.
pub(crate) fn not_applicable(span: Span, name: &str, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0414",
        span,
        format!("`{name}` is {what} and cannot be applied"),
    )
    .label("neither parser nor control")
    .help("parsers, controls and tables are applied")
}

/// A constructor call in a context where no object can be made.
pub(crate) fn constructor_elsewhere(span: Span, name: &str, list: Option<&str>) -> Diagnostic {
    let help = match list {
        Some(list) => format!(
            "structs and headers have no constructors: write their values as a list, `{list}`"
        ),
        None => format!("declare an instance, as in `{name}(...) x;`, and use `x`"),
    };
    Diagnostic::error(
        "E0415",
        span,
        format!("`{name}` is instantiated inside an expression"),
    )
    .label("cannot be instantiated here")
    .help(help)
}

/// A count that is not a small number.
pub(crate) fn bad_count(span: Span, name: &str, n: &BigInt) -> Diagnostic {
    Diagnostic::error(
        "E0416",
        span,
        format!("`{name}` cannot move a stack by {n}"),
    )
    .label("invalid count")
    .help(format!(
        "use a number from 0 to {}",
        grouped(u32::MAX.into())
    ))
}
