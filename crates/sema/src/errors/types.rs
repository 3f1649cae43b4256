//! Type errors (E03xx).

use super::{inside, quoted, tick};
use crate::types::Container;
use diag::{Diagnostic, Span, counted, grouped};
use num_bigint::BigInt;
use smol_str::SmolStr;
use syntax::ast::Ident;

/// A value of one type where another is expected.
pub(crate) fn mismatch_types(
    span: Span,
    want: &str,
    got: &str,
    help: Option<String>,
) -> Diagnostic {
    let help = help.unwrap_or_else(|| format!("give a value of type `{want}` here"));
    Diagnostic::error(
        "E0301",
        span,
        format!("mismatched types: expected `{want}`, found {}", tick(got)),
    )
    .label(format!("this is {}", tick(got)))
    .help(help)
}

/// A parser or control with another number of parameters than its type expects.
pub(crate) fn block_parameters(
    span: Span,
    from: &str,
    to: &str,
    got: (usize, Span),
    want: usize,
) -> Diagnostic {
    let (got, declared) = got;
    let message = format!(
        "`{from}` does not fit `{to}`: it has {}, not {want}",
        counted(got, "parameter")
    );
    Diagnostic::error("E0345", span, message)
        .label(format!("expected {}", counted(want, "parameter")))
        .also(declared, "declared here")
        .help(format!(
            "give `{from}` the parameters that `{to}` declares, in the same order"
        ))
}

/// A parser or control with a parameter that differs from what its type expects.
pub(crate) fn block_parameter(
    span: Span,
    from: &str,
    to: &str,
    param: &str,
    have: &str,
    want: &str,
    at: Span,
) -> Diagnostic {
    Diagnostic::error(
        "E0346",
        span,
        format!("`{from}` does not fit `{to}`: its parameter `{param}` differs"),
    )
    .label(format!("expected `{want}`, found `{have}`"))
    .also(at, format!("this is `{have}`"))
    .help(format!(
        "declare the parameter as `{want} {param}`; all blocks of a package share their types"
    ))
}

/// Returns advice for a block that has the expected parameters in another order.
pub(crate) fn in_order(params: &str) -> String {
    format!("declare the parameters in the order of the block's type: `{params}`")
}

/// A value of a type where some kind of thing is expected.
pub(crate) fn mismatch(span: Span, want: &str, got: &str) -> Diagnostic {
    Diagnostic::error(
        "E0302",
        span,
        format!("expected {want}, found {}", tick(got)),
    )
    .label(format!("expected {want}"))
    .help(if want.starts_with('`') {
        format!("give a value of type {want} here")
    } else {
        format!("give {want} here")
    })
}

/// An element whose type its container cannot hold.
pub(crate) fn nesting(span: Span, ty: &str, container: Container) -> Diagnostic {
    Diagnostic::error(
        "E0303",
        span,
        format!("`{ty}` cannot be {}", container.describe()),
    )
    .label("not allowed here")
    .help(container.allowed())
}

/// Type arguments for something that takes none.
pub(crate) fn not_generic(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0304", span, format!("`{name}` takes no type arguments"))
        .label("not generic")
        .help("remove the arguments in angle brackets")
}

/// Too few or too many type arguments.
pub(crate) fn type_argument_count(
    span: Span,
    name: &str,
    params: &[SmolStr],
    got: usize,
) -> Diagnostic {
    Diagnostic::error(
        "E0305",
        span,
        format!(
            "`{name}` takes {}, not {got}",
            counted(params.len(), "type argument")
        ),
    )
    .label("wrong number of type arguments")
    .help(format!(
        "give a type for each: `{name}<{}>`",
        params.join(", ")
    ))
}

/// A type argument that nothing determines.
pub(crate) fn cannot_infer(span: Span, param: &str, of: &str) -> Diagnostic {
    let (message, help) = if param == "_" {
        (
            format!("cannot infer the type for which `{of}` has `_`"),
            "give the argument a type of its own: a number a width, a list a cast".to_owned(),
        )
    } else {
        (
            format!("cannot infer the type argument `{param}` of `{of}`"),
            format!("give it explicitly: `{of}<...>(...)`"),
        )
    };
    Diagnostic::error("E0306", span, message)
        .label("nothing here determines it")
        .help(help)
}

/// `_` as a type where a full type is needed.
pub(crate) fn dont_care(span: Span) -> Diagnostic {
    Diagnostic::error("E0307", span, "`_` cannot stand for a type here")
        .label("nothing to infer it from")
        .help("write the type; `_` is for type arguments of calls")
}

