//! Tests of the solver by a small analysis: constants that an assignment to `a` may have left, or will still overwrite.

use super::*;
use crate::text;
use std::collections::{BTreeMap, BTreeSet};

/// Names of the statements that may have run last, or may run next.
#[derive(Clone, PartialEq, Default, Debug)]
struct Names(BTreeSet<String>);

impl Domain for Names {
    fn join(&mut self, other: &Names) -> bool {
        let before = self.0.len();
        self.0.extend(other.0.iter().cloned());
        self.0.len() != before
    }
}

/// Collects the assignments `a = 8wN` that may reach each extern call `at(in(8wM))`, forward, and the calls that may
/// follow each assignment, backward.
struct Trace<'a> {
    program: &'a Program,
    seen: BTreeMap<String, Names>,
}

/// Returns a program of these routines and parsers, for an architecture with this treatment of rejected packets.
fn program(reject: &str, text: &str) -> Program {
    let head = format!(
        "program p reject {reject}\nerrors NoError\nlabels 30\nvar a: bit<8>\nvar f: bool\n"
    );
    let program = text::parse(&format!("{head}{text}")).unwrap_or_else(|e| panic!("{e}"));
    crate::verify(&program).unwrap_or_else(|e| panic!("{e:?}"));
    program
}

impl Trace<'_> {
    fn of(program: &Program) -> Trace<'_> {
        Trace {
            program,
            seen: BTreeMap::new(),
        }
    }

    fn number(&self, expr: Expr) -> String {
        match &self.program.exprs[expr].kind {
            ExprKind::Const(bits) => bits.to_u64().map_or(String::new(), |n| n.to_string()),
            _ => String::new(),
        }
    }

    fn assigned(&self, stmt: &Stmt) -> Option<String> {
        match stmt.kind {
            StmtKind::Assign { value, .. } => Some(self.number(value)),
            _ => None,
        }
    }

    fn called(&self, stmt: &Stmt) -> Option<String> {
        match &stmt.kind {
            StmtKind::Extern(call) => match &call.args[0] {
                ExternArg::In(values) => Some(self.number(values[0])),
                _ => None,
            },
            _ => None,
        }
    }

    fn see(&mut self, at: String, names: &Names) {
        self.seen.entry(at).or_default().join(names);
    }
}

impl Forward for Trace<'_> {
    type Fact = Names;

    fn transfer(&mut self, stmt: &Stmt, fact: Names) -> After<Names> {
        let rejected = matches!(stmt.kind, StmtKind::Verify { .. }).then(|| fact.clone());
        After {
            rejected,
            ..After::next(match self.assigned(stmt) {
                Some(name) => Names(BTreeSet::from([name])),
                None => fact,
            })
        }
    }

    fn loop_head(&mut self, _: Label, body: &Block, mut fact: Names) -> Names {
        visit::walk_block(body, &mut |stmt| fact.0.extend(self.assigned(stmt)));
        fact
    }

    fn before(&mut self, stmt: &Stmt, fact: &Names) {
        if let Some(at) = self.called(stmt) {
            self.see(at, fact);
        }
    }
}

impl Backward for Trace<'_> {
    type Fact = Names;

    fn transfer(&mut self, stmt: &Stmt, fact: &mut Names) {
        if let Some(name) = self.called(stmt) {
            *fact = Names(BTreeSet::from([name]));
        }
    }

    fn after(&mut self, stmt: &Stmt, fact: &Names) {
        if let Some(at) = self.assigned(stmt) {
            self.see(at, fact);
        }
    }
}

/// Returns the assignments that reach each call, or the calls that follow each assignment.
fn traces(text: &str, forward: bool) -> Vec<String> {
    let program = program("continue", text);
    let mut trace = Trace::of(&program);
    if forward {
        super::forward(&program, &mut trace, Names::default());
    } else {
        super::backward(&program, &mut trace);
    }
    let show = |(at, names): (&String, &Names)| {
        let names: Vec<_> = names.0.iter().map(String::as_str).collect();
        format!("{at}: {}", names.join(" "))
    };
    trace.seen.iter().map(show).collect()
}

