//! Snapshots of the passes: text in, text out.

use crate::{Program, text, verify};

/// Declarations that the snapshots share.
const HEAD: &str = "program xdp
errors NoError, PacketTooShort, NoMatch, StackOutOfBounds
labels 4
header_type eth {
    dst: bit<48>;
    kind: bit<16>;
}
header_type tag {
    vid: bit<16>;
    kind: bit<16>;
}
var a: bit<8>
var b: bit<8>
var c: bit<8>
var w: bit<32>
var f: bool
var g: bool
var next: bit<32>
var port: bit<32>
var user: bit<8>
header h.eth: eth
header h.t0: tag
header h.t1: tag
stack h.t next next { h.t0, h.t1 }
";

/// The text after passes, without the shared declarations.
fn after(rest: &str, passes: &[fn(&mut Program)]) -> String {
    let mut program = text::parse(&format!("{HEAD}{rest}")).unwrap_or_else(|e| panic!("{e}"));
    check(&program);
    for pass in passes {
        pass(&mut program);
        check(&program);
    }
    let text = program.to_string();
    let lines = text.lines().skip_while(|l| !l.starts_with("stack")).skip(1);
    lines.map(|l| format!("{l}\n")).collect()
}

fn check(program: &Program) {
    if let Err(errors) = verify(program) {
        panic!("{errors:?}\n{program}");
    }
}

/// The statements of a block after passes.
fn block(body: &str, passes: &[fn(&mut Program)]) -> String {
    let text = after(&format!("routine r block() {{\n{body}\n}}\n"), passes);
    let text = text.trim_start_matches("routine r block() {");
    let lines = text.lines().map(|l| l.trim_start().to_owned() + " ");
    let joined: String = lines.collect();
    joined.trim().trim_end_matches('}').trim().to_owned()
}

mod fold {
    use super::*;
    use crate::passes::fold::run;

    fn fold(body: &str) -> String {
        block(body, &[run])
    }

    #[test]
    fn constants_are_computed() {
        assert_eq!(fold("a = 8w200 + 8w100;"), "a = 8w0x2c;");
        assert_eq!(fold("f = (a + 8w0) == (a | 8w0);"), "f = true;");
        assert_eq!(fold("a = (w[31:16] ++ w[15:0])[7:0];"), "a = w[7:0];");
        assert_eq!(fold("f = cast(a, bit<32>) == 32w7;"), "f = a == 8w7;");
        assert_eq!(fold("f = cast(a, bit<32>) == 32w256;"), "f = false;");
        assert_eq!(fold("f = !(a < b);"), "f = a >= b;");
        assert_eq!(fold("a = a;"), "");
    }

    #[test]
    fn known_branches_go_their_way() {
        assert_eq!(fold("if true { a = b; } else { a = c; }"), "a = b;");
        assert_eq!(fold("if f { } else { a = c; }"), "if !f { a = c; }");
        assert_eq!(fold("if f { }"), "");
        assert_eq!(
            fold("switch 8w1 + 8w1 { case 8w1 { a = b; } case 8w2 { a = c; } }"),
            "a = c;"
        );
        assert_eq!(fold("switch a { default { a = c; } }"), "a = c;");
    }

    #[test]
    fn what_no_path_reaches_goes() {
        assert_eq!(fold("return; a = b;"), "return;");
        assert_eq!(
            fold("if f { return; } else { exit; } a = b;"),
            "if f { return; } else { exit; }"
        );
        assert_eq!(
            fold("block label0 { a = b; break label0; a = c; }"),
            "a = b;"
        );
        assert_eq!(
            fold("block label0 { if f { break label0; } a = b; }"),
            "block label0 { if f { break label0; } a = b; }"
        );
        assert_eq!(
            fold("block label0 { a = b; if f { break label0; } else { a = c; break label0; } }"),
            "a = b; if !f { a = c; }"
        );
        assert_eq!(fold("loop label0 { a = b; break label0; }"), "a = b;");
    }

