use super::*;
use crate::passes::{fold, inline};

fn inlined(routines: &str) -> String {
    let text = after(routines, &[|p| inline::run(p, 5), fold::run]);
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
        &[|p| inline::run(p, 5)],
    );
    assert!(
        text.contains("    push_front h.t by 1;\n    h.t[next].vid = 16w1;\n"),
        "{text}"
    );
}

/// A function of one number, too long to be copied.
const LONG: &str = "routine f function(in a, out b) {
    c = a;
    if c > 8w1 { c = c + 8w1; }
    if c > 8w2 { c = c + 8w2; }
    if c > 8w3 { c = c + 8w3; }
    if c > 8w4 { c = c + 8w4; }
    if c > 8w5 { c = c + 8w5; }
    b = c;
}
";

#[test]
fn a_long_function_that_is_called_twice_stays_one() {
    let block = "routine r block() {
    call f(in user, out next_user);
    call f(in next_user, out user);
}
";
    let text = inlined(&format!("var next_user: bit<8>\n{LONG}{block}"));
    assert!(text.ends_with(block), "{text}");
    assert!(text.contains("routine f function(in a, out b) {"), "{text}");
}

#[test]
fn a_function_is_inlined_where_it_has_more_parameters_than_the_target_calls() {
    let block = "routine r block() {
    call f(in user, out next_user);
    call f(in next_user, out user);
}
";
    let text = format!("var next_user: bit<8>\n{LONG}{block}");
    let calls = |passes: &[fn(&mut Program)]| after(&text, passes).matches("call f").count();
    assert_eq!(calls(&[|p| inline::run(p, 1)]), 2);
    assert_eq!(calls(&[|p| inline::run(p, 0)]), 0);
}

#[test]
fn a_function_is_inlined_where_it_is_short_or_called_once_or_takes_more_than_numbers() {
    let twice = "routine r block() {
    call f(in user, out user);
    call f(in user, out user);
}
";
    let once = "routine r block() {
    call f(in user, out user);
}
";
    let short = "routine f function(in a, out b) {
    b = a;
}
";
    let reads_a_header = LONG.replace("c = a;", "c = cast(h.t0.vid, bit<8>);");
    let writes_elsewhere = LONG.replace("b = c;", "b = c; port = 32w1;");
    let calls_out = LONG.replace("b = c;", "b = c; extern g();");
    for (function, calls) in [
        (short, twice),
        (LONG, once),
        (reads_a_header.as_str(), twice),
        (writes_elsewhere.as_str(), twice),
        (calls_out.as_str(), twice),
    ] {
        let text = inlined(&format!("{function}{calls}"));
        assert!(!text.contains("call "), "{text}");
    }
}

#[test]
fn a_function_without_branches_stays_one_only_where_it_is_much_longer() {
    let calls = "routine r block() {
    call f(in user, out user);
    call f(in user, out user);
}
";
    let function = |statements: usize| {
        let steps = "    c = c + 8w1;\n".repeat(statements);
        format!("routine f function(in a, out b) {{\n    c = a;\n{steps}    b = c;\n}}\n{calls}")
    };
    assert!(!inlined(&function(30)).contains("call "));
    assert!(inlined(&function(60)).contains("call "));
}

#[test]
fn a_parser_and_an_atomic_block_call_nothing() {
    let text = inlined(&format!(
        "{LONG}routine r block() {{
    call f(in user, out user);
    atomic {{
        call f(in user, out user);
    }}
}}
parser p start s {{
    state s {{
        call f(in user, out user);
        goto accept;
    }}
}}
"
    ));
    assert_eq!(text.matches("call f").count(), 1, "{text}");
}
