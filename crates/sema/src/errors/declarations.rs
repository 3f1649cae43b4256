//! Declarations that the language does not allow (E023x to E026x).

use super::{did_you_mean, inside, tick};
use diag::{Diagnostic, Span};
use num_bigint::BigInt;
use syntax::ast::Ident;

/// A kind of declaration in the wrong context.
pub(crate) fn not_here(span: Span, what: &str, context: &str) -> Diagnostic {
    Diagnostic::error("E0230", span, format!("{what} cannot be declared {}", inside(context)))
        .label("not allowed here")
        .help("variables belong in blocks, actions and tables in controls, value sets in parsers, functions and types at the top level")
}

/// An instance in a context that does not allow its kind.
pub(crate) fn instance_context(span: Span, what: &str, context: &str, help: &str) -> Diagnostic {
    Diagnostic::error(
        "E0231",
        span,
        format!("{what} cannot be instantiated {}", inside(context)),
    )
    .label("not allowed here")
    .help(help)
}

/// A constructor call of a type without constructors. `made` is the name of the instance, if it has one.
pub(crate) fn not_instantiable(
    span: Span,
    name: &str,
    what: &str,
    made: Option<&str>,
) -> Diagnostic {
    let variable = made.unwrap_or("x");
    Diagnostic::error("E0232", span, format!("`{name}` is {what} and cannot be instantiated"))
        .label("has no constructor")
        .help(format!("declare a variable, as in `{name} {variable};`; only externs, parsers, controls and packages are instantiated with arguments"))
}

/// An extern without constructors.
pub(crate) fn no_constructor(span: Span, name: &str, declared: Span) -> Diagnostic {
    Diagnostic::error(
        "E0233",
        span,
        format!("the extern `{name}` declares no constructor"),
    )
    .label("cannot be instantiated")
    .also(declared, "declared here")
    .help("such objects come from the architecture: take one as a parameter")
}

/// An instance of a parser type or control type.
pub(crate) fn type_not_declaration(
    span: Span,
    name: &str,
    what: &str,
    declared: Span,
) -> Diagnostic {
    Diagnostic::error(
        "E0234",
        span,
        format!("`{name}` is a type of {what}s without a body"),
    )
    .label("cannot be instantiated")
    .also(declared, "only its parameters are declared here")
    .help(format!(
        "instantiate a {what} with these parameters and a body"
    ))
}

/// `main` is not a package.
pub(crate) fn main_not_package(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0236",
        span,
        format!("`main` is an instance of {}, not of a package", tick(ty)),
    )
    .label("the program starts with a package")
    .help("instantiate the architecture's package as `main`")
}

/// An abstract method without implementation.
pub(crate) fn not_implemented(
    instance: &Ident,
    method: &str,
    head: &str,
    declared: Span,
) -> Diagnostic {
    Diagnostic::error(
        "E0237",
        instance.span,
        format!(
            "`{}` does not implement the abstract method `{method}`",
            instance.name
        ),
    )
    .label("an implementation is missing")
    .also(declared, "declared here")
    .help(format!(
        "implement it in braces after the instance: `{} = {{ {head} {{ ... }} }};`",
        instance.name
    ))
}

/// An implementation of a method that does not exist.
pub(crate) fn nothing_to_implement(name: &Ident, of: &str, near: Option<&str>) -> Diagnostic {
    let help = did_you_mean(
        near,
        "remove it, or declare the method `abstract` in the extern",
    );
    Diagnostic::error(
        "E0238",
        name.span,
        format!("the extern `{of}` has no abstract method `{}`", name.name),
    )
    .label("implements nothing")
    .help(help)
}

/// An implementation with other parameters than declared.
pub(crate) fn implementation_signature(name: &Ident, why: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0239",
        name.span,
        format!(
            "this `{}` differs from the method that it implements",
            name.name
        ),
    )
    .label(why.to_owned())
    .also(declared, "declared here")
    .help("give it the same result and the same parameters, with the same directions; only `@optional` ones at the end may be left out")
}

/// Braces after an instance of something without abstract methods.
pub(crate) fn no_abstract_methods(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0240",
        span,
        "only instances of externs have methods to implement",
    )
    .label("implements nothing")
    .help("remove the braces after the instance")
}

/// A constructor that is generic, abstract or has a result; or a method without a result.
pub(crate) fn constructor_form(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0241", span, "this is neither a method nor a constructor")
        .label("wrong form")
        .help(format!("a constructor is `{name}(parameters);`; a method has a result type (perhaps `void`) and another name"))
}

/// A direction on a constructor's parameter.
pub(crate) fn constructor_direction(span: Span) -> Diagnostic {
    Diagnostic::error("E0242", span, "a constructor's parameter has no direction")
        .label("remove the direction")
        .help("constructors run at compile time: they have no outputs")
}

/// Two functions that no call could distinguish.
pub(crate) fn same_overload(name: &Ident, first: Span) -> Diagnostic {
    Diagnostic::error(
        "E0243",
        name.span,
        format!(
            "another `{}` has the same number of parameters with the same names and types",
            name.name
        ),
    )
    .label("indistinguishable")
    .also(first, "the other one")
    .help("overloads differ in the number, the names or the types of their parameters")
}

/// A parameter of an impossible type.
pub(crate) fn parameter_type(span: Span, ty: &str, why: &str, help: &str) -> Diagnostic {
    Diagnostic::error(
        "E0244",
        span,
        format!("a parameter cannot have the type {} here", tick(ty)),
    )
    .label(why.to_owned())
    .help(help)
}