    #[test]
    fn selects_on_constants_are_settled() {
        let text = "parser p start s {
    state s {
        select (8w5, a) {
            (8w4, _) -> reject;
            (8w0 .. 8w7, 8w1) -> s;
            (_, _) -> accept;
            (_, _) -> reject;
        }
    }
}
";
        assert_eq!(
            after(text, &[run]),
            "parser p start s {
    state s {
        select (8w5, a) {
            (8w0 .. 8w7, 8w1) -> s;
            (_, _) -> accept;
        }
    }
}
"
        );
    }
}

mod inline {
    use super::*;
    use crate::passes::{fold, inline};

    fn inlined(routines: &str) -> String {
        let text = after(routines, &[inline::run, fold::run]);
        text.lines()
            .filter(|l| !l.ends_with("{}"))
            .map(|l| format!("{l}\n"))
            .collect()
    }

    #[test]
    fn parameters_become_their_arguments() {
        let text = inlined(
            "routine f control(in a, inout b, header_inout h.t0) {
    b = a + 8w1;
    h.t0.vid = 16w3;
    set_invalid h.t0;
}
routine r block() {
    call f(in user, inout c, header h.t1);
}
",
        );
        assert_eq!(
            text,
            "routine r block() {
    c = user + 8w1;
    h.t1.vid = 16w3;
    set_invalid h.t1;
}
"
        );
    }

    #[test]
    fn aliased_parameters_are_copied() {
        let text = inlined(
            "routine f control(in a, inout b) {
    b = 8w1;
    b = b + a;
}
routine r block() {
    call f(in c, inout c);
}
",
        );
        assert_eq!(
            text,
            "routine r block() {
    b = c;
    b = 8w1;
    b = b + c;
    c = b;
}
"
        );
    }

    #[test]
    fn returns_and_exits_copy_out() {
        let text = inlined(
            "routine f control(inout b) {
    b = c;
    if f {
        return;
    }
    if g {
        exit;
    }
    b = 8w2;
}
routine r block() {
    call f(inout c);
    a = c;
}
",
        );
        assert_eq!(
            text,
            "routine r block() {
    b = c;
    block label4 {
        b = c;
        if f {
            break label4;
        }
        if g {
            c = b;
            exit;
        }
        b = 8w2;
    }
    c = b;
    a = c;
}
"
        );
    }

    #[test]
    fn tables_of_a_control_applied_once_follow_its_parameters() {
        let text = inlined(
            "action set(user) {
    b = user;
    exit;
}
table t {
    key \"b\" exact b;
    action set;
    default set(8w1);
}
routine f control(inout b) {
    apply t;
}
routine r block() {
    call f(inout c);
}
",
        );
        assert_eq!(
            text,
            "action set(user) {
    c = user;
    exited = true;
    return;
}
table t {
    key \"b\" exact c;
    action set;
    default set(8w1);
}
routine r block() {
    exited = false;
    apply t;
    if exited {
        exit;
    }
}
"
        );
    }

    #[test]
    fn tables_of_a_control_applied_twice_stay_with_its_parameters() {
        let text = inlined(
            "action set(user) {
    b = user;
}
table t {
    key \"b\" exact b;
    action set;
    default set(8w1);
}
routine f control(inout b) {
    apply t;
}
routine r block() {
    call f(inout c);
    call f(inout a);
}
",
        );
        assert!(
            text.ends_with(
                "routine r block() {
    b = c;
    apply t;
    c = b;
    b = a;
    apply t;
    a = b;
}
"
            ),
            "{text}"
        );
    }

    #[test]
    fn loops_in_copies_have_their_own_labels() {
        let text = inlined(
            "routine f function(inout b) {
    loop label0 {
        if b == 8w0 {
            break label0;
        }
        b = b - 8w1;
    }
}
routine r block() {
    call f(inout c);
    call f(inout a);
}
",
        );
        assert_eq!(text.matches("loop label4 {").count(), 1);
        assert_eq!(text.matches("loop label5 {").count(), 1);
        assert_eq!(text.matches("c == 8w0").count(), 1);
        assert_eq!(text.matches("a == 8w0").count(), 1);
    }

    #[test]
    fn stacks_of_parameters_become_the_stacks_of_arguments() {
        let text = after(
            "header p0: tag
header p1: tag
var pn: bit<32>
stack p next pn { p0, p1 }
routine f control(header_inout p0, header_inout p1, inout pn) {
    push_front p by 1;
    p[pn].vid = 16w1;
}
routine r block() {
    call f(header h.t0, header h.t1, inout next);
}
",
            &[inline::run],
        );
        assert!(
            text.contains("    push_front h.t by 1;\n    h.t[next].vid = 16w1;\n"),
            "{text}"
        );
    }
}