/// A prefix operator on a type that does not have it.
pub(crate) fn unary_operator(span: Span, op: &str, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0308",
        span,
        format!("operator `{op}` is not defined on {}", tick(ty)),
    )
    .label(format!("the operand is {}", tick(ty)))
    .help(match op {
        "!" => "`!` negates bool; complement bits with `~`, or compare with 0",
        "~" => "`~` complements the bits of numbers; a bool is negated by `!`",
        _ => "signs are for bit<N>, int<N> and int",
    })
}

/// An infix operator on types that do not have it.
pub(crate) fn binary_operator(
    span: Span,
    op: &str,
    left: &str,
    right: &str,
    help: Option<String>,
) -> Diagnostic {
    let help = help.unwrap_or_else(|| general_operator_help(op).to_owned());
    Diagnostic::error(
        "E0309",
        span,
        format!(
            "operator `{op}` is not defined on {} and {}",
            tick(left),
            tick(right)
        ),
    )
    .label(format!("{} {op} {}", tick(left), tick(right)))
    .help(help)
}

/// Returns advice on the operands that an infix operator takes.
fn general_operator_help(op: &str) -> &'static str {
    match op {
        "/" | "%" => {
            "division is defined for bit<N> and compile-time `int` numbers, not for int<N>"
        }
        "&" | "|" | "^" => {
            "operands must have the same type, bit<N> or int<N>; for bool use `&&` and `||`"
        }
        "|+|" | "|-|" => "operands must have the same type, bit<N> or int<N>",
        "<<" | ">>" => "numbers are shifted, by numbers that are not negative",
        "&&" | "||" => "both sides must be bool: compare numbers with `!= 0`",
        "==" | "!=" => {
            "operands must have the same type, and one that can be compared: compare structs and headers of two types field \
             by field"
        }
        "++" => "concatenation joins bit<N> and int<N> values, or strings",
        _ => "operands must have the same type, bit<N>, int<N> or int",
    }
}

/// A number without width in a concatenation.
pub(crate) fn concat_int(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0310",
        span,
        "a number without a width cannot be concatenated",
    )
    .label("unknown width")
    .help("give it a width: `8w5` instead of `5`")
}

/// A cast that does not exist.
pub(crate) fn bad_cast(span: Span, from: &str, to: &str, help: Option<String>) -> Diagnostic {
    let help = help.unwrap_or_else(|| {
        "casts convert between bit<N> and int<N> of the same width, between widths, bool and bit<1>, and to and from `type`s and serializable enums".to_owned()
    });
    Diagnostic::error(
        "E0311",
        span,
        format!("cannot convert {} to `{to}`", tick(from)),
    )
    .label("no such cast")
    .help(help)
}

/// A number of elements that differs from the expected one.
pub(crate) fn list_length(span: Span, ty: &str, part: &str, want: usize, got: usize) -> Diagnostic {
    Diagnostic::error(
        "E0312",
        span,
        format!("`{ty}` has {}, not {got}", counted(want, part)),
    )
    .label(format!("{got} given"))
    .help("give one value for each, or end the list with `...` for default values")
}

/// A field initialized twice.
pub(crate) fn field_twice(name: &Ident) -> Diagnostic {
    Diagnostic::error(
        "E0313",
        name.span,
        format!("the field `{}` is given twice", name.name),
    )
    .label("given again")
    .help("remove one of the two")
}

/// Fields without a value.
pub(crate) fn fields_missing(span: Span, ty: &str, missing: &[SmolStr]) -> Diagnostic {
    Diagnostic::error(
        "E0314",
        span,
        format!("no value for {} of `{ty}`", quoted(missing)),
    )
    .label("fields are missing")
    .help("give them, or write `...` last for default values")
}

/// An expression whose type could only come from its context, which does not determine it.
pub(crate) fn cannot_infer_type(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0315", span, format!("cannot infer the type of {what}"))
        .label("unknown type")
        .help("add a cast: `(T) {...}`")
}

/// `...` for a type without default value.
pub(crate) fn no_default(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("E0316", span, format!("{} has no default value", tick(ty)))
        .label("no value to take")
        .help("give the value explicitly")
}

/// An index on a value without elements.
pub(crate) fn not_indexable(span: Span, ty: &str, fields: &[SmolStr]) -> Diagnostic {
    let help = if ty.starts_with("bit<") || ty.starts_with("int<") {
        "take single bits with a slice: `x[3:3]`".to_owned()
    } else if ty.starts_with("list<") {
        "go through a list with `for (T x in list)`".to_owned()
    } else {
        format!(
            "index an array, a header stack or a tuple; {}",
            match fields {
                [] => "this is none of them".to_owned(),
                fields => format!("this has fields: {}", quoted(fields)),
            }
        )
    };
    Diagnostic::error("E0317", span, format!("{} cannot be indexed", tick(ty)))
        .label("no array, header stack or tuple")
        .help(help)
}

