use super::*;
use crate::passes::automaton;

/// Returns the states of a parser after the pass; `control` is the code after the parser.
fn run_on(states: &str, control: &str) -> String {
    let parser = format!("parser p start s {{\n{states}}}\n");
    let text = pipeline(&parser, control, "", &[|p| automaton::run(p, false)]);
    let from = text.find("parser p").expect("a parser");
    let to = text.find("}\nroutine").expect("a control follows");
    text[from..to].to_owned()
}

/// Returns true if the pass makes an automaton.
fn is_one(states: &str, control: &str) -> bool {
    run_on(states, control).contains("automaton ")
}

/// Returns the body of a state.
fn state<'a>(text: &'a str, name: &str) -> &'a str {
    let rest = text.split(&format!("    state {name} {{\n")).nth(1);
    let body = rest.and_then(|rest| rest.split("    }\n    state").next());
    body.expect("the state")
}

/// Returns two states that read one byte each: `b` comes after an `a`.
fn two(taking: &str, key: &str) -> String {
    format!(
        "state s {{ {taking} select ({key}) {{ (8w0x61) -> t; (8w0x30..8w0x39) -> accept; (_) -> s; }} }}
state t {{ {taking} select ({key}) {{ (8w0x62) -> accept; (8w0x61) -> t; (_) -> s; }} }}
"
    )
}

const LOOKS: &str = "lookahead a; advance 32w8;";

#[test]
fn states_that_read_a_byte_each_are_an_automaton() {
    let text = run_on(&two(LOOKS, "a"), "");
    assert_eq!(
        text,
        "parser p start enter_s {
    state s {
        lookahead a;
        advance 32w8;
        select (a) {
            (8w0x61) -> reject;
            (8w0x30 .. 8w0x39) -> accept;
            (_) -> reject;
        }
    }
    state t {
        lookahead a;
        advance 32w8;
        select (a) {
            (8w0x62) -> accept;
            (8w0x61) -> reject;
            (_) -> reject;
        }
    }
    state automaton {
        automaton automaton_state -> automaton_state {
            0: 0..47 -> 0 58..96 -> 0 97..97 -> 1 98..255 -> 0;
            1: 0..96 -> 0 97..97 -> 1 99..255 -> 0;
        }
        select (automaton_state) {
            (16w0) -> s;
            (16w1) -> t;
        }
    }
    state enter_s {
        automaton_state = 16w0;
        goto automaton;
    }
"
    );
}

/// Returns two states that count; the second one has these cases.
fn counting(cases: &str) -> String {
    let counts = "lookahead a; advance 32w8; b = b - 8w1; w = w + 32w8;";
    format!(
        "state s {{ {counts} select (a, b) {{ (_, 8w0) -> accept; (8w0x61, _) -> t; (_, _) -> s; }} }}
state t {{ {counts} select (a, b) {{ {cases} }} }}
"
    )
}

#[test]
fn counters_are_what_they_were_and_end_it() {
    let cases = "(8w0x62, _) -> reject; (_, 8w0) -> accept; (_, _) -> s;";
    let text = run_on(&counting(cases), "port = w;\n");
    let from = text.find("    state automaton").expect("it runs");
    assert_eq!(
        &text[from..],
        "    state automaton {
        automaton automaton_state within cast((b - 8w1), bit<32>) -> automaton_state, passed {
            0: 0..96 -> 0 97..97 -> 1 98..255 -> 0;
            1: 0..97 -> 0 99..255 -> 0;
        }
        b = b - cast(passed, bit<8>);
        w = w + (passed * 32w8);
        select (automaton_state) {
            (16w0) -> s;
            (16w1) -> t;
        }
    }
    state enter_s {
        automaton_state = 16w0;
        goto automaton;
    }
"
    );
}

/// A state must leave the automaton when a counter reaches its final value: the byte there is unknown.
#[test]
fn states_that_go_on_at_the_end_of_a_counter_are_none() {
    assert!(is_one(&counting("(_, 8w0) -> accept; (_, _) -> s;"), ""));
    assert!(!is_one(&counting("(_, _) -> s;"), ""));
    assert!(!is_one(
        &counting("(8w0x62, _) -> s; (_, 8w0) -> accept; (_, _) -> s;"),
        ""
    ));
    assert!(!is_one(&counting("(_, 8w0) -> t; (_, _) -> s;"), ""));
    assert!(!is_one(&counting("(_, 8w7) -> accept; (_, _) -> s;"), ""));
}