/// A whole pipeline of which the parser and the control are given.
fn pipeline(parser: &str, control: &str, deparser: &str, passes: &[fn(&mut Program)]) -> String {
    let text = after(
        &format!(
            "{parser}routine c block() {{
{control}}}
routine d block() {{
{deparser}}}
pipeline Parser parser p
pipeline Switch control c
pipeline Deparser control d
slot headers {{
    header \"eth\" = h.eth;
}}
slot xdp_output {{
    var \"output_port\" = port;
}}
"
        ),
        passes,
    );
    // The parser first, as it runs.
    let (rest, end) = (
        text.find("routine").unwrap(),
        text.find("pipeline").unwrap(),
    );
    let at = text.find("parser").unwrap();
    format!("{}{}{}", &text[..rest], &text[at..end], &text[rest..at])
}

mod propagate {
    use super::*;
    use crate::passes::{fold, propagate};

    const PARSER: &str = "parser p start s {
    state s {
        extract h.eth;
        goto accept;
    }
}
";

    fn run(control: &str) -> String {
        let text = pipeline(PARSER, control, "", &[propagate::run, fold::run]);
        let from = text.find("routine c").unwrap();
        let to = text.find("routine d").unwrap();
        let text = text[from..to].trim_start_matches("routine c block() {");
        let lines = text.lines().map(|l| l.trim_start().to_owned() + " ");
        let joined: String = lines.collect();
        joined.trim().trim_end_matches('}').trim().to_owned()
    }

    #[test]
    fn constants_and_copies_go_where_they_are_read() {
        assert_eq!(run("a = 8w3; b = a + user;"), "a = 8w3; b = 8w3;");
        assert_eq!(
            run("a = h.eth.dst[7:0]; b = a; c = b;"),
            "a = h.eth.dst[7:0]; b = a; c = a;"
        );
        assert_eq!(run("w = port; if f { w = 32w1; } port = w;"), "w = port;");
    }

    #[test]
    fn what_is_written_on_one_way_is_not_known_after() {
        assert_eq!(
            run("a = 8w3; if h.eth.kind == 16w1 { a = 8w4; } b = a;"),
            "a = 8w3; if h.eth.kind == 16w1 { a = 8w4; } b = a;"
        );
        assert_eq!(
            run("b = h.eth.dst[7:0]; a = b; b = 8w1; c = a;"),
            "b = h.eth.dst[7:0]; a = b; b = 8w1; c = a;"
        );
        assert_eq!(
            run("loop label0 { a = a + 8w1; if a == 8w7 { break label0; } } b = a;"),
            "loop label0 { a = a + 8w1; if a == 8w7 { break label0; } } b = 8w7;"
        );
    }

    #[test]
    fn validity_is_known_from_the_parser() {
        assert_eq!(run("if valid(h.eth) { a = 8w1; }"), "a = 8w1;");
        assert_eq!(run("if valid(h.t0) { a = 8w1; }"), "");
        assert_eq!(
            run("set_valid h.eth; set_invalid h.t0; set_valid h.t0; f = valid(h.t0);"),
            "set_valid h.t0; f = true;"
        );
        assert_eq!(
            run(
                "if h.eth.kind == 16w1 { set_valid h.t0; } if valid(h.t0) { set_valid h.t0; a = 8w1; }"
            ),
            "if h.eth.kind == 16w1 { set_valid h.t0; } if valid(h.t0) { a = 8w1; }"
        );
    }
}

mod dce {
    use super::*;
    use crate::passes::{dce, fold};