const CONTROL: &str = "action x() {
    a = 8w5;
    if f { return; }
    a = 8w6;
    if f { exit; }
}
action y() {
}
table t {
    action x; action y; default y();
}
routine c block() {
    a = 8w1;
    block label0 {
        if f {
            a = 8w2;
            break label0;
        }
        a = 8w3;
        loop label1 {
            extern at(in(8w1));
            if f { break label1; }
            a = 8w4;
            continue label1;
        }
    }
    extern at(in(8w2));
    apply t;
    extern at(in(8w3));
    return;
}
routine d block() {
    extern at(in(8w4));
}
pipeline c control c
pipeline d control d
";

#[test]
fn facts_flow_along_every_edge() {
    assert_eq!(
        traces(CONTROL, true),
        ["1: 3 4", "2: 2 3 4", "3: 2 3 4 5 6", "4: 2 3 4 5 6"]
    );
}

#[test]
fn facts_flow_back_along_every_edge() {
    assert_eq!(
        traces(CONTROL, false),
        ["1: 1 2", "2: 2", "3: 1", "4: 1", "5: 3 4", "6: 3 4"]
    );
}

const PARSER: &str = "parser p start s {
    state s {
        a = 8w1;
        select (f) {
            (1w1) -> u;
            (_) -> v;
        }
    }
    state v {
        extern at(in(8w1));
        a = 8w2;
        verify f, error::NoError;
        a = 8w3;
        goto u;
    }
    state u {
        extern at(in(8w2));
        select (f) {
            (1w1) -> v;
            (1w0) -> accept;
        }
    }
    state never {
        a = 8w9;
        goto accept;
    }
}
routine c block() {
    extern at(in(8w3));
}
pipeline p parser p
pipeline c control c
";

#[test]
fn parsers_reach_a_fixpoint() {
    assert_eq!(traces(PARSER, true), ["1: 1 3", "2: 1 3", "3: 1 2 3"]);
}

#[test]
fn a_rejected_packet_meets_what_follows_the_parser() {
    let ends = PARSER.replace("(1w1) -> v;", "(1w1) -> accept;");
    assert_eq!(traces(&ends, true), ["1: 1", "2: 1 3", "3: 1 2 3"]);
    assert_eq!(traces(&ends, false), ["1: 1 2 3", "2: 2 3", "3: 2"]);
    let accepts = ends.replace("verify f, error::NoError;", "");
    assert_eq!(traces(&accepts, true), ["1: 1", "2: 1 3", "3: 1 3"]);
    assert_eq!(traces(&accepts, false), ["1: 1 2 3", "2: 2", "3: 2"]);
}

/// A parser with a loop may time out at any statement.
#[test]
fn a_packet_that_takes_too_long_is_a_rejected_one() {
    let loops = PARSER.replace("verify f, error::NoError;", "");
    assert_eq!(traces(&loops, true), ["1: 1 3", "2: 1 3", "3: 1 2 3"]);
    assert_eq!(traces(&loops, false), ["1: 1 2 3", "2: 2 3", "3: 2 3"]);
}

#[test]
fn states_come_in_reverse_postorder() {
    let program = program("stop", PARSER);
    let (_, parser) = program.parsers.iter().next().unwrap();
    let names: Vec<_> = reverse_postorder(parser)
        .into_iter()
        .map(|state| parser.states[state].name.as_str())
        .collect();
    assert_eq!(names, ["s", "v", "u"]);
}

const ENTERED: &str = "parser p start s {
    state s {
        a = 8w1;
        select (f) {
            (1w1) -> t;
            (_) -> accept at e0;
        }
    }
    state t {
        a = 8w2;
        goto accept at e1;
    }
}
routine c block() {
    extern at(in(8w1));
    if f {
        extern at(in(8w2));
        entry e0;
        extern at(in(8w3));
    }
    else {
        a = 8w3;
        entry e1;
        extern at(in(8w4));
        a = 8w4;
        if f { exit; }
    }
    extern at(in(8w5));
}
pipeline p parser p
pipeline c control c
";

