use super::*;
use crate::passes::specialize::{self, Contents, LeftAlone, MOST_ENTRIES};
use crate::passes::{dce, fold};
use crate::{ActionCall, Bits, Entry, KeyMatch, Table};

/// Tables with a prefix key, with ternary and range keys, with a direct counter, and with constant entries. The action
/// `C.give` has a parameter, an early return and a loop.
const TABLES: &str = "extern counts: direct_counter {
}
action C.give(b) {
    if b == 8w0 {
        return;
    }
    loop label0 {
        a = b;
        break label0;
    }
}
action C.none() {}
table C.t @name(\"t\") {
    key \"w\" lpm w;
    key \"g\" exact g;
    action C.give;
    action C.none;
    default C.none();
    size 100;
}
table C.rules @name(\"rules\") {
    key \"a\" ternary a;
    key \"w\" range w;
    action C.give;
    action C.none;
    default C.none();
    size 100;
}
table C.counted @name(\"counted\") {
    key \"a\" exact a;
    action C.none;
    default C.none();
    size 100;
    property counters = extern counts;
}
table C.fixed @name(\"fixed\") {
    key \"a\" exact a;
    action C.give;
    action C.none;
    default C.none();
    entry const 0 (8w1) -> C.none();
    const_entries;
    size 100;
}
";

fn bits(width: u32, value: u32) -> Bits {
    Bits::new(width, value)
}

fn give(value: u32) -> ActionCall {
    ActionCall {
        action: 0,
        args: vec![bits(8, value)],
    }
}

fn none() -> ActionCall {
    ActionCall {
        action: 1,
        args: vec![],
    }
}

fn entry(keys: [KeyMatch; 2], priority: u32, action: ActionCall) -> Entry {
    Entry {
        keys: keys.to_vec(),
        priority,
        action,
        is_const: false,
    }
}

fn route(prefix: u32, length: u32, action: ActionCall) -> Entry {
    let keys = [
        KeyMatch::Lpm(bits(32, prefix), length),
        KeyMatch::Exact(bits(1, 1)),
    ];
    entry(keys, 0, action)
}

fn rule(priority: u32, mask: u32, action: ActionCall) -> Entry {
    let keys = [
        KeyMatch::Ternary(bits(8, mask), bits(8, mask)),
        KeyMatch::Range(bits(32, 80), bits(32, 443)),
    ];
    entry(keys, priority, action)
}

/// Specializes a program with this body to the contents of one table. Returns the new body, and the outcome for the
/// table.
fn specialized(
    body: &str,
    table: u32,
    entries: Vec<Entry>,
    passes: &[fn(&mut Program)],
) -> (String, Result<(), LeftAlone>) {
    let text = format!(
        "{HEAD}{TABLES}routine c block() {{\n{body}\n}}\npipeline switch control c\nintrinsic slot out {{\n    var \"output_port\" = port;\n    var \"user\" = user;\n}}\n"
    );
    let mut program = text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    check(&program);
    let contents = Contents {
        generation: 7,
        entries,
        default_action: none(),
    };
    let outcome = specialize::run(&mut program, &[(Table::from_u32(table), contents)]);
    check(&program);
    for pass in passes {
        pass(&mut program);
        program.number_stmts();
        check(&program);
    }
    let text = program.to_string();
    let from = text.find("routine c block() {\n").unwrap();
    let to = from + text[from..].find("\n}").unwrap();
    let lines = text[from..to].lines().skip(1);
    let body = lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)));
    (body.collect(), outcome[0].1)
}

#[test]
fn longer_prefixes_decide_first_and_what_an_action_returns_from_it_leaves() {
    let routes = vec![
        route(0x0a00_0000, 8, give(1)),
        route(0x0a00_0100, 24, give(2)),
        route(0, 0, give(1)),
    ];
    let (text, outcome) = specialized("apply C.t hit f action w;", 0, routes, &[]);
    assert_eq!(outcome, Ok(()));
    assert_eq!(text, GOLDEN_ROUTES);
}

const GOLDEN_ROUTES: &str = "\
is_current C.t 7 -> current;
if current {
    if ((w & 32w0xffffff00) == 32w0xa000100) & g {
        f = true;
        w = 32w0;
        b = 8w2;
        block label7 {
            if b == 8w0 {
                break label7;
            }
            loop label6 {
                a = b;
                break label6;
            }
        }
    }
    else {
        if (((w & 32w0xff000000) == 32w0xa000000) & g) | g {
            f = true;
            w = 32w0;
            b = 8w1;
            block label5 {
                if b == 8w0 {
                    break label5;
                }
                loop label4 {
                    a = b;
                    break label4;
                }
            }
        }
        else {
            f = false;
            w = 32w1;
        }
    }
}
else {
    apply C.t hit f action w;
}
";

#[test]
fn an_empty_table_is_its_default_action() {
    let (text, _) = specialized("apply C.t;", 0, vec![], &[]);
    assert_eq!(
        text,
        "is_current C.t 7 -> current;\nif current {}\nelse {\n    apply C.t;\n}\n"
    );
    let (text, _) = specialized("apply C.t hit f;", 0, vec![], &[]);
    assert_eq!(
        text,
        "is_current C.t 7 -> current;\nif current {\n    f = false;\n}\nelse {\n    apply C.t hit f;\n}\n"
    );
}

