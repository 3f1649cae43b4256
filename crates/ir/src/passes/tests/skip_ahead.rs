use super::*;
use crate::passes::skip_ahead;

/// Returns the states of a parser after the pass, from the first one on; the control has these statements.
fn after_pass(reject: &str, states: &str, control: &str) -> String {
    let head = HEAD.replace("reject stop", &format!("reject {reject}"));
    let text = format!(
        "{head}parser p start s {{
{states}}}
routine c block() {{
{control}}}
pipeline parser parser p
pipeline switch control c
intrinsic slot out {{
    var \"output_port\" = port;
}}
"
    );
    let mut program = text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    program.number_stmts();
    check(&program);
    skip_ahead::run(&mut program);
    program.number_stmts();
    check(&program);
    let text = program.to_string();
    let from = text.find("parser p").unwrap();
    let to = text.find("\n}\npipeline").unwrap();
    let lines = text[from..to].lines().skip(1);
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns the state that reads the tag, after the pass.
fn head(states: &str, control: &str) -> String {
    let text = after_pass("stop", states, control);
    let end = text.find("\n    }\n").unwrap();
    text[..end].to_owned()
}

/// States that skip 2, 3, 4 and 5 bytes.
const SKIPS: &str = "    state two {
        advance 32w16;
        goto s;
    }
    state three {
        advance 32w24;
        goto s;
    }
    state four {
        advance 32w32;
        goto s;
    }
    state five {
        advance 32w40;
        goto s;
    }
";

const LOOP: &str = "    state s {
        lookahead a;
        select (a) {
            (8w4) -> four;
            (8w1) -> found;
            (8w2) -> two;
            (8w5) -> five;
            (8w3) -> three;
            (_) -> accept;
        }
    }
    state found {
        extract h.eth;
        goto accept;
    }
";

#[test]
fn attributes_of_known_size_become_a_table() {
    let text = after_pass("stop", &format!("{LOOP}{SKIPS}"), "port = w;\n");
    let (states, _) = text.split_once("    state two").unwrap();
    assert_eq!(
        states,
        "    state s {
        skip_ahead 8 -> cut_short {
            8w2: 2;
            8w3: 3;
            8w4: 4;
            8w5: 5;
        }
        lookahead a;
        verify !cut_short, error::PacketTooShort;
        select (a) {
            (8w1) -> found;
            (_) -> accept;
        }
    }
    state found {
        extract h.eth;
        goto accept;
    }
"
    );
}

#[test]
fn a_tag_that_is_extracted_is_part_of_its_attribute() {
    let states = LOOP
        .replace("lookahead a;", "extract h.t0;")
        .replace("select (a)", "select (h.t0.kind[15:8])");
    let states = format!("{states}{SKIPS}").replace("32w16", "32w0");
    assert_eq!(
        head(&states, "port = w;\n"),
        "    state s {
        skip_ahead 8 behind 16 -> cut_short {
            8w2: 4;
            8w3: 7;
            8w4: 8;
            8w5: 9;
        }
        extract h.t0;
        verify !cut_short, error::PacketTooShort;
        select (h.t0.kind[15:8]) {
            (8w1) -> found;
            (_) -> accept;
        }"
    );
}

/// The header that holds the tag is that of the attribute at which the loop ends, whatever came before.
#[test]
fn what_the_last_iteration_leaves_may_be_read() {
    let states = LOOP.replace("lookahead a;", "lookahead h.t0.vid; lookahead a;");
    let text = head(
        &format!("{states}{SKIPS}"),
        "port = cast(h.t0.vid, bit<32>);\n",
    );
    assert!(text.contains("skip_ahead"), "{text}");
}

