use super::*;
use crate::passes::{dce, fold};

#[test]
fn unread_values_are_not_computed() {
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
fn unused_results_of_tables_are_not_reported() {
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

#[test]
fn a_look_up_overwrites_its_results() {
    let text = after(
        "extern flows: flow_state {
    type (bit<8> k);
    type (bit<8> v);
}
routine c block() {
    a = 8w1;
    f = true;
    b = 8w2;
    extern flows::lookup(in(b), out(a)) -> f;
    if f { port = cast(a, bit<32>); }
}
pipeline switch control c
intrinsic slot out {
    var \"output_port\" = port;
}
",
        &[dce::run],
    );
    assert!(!text.contains("a = 8w1"), "{text}");
    assert!(!text.contains("f = true"), "{text}");
    assert!(text.contains("b = 8w2"), "{text}");
}

/// Returns a switch without dead code; the architecture reads its port.
fn switch(body: &str) -> String {
    after(
        &format!(
            "routine c block() {{
{body}
}}
pipeline switch control c
intrinsic slot out {{
    var \"output_port\" = port;
}}
"
        ),
        &[dce::run],
    )
}

#[test]
fn a_pure_call_with_unused_results_is_removed() {
    let call = |effect: &str| {
        switch(&format!(
            "{effect}extern sum(in(a)) -> b; {effect}extern sum(in(a)) -> a; port = cast(a, bit<32>);"
        ))
    };
    let pure = call("pure ");
    assert_eq!(pure.matches("extern sum").count(), 1, "{pure}");
    assert!(pure.contains("pure extern sum(in(a)) -> a;"), "{pure}");
    let effect = call("");
    assert_eq!(effect.matches("extern sum").count(), 2, "{effect}");
}

#[test]
fn only_calls_with_an_effect_read_what_the_architecture_reads() {
    let call = |effect: &str| {
        switch(&format!(
            "port = 32w1; {effect}extern sum(in(a)) -> b; port = cast(b, bit<32>);"
        ))
    };
    assert!(!call("pure ").contains("port = 32w1"));
    assert!(call("").contains("port = 32w1"));
}
