//! Instances and their arguments.

use diag::{Diagnostic, Span, counted};
use num_bigint::BigInt;

/// An expression that stands for no parser, control or extern that was made.
pub(crate) fn not_an_instance(at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0559",
        at,
        "this does not name a parser, control or extern at compile time",
    )
    .help("use an instance by its name, or a constructor call such as `MyParser()`")
}

/// A constructor argument or property in a form that externs cannot take.
pub(crate) fn ctor_value(at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0560",
        at,
        "an extern takes numbers, bools, strings, members of enums and other externs",
    )
    .help("pass the parts of the struct or list as parameters of their own")
}

/// One instance applied to different extern objects: its tables and actions exist only once.
pub(crate) fn different_objects(at: Span, first: Span) -> Diagnostic {
    Diagnostic::error(
        "E0561",
        at,
        "this instance was applied to other extern objects before",
    )
    .label("other objects than the first time")
    .also(first, "applied here first")
    .help("make an instance of its own for each set of objects")
}

/// An extern object as an extern's run-time argument.
pub(crate) fn extern_argument(at: Span) -> Diagnostic {
    Diagnostic::error("E0564", at, "an extern cannot be given this as an argument")
        .help("pass values and variables; other externs are given to its constructor")
}

/// Header unions and varbits among an action's data.
pub(crate) fn action_data(at: Span, name: &str, param: &str) -> Diagnostic {
    Diagnostic::error(
        "E0565",
        at,
        format!(
            "entries cannot give the header union or `varbit` in `{param}` to the action `{name}`"
        ),
    )
    .help("take the fields of the headers as parameters, and build the headers in the action")
}

/// An invalid header among an action's data.
pub(crate) fn invalid_action_data(at: Span) -> Diagnostic {
    Diagnostic::error("E0565", at, "an entry cannot give an invalid header to an action")
        .help("give the fields of the header: headers from entries are always valid; or choose between actions, one of which takes no header")
}

/// An index beyond an array of externs, which is only detected in an instance of a declaration with parameters.
pub(crate) fn no_such_object(at: Span, index: &BigInt, count: usize) -> Diagnostic {
    Diagnostic::error(
        "E0593",
        at,
        format!(
            "index {index} is outside of an array of {}",
            counted(count, "object")
        ),
    )
    .label("with this constructor argument")
    .help("give the constructor another argument, or make the array larger")
}

/// Two declarations with one control-plane name: entries could not distinguish them.
pub(crate) fn same_name(at: Span, kind: &str, name: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0571",
        at,
        format!("another {kind} has the control-plane name `{name}`"),
    )
    .label("the control plane could not tell them apart")
    .also(first, "has this name already")
    .help("give one of them another name, or `@name(\"...\")`; `@hidden` takes it from the control plane")
}

/// A table without a default action in a program without `NoAction`.
pub(crate) fn no_default_action(at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0566",
        at,
        "the table has no `default_action` and the program no `NoAction`",
    )
    .help("include <core.p4>, or name a default action")
}

/// `@atomic` in or on a parser.
pub(crate) fn atomic_parser(at: Span) -> Diagnostic {
    Diagnostic::error("E0578", at, "a parser cannot be `@atomic`")
        .label("atomic blocks are for controls and actions")
        .help("keep what packets share in the control, and put `@atomic` in front of a block there")
}

/// A construct that the checker refuses, or should have refused.
pub(crate) fn unexpected(at: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0599", at, format!("`{what}` cannot be instantiated here"))
        .help("this is a compiler bug: please report it with the program")
}

/// An object that an extern function makes.
pub(crate) fn factory(at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0589",
        at,
        "no target has extern functions that return objects",
    )
    .help("declare an instance of the extern, as in `counter(4) c;`")
}

/// Bits that are copied back after a call: nothing runs after the call if the callee exits.
pub(crate) fn bits_of_exiting(at: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0590",
        at,
        format!("`{name}` may exit, which loses what it sets of these arguments"),
    )
    .label("it is given bits of a value, several values as one, a value that a later argument changes, or a header of a union whose others it uses")
    .help("let it have the whole value, evaluate the later argument first, or set a flag there and exit behind the call")
}

/// An `extract` to something that is not a header, which is only detected in an instance of a generic declaration.
pub(crate) fn extracts_no_header(at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0591",
        at,
        "`extract` fills a header, which this is not here",
    )
    .label("no header, in this instance")
    .help("give the type parameter a header as its argument")
}

/// A length for a header without a varbit, or none for a header with one. It is only detected in an instance of a
/// generic declaration.
pub(crate) fn extracts_by_length(at: Span, header: &str, has_varbit: bool) -> Diagnostic {
    let (message, help) = if has_varbit {
        (
            format!("the header `{header}` has a varbit field, and its length is not given"),
            "give the type parameter a header without a varbit as its argument, or `extract` the field's length in bits",
        )
    } else {
        (
            format!("the header `{header}` has no varbit field, and a length is given"),
            "give the type parameter a header with a varbit as its argument, or omit the length",
        )
    };
    Diagnostic::error("E0595", at, message)
        .label("of this header, in this instance")
        .help(help)
}

/// A look-ahead of variable size, which is only detected in an instance of a generic declaration.
pub(crate) fn looks_at_no_fixed_size(at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0596",
        at,
        "`lookahead` needs a type of fixed size, which this is not here",
    )
    .label("a varbit, or something without a size in bits, in this instance")
    .help("give the type parameter a bit<N>, or a header or struct of fixed size, as its argument")
}

/// An `emit` of something that is not a header, which is only detected in an instance of a generic declaration.
pub(crate) fn emits_no_header(at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0597",
        at,
        "`emit` writes headers, and this is something else here",
    )
    .label("not made of headers alone, in this instance")
    .help("give the type parameter a header, or a struct of headers, as its argument")
}
