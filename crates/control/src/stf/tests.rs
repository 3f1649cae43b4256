use super::*;
use crate::sample::{self, Fake};
use diag::SourceMap;

/// Runs a script. Returns the failures, or the error, each with its line.
fn outcome(text: &str) -> Result<Vec<String>, String> {
    let mut map = SourceMap::new();
    let file = map.add("t.stf", text).unwrap();
    let (script, diagnostics) = parse(&map, file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let line = |span| map.line_col(span).unwrap().1.line;
    let bound = bind(&script, sample::schema()).map_err(|all| {
        let first = all.iter().next().expect("an error");
        format!("{}: {}", line(first.primary.span), first.message)
    })?;
    let run = run(&bound, &mut Fake::default(), &|_| Vec::new());
    let outcome = run.map_err(|d| format!("{}: {}", line(d.primary.span), d.message))?;
    let first_line = |text: &str| text.lines().next().unwrap_or_default().to_string();
    Ok(outcome
        .failures
        .iter()
        .map(|f| format!("{}: {}", line(f.span), first_line(&f.text)))
        .collect())
}

fn fails(text: &str, failures: &[&str]) {
    let expected: Vec<String> = failures.iter().map(|f| f.to_string()).collect();
    assert_eq!(outcome(text), Ok(expected), "{text}");
}

fn refuses(text: &str, message: &str) {
    assert_eq!(outcome(text), Err(message.to_string()), "{text}");
}

#[test]
fn packets_are_compared_port_by_port_in_order() {
    fails("packet 1 0a\npacket 2 0b\nexpect 2 0c $\nexpect 1 0b", &[]);
    fails(
        "packet 1 0a\npacket 1 1a\nexpect 1 1b\nexpect 1 0b",
        &[
            "3: port 1: the packet differs from the expected one",
            "4: port 1: the packet differs from the expected one",
        ],
    );
    fails("packet 1 0a00\nexpect 1 0b", &[]);
    fails(
        "packet 1 0a00\nexpect 1 0b $",
        &["2: port 1: the packet differs from the expected one"],
    );
    fails("packet 1 0a\nexpect 1 *b", &[]);
    fails("packet 1 0a\nexpect 1", &[]);
}

#[test]
fn an_expectation_may_stand_before_its_packet() {
    fails("expect 1 0b\npacket 1 0a", &[]);
}

#[test]
fn missing_and_unexpected_packets_both_fail() {
    fails(
        "packet 9 0a\nexpect 9 0b",
        &["2: port 9: the expected packet did not arrive"],
    );
    fails(
        "packet 1 0a\nwait\npacket 2 0b\nexpect 1",
        &["3: port 2: unexpected packet"],
    );
    fails("packet 9 00\nno_packet", &[]);
    fails("packet 1 00\nexpect 1\nno_packet 1", &[]);
    fails(
        "packet 1 00\nno_packet 2\nno_packet 1",
        &["3: port 1: no packet was expected, but this one arrived"],
    );
}

#[test]
fn time_goes_by_where_the_script_says_so() {
    fails("wait\ncheck_counter count[1] == 0", &[]);
    fails("wait 2us\nwait 5ns\ncheck_counter count[1] == 2005", &[]);
}

#[test]
fn multicast_groups() {
    fails(
        "mc_mgrp_create 1\npacket 8 01\nno_packet\nmc_node_create 0 3 4\nmc_node_associate 1 0\n\
         packet 8 01\nexpect 3 02\nexpect 4 02",
        &[],
    );
    fails("multicast_group 1 6\npacket 8 01\nexpect 6 02", &[]);
    refuses(
        "packet 1 00\nmulticast_group 0 1",
        "2: the multicast group was not changed: group 0 means that there is no group; groups begin at 1",
    );
    refuses(
        "multicast_group 2 1",
        "1: the multicast group was not changed: there is one group",
    );
}

#[test]
fn counters() {
    fails(
        "packet 9 00\ncheck_counter count[0] == 1\ncheck_counter C.count 0 bytes >= 64\ncheck_counter count(3) 0",
        &[],
    );
    fails(
        "packet 9 00\ncheck_counter count[0] packets > 1\ncheck_counter count[0] bytes != 64",
        &[
            "2: counter count[0] has 1 packet, not > 1",
            "3: counter count[0] has 64 bytes, not != 64",
        ],
    );
    fails(
        "add rules 7 src:10.0.0.1 drop()\ncheck_counter rules 7 src:10.0.0.1 == 7",
        &[],
    );
    refuses(
        "check_counter count[4] == 0",
        "1: counter `count` could not be read: index out of range: the size is 4",
    );
    refuses(
        "check_counter rules 7 src:10.0.0.1 == 7",
        "1: counter `rules` could not be read: there is no entry with this match",
    );
    for text in ["count == 0", "count packets == 0", "C.count 3 frob == 0"] {
        refuses(
            &format!("check_counter {text}"),
            "1: `C.count` is a counter with an index, and none is given",
        );
    }
    refuses("check_counter sum == 0", "1: there is no table `sum`");
    refuses("check_counter sum[0] == 0", "1: there is no counter `sum`");
}

#[test]
fn registers() {
    fails(
        "register_write last[1] 0x10\nregister_read last[1] == 16\nregister_read last[1] = 17",
        &["3: register last[1] is 0x10, not 0x11"],
    );
    fails(
        "register_write last[1] 5\nregister_reset last\nregister_read last[1] == 0",
        &[],
    );
    fails(
        "register_write pair[0] 5 true\nregister_read pair[0] == 5 true",
        &[],
    );
    refuses(
        "register_write pair[0] 5",
        "1: an element of this register is 2 values, but 1 is given",
    );
    refuses(
        "register_read last[4] == 0",
        "1: the register could not be read: index out of range: the size is 4",
    );
    refuses(
        "register_write last[0] 4294967296",
        "1: register: `4294967296` does not fit in bit<32>",
    );
}

#[test]
fn entries_defaults_meters_and_value_sets() {
    fails(
        "add routes 10.0.0.0/8 drop()\nremove routes 10.0.0.0/8\nadd routes 10.0.0.0/8 drop()\nremove all\nadd routes 10.0.0.0/8 drop()\nremove all routes",
        &[],
    );
    fails(
        "setdefault routes drop()\nvalue_set_add set 0x800 1..9\nvalue_set_remove set 0x800 1..9",
        &[],
    );
    refuses(
        "add routes 10.0.0.0/8 drop()\nadd routes 10.0.0.0/8 drop()",
        "2: no entry was added to `C.routes`: there is already an entry with this match",
    );
    refuses(
        "remove routes 10.0.0.0/8",
        "1: no entry was removed from `C.routes`: there is no entry with this match",
    );
    fails(
        "meter_set rate[0] 1 2 3 4\nmeter_set rate 0 1 2 3 4\nmeter_reset rate[0]",
        &[],
    );
    refuses(
        "meter_set rate[1] 1 2 3 4",
        "1: the meter was not changed: index out of range: the size is 1",
    );
    refuses(
        "meter_set rate[0] 3 2 1 4",
        "1: the meter was not changed: the peak rate is at least the committed rate, and 1 is less than 3",
    );
    fails(
        "action_member hops 1 drop()\naction_group hops 2 1\nadd balanced 10.0.0.1 group(2)",
        &[],
    );
    refuses(
        "value_set_remove set 1 2",
        "1: the value set was not changed: there is no entry with this match",
    );
    for action in ["drop()", "drop", "forward(1)"] {
        refuses(
            &format!("remove routes 10.0.0.0/8 {action}"),
            "1: an entry of `C.routes` is found by its key, so an action has no meaning",
        );
    }
    refuses(
        "check_counter rules 7 src:10.0.0.1 drop() == 7",
        "1: an entry of `C.rules` is found by its key, so an action has no meaning",
    );
    refuses("remove all nothing", "1: there is no table `nothing`");
}

#[test]
fn digests_are_compared_in_the_order_of_each_name() {
    fails(
        "packet 7 0a\npacket 7 0b\nexpect_digest learn_t mac:10\nexpect_digest learn_t 11 0",
        &[],
    );
    fails("packet 7 0a\nexpect_digest learn_t\nno_digest", &[]);
    fails(
        "packet 7 0a\nexpect_digest learn_t mac:11\nexpect_digest learn_t",
        &[
            "2: the digest is learn_t mac:00:00:00:00:00:0a port:0, not learn_t mac:11",
            "3: no digest learn_t has come",
        ],
    );
    fails(
        "no_digest\npacket 7 0a\npacket 7 0b\nno_digest learn_t",
        &[
            "4: no digest was expected, but this one has come: learn_t mac:00:00:00:00:00:0a port:0",
            "4: no digest was expected, but this one has come: learn_t mac:00:00:00:00:00:0b port:0",
        ],
    );
    // A script that never asks for digests need not expect any.
    fails("packet 7 0a", &[]);
    refuses("expect_digest learned", "1: there is no digest `learned`");
    refuses(
        "expect_digest learn_t 1 2 3",
        "1: a digest `learn_t` has 2 values, and this is one more",
    );
    refuses(
        "expect_digest learn_t mac:1 mac:2",
        "1: `mac` is given twice",
    );
}

#[test]
fn an_error_far_down_is_reported_before_any_packet_is_sent() {
    refuses(
        "packet 1 0a\nexpect 1 ff\nadd nothing 1 drop()",
        "3: there is no table `nothing`",
    );
}

#[test]
fn a_program_without_an_end_is_not_blamed_on_the_machine() {
    let what = "still busy".to_string();
    let error = crate::StoreError::Endless { what };
    let refusal = crate::errors::store(diag::Span::NONE, "the packet could not be sent", &error);
    assert_eq!(refusal.message, "the packet could not be sent: still busy");
    assert_eq!(
        refusal.help.as_deref(),
        Some("look for a loop without an end; `onpath test --trace` shows where the packet is")
    );
}

#[test]
fn an_index_that_is_missing_is_shown_in_its_place() {
    let mut map = SourceMap::new();
    let file = map.add("t.stf", "check_counter count == 0").unwrap();
    let diagnostics = bind(&parse(&map, file).0, sample::schema()).unwrap_err();
    let helps: Vec<_> = diagnostics
        .iter()
        .filter_map(|d| d.help.as_deref())
        .collect();
    assert_eq!(helps, ["write it as: C.count[INDEX]"]);
}

/// Words of statements, valid and invalid.
const WORDS: [&str; 40] = [
    "add",
    "multicast_group",
    "clone_session",
    "action_member",
    "action_group",
    "meter_set",
    "meter_reset",
    "expect_digest",
    "no_digest",
    "mc_node_create",
    "mirroring_add",
    "setdefault",
    "balanced",
    "hops",
    "routes",
    "rules",
    "rate",
    "rate[0]",
    "rate[",
    "]",
    "[]",
    "learn_t",
    "drop()",
    "member(1)",
    "group(",
    "forward",
    "mac:1",
    "mac:",
    ":",
    "10.0.0.1",
    "1:7",
    "1:",
    "0",
    "1",
    "4294967296",
    "group",
    "truncate",
    "&&&",
    ",",
    "é",
];

proptest::proptest! {
    #[test]
    fn no_statement_and_no_line_of_an_entries_file_panics(
        words in proptest::collection::vec(proptest::sample::select(&WORDS[..]), 1..9),
        glue in " |,|  ",
    ) {
        let text = words.join(&glue);
        let mut map = SourceMap::new();
        let file = map.add("t.stf", text.as_str()).unwrap();
        let (script, _) = parse(&map, file);
        let schema = sample::schema();
        if let Ok(bound) = bind(&script, schema) {
            let _ = run(&bound, &mut Fake::default(), &|_| Vec::new());
        }
        if let Ok(changes) = crate::entries::parse(schema, &map, file) {
            let _ = crate::entries::apply(&mut Fake::default(), &changes);
        }
    }
}
