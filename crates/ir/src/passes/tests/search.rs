use super::*;
use crate::passes::search;

/// Returns the states of a parser after the pass; `control` is the code after the parser.
fn searched(states: &str, control: &str) -> String {
    let parser = format!("parser p start s {{\n{states}}}\n");
    let text = pipeline(&parser, control, "", &[search::run]);
    let from = text.find("    state").expect("there are states");
    let to = text.find("}\nroutine").expect("a control follows");
    text[from..to].to_owned()
}

/// Returns the search that the pass makes of a state that compares, and a state `n` that advances; `None` if it makes
/// none.
fn search_of(compare: &str, advance: &str) -> Option<String> {
    let states = format!("state s {{ {compare} }}\nstate n {{ {advance} }}\n");
    let text = searched(&states, "");
    let line = text.lines().find(|line| line.contains("search "))?;
    Some(line.trim().to_owned())
}

const ADVANCE: &str = "advance 32w8; goto s;";

/// Returns the limit of the search for a loop that repeats while a condition on counters holds.
fn counted(select: &str, count: &str) -> Option<String> {
    let states = format!(
        "state s {{ select ({select} -> accept; }} }}
state c {{ lookahead a; select (a) {{ (8w0x3a) -> accept; (_) -> n; }} }}
state n {{ advance 32w8; {count} goto s; }}
"
    );
    let text = searched(&states, "");
    let (_, limit) = text.split_once(" within ")?;
    Some(limit.split(" -> ").next().expect("a part").to_owned())
}

#[test]
fn a_loop_that_compares_and_moves_on_is_a_search() {
    let text = searched(
        "state s { extract h.eth; goto c; }
state c { lookahead w; select (w) { (32w0x61626364) -> t; (_) -> n; } }
state n { advance 32w8; goto c; }
state t { a = 8w1; goto accept; }
",
        "user = a;\n",
    );
    assert_eq!(
        text,
        "    state s {
        extract h.eth;
        goto c;
    }
    state c {
        search 32w0x61626364;
        lookahead w;
        goto t;
    }
    state n {
        advance 32w8;
        goto reject;
    }
    state t {
        a = 8w1;
        goto accept;
    }
"
    );
}

#[test]
fn counters_are_what_they_were_and_end_the_search() {
    let text = searched(
        "state s { select (w >= 32w4) { (1w1) -> c; (_) -> accept; } }
state c { lookahead a; lookahead b behind 16; select (a, b) { (8w0x61, 8w0x20 &&& 8w0xf0) -> t; (_, _) -> n; } }
state n { advance 32w8; w = w - 32w1; c = c + 8w3; goto s; }
state t { user = c; goto accept; }
",
        "port = w;\n",
    );
    assert_eq!(
        text,
        "    state s {
        search 24w0x610020 &&& 24w0xff00f0 within (w < 32w4) ? 32w0 : ((w - 32w4) + 32w1) -> passed;
        c = c + (cast(passed, bit<8>) * 8w3);
        w = w - passed;
        select (w >= 32w4) {
            (1w1) -> c;
            (_) -> accept;
        }
    }
    state c {
        lookahead a;
        lookahead b behind 16;
        goto t;
    }
    state n {
        advance 32w8;
        w = w - 32w1;
        c = c + 8w3;
        goto reject;
    }
    state t {
        user = c;
        goto accept;
    }
"
    );
}

#[test]
fn an_iteration_that_may_be_left_behind_the_comparison_keeps_it() {
    let text = searched(
        "state s { lookahead a; select (a == 8w0x3a) { (1w1) -> accept; (_) -> n; } }
state n { advance 32w8; b = b - 8w1; select (b) { (8w0) -> reject; (_) -> s; } }
",
        "",
    );
    assert_eq!(
        text,
        "    state s {
        search 8w0x3a within cast((b - 8w1), bit<32>) -> passed;
        b = b - cast(passed, bit<8>);
        lookahead a;
        select (a == 8w0x3a) {
            (1w1) -> accept;
            (_) -> n;
        }
    }
    state n {
        advance 32w8;
        b = b - 8w1;
        select (b) {
            (8w0) -> reject;
            (_) -> reject;
        }
    }
"
    );
}

#[test]
fn the_value_may_be_asked_for_in_several_ways() {
    let all = [
        (
            "lookahead w; select (w) { (32w5) -> accept; (_) -> n; }",
            "32w5",
        ),
        (
            "lookahead w behind 4; select (w) { (32w5) -> accept; (_) -> n; }",
            "32w5 behind 4",
        ),
        (
            "lookahead w; select (w != 32w5) { (1w1) -> n; (1w0) -> accept; }",
            "32w5",
        ),
        (
            "lookahead w; select (w[15:8]) { (8w5) -> accept; (_) -> n; }",
            "16w0x500 &&& 16w0xff00 behind 16",
        ),
        (
            "lookahead a; select (a & 8w0xf0) { (8w0x40) -> accept; (_) -> n; }",
            "8w0x40 &&& 8w0xf0",
        ),
        (
            "lookahead a; select (a) { (8w0x41 &&& 8w0xdf) -> accept; (_) -> n; }",
            "8w0x41 &&& 8w0xdf",
        ),
        // The loop is left if not all bits that it reads are present.
        (
            "lookahead a; lookahead b behind 32; select (a) { (8w1) -> accept; (_) -> n; }",
            "40w0x100000000 &&& 40w0xff00000000",
        ),
    ];
    for (compare, wanted) in all {
        let found = search_of(compare, ADVANCE);
        assert_eq!(found, Some(format!("search {wanted};")), "{compare}");
    }
    let question = "fits 32w16 -> f; select (f) { (1w1) -> s; (_) -> accept; }";
    let read = format!(
        "state d {{ lookahead a; lookahead b behind 8; select (a, b) {{ (8w1, 8w2) -> accept; (_, _) -> n; }} }} state n {{ {ADVANCE} }} "
    );
    let states = format!("state s {{ {} }} {read}\n", question.replace(" s;", " d;"));
    assert!(searched(&states, "").contains("search 16w0x102;"));
    let extracts = "extract byte; select (byte.v) { (8w1) -> accept; (_) -> s; }";
    let head = "header_type one { v: bit<8>; }\nheader byte: one\n";
    let program = format!(
        "{}{head}parser p start s {{ state s {{ {extracts} }} }}\npipeline parser parser p\n",
        HEAD
    );
    let mut program = text::parse(&program).expect("it is well-formed");
    search::run(&mut program);
    assert!(program.to_string().contains("search 8w1;"), "{program}");
}

