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
pipeline switch control c
intrinsic slot out {{
    var \"output_port\" = w;
}}
"
    ))
    .unwrap();
    let options = passes::Options {
        level: passes::Level::Optimize,
        function_params: 5,
        follows_iterations: false,
        rejects: passes::Rejects::Stay,
    };
    passes::pipeline(&mut program, &options);
    assert!(
        program
            .to_string()
            .contains("routine c block() {\n    w = 32w1;\n    exit;\n}"),
        "{program}"
    );
}

/// For an architecture that continues after rejections, also after the timeout of a parser that loops forever.
#[test]
fn what_a_parser_did_when_its_time_ended_is_neither_known_nor_dead() {
    let head = HEAD.replace("reject stop", "reject continue");
    let parser = "parser p start s {
    state s {
        a = 8w1;
        select (f) {
            (1w1) -> accept;
            (_) -> t;
        }
    }
    state t {
        a = 8w2;
        goto s;
    }
}
";
    let control = "routine c block() {
    port = 24w0 ++ a;
}
";
    let rest = "pipeline p parser p
pipeline c control c
intrinsic slot out {
    var \"output_port\" = port;
}
";
    let optimised = |head: &str| {
        let mut program = text::parse(&format!("{head}{parser}{control}{rest}")).expect("parses");
        check(&program);
        for pass in [propagate::run, fold::run, dce::run] {
            pass(&mut program);
            program.number_stmts();
            check(&program);
        }
        let text = program.to_string();
        ["a = 8w2;", "port = 24w0 ++ a;"].map(|code| text.contains(code))
    };
    assert_eq!(optimised(&head), [true, true]);
    assert_eq!(
        optimised(HEAD),
        [false, false],
        "nothing follows a rejected packet"
    );
}

#[test]
fn wide_look_aheads_read_in_parts_become_these() {
    let parser = |key: &str| {
        format!(
            "parser p start s {{
    state s {{
        lookahead wide;
        c = wide[135:128];
        select ({key}, wide[31:16]) {{
            (8w17, 16w4789) -> next;
            (_, _) -> accept;
        }}
    }}
    state next {{
        extract h.eth;
        goto accept;
    }}
}}
"
        )
    };
    let run = |key: &str| {
        let rest = "pipeline parser parser p\nslot headers {\n    header \"eth\" = h.eth;\n}\n";
        let text = format!("{HEAD}var wide: bit<192>\n{}{rest}", parser(key));
        let mut program = text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        passes::lookahead::run(&mut program);
        program.number_stmts();
        check(&program);
        program.to_string()
    };
    let text = run("wide[87:80]");
    let state = "    state s {
        lookahead wide_0 behind 184;
        lookahead wide_16 behind 160;
        lookahead wide_80 behind 104;
        lookahead wide_128 behind 56;
        c = wide_128;
        select (wide_80, wide_16) {
";
    assert!(text.contains(state), "{text}");
    // A use of the whole keeps it whole.
    let text = run("cast(wide, bit<8>)");
    assert!(text.contains("        lookahead wide;\n"), "{text}");
}