    #[test]
    fn what_nobody_reads_is_not_computed() {
        let text = pipeline(
            "parser p start s {
    state s {
        a = 8w1;
        b = 8w2;
        extract h.eth;
        goto accept;
    }
    state lost {
        goto accept;
    }
}
",
            "h.eth.dst = 48w1;
h.t0.vid = 16w1;
set_valid h.t0;
c = b;
if f {
    copy h.t1 = h.t0;
}
port = cast(b, bit<32>);
w = 32w5;
",
            "emit h.eth;\n",
            &[dce::run, fold::run],
        );
        assert_eq!(
            text,
            "parser p start s {
    state s {
        b = 8w2;
        extract h.eth;
        goto accept;
    }
}
routine c block() {
    h.eth.dst = 48w1;
    port = cast(b, bit<32>);
}
routine d block() {
    emit h.eth;
}
"
        );
    }

    #[test]
    fn fields_of_a_header_that_becomes_invalid_matter_if_it_may_become_valid_again() {
        let run = |control: &str| {
            let parser = "parser p start s {\n state s {\n  extract h.t0;\n  goto accept;\n }\n}\n";
            pipeline(parser, control, "emit h.t0;\n", &[dce::run])
        };
        let text = run("h.t0.vid = 16w1;\nset_invalid h.t0;\n");
        assert!(!text.contains("vid"), "{text}");
        let text = run("h.t0.vid = 16w1;\nset_invalid h.t0;\nif f {\n set_valid h.t0;\n}\n");
        assert!(text.contains("vid"), "{text}");
        let text = run("h.t0.vid = 16w1;\nset_invalid h.t0;\nport = cast(h.t0.vid, bit<32>);\n");
        assert!(text.contains("vid = "), "{text}");
    }

    #[test]
    fn loops_keep_what_the_next_round_reads() {
        let text = pipeline(
            "parser p start s {
    state s {
        goto accept;
    }
}
",
            "loop label0 {
    port = port + w;
    w = w + 32w1;
    b = b + 8w1;
    if w == 32w3 {
        break label0;
    }
}
",
            "",
            &[dce::run],
        );
        assert!(text.contains("w = w + 32w1;"), "{text}");
        assert!(!text.contains("b = b"), "{text}");
    }

    #[test]
    fn results_of_tables_that_nobody_wants_are_not_reported() {
        let text = pipeline(
            "action x(a) {
    b = a;
    port = 32w1;
}
table t {
    key \"k\" exact c;
    action x;
    default x(8w1);
}
parser p start s {
    state s {
        goto accept;
    }
}
",
            "apply t hit f action w;
if g {
    apply t hit f;
    if f {
        port = 32w2;
    }
}
",
            "",
            &[dce::run],
        );
        assert!(
            text.contains(
                "action x(a) {
    port = 32w1;
}"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "    apply t;
    if g {
        apply t hit f;
"
            ),
            "{text}"
        );
    }
}

mod parsers {
    use super::*;
    use crate::passes::{self, dce, fold, propagate, select, stacks, unroll};

