//! Common errors: syntax of C and of P4-14, and typing errors. E013x and E014x.

use diag::{Diagnostic, Span};

/// `if (a = b)`.
pub(crate) fn assign_in_condition(span: Span) -> Diagnostic {
    Diagnostic::error("E0130", span, "`=` assigns, which an expression cannot do")
        .help("compare with `==`")
}

/// `uint8_t`.
pub(crate) fn c_type(span: Span, name: &str, instead: &str) -> Diagnostic {
    Diagnostic::error("E0131", span, format!("`{name}` is a type of C, not of P4"))
        .help(format!("write {instead}"))
}

/// P4-14 source.
pub(crate) fn p4_14(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0132", span, format!("this is P4-14: {what}"))
        .help("Onpath compiles P4-16; translate the program, for instance with `p4test --std p4-14 --pp out.p4` from p4c")
}

/// A control without `apply`.
pub(crate) fn missing_apply(span: Span, name: &str, head: Span) -> Diagnostic {
    Diagnostic::error(
        "E0133",
        span,
        format!("the control `{name}` has no `apply` block"),
    )
    .also(head, "this control")
    .help("end the control with `apply { ... }`; it may be empty")
}

/// A statement of a control outside of its `apply`.
pub(crate) fn statement_outside_apply(span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0134",
        span,
        "a statement outside of `apply`, an action or a function",
    )
    .help("move it into `apply { ... }`")
}

/// A statement of a parser outside of its states.
pub(crate) fn statement_outside_state(span: Span) -> Diagnostic {
    Diagnostic::error("E0149", span, "a statement outside of the states")
        .help("move it into a state: `state start { ... }`")
}

/// `a { ... }` in a switch.
pub(crate) fn missing_colon(after: Span) -> Diagnostic {
    Diagnostic::error("E0135", after, "missing `:` after the label")
        .label("put `:` here")
        .help("write `label: { ... }`")
}

/// `case a:`.
pub(crate) fn case_word(span: Span, of: &str, form: &str) -> Diagnostic {
    Diagnostic::error("E0136", span, format!("P4's `{of}` has no `case`"))
        .label("remove this word")
        .help(format!("write what is matched alone: `{form}`"))
}

/// `while`, `do`, `goto`.
pub(crate) fn c_statement(span: Span, word: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0137", span, format!("P4 has no `{word}`")).help(help)
}

/// `i++`.
pub(crate) fn increment(span: Span, op: &str, variable: &str) -> Diagnostic {
    let assign = if op == "--" { "-=" } else { "+=" };
    Diagnostic::error(
        "E0138",
        span,
        format!("P4 has no operator `{op}` of one operand"),
    )
    .help(format!(
        "write `{variable} {assign} 1`, which is a statement and has no value"
    ))
}

/// `int x` as in C, `int(x)`, `bit<8>(x)`.
pub(crate) fn call_cast(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("E0139", span, format!("`{ty}` cannot be called"))
        .help(format!("write a cast as `({ty}) value`"))
}

/// `bit[8]`.
pub(crate) fn bit_brackets(span: Span, size: &str) -> Diagnostic {
    Diagnostic::warning("W0140",
        span,
        format!("this is an array of {size} single bits"),
    )
    .help(format!(
        "a width goes in angle brackets: write `bit<{size}>`; write `bit<1>[{size}]` if an array is meant"
    ))
}

/// `->`.
pub(crate) fn arrow(span: Span) -> Diagnostic {
    Diagnostic::error("E0141", span, "P4 has no pointers and no `->`").help("write `.`")
}

/// `else` without `if`.
pub(crate) fn stray_else(span: Span) -> Diagnostic {
    Diagnostic::error("E0142", span, "`else` without `if`")
        .help("an `else` directly follows the statement or block of its `if`, with no `;` between")
}

/// A brace that closes nothing.
pub(crate) fn stray_close(span: Span, text: &str) -> Diagnostic {
    Diagnostic::error("E0143", span, format!("unmatched `{text}`"))
        .help("remove it, or look above for a bracket that closes too early")
}

/// `T x;` at top level.
pub(crate) fn global_variable(span: Span) -> Diagnostic {
    Diagnostic::error("E0144", span, "a variable cannot be declared at top level")
        .help("make it a `const`, or declare it inside a control, parser, action or function")
}

/// `int x, y;`
pub(crate) fn several_names(span: Span) -> Diagnostic {
    Diagnostic::error("E0146", span, "a declaration declares only one name")
        .help("write a declaration for each name")
}

/// `bit<8> a, bit<8> b` in a struct.
pub(crate) fn field_comma(span: Span) -> Diagnostic {
    Diagnostic::error("E0146", span, "a field ends with `;`, not with a comma")
        .label("put `;` here")
        .help("end every field with `;`, the last one too")
}

/// `key: { ... }` in place of `key = { ... }` in a table.
pub(crate) fn table_property_colon(span: Span) -> Diagnostic {
    Diagnostic::error("E0147", span, "a table property is written with `=`")
        .help("write `property = value;` or `key = { ... }`")
}

/// `1 &&& 2` or `1 .. 2` outside of a set.
pub(crate) fn set_operator(span: Span, op: &str) -> Diagnostic {
    Diagnostic::error("E0148",
        span,
        format!("`{op}` makes a set, which is not allowed here"),
    )
    .help("use masks and ranges in `select` cases and table entries, and ranges in `for (T x in a .. b)`")
}

/// `table t() {`, as in programs for early compilers.
pub(crate) fn table_parameters(span: Span) -> Diagnostic {
    Diagnostic::error("E0150", span, "a table has no parameters")
        .label("remove these")
        .help("write `table NAME { ... }`; its `key` lists what the table matches on")
}

/// `192.0.2.1`, or `1.5`.
pub(crate) fn dotted_number(span: Span, address: Option<u32>) -> Diagnostic {
    let help = match address {
        Some(address) => format!("write the address as one number: `0x{address:08x}`"),
        None => "P4 has integers alone: write an address as one number, and scale a fraction by a constant".to_owned(),
    };
    Diagnostic::error("E0153", span, "a number has no dots")
        .label("not one number")
        .help(help)
}

/// `1, 2: accept;`
pub(crate) fn several_sets(comma: Span, help: &str) -> Diagnostic {
    Diagnostic::error("E0154", comma, "a comma between what a case matches")
        .label("expected `:`")
        .help(help)
}

/// `key = { x; }`.
pub(crate) fn key_without_match_kind(span: Span) -> Diagnostic {
    Diagnostic::error("E0152", span, "a key has no match kind")
        .label("put `: exact` or another match kind here")
        .help("write `EXPRESSION : exact;` or another match kind, such as `lpm` or `ternary`")
}
