//! Tests of the selection of rolled stacks.

use crate::passes::unroll;
use crate::{text, verify};
use std::fmt::Write;

/// A program whose parser fills a stack of `size` headers in a loop.
struct Filling<'a> {
    size: usize,
    control: &'a str,
    /// Number of elements that are emitted.
    emitted: usize,
    /// Statements inserted after the first `emit`.
    again: &'a str,
}

const STACK: Filling<'_> = Filling {
    size: 16,
    control: "",
    emitted: 16,
    again: "",
};

/// Returns true if the stack stays rolled.
fn is_rolled(filling: &Filling<'_>) -> bool {
    let Filling {
        size,
        control,
        emitted,
        again,
    } = *filling;
    let mut code = String::from(
        "program test reject stop\nlabels 4\nheader_type item {\n    a: bit<8>;\n    b: bit<8>;\n}\n\
         var x: bit<8>\nvar i: bit<32>\nvar next: bit<32>\nheader other: item\n",
    );
    for i in 0..size {
        let _ = writeln!(code, "header s{i}: item");
    }
    let names = |count| (0..count).map(|i| format!("s{i}"));
    let all: Vec<String> = names(size).collect();
    let _ = writeln!(code, "stack s next next {{ {} }}", all.join(", "));
    let mut emits: Vec<String> = names(emitted)
        .map(|name| format!("emit {name};\n"))
        .collect();
    emits.insert(emits.len().min(1), again.to_owned());
    let emits = emits.concat();
    let _ = write!(
        code,
        "routine c block() {{\n{control}\n}}\nroutine d block() {{\n{emits}}}\n\
         parser p start more {{\n    state more {{\n        extract s[next];\n        next = next + 32w1;\n        \
         select (s[next - 32w1].a) {{\n            (8w0) -> accept;\n            (_) -> more;\n        }}\n    }}\n}}\n\
         pipeline parser parser p\npipeline switch control c\npipeline deparser deparser d\n"
    );
    let mut program = text::parse(&code).unwrap_or_else(|e| panic!("{e}\n{code}"));
    unroll::run(&mut program);
    program.number_stmts();
    verify(&program).unwrap_or_else(|errors| panic!("{errors:?}\n{program}"));
    let rolled = program.stacks.values().all(|stack| stack.rolled);
    let states = program.parsers.values().map(|parser| parser.states.len());
    assert_eq!(rolled, states.sum::<usize>() == 1, "{program}");
    rolled
}

fn with(control: &str) -> bool {
    is_rolled(&Filling { control, ..STACK })
}

#[test]
fn a_stack_that_is_only_read_moved_down_and_made_invalid_stays_rolled() {
    assert!(with(""));
    assert!(with("x = s[i].a; x = s3.b;"));
    assert!(with("pop_front s by 2;"));
    assert!(with("set_invalid s[i];"));
}

#[test]
fn a_small_stack_does_not() {
    assert!(!is_rolled(&Filling {
        size: 15,
        emitted: 15,
        ..STACK
    }));
}

#[test]
fn one_does_not_whose_elements_something_else_than_extraction_sets() {
    assert!(!with("set_valid s3;"));
    assert!(!with("copy s3 = other;"));
    assert!(!with("push_front s by 1;"));
}

#[test]
fn one_does_not_of_which_what_is_written_to_an_invalid_element_may_be_read() {
    assert!(!with("s[i].a = 8w1; x = s3.a;"));
    // A write to another field, to a valid element, to a field that nothing reads.
    assert!(with("s[i].b = 8w1; x = s3.a;"));
    assert!(with("if valid(s[i]) { s[i].a = 8w1; } x = s3.a;"));
    assert!(with("s[i].b = 8w1; if valid(s3) { x = s3.b; }"));
    // The same low bits of a number; then fewer of them.
    assert!(with(
        "if valid(s[cast(cast(i, bit<4>), bit<32>)]) { s[cast(cast(i, bit<4>), bit<32>)].a = 8w1; } x = s3.a;"
    ));
    assert!(!with(
        "if valid(s[i]) { s[cast(cast(i, bit<1>), bit<32>)].a = 8w1; } x = s3.a;"
    ));
    // The index, or the validity, has changed.
    assert!(!with(
        "if valid(s[i]) { i = 32w1; s[i].a = 8w1; } x = s3.a;"
    ));
    assert!(!with(
        "if valid(s[i]) { set_invalid s[i]; s[i].a = 8w1; } x = s3.a;"
    ));
}

#[test]
fn one_does_not_that_is_emitted_in_part() {
    assert!(!is_rolled(&Filling {
        emitted: 15,
        ..STACK
    }));
    assert!(is_rolled(&Filling {
        emitted: 0,
        ..STACK
    }));
    // As many headers as there are elements, but not all elements.
    assert!(!is_rolled(&Filling {
        size: 17,
        emitted: 16,
        again: "emit s0;\n",
        ..STACK
    }));
}

#[test]
fn one_does_not_that_is_written_where_something_may_read_the_packet_as_it_came() {
    let write = "if valid(s[i]) { s[i].a = 8w1; }";
    assert!(!with(&format!("{write} extern f() -> x;")));
    assert!(with(&format!("{write} isolated extern f() -> x;")));
    assert!(with("extern f() -> x;"));
}

#[test]
fn one_does_not_that_is_read_in_an_atomic_block() {
    assert!(!with("atomic { x = s3.a; }"));
}