/// A control-plane parameter before one with a direction.
pub(crate) fn parameter_order(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(
        "E0245",
        span,
        "a parameter with a direction follows one without",
    )
    .label("has a direction")
    .also(first, "has none: its value comes from the control plane")
    .help("put the parameters without direction last")
}

/// A default value on `out` or `inout`.
pub(crate) fn default_on_out(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        "E0246",
        span,
        format!("`{name}` is written to and cannot have a default value"),
    )
    .label("only `in` parameters and those without direction can")
    .help("remove the default value")
}

/// `@optional` and a default value.
pub(crate) fn optional_default(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0248",
        span,
        "an `@optional` parameter has a default value",
    )
    .label("both at once")
    .help("remove `@optional`: a default value already makes the argument optional")
}

/// `@optional` on a parameter that a body reads.
pub(crate) fn optional_elsewhere(span: Span) -> Diagnostic {
    Diagnostic::error("E0254", span, "`@optional` is not allowed where there is a body")
        .label("the body may have no value to read")
        .help("give the parameter a default value; `@optional` is for externs, packages and types of blocks")
}

/// A function that returns an object.
pub(crate) fn result_type(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0249",
        span,
        format!("a function cannot return {}", tick(ty)),
    )
    .label("no such values at run time")
    .help(match ty {
        "int" => "give it a width, as in bit<32>",
        "match_kind" => "match kinds are for tables: return a value",
        _ => "return a value; objects are passed as parameters",
    })
}

/// A size that is not positive.
pub(crate) fn bad_size(span: Span, what: &str, n: &BigInt) -> Diagnostic {
    Diagnostic::error("E0250", span, format!("the size of {what} is {n}"))
        .label("must be positive")
        .help("give a size of at least 1")
}

/// An annotation of the language in the wrong form.
pub(crate) fn annotation_form(span: Span, name: &str, wanted: &str) -> Diagnostic {
    Diagnostic::error("E0251", span, format!("malformed annotation `@{name}`"))
        .label(format!("expected {wanted}"))
        .help(format!(
            "`@{name}` is a standard annotation: give it {wanted}"
        ))
}

/// An annotation that is allowed once only.
pub(crate) fn annotation_twice(span: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0252", span, format!("a second `@{name}`"))
        .label("given again")
        .also(first, "given here first")
        .help("keep one of the two")
}

/// A key that occurs twice in a structured annotation.
pub(crate) fn annotation_key_twice(key: &Ident) -> Diagnostic {
    Diagnostic::error(
        "E0253",
        key.span,
        format!("duplicate key `{}` in this annotation", key.name),
    )
    .label("given again")
    .help("keys in an annotation are unique: remove one")
}

/// An extern that mentions itself in a method or constructor.
pub(crate) fn recursive_extern(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        "E0255",
        span,
        format!("the extern `{name}` mentions itself in its own declaration"),
    )
    .label(format!("takes or gives a `{name}`"))
    .help(format!(
        "declare what has two objects of `{name}` as an extern function, after `{name}`"
    ))
}

/// A local with the name of a parameter of the same body.
pub(crate) fn shadows_parameter(name: &Ident, param: Span) -> Diagnostic {
    Diagnostic::error(
        "E0256",
        name.span,
        format!("`{}` is a parameter of the same name", name.name),
    )
    .label("declared again")
    .also(param, "the parameter")
    .help("choose another name: the parameter could not be reached any more")
}

/// `NoAction` as something other than the action of core.p4.
pub(crate) fn not_no_action(name: &Ident, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0257",
        name.span,
        format!("`NoAction` is {what}, not an action that does nothing"),
    )
    .label("tables run `NoAction` by default")
    .help("choose another name; <core.p4> declares the action that does nothing")
}

/// `main` as something that is not an instance.
pub(crate) fn main_not_instance(name: &Ident, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0258",
        name.span,
        format!("`main` is {what}, not an instance of a package"),
    )
    .label("the program starts with a package")
    .help("instantiate the architecture's package as `main`, and choose another name here")
}

/// Constructor parameters of a parser type or control type.
pub(crate) fn constructor_of_type(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        "E0261",
        span,
        format!("`{name}` is a type without a body, which has no constructor parameters"),
    )
    .label("nothing constructs it")
    .help("remove this list: each parser or control of the type has constructor parameters of its own")
}

/// A list as value of a structured annotation.
pub(crate) fn annotation_list(span: Span) -> Diagnostic {
    Diagnostic::error("E0262", span, "an annotation's value cannot be a list")
        .label("not a number, bool or string")
        .help("give each element as a value of its own: `@name[1, 2]` or `@name[first = 1, second = 2]`")
}

/// An unnamed object of an extern with abstract methods, which an instance must supply.
pub(crate) fn abstract_unnamed(span: Span, of: &str, method: &str) -> Diagnostic {
    Diagnostic::error(
        "E0259",
        span,
        format!("an object of `{of}` in an expression cannot implement `{method}`"),
    )
    .label("nothing supplies its abstract methods")
    .help("declare it with a name and a body in braces, and give the name here")
}

/// A parser in which no state leads to an end.
pub(crate) fn never_ends(parser: &Ident) -> Diagnostic {
    Diagnostic::error(
        "E0260",
        parser.span,
        format!(
            "the parser `{}` never reaches `accept` or `reject`",
            parser.name
        ),
    )
    .label("goes in circles")
    .help("let one of its states go to `accept` or `reject`")
}
