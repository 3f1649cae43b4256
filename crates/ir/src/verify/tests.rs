use crate::{Program, Stmt, StmtKind, text};
use diag::Span;

const HEAD: &str = "program test reject stop
errors NoError
labels 2
header_type eth {
    dst: bit<48>;
    kind: bit<16>;
}
header_type opt {
    data: varbit<320>;
}
header_type odd {
    a: bit<3>;
}
var a: bit<8>
var b: bit<9>
var i: bit<32>
var n: bit<16>
var f: bool
var s: int<8>
header hdr.eth: eth
header hdr.opt: opt
header hdr.odd: odd
header hdr.v0: eth
stack hdr.v next i { hdr.v0 }
";

fn errors(rest: &str) -> Vec<String> {
    let program = text::parse(&format!("{HEAD}{rest}")).unwrap();
    match crate::verify(&program) {
        Ok(()) => Vec::new(),
        Err(errors) => errors.into_iter().map(|e| e.to_string()).collect(),
    }
}

fn routine(body: &str) -> Vec<String> {
    errors(&format!("routine r block() {{\n {body}\n}}\n"))
}

fn state(body: &str) -> Vec<String> {
    errors(&format!(
        "parser p start s {{\n state s {{ {body} goto accept; }}\n}}\n"
    ))
}

#[test]
fn tables_of_sizes_are_in_order_and_of_whole_attributes() {
    assert_eq!(state("skip_ahead 8 -> f { 8w1: 1; 8w2: 9; }"), [""; 0]);
    let problems = [
        (
            "skip_ahead 8 -> f { 8w2: 1; 8w1: 1; }",
            "has tags that do not ascend",
        ),
        (
            "skip_ahead 8 -> f { 8w1: 1; 8w1: 1; }",
            "has tags that do not ascend",
        ),
        ("skip_ahead 8 -> f { }", "skips no attribute"),
        (
            "skip_ahead 8 -> f { 9w1: 2; }",
            "tag 9w0x1 has another width",
        ),
        (
            "skip_ahead 8 -> f { 8w1: 0; }",
            "an attribute ends before its tag 8w0x1",
        ),
        (
            "skip_ahead 8 behind 4 -> f { 8w1: 1; }",
            "an attribute ends before its tag 8w0x1",
        ),
        (
            "skip_ahead 8 behind 4294967295 -> f { 8w1: 1; }",
            "looks for a tag past any packet",
        ),
    ];
    for (stmt, problem) in problems {
        let errors = state(stmt);
        assert!(
            errors.len() == 1 && errors[0].ends_with(problem),
            "{stmt}: {errors:?}"
        );
    }
    assert!(!routine("skip_ahead 8 -> f { 8w1: 1; }").is_empty());
    assert!(!state("skip_ahead 8 -> a { 8w1: 1; }").is_empty());
}

/// The sample of the text form has one invalid table; the rest is valid.
#[test]
fn only_the_nonsense_in_the_sample_is_refused() {
    let program = text::parse(text::tests::EVERYTHING).unwrap();
    let errors = crate::verify(&program).unwrap_err();
    let messages: Vec<_> = errors.iter().map(|e| e.to_string()).collect();
    assert_eq!(
        messages,
        [
            "table C.t: `C.drop` may not run here",
            "table C.t: entry 1 has Lpm(48w0x0, 8) for key `hdr.eth.dst`",
            "table C.t: `C.drop` may not run here",
            "table C.t: entry 2 has Any for key `hdr.eth.dst`",
            "table C.t: entry 2 has Range(9w0x1, 9w0x1ff) for key `wide`",
        ]
    );
}

#[test]
fn types_must_agree() {
    assert_eq!(
        routine("a = a + 8w1; f = a < 8w3; a = f ? a : 8w0;"),
        [""; 0]
    );
    for body in [
        "a = b;",
        "b = a + b;",
        "f = a;",
        "a = f & f;",
        "f = f ^ f;",
        "a = a << s;",
        "a = a[8:1];",
        "f = cast(a, bool);",
        "a = 9w1: bit<8>;",
        "if a { }",
        "a = f ? a : b;",
        "copy hdr.eth = hdr.opt;",
        "a = hdr.v[a].dst[7:0];",
        "apply t hit a;",
        "switch a { case 9w1 { } }",
    ] {
        let table = "action x() {}\ntable t {\n action x; default x(); }\n";
        let found = errors(&format!("{table}routine r block() {{\n {body}\n}}\n"));
        assert_eq!(found.len(), 1, "{body}: {found:?}");
    }
}

