use super::*;
use crate::atomic::{Group, Problem, REGISTER, group, region};
use crate::passes::{atomic, fold, propagate};
use crate::{StmtKind, visit};

const STATES: &str = "extern flows: flow_state {
    type (bit<8> k);
    type (bit<8> v);
}
extern others: flow_state {
    type (bit<8> k);
    type (bit<8> v);
}
extern counts: CounterArray {
}
extern cells: register {
    type (bit<8>);
}
extern sums: register {
    type (bit<8>);
}
";

fn run(body: &str, passes: &[fn(&mut Program)]) -> String {
    let text = after(
        &format!(
            "{STATES}routine c block() {{\n{body}\n}}\npipeline switch control c\nintrinsic slot out {{\n    var \"output_port\" = port;\n}}\n"
        ),
        passes,
    );
    let start = "routine c block() {\n";
    let from = text.find(start).unwrap() + start.len();
    let to = from + text[from..].find("\n}").unwrap();
    let lines = text[from..to].lines().map(str::trim);
    lines.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_block_begins_with_its_first_call_and_has_a_key_of_its_own() {
    let body = "atomic {
        b = c;
        if g { extern flows::lookup(in(b), out(a)) -> f; }
        extern flows::update(in(b), in(a));
    }
    b = a;";
    assert_eq!(
        run(body, &[atomic::run]),
        "b = c; flows.key.k = b; \
         atomic { if g { extern flows::lookup(in(flows.key.k), out(a)) -> f; } \
         extern flows::update(in(flows.key.k), in(a)); } b = a;"
    );
}

#[test]
fn facts_of_a_path_do_not_make_keys_differ() {
    let body = "b = cast(port, bit<8>);
    atomic {
        if b == 8w3 { extern flows::lookup(in(b), out(a)) -> f; }
        extern flows::update(in(b), in(a));
    }";
    let text = run(body, &[atomic::run, propagate::run, fold::run]);
    assert_eq!(text.matches("(in(flows.key.k)").count(), 2, "{text}");
}

#[test]
fn only_what_packets_share_needs_protection() {
    assert_eq!(
        run(
            "atomic { a = 8w1; if f { atomic { b = a; } } }",
            &[atomic::run]
        ),
        "a = 8w1; if f { b = a; }"
    );
    // Blocks in a block are part of it.
    assert_eq!(
        run(
            "atomic { atomic { extern flows::remove(in(a)) -> f; } g = f; }",
            &[atomic::run]
        ),
        "flows.key.k = a; \
         atomic { extern flows::remove(in(flows.key.k)) -> f; g = f; }"
    );
    // The path to the call turns out to be dead.
    assert_eq!(
        run(
            "atomic { if false { extern flows::remove(in(a)) -> f; } g = true; }",
            &[fold::run]
        ),
        "g = true;"
    );
}

#[test]
fn a_registers_cell_is_shared_under_a_lock_too() {
    let body = "atomic {
        b = c;
        extern cells::read(out(a), in(b));
        a = a + 8w1;
        extern cells::write(in(b), in(a));
    }";
    assert_eq!(
        run(body, &[atomic::run, propagate::run]),
        "b = 8w0; cells.key.key = 8w0; \
         atomic { extern cells::read(out(a), in(cells.key.key)); a = a + 8w1; \
         extern cells::write(in(cells.key.key), in(a)); }"
    );
}

#[test]
fn a_block_may_use_several_cells_of_registers() {
    let body = "atomic {
        extern cells::read(out(a), in(b));
        extern sums::read(out(c), in(b));
        extern sums::write(in(w), in(a));
    }";
    assert_eq!(
        run(body, &[atomic::run]),
        "cells.key.key = b; sums.key.key = w; \
         atomic { extern cells::read(out(a), in(cells.key.key)); \
         extern sums::read(out(c), in(cells.key.key)); \
         extern sums::write(in(sums.key.key), in(a)); }"
    );
    assert_eq!(
        problem("atomic { extern cells::read(out(a), in(b)); extern sums::read(out(b), in(a)); }"),
        Some(Problem::KeyChanges)
    );
    assert_eq!(
        problem("atomic { extern cells::read(out(a), in(b)); extern flows::remove(in(b)) -> f; }"),
        Some(Problem::OtherState("flows".into(), "cells".into()))
    );
}

/// Returns the size of each register's group, and true if it has a lock for each index.
fn groups(body: &str) -> Vec<Option<(usize, bool)>> {
    let program = text::parse(&format!("{HEAD}{STATES}routine c block() {{\n{body}\n}}\n"))
        .unwrap_or_else(|e| panic!("{e}"));
    let of_type = program
        .externs
        .iter()
        .filter(|(_, data)| data.ty == REGISTER);
    of_type
        .map(|(register, _)| {
            let group: Option<Group> = group(&program, register);
            group.map(|group| (group.members.len(), group.is_by_index))
        })
        .collect()
}

