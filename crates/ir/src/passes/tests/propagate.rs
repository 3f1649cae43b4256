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
fn what_is_written_on_one_path_is_not_known_after() {
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