/// An index out of range.
pub(crate) fn index_out_of_range(span: Span, index: &BigInt, size: usize) -> Diagnostic {
    let help = if size == 0 {
        "there are no elements".to_owned()
    } else {
        format!("valid indices are 0 to {}", size - 1)
    };
    Diagnostic::error(
        "E0318",
        span,
        format!(
            "index {index} is out of range: there are {}",
            counted(size, "element")
        ),
    )
    .label("outside")
    .help(help)
}

/// A slice of a value without bits.
pub(crate) fn not_sliceable(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("E0319", span, format!("{} cannot be sliced", tick(ty)))
        .label("not a bit<N> or int<N>")
        .help("slices take bits of bit<N> and int<N> values")
}

/// A slice with its ends exchanged.
pub(crate) fn slice_order(span: Span, hi: &BigInt, lo: &BigInt) -> Diagnostic {
    Diagnostic::error("E0320", span, format!("the slice [{hi}:{lo}] is empty"))
        .label("highest bit first")
        .help("write the higher bit first, and no negative number: `x[7:0]`")
}

/// A slice that reaches beyond the value.
pub(crate) fn slice_range(span: Span, hi: &BigInt, width: u32) -> Diagnostic {
    Diagnostic::error(
        "E0321",
        span,
        format!("bit {hi} is outside a value of {}", counted(width, "bit")),
    )
    .label("no such bit")
    .help(format!("the highest bit is {}", width.saturating_sub(1)))
}

/// An impossible width.
pub(crate) fn width(span: Span, width: &BigInt, least: u32, most: u32) -> Diagnostic {
    Diagnostic::error(
        "E0322",
        span,
        format!("a width of {width} bits is not possible"),
    )
    .label(format!("{least} to {}", grouped(most.into())))
    .help(format!(
        "use a width from {least} to {}",
        grouped(most.into())
    ))
}

/// An impossible number of elements.
pub(crate) fn stack_size(span: Span, size: &BigInt, most: u32) -> Diagnostic {
    Diagnostic::error(
        "E0323",
        span,
        format!("an array of {size} elements is not possible"),
    )
    .label(format!("0 to {}", grouped(most.into())))
    .help(format!("use a size from 0 to {}", grouped(most.into())))
}

/// A type with too many parts. `what` describes its owner, `most` the limit.
pub(crate) fn too_large(span: Span, what: &str, most: &str) -> Diagnostic {
    Diagnostic::error("E0324", span, format!("{what} is too large"))
        .label("too many parts, or nested too deep")
        .help(format!(
            "it may have {most}: make stacks smaller, or split it"
        ))
}

/// `.next`, `.last` or `.lastIndex` outside a parser.
pub(crate) fn stack_property_elsewhere(name: &Ident, context: &str) -> Diagnostic {
    Diagnostic::error(
        "E0325",
        name.span,
        format!("`.{}` is not defined {}", name.name, inside(context)),
    )
    .label("for parsers only")
    .help("use an index: `stack[0]`")
}

/// An enum represented by something other than bits.
pub(crate) fn enum_underlying(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0326",
        span,
        format!("an enum cannot be represented by `{ty}`"),
    )
    .label("not a bit<N> or int<N>")
    .help("represent it by bit<N> or int<N>")
}

/// A serializable enum's member without value.
pub(crate) fn enum_value_missing(name: &Ident) -> Diagnostic {
    Diagnostic::error(
        "E0327",
        name.span,
        format!("the member `{}` has no value", name.name),
    )
    .label("value missing")
    .help("an enum with a representation gives every member a value: `A = 1`")
}

/// A member's value that the enum's representation cannot hold.
pub(crate) fn enum_value_range(span: Span, value: &BigInt, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0347",
        span,
        format!("{value} does not fit in `{ty}`, which represents this enum"),
    )
    .label("cannot be represented")
    .help("represent the enum by a wider type, or use a value that fits")
}

/// A value in an enum without representation.
pub(crate) fn enum_value_without_type(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0328",
        span,
        "a member's value in an enum without representation",
    )
    .label("the enum has no underlying type")
    .help("write `enum bit<8> E {...}`, or omit the values")
}

/// A number without width as a run-time argument.
pub(crate) fn int_argument(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0330",
        span,
        "a number without a width cannot be passed at run time",
    )
    .label("unknown width")
    .help("give it a width, as in `32w5` or `(bit<32>) 5`, or give the type argument")
}

/// A `type` or `typedef` of something impossible.
pub(crate) fn not_definable(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("E0331",
        span,
        format!("`{ty}` cannot be given a new name here"),
    )
    .label("not allowed")
    .help("`type` is for bit<N>, int<N>, bool and other `type`s; `typedef` for every type but void and match_kind")
}