#[test]
fn facts_enter_a_control_where_the_parser_does() {
    assert_eq!(
        traces(ENTERED, true),
        ["1: 1", "2: 1", "3: 1", "4: 2 3", "5: 1 4"]
    );
    // Where no case matches, the packet is rejected and meets the control from its top.
    assert_eq!(traces(ENTERED, false), ["1: 1 3 4", "2: 4", "3: 4", "4: 5"]);
}

#[test]
fn what_only_entries_reach_is_all_that_is_known_there() {
    let both = ENTERED.replace("(_) -> accept at e0;", "(1w0) -> t; (_) -> accept at e0;");
    let accepted = |text: &str| {
        let program = program("stop", text);
        let mut trace = Trace::of(&program);
        super::forward(&program, &mut trace, Names::default());
        trace.seen.into_keys().collect::<Vec<_>>()
    };
    // No path leads to the control's top, so none leads to the calls before its entries.
    assert_eq!(accepted(&both), ["3", "4", "5"]);
}

#[test]
fn going_back_only_final_facts_are_passed_on() {
    // The first iteration over the states does not yet know that `u` leads back to `v`, nor that the loop repeats: its
    // facts are too small. The analysis must not see them.
    let text = "parser p start s {
    state s {
        a = 8w1;
        goto v;
    }
    state v {
        a = 8w2;
        loop label0 {
            a = 8w3;
            if f { break label0; }
            extern at(in(8w1));
        }
        select (f) {
            (1w1) -> v;
            (_) -> accept;
        }
    }
    state never {
        a = 8w9;
        goto v;
    }
}
routine c block() {
    extern at(in(8w2));
}
pipeline p parser p
pipeline c control c
";
    let program = program("stop", text);
    let mut calls = Calls {
        trace: Trace::of(&program),
        all: Vec::new(),
    };
    super::backward(&program, &mut calls);
    calls.all.sort();
    let expected = ["1: 1 2", "2: 1 2", "3: 1 2"];
    assert_eq!(
        calls.all, expected,
        "each once, and none of a state that is never reached"
    );
}

/// Records every call of [`Backward::after`] at an assignment.
struct Calls<'a> {
    trace: Trace<'a>,
    all: Vec<String>,
}

impl Backward for Calls<'_> {
    type Fact = Names;

    fn transfer(&mut self, stmt: &Stmt, fact: &mut Names) {
        Backward::transfer(&mut self.trace, stmt, fact);
    }

    fn after(&mut self, stmt: &Stmt, fact: &Names) {
        if let Some(at) = self.trace.assigned(stmt) {
            let names: Vec<_> = fact.0.iter().map(String::as_str).collect();
            self.all.push(format!("{at}: {}", names.join(" ")));
        }
    }
}

/// Returns a program with a statement in `depth` nested loops.
fn nested(depth: usize) -> String {
    let begin: String = (0..depth)
        .map(|i| format!("loop label{i} {{ a = 8w{i}; if f {{ break label{i}; }}"))
        .collect();
    let end: String = (0..depth)
        .map(|i| format!(" extern at(in(8w{i})); }}\n"))
        .collect();
    format!("routine c block() {{\n {begin}{end} a = 8w99;\n}}\npipeline c control c\n")
}

#[test]
fn nested_loops_take_few_rounds() {
    let depth = 30;
    let program = program("stop", &nested(depth));
    let mut counting = Counting {
        trace: Trace::of(&program),
        transfers: 0,
    };
    super::backward(&program, &mut counting);
    // Each loop repeats, so any of the calls may follow.
    assert_eq!(counting.trace.seen["0"].0.len(), depth);
    // If each iteration of the outer loop computed the innermost loop's fact from the start, this would take 2³⁰
    // iterations.
    assert!(counting.transfers < 20_000, "{}", counting.transfers);
}

/// Counts the visits of a statement.
struct Counting<'a> {
    trace: Trace<'a>,
    transfers: u64,
}

impl Backward for Counting<'_> {
    type Fact = Names;

    fn transfer(&mut self, stmt: &Stmt, fact: &mut Names) {
        self.transfers += 1;
        Backward::transfer(&mut self.trace, stmt, fact);
    }

    fn after(&mut self, stmt: &Stmt, fact: &Names) {
        Backward::after(&mut self.trace, stmt, fact);
    }
}
