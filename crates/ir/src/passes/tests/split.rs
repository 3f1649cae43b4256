use super::*;
use crate::passes::{dce, select, split, thread};

/// Returns the parser after the pass: two paths lead to `rest`, one of them with a tag. The control has these
/// statements.
fn after_split(rest: &str, control: &str, passes: &[fn(&mut Program)]) -> String {
    let text = pipeline(
        &format!(
            "parser p start s {{
    state s {{
        extract h.eth;
        select (h.eth.kind) {{
            (16w0x8100) -> tag;
            (_) -> rest;
        }}
    }}
    state tag {{
        extract h.t0;
        goto rest;
    }}
    state rest {{
{rest}    }}
}}
"
        ),
        control,
        "emit h.eth;\n",
        passes,
    );
    let end = text.find("routine d").unwrap();
    text[..end].to_owned()
}

const REST: &str = "        lookahead a behind 8;
        goto accept;
";

#[test]
fn a_state_is_copied_for_each_set_of_headers_that_paths_bring() {
    let text = after_split(REST, "a = 8w1;\n", &[split::run]);
    assert_eq!(
        text,
        "parser p start s {
    state s {
        extract h.eth;
        select (h.eth.kind) {
            (16w0x8100) -> tag;
            (_) -> rest;
        }
    }
    state tag {
        extract h.t0;
        goto rest.2;
    }
    state rest {
        lookahead a behind 8;
        goto accept;
    }
    state rest.2 {
        lookahead a behind 8;
        goto accept;
    }
}
routine c block() {
    a = 8w1;
}
"
    );
}

#[test]
fn each_copy_enters_the_control_by_what_it_knows() {
    let passes = [split::run, select::run, dce::run, thread::run];
    let control = "if valid(h.t0) {\n    port = 32w1;\n}\nelse {\n    port = 32w2;\n}\n";
    let text = after_split("        goto accept;\n", control, &passes);
    assert_eq!(
        text,
        "parser p start s {
    state s {
        extract h.eth;
        select (h.eth.kind) {
            (16w0x8100) -> tag;
            (_) -> s.accept;
        }
    }
    state tag {
        extract h.t0;
        port = 32w1;
        goto accept at e0;
    }
    state s.accept {
        port = 32w2;
        goto accept at e0;
    }
}
routine c block() {
    if valid(h.t0) {
        port = 32w1;
    }
    else {
        port = 32w2;
    }
    entry e0;
}
"
    );
}

#[test]
fn paths_with_the_same_headers_and_cursor_share_a_state() {
    let parser = "parser p start s {
    state s {
        extract h.eth;
        select (h.eth.kind) {
            (16w1) -> one;
            (_) -> rest;
        }
    }
    state one {
        a = 8w1;
        goto rest;
    }
    state rest {
        extract h.t0;
        goto accept;
    }
}
";
    let unchanged = pipeline(parser, "b = a;\n", "emit h.eth;\n", &[]);
    let after = pipeline(parser, "b = a;\n", "emit h.eth;\n", &[split::run]);
    assert_eq!(after, unchanged);
}

#[test]
fn a_parser_before_much_code_stays_as_it_is() {
    let control = |statements| "a = a + 8w1;\n".repeat(statements);
    let is_split =
        |statements| after_split(REST, &control(statements), &[split::run]).contains("rest.2");
    // The deparser has a statement too.
    assert!(is_split(63));
    assert!(!is_split(64));
}

#[test]
fn a_long_state_is_not_copied() {
    let rest = |statements| "        a = a + 8w1;\n".repeat(statements) + "        goto reject;\n";
    let is_split =
        |statements| after_split(&rest(statements), "", &[split::run]).contains("rest.2");
    assert!(is_split(11));
    assert!(!is_split(12));
}

#[test]
fn a_parser_with_a_loop_stays_as_it_is() {
    let rest = "        advance 32w8;
        select (a) {
            (8w0) -> rest;
            (_) -> accept;
        }
";
    let unchanged = after_split(rest, "", &[]);
    assert_eq!(after_split(rest, "", &[split::run]), unchanged);
}