#[test]
fn an_automaton_has_states_of_which_all_steps_lead_to_one() {
    let runs = "automaton n within i -> n, i { 0: 0..9 -> 1 11..255 -> 0; 1: 5..5 -> 0; }";
    assert_eq!(state(runs), [""; 0]);
    let problems = [
        ("automaton n -> n { }", "without a state"),
        ("automaton n -> n { 0: 0..9 -> 1; }", "lead to no state"),
        ("automaton n -> n { 0: 9..0 -> 0; }", "do not ascend"),
        (
            "automaton n -> n { 0: 0..9 -> 0 9..20 -> 0; }",
            "do not ascend",
        ),
    ];
    for (body, expected) in problems {
        let found = state(body);
        assert!(
            found.iter().any(|e| e.contains(expected)),
            "{body}: {found:?}"
        );
    }
    assert!(!routine(runs).is_empty());
    for wrong in [
        "automaton a -> n",
        "automaton n -> i",
        "automaton n within n -> n",
        "automaton n -> n, n",
    ] {
        assert!(
            !state(&format!("{wrong} {{ 0: 0..9 -> 0; }}")).is_empty(),
            "{wrong}"
        );
    }
}

#[test]
fn a_search_has_bits_that_matter() {
    assert!(state("search 8w5 &&& 8w7 behind 3 within i -> i;").is_empty());
    let wrong = [
        ("search 8w5 &&& 9w7;", "a mask of another width"),
        ("search 8w5 &&& 8w4;", "bits that its mask leaves out"),
        ("search 8w0 &&& 8w0;", "searches for nothing"),
        ("search 8w5 behind 4294967290;", "past any packet"),
        ("search 8w5 within a;", "where"),
        ("search 8w5 -> a;", "where"),
    ];
    for (search, message) in wrong {
        let found = state(search);
        assert!(found[0].contains(message), "{search}: {found:?}");
    }
    assert!(routine("search 8w5;")[0].contains("outside a parser"));
}

#[test]
fn labels_must_be_around() {
    assert_eq!(
        routine("loop label0 { block label1 { break label1; } continue label0; }"),
        [""; 0]
    );
    for body in [
        "break label0;",
        "block label0 { } break label0;",
        "block label0 { continue label0; }",
        "block label0 { } block label0 { }",
        "block label2 { }",
    ] {
        let found = routine(body);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
    }
}

#[test]
fn statements_stand_where_they_belong() {
    assert_eq!(
        state("extract hdr.eth; advance 32w8; verify f, error::NoError;"),
        [""; 0]
    );
    for found in [
        routine("extract hdr.eth;"),
        routine("advance 32w8;"),
        routine("emit hdr.eth;"),
        state("return;"),
        state("extract hdr.opt;"),
        state("extract hdr.eth, 32w8;"),
        state("extract hdr.odd;"),
        errors(
            "action x() {}\ntable t {\n action x; default x(); }\nroutine r action() {\n apply t;\n}\n",
        ),
    ] {
        assert_eq!(found.len(), 1, "{found:?}");
    }
    let deparser = "routine r block() {\n emit hdr.eth;\n}\npipeline deparser deparser r\n";
    assert_eq!(errors(deparser), [""; 0]);
}

#[test]
fn every_statement_has_an_id_of_its_own() {
    let text = format!("{HEAD}routine r block() {{\n if f {{ return; }}\n exit;\n}}\n");
    let mut program = text::parse(&text).unwrap();
    assert_eq!(program.stmts, 3);
    assert!(crate::verify(&program).is_ok());
    let routine = program.routines.keys().next().unwrap();
    let first = program.routines[routine].body[0].id;
    program.routines[routine].body[1].id = first;
    let message = |program: &Program| crate::verify(program).unwrap_err()[0].to_string();
    assert_eq!(
        message(&program),
        "routine r: stmt0 is the id of two statements"
    );
    let exit = Stmt::new(StmtKind::Exit, Span::NONE);
    program.routines[routine].body[1] = exit;
    assert!(message(&program).ends_with("was not numbered"));
    program.number_stmts();
    assert!(crate::verify(&program).is_ok());
}