/// The byte is taken after it was compared: bytes are skipped up to one that remains.
#[test]
fn a_byte_may_be_taken_in_the_states_behind() {
    let skip = "state s { lookahead a; select (a) { (8w0x30..8w0x39) -> n; (8w0x20) -> n; (8w0x2d) -> m; (_) -> accept; } }
state n { advance 32w8; goto s; }
state m { advance 32w8; goto x; }
state x { lookahead a; select (a) { (8w0x2d) -> accept; (_) -> n; } }
";
    let text = run_on(skip, "");
    assert!(
        text.contains("0: 32..32 -> 0 45..45 -> 1 48..57 -> 0;"),
        "{text}"
    );
    assert!(text.contains("1: 0..44 -> 0 46..255 -> 0;"), "{text}");
    assert_eq!(
        state(&text, "n"),
        "        advance 32w8;\n        goto reject;\n"
    );
    // Another path leads through the state.
    let entered = skip.replace("(_) -> accept;", "(8w0x2b) -> y; (_) -> accept;")
        + "state y { advance 32w16; goto n; }\n";
    let text = run_on(&entered, "");
    assert!(
        text.contains("state n {\n        advance 32w8;\n        goto enter_s;\n"),
        "{text}"
    );
    // Not where only some states count.
    assert!(!is_one(
        &skip.replace(
            "state m { advance 32w8;",
            "state m { advance 32w8; w = w + 32w1;"
        ),
        "port = w;\n"
    ));
    assert!(is_one(
        &skip.replace("advance 32w8;", "advance 32w8; w = w + 32w1;"),
        "port = w;\n"
    ));
    // A byte that is never taken is read again.
    assert!(!is_one(
        &skip.replace("advance 32w8; goto s;", "goto s;"),
        ""
    ));
}

/// A variable represents the preceding bytes, and one state reads all bytes.
const BY_VALUE: &str = "state s { w = 32w0; goto l; }
state l { lookahead a; advance 32w8; select (w, a) { (32w0, 8w0x61) -> t; (32w1, 8w0x62) -> accept; (32w1, 8w0x61) -> l; (_, 8w0x0a) -> reject; (_, _) -> n; } }
state t { w = 32w1; goto l; }
state n { w = 32w0; goto l; }
";

#[test]
fn the_values_of_a_variable_are_states() {
    let text = run_on(BY_VALUE, "port = w;\n");
    assert!(
        text.contains("0: 0..9 -> 0 11..96 -> 0 97..97 -> 1 98..255 -> 0;"),
        "{text}"
    );
    assert!(
        text.contains("1: 0..9 -> 0 11..96 -> 0 97..97 -> 1 99..255 -> 0;"),
        "{text}"
    );
    assert_eq!(
        state(&text, "l_1"),
        // The variable has its value after the automaton.
        "        w = 32w1;
        lookahead a;
        advance 32w8;
        select (a) {
            (8w0x62) -> accept;
            (8w0x61) -> reject;
            (8w0xa) -> reject;
            (_) -> n;
        }
"
    );
    assert_eq!(
        state(&text, "s"),
        "        w = 32w0;\n        goto enter_l_0;\n"
    );
}

/// A packet with an unknown value runs an iteration of the original loop.
#[test]
fn a_variable_may_have_any_value_at_first() {
    let text = run_on(
        &BY_VALUE.replacen("w = 32w0; goto l;", "w = port; goto l;", 1),
        "port = w;\n",
    );
    assert!(text.contains("automaton automaton_state"), "{text}");
    assert_eq!(state(&text, "s"), "        w = port;\n        goto l;\n");
    assert!(state(&text, "l").contains("select (w, a)"), "{text}");
}

#[test]
fn a_variable_that_no_turn_sets_keeps_the_loop() {
    let never = BY_VALUE
        .replace("state t { w = 32w1;", "state t {")
        .replace("state n { w = 32w0;", "state n {");
    let text = run_on(&never, "port = w;\n");
    assert!(!text.contains("automaton"), "{text}");
    assert!(!text.contains("l_0"), "{text}");
    let set = "w = cast(a, bit<32>); goto l;";
    let other = BY_VALUE.replace("w = 32w1; goto l;", set);
    let other = other.replace("state n { w = 32w0; goto l;", &format!("state n {{ {set}"));
    assert!(!is_one(&other, "port = w;\n"), "{other}");
}