#[test]
fn what_an_earlier_iteration_leaves_keeps_the_loop() {
    let loops = |states: &str, control: &str| {
        let text = head(states, control);
        assert!(!text.contains("skip_ahead"), "{text}");
    };
    // A counter of iterations, and a header that some iterations extract.
    let counting = LOOP.replace("lookahead a;", "lookahead a;\n b = b + 8w1;");
    loops(&format!("{counting}{SKIPS}"), "port = cast(b, bit<32>);\n");
    let extracting = SKIPS.replace("advance", "extract h.t0; advance");
    loops(
        &format!("{LOOP}{extracting}"),
        "if valid(h.t0) { port = w; }\n",
    );
    let calling = LOOP.replace("lookahead a;", "lookahead a;\n extern log(in(a));");
    loops(&format!("{calling}{SKIPS}"), "port = w;\n");
    // The same is allowed if nothing reads the header.
    let text = head(&format!("{LOOP}{extracting}"), "port = w;\n");
    assert!(text.contains("8w2: 6;"), "{text}");
}

#[test]
fn cases_with_other_effects_stay() {
    // An attribute shorter than its tag, one of variable size, a rare one, and one with two successors.
    let states = LOOP.replace(
        "(_) -> accept;",
        "(8w6) -> s; (8w7) -> any; (8w8) -> rare; (8w9) -> other; (_) -> accept;",
    );
    let more = "    state any {
        advance w;
        goto s;
    }
    state rare rare {
        advance 32w16;
        goto s;
    }
    state other {
        advance 32w16;
        select (a) {
            (8w9) -> s;
            (_) -> accept;
        }
    }
";
    let text = head(&format!("{states}{SKIPS}{more}"), "port = w;\n");
    assert!(
        text.ends_with(
            "        select (a) {
            (8w1) -> found;
            (8w6) -> s;
            (8w7) -> any;
            (8w8) -> rare;
            (8w9) -> other;
            (_) -> accept;
        }"
        ),
        "{text}"
    );
}

#[test]
fn the_first_case_that_matches_counts() {
    // 4 has an earlier case that leaves the loop, 2 is in a mask, 13 in a range.
    let states = LOOP.replace(
        "(8w4) -> four;",
        "(8w4) -> found; (8w4) -> four; (8w6 &&& 8w0xfb) -> found; (8w12 .. 8w14) -> found; (8w13) -> two; (8w20) -> two; (8w21) -> two;",
    );
    let text = head(&format!("{states}{SKIPS}"), "port = w;\n");
    let (_, table) = text.split_once("{\n        skip_ahead").unwrap();
    let (table, _) = table.split_once("        }").unwrap();
    assert_eq!(
        table,
        " 8 -> cut_short {
            8w3: 3;
            8w5: 5;
            8w0x14: 2;
            8w0x15: 2;
"
    );
}

#[test]
fn few_attributes_stay_comparisons() {
    let states = LOOP
        .replace("(8w4) -> four;", "")
        .replace("(8w3) -> three;", "");
    let text = head(&format!("{states}{SKIPS}"), "port = w;\n");
    assert!(!text.contains("skip_ahead"), "{text}");
}

#[test]
fn where_rejected_packets_go_on_they_begin_where_the_loop_left_them() {
    let table = |states: &str| {
        let text = after_pass("continue", states, "port = w;\n");
        text.contains("skip_ahead")
    };
    assert!(table(&format!("{LOOP}{SKIPS}")));
    // The packet may end after the first of two moves.
    let twice = SKIPS.replace("advance", "advance 32w8; advance");
    assert!(!table(&format!("{LOOP}{twice}")));
    let text = head(&format!("{LOOP}{twice}"), "port = w;\n");
    assert!(text.contains("8w2: 3;"), "{text}");
}

/// A rejected packet continues in the control, which reads a variable that the iteration before has set.
#[test]
fn what_a_rejected_packet_leaves_keeps_the_loop() {
    let text = after_pass(
        "continue",
        &format!("{LOOP}{SKIPS}"),
        "port = cast(a, bit<32>);\n",
    );
    assert!(!text.contains("skip_ahead"), "{text}");
}