#[test]
fn registers_that_blocks_use_together_form_a_group() {
    let single = "atomic { extern cells::read(out(a), in(b)); extern cells::write(in(b), in(a)); }";
    assert_eq!(groups(single), [None, None]);
    let pair = "atomic { extern cells::read(out(a), in(b)); extern sums::write(in(b), in(a)); }";
    assert_eq!(groups(&format!("{single} {pair}")), [Some((2, true)); 2]);
    let apart = "atomic { extern cells::read(out(a), in(b)); extern sums::write(in(c), in(a)); }";
    assert_eq!(groups(&format!("{pair} {apart}")), [Some((2, false)); 2]);
    let of_one = "atomic { extern cells::read(out(a), in(b)); extern cells::write(in(c), in(a)); }";
    assert_eq!(groups(of_one), [Some((1, false)), None]);
}

#[test]
fn a_call_without_effect_is_made_before_the_block() {
    let sum = |of: &str, to: &str| format!("pure extern sum(in({of})) -> {to};");
    // Before the first keyed call it remains in place.
    assert_eq!(
        run(
            &format!(
                "atomic {{ c = a; {} extern cells::read(out(a), in(b)); }}",
                sum("c", "b")
            ),
            &[atomic::run]
        ),
        "c = a; pure extern sum(in(c)) -> b; cells.key.key = b; \
         atomic { extern cells::read(out(a), in(cells.key.key)); }"
    );
    // Among keyed calls it moves before them, and its result is preserved.
    assert_eq!(
        run(
            &format!(
                "atomic {{ extern cells::read(out(a), in(b)); if g {{ {} }} extern cells::write(in(b), in(a)); }}",
                sum("c", "a")
            ),
            &[atomic::run]
        ),
        "pure extern sum(in(c)) -> sum; cells.key.key = b; \
         atomic { extern cells::read(out(a), in(cells.key.key)); if g { a = sum; } \
         extern cells::write(in(cells.key.key), in(a)); }"
    );
    assert_eq!(
        run(&format!("atomic {{ {} }}", sum("c", "a")), &[atomic::run]),
        "pure extern sum(in(c)) -> a;"
    );
}

#[test]
fn a_jump_behind_a_last_atomic_block_stays_in_it() {
    let body = "block label0 {
        if g { break label0; }
        atomic {
            extern flows::lookup(in(b), out(a)) -> f;
            if f { break label0; }
            extern flows::update(in(b), in(c));
        }
    }";
    assert_eq!(
        run(body, &[atomic::run]),
        "block label0 { if g { break label0; } flows.key.k = b; \
         atomic { extern flows::lookup(in(flows.key.k), out(a)) -> f; \
         block label4 { if f { break label4; } \
         extern flows::update(in(flows.key.k), in(c)); } } }"
    );
    let body = "a = b;
    if g { atomic { extern flows::remove(in(b)) -> f; if f { return; } a = 8w1; } }";
    assert_eq!(
        run(body, &[atomic::run]),
        "a = b; if g { flows.key.k = b; atomic { extern flows::remove(in(flows.key.k)) -> f; \
         block label4 { if f { break label4; } a = 8w1; } } }"
    );
}

fn problem(body: &str) -> Option<Problem> {
    let program = text::parse(&format!("{HEAD}{STATES}routine c block() {{\n{body}\n}}\n"))
        .unwrap_or_else(|e| panic!("{e}"));
    let mut found = None;
    for body in visit::bodies(&program) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Atomic(block) = &stmt.kind {
                let refusal = region(&program, block).err();
                found = found.take().or(refusal.map(|r| r.problem));
            }
        });
    }
    found
}

#[test]
fn what_no_lock_can_be_held_for_is_reported() {
    let lookup = "extern flows::lookup(in(b), out(a)) -> f;";
    let problem = |rest: &str| problem(&format!("atomic {{ {lookup} {rest} }}"));
    let statement = |what| Some(Problem::Statement(what));
    assert_eq!(problem("c = b; set_valid h.eth; h.eth.dst = 48w1;"), None);
    assert_eq!(problem("block label0 { break label0; }"), None);
    assert_eq!(problem("exit;"), statement("`exit`"));
    assert_eq!(problem("return;"), statement("`return`"));
    assert_eq!(
        problem("loop label0 { break label0; }"),
        statement("a loop")
    );
    assert_eq!(
        problem("extern counts::increment(in(w));"),
        Some(Problem::Extern("CounterArray.increment".into()))
    );
    assert_eq!(
        problem("extern others::remove(in(b)) -> f;"),
        Some(Problem::OtherState("others".into(), "flows".into()))
    );
    assert_eq!(
        problem("extern flows::remove(in(c)) -> f;"),
        Some(Problem::OtherKey)
    );
    assert_eq!(problem("b = 8w1;"), Some(Problem::KeyChanges));
    assert_eq!(
        problem("pure extern sum(in(a)) -> c;"),
        Some(Problem::OfChanging("sum".into()))
    );
    assert_eq!(
        problem("extern flows::lookup(in(b), out(b)) -> f;"),
        Some(Problem::KeyChanges)
    );
}

#[test]
fn a_jump_out_of_a_block_is_reported() {
    let body = "block label0 { atomic { extern flows::remove(in(a)) -> f; break label0; } }";
    assert_eq!(problem(body), Some(Problem::Statement("a jump out of it")));
}