#[test]
fn what_is_no_search_stays_a_loop() {
    let compare = "lookahead a; select (a) { (8w1) -> accept; (_) -> n; }";
    let all = [
        // It moves by more than a byte, or by a number from the packet.
        (compare, "advance 32w16; goto s;"),
        (compare, "advance w; goto s;"),
        // It has other effects.
        (compare, "advance 32w8; extern f(in(a)); goto s;"),
        (compare, "advance 32w8; port = port * 32w2; goto s;"),
        // Two values, or all except one.
        (
            "lookahead a; select (a) { (8w1) -> accept; (8w2) -> reject; (_) -> n; }",
            ADVANCE,
        ),
        (
            "lookahead a; select (a) { (8w1) -> n; (_) -> accept; }",
            ADVANCE,
        ),
        (
            "lookahead a; select (a) { (8w1 .. 8w3) -> accept; (_) -> n; }",
            ADVANCE,
        ),
        // The compared value is not a constant.
        (
            "lookahead a; select (a == b) { (1w1) -> accept; (_) -> n; }",
            ADVANCE,
        ),
        // A select without a default case.
        ("lookahead a; select (a == 8w1) { (1w0) -> n; }", ADVANCE),
    ];
    for (compare, advance) in all {
        assert_eq!(search_of(compare, advance), None, "{compare} {advance}");
    }
}

#[test]
fn what_the_last_iterations_but_one_wrote_must_not_be_read() {
    let states = "state s { select (w >= 32w4) { (1w1) -> c; (_) -> accept; } }
state c { lookahead a; select (a) { (8w1) -> accept; (_) -> n; } }
state n { advance 32w8; w = w - 32w1; goto s; }
";
    assert!(searched(states, "").contains("search "));
    assert!(!searched(states, "port = cast(a, bit<32>);\n").contains("search "));
}

#[test]
fn a_counter_ends_the_loop_after_as_many_iterations_as_it_did() {
    let (down, up) = ("b = b - 8w1;", "b = b + 8w1;");
    let all = [
        (
            "b >= 8w4) { (1w1) -> c; (_)",
            down,
            "(b < 8w4) ? 32w0 : (cast((b - 8w4), bit<32>) + 32w1)",
        ),
        (
            "b > 8w4) { (1w1) -> c; (_)",
            down,
            "cast((b |-| 8w4), bit<32>)",
        ),
        (
            "8w4 < b) { (1w1) -> c; (_)",
            down,
            "cast((b |-| 8w4), bit<32>)",
        ),
        ("b != c) { (1w1) -> c; (_)", down, "cast((b - c), bit<32>)"),
        ("b != c) { (1w1) -> c; (_)", up, "cast((c - b), bit<32>)"),
        ("b < c) { (1w1) -> c; (_)", up, "cast((c |-| b), bit<32>)"),
        (
            "(b + 8w5) < c) { (1w1) -> c; (_)",
            up,
            "cast((c |-| (b + 8w5)), bit<32>)",
        ),
        (
            "b <= c) { (1w1) -> c; (_)",
            up,
            "(b > c) ? 32w0 : ((c == 8w0xff) ? 32w0xffffffff : (cast((c - b), bit<32>) + 32w1))",
        ),
        (
            "b) { (8w5 .. 8w255) -> c; (_)",
            down,
            "cast((b |-| 8w4), bit<32>)",
        ),
        (
            "b) { (8w5 .. 8w9) -> c; (_)",
            down,
            "cast((((b - 8w0xa) <= 8w0xfa) ? 8w0 : (b - 8w4)), bit<32>)",
        ),
        (
            "(b == 8w7) | (w == 32w1)) { (1w0) -> c; (_)",
            "b = b - 8w1; w = w + 32w1;",
            "(cast((b - 8w7), bit<32>) < (32w1 - w)) ? cast((b - 8w7), bit<32>) : (32w1 - w)",
        ),
    ];
    for (select, count, limit) in all {
        assert_eq!(
            counted(select, count).as_deref(),
            Some(limit),
            "{select} {count}"
        );
    }
    let none = [
        // The condition holds until the counter wraps around.
        ("b <= 8w4) { (1w1) -> c; (_)", down),
        ("b >= 8w4) { (1w1) -> c; (_)", up),
        // The counter does not move by one.
        ("b >= 8w4) { (1w1) -> c; (_)", "b = b - 8w2;"),
        ("b >= c) { (1w1) -> c; (_)", "b = b - 8w1; c = c - 8w1;"),
        ("cast(b, bit<32>) >= w) { (1w1) -> c; (_)", down),
    ];
    for (select, count) in none {
        assert_eq!(counted(select, count), None, "{select} {count}");
    }
}