#[test]
fn blocks_and_slots_are_distinguished_by_name() {
    let c = "routine c block() {\n}\nroutine d block() {\n}\n";
    let run = |lines: &str| errors(&format!("{c}{lines}"));
    assert_eq!(
        run("pipeline one control c\npipeline two control d\n"),
        [""; 0]
    );
    assert_eq!(
        run("pipeline one control c\npipeline one control d\n"),
        ["pipeline: two blocks are called `one`"]
    );
    assert_eq!(
        run("slot s {\n}\nintrinsic slot s {\n}\n"),
        ["pipeline: two slots are called `s`"]
    );
    assert_eq!(
        run("slot s {\n var \"a\" = a;\n}\nintrinsic slot t {\n var \"a\" = a;\n}\n"),
        ["pipeline: `a` is in an intrinsic slot and in another"]
    );
}

#[test]
fn field_lists_have_numbers_of_their_own_and_each_variable_once() {
    assert_eq!(errors("field_list 1 { a }\nfield_list 2 { a }\n"), [""; 0]);
    assert_eq!(
        errors("field_list 1 { a }\nfield_list 1 {  }\n"),
        ["pipeline: two field lists have the number 1"]
    );
    assert_eq!(
        errors("field_list 1 { a, a }\n"),
        ["pipeline: field list 1 has a variable twice"]
    );
}

#[test]
fn calls_fit_their_routines() {
    let r = "routine f function(in a, out b, header_in hdr.eth) {}\nroutine r block() {\n";
    let run = |call: &str| errors(&format!("{r}{call}\n}}\n"));
    assert_eq!(run("call f(in 8w1, out _, header hdr.v[32w0]);"), [""; 0]);
    for call in [
        "call f(in 8w1, out _);",
        "call f(in 9w1, out _, header hdr.eth);",
        "call f(in 8w1, out a, header hdr.eth);",
        "call f(in 8w1, inout b, header hdr.eth);",
        "call f(in 8w1, out b, header hdr.opt);",
        "call r();",
    ] {
        assert!(!run(call).is_empty(), "{call}");
    }
}

#[test]
fn recursion_is_found_through_tables() {
    let found = errors(
        "action x() {\n call g();\n}\ntable t {\n action x; default x(); }\nroutine f control() {\n apply t;\n}\nroutine g function() {\n call h();\n}\nroutine h function() {\n call g();\n}\nroutine i control() {\n}\n",
    );
    let names: Vec<_> = found.iter().map(|e| e.split(':').next().unwrap()).collect();
    assert_eq!(names, ["routine f", "routine g", "routine h"]);
}

#[test]
fn entries_fit_their_tables() {
    let run = |line: &str| {
        errors(&format!(
            "action x(a) {{}}\ntable t {{\n key \"a\" exact a; key \"b\" lpm b; key \"i\" ternary i; key \"s\" range s;\n action x; default x(8w1);\n {line}\n}}\n"
        ))
    };
    assert_eq!(
        run(
            "entry 1 (8w1, 9w0x100/1, 32w1 &&& 32w3, 8w0xff .. 8w1) -> x(8w2); entry 2 (8w1, _, _, _) -> x(8w2);"
        ),
        [""; 0]
    );
    for line in [
        "entry 1 (8w1, _, _) -> x(8w2);",
        "entry 1 (_, _, _, _) -> x(8w2);",
        "entry 1 (8w1, 9w1/1, _, _) -> x(8w2);",
        "entry 1 (8w1, _, 32w4 &&& 32w3, _) -> x(8w2);",
        "entry 1 (8w1, _, _, 8w1 .. 8w0xff) -> x(8w2);",
        "entry 1 (8w1, _, _, _) -> x(9w2);",
        "entry 1 (8w1, _, _, _) -> x();",
        "entry 1 (8w1, _, _, _) -> 1(8w2);",
        "entry 1 (8w1, _, _, _) -> x(8w1); entry 1 (8w2, _, _, _) -> x(8w1);",
    ] {
        let found = run(line);
        assert_eq!(found.len(), 1, "{line}: {found:?}");
    }
}

