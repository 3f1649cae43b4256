//! Facts of passes at the start of blocks that copies of packets enter.

use super::*;
use crate::passes::{compact, dce, fold, propagate};

/// Returns two controls after passes: `first` writes storage, `second` reads it.
fn two_blocks(program: &str, first: &str, second: &str) -> String {
    let head = HEAD.replacen("reject stop", &format!("reject stop{program}"), 1);
    let text = format!(
        "{head}routine c block() {{\n{first}}}\nroutine d block() {{\n{second}}}\n\
         pipeline ingress control c\npipeline egress control d\nslot meta {{\n    var \"a\" = a;\n}}\n\
         intrinsic slot out {{\n    var \"port\" = port;\n}}\nfield_list 1 {{ b }}\n"
    );
    let mut program = text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    for pass in [propagate::run, fold::run, dce::run, compact::run] {
        pass(&mut program);
        program.number_stmts();
        check(&program);
    }
    let text = program.to_string();
    let routines = text.find("routine").unwrap()..text.find("pipeline").unwrap();
    text[routines].to_owned()
}

const READ: &str = "    if a == 8w1 {\n        port = 32w1;\n    }\n";

#[test]
fn copies_bring_values_of_their_own_into_a_block() {
    // Without copies, the second block always finds the values that the first one left.
    let alone = two_blocks("", "    a = 8w1;\n", READ);
    assert_eq!(
        alone,
        "routine c block() {}\nroutine d block() {\n    port = 32w1;\n}\n"
    );
    let copies = two_blocks(" copies", "    a = 8w1;\n", READ);
    assert_eq!(
        copies,
        format!("routine c block() {{\n    a = 8w1;\n}}\nroutine d block() {{\n{READ}}}\n")
    );
}

#[test]
fn what_copies_may_bring_along_is_kept_to_the_end() {
    let first = "    h.eth.kind = 16w7;\n    set_valid h.eth;\n    a = 8w2;\n    c = 8w3;\n";
    let alone = two_blocks("", first, "");
    assert_eq!(alone, "routine c block() {}\nroutine d block() {}\n");
    let copies = two_blocks(" copies", first, "");
    assert_eq!(
        copies,
        format!("routine c block() {{\n{first}}}\nroutine d block() {{}}\n")
    );
}

#[test]
fn what_a_field_list_names_may_be_anything_at_first_and_is_read_at_last() {
    let text = two_blocks("", "    b = b + 8w1;\n", "    port = cast(b, bit<32>);\n");
    let kept = "routine c block() {\n    b = b + 8w1;\n}\nroutine d block() {\n    port = cast(b, bit<32>);\n}\n";
    assert_eq!(text, kept);
}