/// A variable or constant of a type without storable values.
pub(crate) fn no_variable(span: Span, ty: &str, what: &str) -> Diagnostic {
    let object = format!("objects are instantiated with arguments, as in `{ty}(...) x;`");
    let help = match ty {
        "int" => "give it a width, as in bit<32>, or make it a constant",
        _ if ty.starts_with("int[") || ty.starts_with("tuple<") => {
            "give each number in it a width, as in bit<32>, or make it a constant"
        }
        "string" => "strings exist only at compile time: make it a constant",
        "match_kind" => "match kinds exist only at compile time: make it a constant",
        "void" => "`void` is for functions that return nothing: name a type with values",
        _ if ty.starts_with("list<") => "lists exist only at compile time: make it a constant",
        _ if ty.starts_with("tuple<") => {
            "some of its elements exist only at compile time: give numbers a width, or make it a constant"
        }
        _ if ty.ends_with(']') => {
            "its elements have no values at run time: use elements that a variable can have"
        }
        _ => &object,
    };
    Diagnostic::error(
        "E0332",
        span,
        format!("{what} cannot have the type {}", tick(ty)),
    )
    .label("no such values at run time")
    .help(help)
}

/// A call without result used as a value.
pub(crate) fn no_value(span: Span) -> Diagnostic {
    Diagnostic::error("E0333", span, "this call returns nothing")
        .label("has no value")
        .help("make the call a statement of its own")
}

/// An object, or the result of `apply()`, where a value is expected.
pub(crate) fn not_storable(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0344",
        span,
        format!(
            "{} is not a value: it cannot be selected, listed or passed on",
            tick(ty)
        ),
    )
    .label("not a value")
    .help("use its members or call its methods; objects are passed to parameters of their own type")
}

/// The branches of `? :` have two types.
pub(crate) fn branches_differ(yes: Span, no: Span, a: &str, b: &str) -> Diagnostic {
    Diagnostic::error(
        "E0334",
        no,
        format!(
            "the two branches have different types, {} and {}",
            tick(a),
            tick(b)
        ),
    )
    .label(tick(b))
    .also(yes, tick(a))
    .help("convert one of them with a cast")
}

/// The branches of `? :` are numbers without width.
pub(crate) fn branches_without_width(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0335",
        span,
        "a run-time choice between two numbers without a width",
    )
    .label("unknown width")
    .help("give one of them a width: `c ? 8w1 : 2`")
}

/// `extract` into something other than a header.
pub(crate) fn extract_needs_header(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("E0336", span, format!("`extract` fills a header, and this is {}", tick(ty)))
        .label("not a header")
        .help("extract the headers of a struct one by one; read other values with `lookahead` and `advance`")
}

/// `extract` with the wrong number of arguments for the header.
pub(crate) fn extract_varbit(span: Span, ty: &str, why: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0337", span, format!("the header `{ty}` {why}"))
        .label(why.to_owned())
        .help(help)
}

/// `lookahead` of a type without fixed size.
pub(crate) fn lookahead_size(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0338",
        span,
        format!("`lookahead` needs a type of fixed size, and `{ty}` has none"),
    )
    .label("size not fixed")
    .help("look ahead at a bit<N>, or at a header or struct of fixed size")
}

/// `emit` of something other than headers.
pub(crate) fn emit_type(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0339",
        span,
        format!("`emit` writes headers, and this is {}", tick(ty)),
    )
    .label("not made of headers alone")
    .help("emit a header, a stack, a union, or a struct of these")
}

/// The size of something that has none.
pub(crate) fn no_size(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("E0340", span, format!("{} has no size in bits", tick(ty)))
        .label("no size")
        .help("sizes are for bit<N>, int<N>, varbit<N>, bool, serializable enums and what is made of these")
}

/// A key of a type that nothing can match on.
pub(crate) fn key_type(span: Span, ty: &str, what: &str, help: &str) -> Diagnostic {
    Diagnostic::error(
        "E0341",
        span,
        format!("{what} cannot match on {}", tick(ty)),
    )
    .label("cannot be matched here")
    .help(help)
}

/// `switch` on a value that has no labels.
pub(crate) fn switch_type(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0342",
        span,
        format!("`switch` cannot choose by {}", tick(ty)),
    )
    .label("not a scalar")
    .help("switch on `t.apply().action_run`, or on a bit<N>, int<N>, enum, error or bool")
}

/// A mask or range of values that are not numbers.
pub(crate) fn set_operator(span: Span, operator: &str, ty: &str) -> Diagnostic {
    Diagnostic::error(
        "E0343",
        span,
        format!("`{operator}` is not defined on {}", tick(ty)),
    )
    .label("not a bit<N> or int<N>")
    .help("list single values instead")
}
