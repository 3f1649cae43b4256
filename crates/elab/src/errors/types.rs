//! Types that cannot be laid out.

use diag::{Code, Diagnostic, Span, counted};

/// A header whose fixed part ends within a byte: it could neither be extracted nor emitted.
pub(crate) fn header_width(at: Span, name: &str, width: u32) -> Diagnostic {
    Diagnostic::error(
        Code("E0550"),
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
        Code("E0551"),
        at,
        format!("header `{name}` has more than one varbit field"),
    )
    .help("split it into headers with one varbit field each, extracted one after the other")
}

/// A value of a type that nothing at run time can hold.
pub(crate) fn not_storable(at: Span) -> Diagnostic {
    Diagnostic::error(
        Code("E0552"),
        at,
        "a value of this type cannot exist while packets are processed",
    )
    .help("use `bit`, `int`, `bool`, enums, and headers, structs and stacks of these")
}

/// A stack of something that is neither a header nor a union.
pub(crate) fn stack_of_what(at: Span) -> Diagnostic {
    Diagnostic::error(
        Code("E0554"),
        at,
        "only headers and header unions can be elements of a stack",
    )
    .help("make its elements headers, or declare one variable for each element")
}
