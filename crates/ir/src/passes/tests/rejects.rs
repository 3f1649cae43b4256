use super::*;
use crate::passes::rejects;

/// Returns a parser after the pass; rejected packets continue, with the error in `error`.
fn edges(states: &str) -> String {
    let head = HEAD.replace("reject stop", "reject continue");
    let text = format!(
        "{head}var error: error\nparser p start s {{\n{states}}}\npipeline parser parser p\n"
    );
    let mut program = text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    check(&program);
    let error = program.vars.keys().next_back();
    rejects::run(&mut program, error);
    program.number_stmts();
    check(&program);
    assert_eq!(program.on_reject, crate::OnReject::Stop);
    let text = program.to_string();
    let states = text.lines().skip_while(|line| !line.starts_with("parser"));
    states
        .skip(1)
        .take_while(|line| *line != "}")
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn what_may_reject_comes_behind_a_test_whose_other_edge_notes_the_error() {
    let states = edges(
        "    state s {
        extract h.eth;
        a = 8w1;
        verify f, error::PacketTooShort;
        select (h.eth.kind) {
            (16w1) -> reject;
            (16w2) -> accept;
        }
    }
",
    );
    assert_eq!(
        states,
        "    state s#state0 {
        fits 32w0x40 -> fits;
        select (fits) {
            (1w1) -> s#state2;
            (_) -> failed_PacketTooShort;
        }
    }
    state failed_PacketTooShort {
        error#v9 = error::PacketTooShort;
        goto accept;
    }
    state s#state2 {
        extract h.eth;
        a = 8w1;
        select (f) {
            (1w1) -> s#state3;
            (_) -> failed_PacketTooShort;
        }
    }
    state s#state3 {
        select (h.eth.kind) {
            (16w1) -> accept;
            (16w2) -> accept;
            (_) -> failed_NoMatch;
        }
    }
    state failed_NoMatch {
        error#v9 = error::NoMatch;
        goto accept;
    }
"
    );
}

#[test]
fn an_element_that_may_not_exist_is_asked_for_first() {
    let states = edges(
        "    state s {
        extract h.t[next];
        goto s;
    }
",
    );
    assert_eq!(
        states,
        "    state s#state0 {
        select (next < 32w2) {
            (1w1) -> s#state2;
            (_) -> failed_StackOutOfBounds;
        }
    }
    state failed_StackOutOfBounds {
        error#v9 = error::StackOutOfBounds;
        goto accept;
    }
    state s#state2 {
        fits 32w0x20 -> fits;
        select (fits) {
            (1w1) -> s#state4;
            (_) -> failed_PacketTooShort;
        }
    }
    state failed_PacketTooShort {
        error#v9 = error::PacketTooShort;
        goto accept;
    }
    state s#state4 {
        extract h.t[next];
        goto s#state0;
    }
"
    );
}

#[test]
fn what_is_in_a_block_leaves_it() {
    let states = edges(
        "    state s {
        if (f) {
            extract h.eth;
            a = 8w1;
        }
        goto accept;
    }
",
    );
    assert_eq!(
        states,
        "    state s#state0 {
        failed = false;
        block label4 {
            if f {
                fits 32w0x40 -> fits;
                if !fits {
                    failed = true;
                    error#v9 = error::PacketTooShort;
                    break label4;
                }
                extract h.eth;
                a = 8w1;
            }
        }
        select (!failed) {
            (1w1) -> s#state1;
            (_) -> accept;
        }
    }
    state s#state1 {
        goto accept;
    }
"
    );
}