#[test]
fn selects_cover_their_keys() {
    let run = |case: &str| {
        errors(&format!(
            "value_set v size 4 {{\n x: bit<8> exact; y: bit<9> exact;\n}}\nparser p start s {{\n state s {{ select (a, b) {{ {case} }} }}\n}}\n"
        ))
    };
    assert_eq!(
        run("(8w1, _) -> accept; (v) -> s; (_, 9w1 .. 9w2) -> reject;"),
        [""; 0]
    );
    for case in [
        "(8w1) -> accept;",
        "(9w1, _) -> accept;",
        "(_, v) -> accept;",
        "(_, _, _) -> accept;",
    ] {
        assert!(!run(case).is_empty(), "{case}");
    }
}

#[test]
fn each_scalar_that_the_control_plane_names_has_its_declaration() {
    let program = text::parse(&format!(
        "{HEAD}value_set p.set size 1 {{\n    k: bit<8> exact;\n}}\nextern c: counter {{\n    type (bit<8>);\n}}\naction c.act(a) {{}}\n"
    ));
    let whole = program.unwrap();
    assert!(crate::verify(&whole).is_ok());
    let mut damaged = whole.clone();
    for data in damaged.actions.values_mut() {
        data.declared.clear();
    }
    for data in damaged.externs.values_mut() {
        data.type_arg_declared.clear();
    }
    for data in damaged.value_sets.values_mut() {
        data.declared.clear();
    }
    let errors = crate::verify(&damaged).unwrap_err();
    let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let expected = ["extern object c", "action c.act", "value set p.set"]
        .map(|place| format!("{place}: 0 declarations for 1 scalars"));
    assert_eq!(messages, expected);
}

/// Returns a parser that accepts at `e0`, and the control after it.
fn entered(control: &str, rest: &str) -> Vec<String> {
    errors(&format!(
        "action x() {{}}
table t {{
    action x; default x();
}}
routine c block() {{
    {control}
}}
parser p start s {{
    state s {{ goto accept at e0; }}
}}
pipeline p parser p
{rest}"
    ))
}

#[test]
fn entries_stand_once_where_a_parser_can_enter() {
    let after = "pipeline c control c\n";
    assert_eq!(entered("entry e0; entry e1;", after), [""; 0]);
    assert_eq!(
        entered("if f { if f { } else { entry e0; } }", after),
        [""; 0]
    );
    let nowhere = "parser p, state s: the control after the parser has no e0";
    let misplaced = "routine c: e0 stands where no parser can enter";
    for (control, rest, expected) in [
        ("", after, &[nowhere][..]),
        ("entry e1;", after, &[nowhere]),
        (
            "entry e0; if f { entry e0; }",
            after,
            &["routine c: e0 stands twice"],
        ),
        ("loop label0 { entry e0; }", after, &[misplaced, nowhere]),
        ("block label0 { entry e0; }", after, &[misplaced, nowhere]),
        ("atomic { entry e0; }", after, &[misplaced, nowhere]),
        (
            "switch a { case 8w1 { entry e0; } }",
            after,
            &[misplaced, nowhere],
        ),
        ("entry e0;", "", &[misplaced, nowhere]),
        (
            "entry e0;",
            "routine d block() {}\npipeline d control d\npipeline c control c\n",
            &[nowhere],
        ),
        (
            "entry e0;",
            "routine d block() {}\npipeline c control c\npipeline again parser p\npipeline d control d\n",
            &[nowhere],
        ),
        (
            "entry e0;",
            "action y() {\n    entry e2;\n}\npipeline c control c\n",
            &["action y: e2 stands where no parser can enter"],
        ),
        (
            "entry e0;",
            "parser q start s {\n    state s { entry e3; goto accept; }\n}\npipeline c control c\n",
            &["parser q, state s: e3 stands where no parser can enter"],
        ),
    ] {
        assert_eq!(entered(control, rest), expected, "{control} {rest}");
    }
}