    #[test]
    fn stack_loops_are_unrolled_to_the_end_of_the_stack() {
        let text = pipeline(
            "parser p start s {
    state s {
        next = 32w0;
        extract h.eth;
        select (h.eth.kind) {
            (16w0x8100) -> tag;
            (_) -> accept;
        }
    }
    state tag {
        extract h.t[next];
        next = next + 32w1;
        select (h.t[next - 32w1].kind) {
            (16w0x8100) -> tag;
            (16w0x800) -> ip;
            (_) -> accept;
        }
    }
    state ip {
        goto accept;
    }
}
",
            "h.t1.vid = 16w1;\n",
            "emit h.eth;\nemit h.t0;\nemit h.t[32w1];\n",
            &[
                unroll::run,
                propagate::run,
                stacks::run,
                propagate::run,
                fold::run,
                select::run,
                dce::run,
            ],
        );
        assert_eq!(
            text,
            "parser p start s {
    state s {
        extract h.eth;
        select (h.eth.kind) {
            (16w0x8100) -> tag[0];
            (_) -> accept;
        }
    }
    state tag[0] {
        extract h.t0;
        select (h.t0.kind) {
            (16w0x8100) -> tag[1];
            (_) -> accept;
        }
    }
    state tag[1] {
        extract h.t1;
        select (h.t1.kind) {
            (16w0x8100) -> tag[2];
            (_) -> accept;
        }
    }
    state tag[2] {
        verify false, error::StackOutOfBounds;
        goto reject;
    }
}
routine c block() {
    h.t1.vid = 16w1;
}
routine d block() {
    emit h.eth;
    emit h.t0;
    emit h.t1;
}
"
        );
    }

    #[test]
    fn moves_of_stacks_are_copies() {
        let text = block("push_front h.t by 1; pop_front h.t by 2;", &[stacks::run]);
        assert_eq!(
            text,
            "copy h.t1 = h.t0; h.t0.vid = 16w0; h.t0.kind = 16w0; set_invalid h.t0; \
             next = (next >= 32w1) ? 32w2 : (next + 32w1); \
             h.t0.vid = 16w0; h.t0.kind = 16w0; set_invalid h.t0; \
             h.t1.vid = 16w0; h.t1.kind = 16w0; set_invalid h.t1; \
             next = (next < 32w2) ? 32w0 : (next - 32w2);"
        );
    }

    #[test]
    fn elements_out_of_bounds_are_nothing() {
        assert_eq!(
            block(
                "f = valid(h.t[32w2]); h.t[32w7].vid = 16w1; copy h.t[32w0] = h.t[32w2]; port = cast(h.t[32w9].vid, bit<32>);",
                &[stacks::run]
            ),
            "f = false; h.t0.vid = 16w0; h.t0.kind = 16w0; set_invalid h.t0; port = 32w0;"
        );
    }

    #[test]
    fn straight_states_are_joined() {
        let text = pipeline(
            "parser p start s {
    state s {
        extract h.eth;
        goto mid;
    }
    state mid {
        extract h.t0;
        select (h.t0.kind, a) {
            (16w1, _) -> pass;
            (16w2, 8w1) -> pass;
            (16w3, _) -> mid2;
            (16w4, _) -> accept;
            (_, _) -> accept;
        }
    }
    state pass {
        goto mid2;
    }
    state mid2 {
        extract h.t1;
        goto accept;
    }
}
",
            "",
            "",
            &[select::run, dce::run],
        );
        assert_eq!(
            text.split_once("routine").unwrap().0,
            "parser p start s {
    state s {
        extract h.eth;
        extract h.t0;
        select (h.t0.kind, a) {
            (16w1, _) -> mid2;
            (16w2, 8w1) -> mid2;
            (16w3, _) -> mid2;
            (_, _) -> accept;
        }
    }
    state mid2 {
        extract h.t1;
        goto accept;
    }
}
"
        );
    }

    #[test]
    fn the_whole_pipeline_leaves_nothing_to_call() {
        let mut program = text::parse(&format!(
            "{HEAD}routine f control(header_inout h.t0, out port) {{
    h.t0.vid = 16w7;
    port = 32w1;
    exit;
}}
routine c block() {{
    call f(header h.t1, out w);
}}
pipeline Switch control c
slot xdp_output {{
    var \"output_port\" = w;
}}
"
        ))
        .unwrap();
        passes::pipeline(&mut program, passes::Level::Optimize);
        assert!(
            program
                .to_string()
                .contains("routine c block() {\n    w = 32w1;\n    exit;\n}"),
            "{program}"
        );
    }
}

#[test]
fn what_nothing_mentions_is_forgotten() {
    let mut program = text::parse(&format!(
        "{HEAD}routine f function(in a) {{}}
routine c block() {{
    port = cast(c, bit<32>);
}}
pipeline Switch control c
slot xdp_output {{
    var \"output_port\" = port;
}}
"
    ))
    .unwrap();
    crate::passes::compact::run(&mut program);
    check(&program);
    let text = program.to_string();
    let from = text.find("var").unwrap();
    assert_eq!(
        &text[from..],
        "var c: bit<8>
var next: bit<32>
var port: bit<32>
header h.t0: tag
header h.t1: tag
stack h.t next next { h.t0, h.t1 }
routine c block() {
    port = cast(c, bit<32>);
}
pipeline Switch control c
slot xdp_output {
    var \"output_port\" = port;
}
"
    );
    assert_eq!(program.exprs.len(), 2);
}