#[test]
fn rules_that_do_the_same_are_one_condition_and_the_last_that_do_as_the_default_are_none() {
    let rules = vec![
        rule(1, 8, none()),
        rule(9, 1, give(5)),
        rule(5, 2, give(5)),
        rule(3, 0, give(6)),
    ];
    let (text, outcome) = specialized("apply C.rules;", 1, rules, &[fold::run]);
    assert_eq!(outcome, Ok(()));
    assert_eq!(text, GOLDEN_RULES);
}

const GOLDEN_RULES: &str = "\
is_current C.rules 7 -> current;
if current {
    if (((a & 8w1) == 8w1) & ((w >= 32w0x50) & (w <= 32w0x1bb))) | (((a & 8w2) == 8w2) & ((w >= 32w0x50) & (w <= 32w0x1bb))) {
        b = 8w5;
        block label7 {
            if b == 8w0 {
                break label7;
            }
            a = b;
        }
    }
    else {
        if (w >= 32w0x50) & (w <= 32w0x1bb) {
            b = 8w6;
            block label5 {
                if b == 8w0 {
                    break label5;
                }
                a = b;
            }
        }
    }
}
else {
    apply C.rules;
}
";

#[test]
fn an_entry_that_matches_everything_is_the_last() {
    let any = |priority, action| entry([KeyMatch::Any, KeyMatch::Any], priority, action);
    let rules = vec![rule(1, 8, give(3)), any(4, none()), rule(7, 1, give(5))];
    let (text, _) = specialized("apply C.rules hit f;", 1, rules, &[]);
    assert!(!text.contains("8w3"), "{text}");
    assert!(!text.contains("f = false"), "{text}");
}

#[test]
fn an_answer_that_nobody_reads_is_not_asked_for() {
    let (text, _) = specialized(
        "is_current C.t 1 -> f;\nuser = 8w1;",
        0,
        vec![],
        &[dce::run],
    );
    assert_eq!(text, "user = 8w1;\n");
    let (text, _) = specialized(
        "is_current C.t 1 -> f;\nif f { user = 8w1; }",
        0,
        vec![],
        &[dce::run, fold::run],
    );
    assert_eq!(text, "is_current C.t 1 -> f;\nif f {\n    user = 8w1;\n}\n");
}

#[test]
fn tables_are_left_alone_where_comparisons_do_not_do_the_same_or_take_longer() {
    let alone = |table: u32, name: &str, entries: Vec<Entry>, why: LeftAlone| {
        let apply = format!("apply {name};");
        let (text, outcome) = specialized(&apply, table, entries, &[]);
        assert_eq!((text, outcome), (format!("{apply}\n"), Err(why)));
    };
    let most = MOST_ENTRIES as u32;
    let many = (0..=most).map(|n| route(n << 24, 8, none())).collect();
    alone(0, "C.t", many, LeftAlone::TooManyEntries);
    alone(2, "C.counted", vec![], LeftAlone::StatePerEntry);
    alone(3, "C.fixed", vec![], LeftAlone::Fixed);
    let both = vec![rule(4, 1, give(1)), rule(4, 2, give(2))];
    alone(1, "C.rules", both, LeftAlone::Ambiguous);
}

#[test]
fn entries_of_one_priority_that_exclude_each_other_or_do_the_same_are_compiled_in() {
    let high = |value: u32| KeyMatch::Ternary(bits(8, value), bits(8, 0xf0));
    let one = |value, action| entry([high(value), KeyMatch::Any], 4, action);
    let apart = vec![one(0x10, give(1)), one(0x20, give(2))];
    assert_eq!(specialized("apply C.rules;", 1, apart, &[]).1, Ok(()));
    let ports = |low, high, action| {
        let keys = [
            KeyMatch::Any,
            KeyMatch::Range(bits(32, low), bits(32, high)),
        ];
        entry(keys, 4, action)
    };
    let apart = vec![ports(1, 9, give(1)), ports(10, 12, give(2))];
    assert_eq!(specialized("apply C.rules;", 1, apart, &[]).1, Ok(()));
    let meet = vec![ports(1, 10, give(1)), ports(10, 12, give(2))];
    let (_, outcome) = specialized("apply C.rules;", 1, meet, &[]);
    assert_eq!(outcome, Err(LeftAlone::Ambiguous));
    let alike = vec![rule(4, 1, give(1)), rule(4, 2, give(1))];
    assert_eq!(specialized("apply C.rules;", 1, alike, &[]).1, Ok(()));
}

#[test]
fn long_actions_are_not_copied_for_each_entry() {
    let long: String = (0..40).map(|n| format!("    user = 8w{n};\n")).collect();
    let text = format!(
        "{HEAD}routine helper function(in a) {{\n{long}}}
action C.give(b) {{
    call helper(in b);
}}
table C.t {{
    key \"a\" exact a;
    action C.give;
    default C.give(8w0);
}}
routine c block() {{
    apply C.t;
}}
pipeline switch control c
"
    );
    let outcome = |entries: u32| {
        let mut program = text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        let entry = |n: u32| Entry {
            keys: vec![KeyMatch::Exact(bits(8, n))],
            priority: 0,
            action: give(n),
            is_const: false,
        };
        let contents = Contents {
            generation: 0,
            entries: (0..entries).map(entry).collect(),
            default_action: give(0),
        };
        specialize::run(&mut program, &[(Table::from_u32(0), contents)])[0].1
    };
    assert_eq!(outcome(5), Ok(()));
    assert_eq!(outcome(6), Err(LeftAlone::LongActions));
}
