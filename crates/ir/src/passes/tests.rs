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