#[test]
fn a_state_that_leads_to_itself_is_one_and_what_leads_in_is_not() {
    let text = run_on(
        "state s { lookahead a; advance 32w8; select (a) { (8w0) -> n; (_) -> accept; } }
state n { lookahead b; advance 32w8; select (b) { (8w0x80 &&& 8w0x80) -> n; (8w0) -> reject; (_) -> accept; } }
",
        "",
    );
    assert!(text.contains("0: 128..255 -> 0;\n        }"), "{text}");
    assert!(text.contains("(8w0) -> enter_n;"), "{text}");
    assert!(!text.contains("1:"), "{text}");
}

#[test]
fn states_that_ask_whether_a_byte_is_left_are_of_it_too() {
    let text = run_on(
        "state s { fits 32w8 -> f; select (f) { (1w1) -> t; (_) -> accept; } }
state t { lookahead a; advance 32w8; select (a) { (8w0x3b) -> accept; (8w0x3c) -> reject; (_) -> s; } }
",
        "",
    );
    assert!(text.contains("0: 0..58 -> 0 61..255 -> 0;"), "{text}");
    assert!(text.contains("(16w0) -> s;"), "{text}");
    assert!(text.contains("(_) -> reject;"), "{text}");
}

/// At the packet's end, a state leads to another one of the automaton, which decides about the packet.
#[test]
fn where_no_byte_is_left_the_states_lead_on() {
    let text = run_on(
        "state s { fits 32w8 -> f; select (f) { (1w1) -> t; (_) -> u; } }
state t { lookahead a; advance 32w8; select (a) { (8w0x3b) -> accept; (8w0x3c) -> u; (_) -> s; } }
state u { fits 32w8 -> f; select (f) { (1w1) -> v; (_) -> accept; } }
state v { lookahead a; advance 32w8; select (a) { (8w0x3b) -> reject; (_) -> s; } }
",
        "",
    );
    let s = text
        .split("state s")
        .nth(1)
        .and_then(|rest| rest.split("state t").next());
    let s = s.expect("the state");
    assert!(
        s.contains("(1w1) -> t;") && s.contains("(_) -> enter_u;"),
        "{text}"
    );
}

/// Skips digits, between tags of two bytes.
const INSIDE: &str =
    "state s { lookahead w; advance 32w16; select (w) { (32w1) -> n; (_) -> accept; } }
state n { lookahead a; advance 32w8; select (a) { (8w0x30..8w0x39) -> n; (_) -> s; } }
";

#[test]
fn states_in_a_loop_stay_for_a_target_that_follows_turns() {
    let runs = |follows_iterations: fn(&mut Program)| {
        let parser = format!("parser p start s {{\n{INSIDE}}}\n");
        pipeline(&parser, "", "", &[follows_iterations]).contains("automaton ")
    };
    assert!(runs(|p| automaton::run(p, false)));
    assert!(!runs(|p| automaton::run(p, true)));
    // No other state leads back to these.
    let alone = format!("parser p start s {{\n{}}}\n", two(LOOKS, "a"));
    assert!(pipeline(&alone, "", "", &[|p| automaton::run(p, true)]).contains("automaton "));
}

#[test]
fn what_else_happens_in_a_state_keeps_the_loop() {
    assert!(is_one(&two(LOOKS, "a"), ""));
    // The last byte is read after the loop, in a state that has not taken one.
    let behind = "state s { lookahead a; advance 32w8; select (a) { (8w0x61) -> t; (_) -> s; } }
state t { lookahead b; advance 32w8; select (b) { (8w0x62) -> accept; (_) -> s; } }
";
    assert!(is_one(behind, ""));
    assert!(!is_one(behind, "port = cast(a, bit<32>);\n"));
    // Two bytes, or half of one.
    assert!(!is_one(&two("lookahead a; advance 32w16;", "a"), ""));
    assert!(!is_one(
        &two("lookahead a; advance 32w8; advance 32w8;", "a"),
        ""
    ));
    // Something else is computed, or another counter counts.
    assert!(!is_one(&two("lookahead a; advance 32w8; b = a;", "a"), ""));
    let uneven = two(LOOKS, "a").replacen("advance 32w8;", "advance 32w8; w = w + 32w1;", 1);
    assert!(!is_one(&uneven, "port = w;\n"));
    // A select by other keys than the byte.
    assert!(!is_one(&two(LOOKS, "a + b"), ""));
    assert!(!is_one(&two(LOOKS, "b"), ""));
    // A counter that skips its final value.
    let by_two = "state s { lookahead a; advance 32w8; b = b - 8w2; select (a, b) { (_, 8w0) -> accept; (_, _) -> s; } }\n";
    assert!(!is_one(by_two, ""));
    assert!(is_one(&by_two.replace("8w2", "8w1"), ""));
}
