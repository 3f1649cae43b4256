use super::*;
use crate::passes::thread;

/// Returns the states and the control after the pass. At the end of the state `tag`, `h.t0` is valid. At the end of
/// `either`, `h.t1` may be valid.
fn threaded(control: &str) -> String {
    let text = pipeline(
        "parser p start s {
    state s {
        extract h.eth;
        select (h.eth.kind) {
            (16w0x8100) -> tag;
            (16w0x9100) -> either;
            (16w0) -> reject;
            (_) -> accept;
        }
    }
    state tag {
        extract h.t0;
        goto accept;
    }
    state either {
        if h.eth.dst == 48w1 {
            set_valid h.t1;
        }
        goto accept;
    }
}
",
        control,
        "",
        &[thread::run],
    );
    let end = text.find("routine d").unwrap();
    text[..end].to_owned()
}

/// Returns the parser of [`threaded`] with these transitions, and with the states `more`.
fn parser(start: &str, tag: &str, either: &str, more: &str) -> String {
    format!(
        "parser p start s {{
    state s {{
        extract h.eth;
        select (h.eth.kind) {{
            (16w0x8100) -> tag;
            (16w0x9100) -> either;
            (16w0) -> reject;
            (_) -> {start};
        }}
    }}
    state tag {{
        extract h.t0;
        {tag}
    }}
    state either {{
        if h.eth.dst == 48w1 {{
            set_valid h.t1;
        }}
        {either}
    }}
{more}}}
"
    )
}

#[test]
fn edges_enter_behind_the_tests_that_they_decide() {
    let after = threaded(
        "if valid(h.t0) {
    a = b;
    if valid(h.t1) { b = 8w1; }
}
else {
    if !valid(h.t1) & f { b = 8w2; }
}
",
    );
    let expected = parser(
        "accept at e0",
        "goto accept at e1;",
        "goto accept at e0;",
        "",
    ) + "routine c block() {
    if valid(h.t0) {
        entry e1;
        a = b;
        if valid(h.t1) {
            b = 8w1;
        }
    }
    else {
        entry e0;
        if !valid(h.t1) & f {
            b = 8w2;
        }
    }
}
";
    assert_eq!(after, expected);
}

#[test]
fn an_edge_repeats_the_constants_that_it_leaves_out() {
    let after = threaded(
        "a = 8w1;
f = valid(h.t1);
a = 8w2;
if valid(h.t1) { a = 8w3; }
",
    );
    // If the header's validity is unknown, nothing is decided.
    let expected = parser(
        "s.accept",
        "f = false;\n        a = 8w2;\n        goto accept at e0;",
        "goto accept;",
        "    state s.accept {
        f = false;
        a = 8w2;
        goto accept at e0;
    }
",
    ) + "routine c block() {
    a = 8w1;
    f = valid(h.t1);
    a = 8w2;
    if valid(h.t1) {
        a = 8w3;
    }
    entry e0;
}
";
    assert_eq!(after, expected);
}

#[test]
fn an_edge_that_decides_nothing_begins_at_the_top() {
    for control in [
        "a = 8w1;\nb = a;\n",
        "port = 32w1;\nif f { a = 8w1; }\n",
        "h.eth.kind = 16w1;\nif valid(h.t0) { a = 8w1; }\n",
        "extern pull();\nif valid(h.t0) { a = 8w1; }\n",
        "loop label0 { if valid(h.t0) { break label0; } }\n",
    ] {
        let after = threaded(control);
        assert!(!after.contains("entry"), "{after}");
        assert!(!after.contains("accept at"), "{after}");
    }
}

#[test]
fn only_the_control_right_after_the_parser_is_entered() {
    let control = "routine c block() {\n    if valid(h.t0) { a = 8w1; }\n}\n";
    let parser = "parser p start s {\n    state s { goto accept; }\n}\n";
    let between = "routine b block() {}\n";
    for (blocks, enters) in [
        ("p parser p\npipeline c control c", true),
        (
            "p parser p\npipeline b control b\npipeline c control c",
            false,
        ),
        (
            "p parser p\npipeline c control c\npipeline d control c",
            false,
        ),
        (
            "p parser p\npipeline c control c\npipeline q parser p",
            false,
        ),
        ("c control c\npipeline p parser p", false),
    ] {
        let text = format!("{between}{control}{parser}pipeline {blocks}\n");
        let after = after(&text, &[thread::run]);
        assert_eq!(after.contains("accept at e0;"), enters, "{after}");
    }
}

#[test]
fn entries_that_are_there_stay() {
    let text = pipeline(
        "parser p start s {
    state s {
        select (h.eth.kind) {
            (16w0) -> accept at e4;
            (_) -> accept;
        }
    }
}
",
        "if valid(h.t0) { a = 8w1; }\nentry e4;\nif valid(h.t1) { b = 8w2; }\n",
        "",
        &[thread::run],
    );
    assert!(text.contains("(16w0) -> accept at e4;"), "{text}");
    assert!(text.contains("(_) -> accept at e5;"), "{text}");
    assert!(
        text.contains("    entry e4;\n    if valid(h.t1) {"),
        "{text}"
    );
    assert!(text.contains("    }\n    entry e5;\n}"), "{text}");
}
