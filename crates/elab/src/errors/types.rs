//! Types that cannot be laid out.

use diag::{Diagnostic, Span, counted};
use num_bigint::BigInt;

/// A header whose fixed part ends within a byte: it could neither be extracted nor emitted.
pub(crate) fn header_width(at: Span, name: &str, width: u32) -> Diagnostic {
    Diagnostic::error(
        "E0550",
        at,
        format!(
            "header `{name}` is {} wide, which is not a whole number of bytes",
            counted(width, "bit")
        ),
    )
    .help(format!(
        "add {} of padding, or make it a struct if it never is in a packet",
        counted(8 - width % 8, "bit")
    ))
}

/// A header with two fields of variable size: the packet does not determine where one ends.
pub(crate) fn two_varbits(at: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        "E0551",
        at,
        format!("header `{name}` has more than one varbit field"),
    )
    .help("split it into headers with one varbit field each, extracted one after the other")
}

/// A value of a type that nothing at run time can hold.
pub(crate) fn not_storable(at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0552",
        at,
        "a value of this type cannot exist while packets are processed",
    )
    .help("use `bit`, `int<N>`, `bool`, enums, and headers, structs and stacks of these")
}

/// A value of a type that only exists while the program is compiled.
pub(crate) fn no_run_time_value(at: Span, what: &str) -> Diagnostic {
    let help = match what {
        "an `int`" => "give it a width, as in bit<32>",
        "nothing" => "use what has a value",
        _ => "use `bit`, `int<N>`, `bool`, enums, and headers, structs and stacks of these",
    };
    Diagnostic::error(
        "E0552",
        at,
        format!("{what} cannot be a value while packets are processed"),
    )
    .label(format!("this is {what}, at least in one of its instances"))
    .help(help)
}

/// A header's field without a representation in bits, which is only detected in an instance of a generic header.
pub(crate) fn no_header_field(at: Span, field: &str, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0552",
        at,
        format!("the field `{field}` of a header cannot be {what}"),
    )
    .label("has no bits in a packet")
    .help("use `bit`, `int<N>`, `bool`, or an enum with a type, as in `enum bit<8> E { A = 0 }`")
}

/// An array with more elements than a target has, those of nested arrays counted one by one.
pub(crate) fn array_size(at: Span, count: u64, most: u32) -> Diagnostic {
    Diagnostic::error("E0586",
        at,
        format!("an array of {} altogether is not possible", counted(count, "element")),
    )
    .help(format!(
        "an array has at most {most} elements, counting those of the arrays in it: keep larger ones in a register"
    ))
}

/// An array of headers together with values without a fixed number of bits.
pub(crate) fn array_of_what(at: Span, array: &str) -> Diagnostic {
    Diagnostic::error("E0554",
        at,
        format!("the elements of the array `{array}` hold headers beside values without a layout in bits"),
    )
    .help(
        "keep errors, varbits and enums without a type in an array of their own, or give the enum a type, as in \
         enum bit<8> E { A = 0 }",
    )
}

/// A slice of constant width whose position, given by a constructor's argument, is outside of the sliced value.
pub(crate) fn slice_outside(at: Span, first: &BigInt, width: u32, of: u32) -> Diagnostic {
    Diagnostic::error(
        "E0592",
        at,
        format!(
            "{} from bit {first} on are not in a value of {}",
            counted(width, "bit"),
            counted(of, "bit")
        ),
    )
    .label("outside of the value with this constructor argument")
    .help("give the constructor another argument, or slice fewer bits")
}

/// An array with header stacks in its elements.
pub(crate) fn array_of_stacks(at: Span, array: &str) -> Diagnostic {
    Diagnostic::error(
        "E0587",
        at,
        format!("the elements of the array `{array}` hold header stacks"),
    )
    .help("only stacks outside of arrays have a `next` element: declare one stack for each element")
}
