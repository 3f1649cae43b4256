//! Lowers groups of states that read one byte each and select by it to automata.
//!
//! A parser may process one byte after the other in several states that represent the preceding bytes: these are the
//! states of an automaton. The preceding bytes may also be represented by a variable by which one state selects. That
//! state is then copied for each value (`by_value`). [`StmtKind::Automaton`] processes all bytes that lead from one
//! such state to another, by a table in read-only data. It precedes the states and rejects nothing. It ends at a byte
//! with another successor, at the final value of a counter, or at the packet's end. There the current state runs
//! unchanged, so errors, counters and the cursor are the same as before.
//!
//! Guarantee: no cycle of states remains without this statement if each of its states
//!
//! - reads one byte, and takes it, perhaps in a following state with a single successor;
//! - selects by that byte and by tests of counters for constant values, where a successful test leaves the cycle;
//! - has no other effect until the next byte than to add constants to variables and to set variables to constants;
//! - has only effects that are dead once the next byte is read, counters excepted.

mod by_value;
mod components;
mod member;
mod turn;

use crate::analysis::dataflow::successors;
use crate::analysis::liveness::Liveness;
use crate::passes::dce::targets_mut;
use crate::passes::search::{count, least};
use crate::*;
use cranelift_entity::PrimaryMap;
use diag::Span;
use member::{Lead, Member};
use std::collections::{BTreeMap, BTreeSet};

/// Runs the pass. If the target follows the iterations of loops, the states inside another loop remain unchanged.
pub fn run(program: &mut Program, follows_iterations: bool) {
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        by_values(program, parser, follows_iterations);
        for group in groups(program, parser, follows_iterations) {
            rewrite(program, parser, &group);
        }
    }
}

/// Greatest number of failed attempts to copy states of a parser; the cost of each is linear in the parser's size.
const MOST_ATTEMPTS: usize = 32;

/// Copies states for the values of a variable, if the copies form an automaton.
fn by_values(program: &mut Program, parser: Parser, follows_iterations: bool) {
    let mut attempts = 0;
    for state in cycles(&program.parsers[parser]).into_iter().flatten() {
        if attempts == MOST_ATTEMPTS {
            return;
        }
        let state_data = &program.parsers[parser].states[state];
        let Some(remembering) = by_value::remembering(program, state_data) else {
            continue;
        };
        let before = program.parsers[parser].clone();
        let copies = by_value::copy(program, parser, state, remembering).unwrap_or_default();
        program.number_stmts();
        let is_one = |group: &Group| copies.iter().any(|copy| group.contains_key(copy));
        let groups = groups(program, parser, follows_iterations);
        if !groups.iter().any(is_one) {
            attempts += 1;
            program.parsers[parser] = before;
            program.number_stmts();
        }
    }
}

/// Returns the strongly connected components of a parser's states that contain a cycle.
fn cycles(parser: &ParserData) -> Vec<BTreeSet<State>> {
    let next = |(state, data): (State, &StateData)| {
        let next = successors(&data.transition).into_iter().collect();
        (state, next)
    };
    components::cycles(&parser.states.iter().map(next).collect())
}

/// States of an automaton, which lead to one another.
type Group = BTreeMap<State, Member>;

/// Returns the groups of states that read one byte each and lead to one another, or of a state that leads to itself.
fn groups(program: &Program, parser: Parser, follows_iterations: bool) -> Vec<Group> {
    let around = cycles(&program.parsers[parser]);
    let mut members = members(program, &program.parsers[parser], around.iter().flatten());
    let next = members
        .iter()
        .map(|(&state, member)| (state, member.next()));
    let mut live = None;
    let mut groups = Vec::new();
    for cycle in components::cycles(&next.collect()) {
        let own = |state: State| Some((state, members.remove(&state)?));
        let group: Group = cycle.into_iter().filter_map(own).collect();
        let is_inside = follows_iterations && around.iter().any(|around| is_inside(&group, around));
        if group.len() > Automaton::MOST_STATES
            || is_inside
            || !counts_alike(&group)
            || !leaves_at_ends(&group)
        {
            continue;
        }
        let live = live.get_or_insert_with(|| Liveness::new(program));
        if forgets(program, live, &group) {
            groups.push(group);
        }
    }
    groups
}

/// Returns the states that may be part of an automaton.
fn members<'a>(
    program: &Program,
    parser: &ParserData,
    cyclic: impl Iterator<Item = &'a State> + Clone,
) -> BTreeMap<State, Member> {
    let states = &parser.states;
    let of = |&state: &State| Some((state, member::of(program, states, &states[state])?));
    let mut members: BTreeMap<State, Member> = cyclic.clone().filter_map(of).collect();
    let leading = all_leading(states);
    for &state in cyclic {
        if let Some((fits, behind)) = member::asks_for_byte(program, &states[state])
            && behind != parser.start
            && members.contains_key(&behind)
            && leading.get(&behind).is_some_and(|all| *all == [state])
            && let Some(of_byte) = members.remove(&behind)
        {
            let asked = Some((fits, behind));
            members.insert(state, Member { asked, ..of_byte });
        }
    }
    members
}

/// Returns the predecessors of a state.
fn leading_to(states: &PrimaryMap<State, StateData>, to: State) -> Vec<State> {
    let leads = |(_, data): &(State, &StateData)| successors(&data.transition).contains(&to);
    let all = states.iter().filter(leads);
    all.map(|(state, _)| state).collect()
}

/// Returns the predecessors of all states.
fn all_leading(states: &PrimaryMap<State, StateData>) -> BTreeMap<State, Vec<State>> {
    let mut leading: BTreeMap<State, Vec<State>> = BTreeMap::new();
    for (state, data) in states {
        let next: BTreeSet<State> = successors(&data.transition).into_iter().collect();
        for to in next {
            leading.entry(to).or_default().push(state);
        }
    }
    leading
}

/// Returns the paths inside an automaton from one byte to the next.
fn leads(group: &Group) -> impl Iterator<Item = &Lead> {
    let all = group.values().flat_map(|member| member.leads.values());
    all.filter(|lead| group.contains_key(&lead.to))
}

/// Returns true if a cycle of the parser leads through a group and through other states.
fn is_inside(group: &Group, cycle: &BTreeSet<State>) -> bool {
    let behind = group.values().filter_map(|member| Some(member.asked?.1));
    let passing = leads(group).flat_map(|lead| lead.passing.iter().copied());
    let own: BTreeSet<State> = group.keys().copied().chain(behind).chain(passing).collect();
    !cycle.is_disjoint(&own) && !cycle.is_subset(&own)
}

/// Returns true if all paths change the counters equally.
fn counts_alike(group: &Group) -> bool {
    let mut counters = leads(group).map(|lead| &lead.turn.counters);
    let first = counters.next();
    counters.all(|all| Some(all) == first)
}

/// Returns true if the effects of a state on its byte are dead once the next state starts, counters excepted.
fn forgets(program: &Program, live: &Liveness, group: &Group) -> bool {
    let is_read = |state: State, header: Header| {
        let fields = &program.header_types[program.headers[header].ty].fields;
        live.valid_in_state(state, header)
            || (0..fields.len()).any(|field| live.field_in_state(state, header, field as u32))
    };
    let answers = group.values().filter_map(|member| Some(member.asked?.0));
    let vars: BTreeSet<Var> = leads(group)
        .flat_map(|lead| lead.turn.vars())
        .chain(answers)
        .collect();
    let headers: BTreeSet<Header> = leads(group)
        .flat_map(|lead| lead.turn.headers.iter().copied())
        .collect();
    group.keys().all(|&state| {
        !vars.iter().any(|&var| live.var_in_state(state, var))
            && !headers.iter().any(|&header| is_read(state, header))
    })
}

/// Inserts the automaton before its states. Each edge to one of them first stores the state's number, then leads to a
/// state that runs the automaton. That state selects the state in which the automaton stopped.
fn rewrite(program: &mut Program, parser: Parser, group: &Group) {
    let Some(&first) = group.keys().next() else {
        return;
    };
    let span = program.parsers[parser].states[first].span;
    let at = new_var(program, "automaton_state", 16, span);
    let body = body(program, group, at, span);
    let cases = group.keys().zip(0u32..).map(|(&state, number)| SelectCase {
        keysets: vec![Keyset::Value(Bits::new(16, number))],
        target: Target::State(state),
        span,
    });
    let transition = Transition::Select {
        keys: vec![build::var(program, at, span)],
        cases: cases.collect(),
    };
    let never = never_taken(&program.parsers[parser], group);
    let states = &mut program.parsers[parser].states;
    let old: Vec<State> = states.keys().collect();
    let runs = states.push(StateData {
        name: "automaton".into(),
        body,
        transition,
        rare: false,
        span,
    });
    let entries = Entries {
        group,
        at,
        runs,
        made: BTreeMap::new(),
    };
    lead_in(program, parser, entries, &old, &never);
}

fn new_var(program: &mut Program, name: &str, width: u32, span: Span) -> Var {
    program.vars.push(VarData {
        name: name.into(),
        ty: Type::bit(width),
        span,
    })
}

/// Returns the automaton statement, followed by the updates of the counters. The variable `at` has the state's number.
fn body(program: &mut Program, group: &Group, at: Var, span: Span) -> Block {
    let counters = leads(group).next().map(|lead| lead.turn.counters.clone());
    let counters = counters.unwrap_or_default();
    let passed = (!counters.is_empty()).then(|| new_var(program, "passed", 32, span));
    let number: BTreeMap<State, u32> = group.keys().copied().zip(0..).collect();
    let row = |member: &Member| {
        let next = |target: &State| number.get(&member.leads.get(target)?.to).copied();
        member.row.map(|target| next(&target?))
    };
    let rows: Vec<[Option<u32>; 256]> = group.values().map(row).collect();
    let ends: Vec<Expr> = ends(group)
        .iter()
        .filter_map(|(var, end)| {
            let step = counters.get(var)?;
            Some(turns(program, *var, step, end, span))
        })
        .collect();
    let run = StmtKind::Automaton {
        automaton: Automaton::new(&rows),
        start: build::var(program, at, span),
        limit: ends.into_iter().reduce(|a, b| least(program, a, b, span)),
        end: at,
        passed,
    };
    let mut body = vec![Stmt::new(run, span)];
    for (&counter, step) in &counters {
        body.extend(passed.map(|passed| count(program, counter, step, passed, span)));
    }
    body
}

/// Returns the values of counters for which a state may leave the automaton.
fn ends(group: &Group) -> BTreeSet<member::Counted> {
    let all = group
        .values()
        .flat_map(|member| member.ends.iter().cloned());
    all.collect()
}

/// Returns true if every byte leaves the automaton once a counter has one of its final values. This fails if a case
/// that stays inside precedes the test, or if not all states have the test.
fn leaves_at_ends(group: &Group) -> bool {
    let ends = ends(group);
    let is_inside = |member: &Member, target: &State| {
        let lead = member.leads.get(target);
        lead.is_some_and(|lead| group.contains_key(&lead.to))
    };
    group.values().all(|member| {
        let mut certain = member.certain.iter();
        certain.all(|(target, certain)| *certain == ends || !is_inside(member, target))
            && !member.ended.iter().any(|target| is_inside(member, target))
    })
}

/// Returns the states whose edges to the group are never taken: the automaton stops only at bytes that lead elsewhere.
fn never_taken(parser: &ParserData, group: &Group) -> BTreeSet<State> {
    // A state that only tests for a byte has another successor at the packet's end.
    let reading = |(&state, member): (&State, &Member)| member.asked.map_or(state, |asked| asked.1);
    let mut never: BTreeSet<State> = group.iter().map(reading).collect();
    for lead in leads(group) {
        for &state in &lead.passing {
            let from = leading_to(&parser.states, state);
            if state == parser.start || !from.iter().all(|from| never.contains(from)) {
                // Another path leads through the state.
                break;
            }
            never.insert(state);
        }
    }
    never
}

/// States that store the number of the automaton's first state.
struct Entries<'a> {
    group: &'a Group,
    /// Variable with the state's number.
    at: Var,
    /// The state that runs the automaton.
    runs: State,
    made: BTreeMap<State, State>,
}

impl Entries<'_> {
    fn entry(&mut self, program: &mut Program, parser: Parser, state: State) -> State {
        if let Some(&made) = self.made.get(&state) {
            return made;
        }
        let span = program.parsers[parser].states[state].span;
        let number = self.group.range(..state).count() as u32;
        let number = ExprKind::Const(Bits::new(16, number));
        let value = build::make(program, number, Type::bit(16), span);
        let dst = Place::Var(self.at);
        let states = &mut program.parsers[parser].states;
        let entry = states.push(StateData {
            name: format!("enter_{}", states[state].name).into(),
            body: vec![Stmt::new(StmtKind::Assign { dst, value }, span)],
            transition: Transition::To(Target::State(self.runs)),
            rare: false,
            span,
        });
        self.made.insert(state, entry);
        entry
    }
}

/// Redirects all edges that lead to a state of the group to the automaton.
fn lead_in(
    program: &mut Program,
    parser: Parser,
    mut entries: Entries<'_>,
    from: &[State],
    never: &BTreeSet<State>,
) {
    for &from in from {
        let mut transition = program.parsers[parser].states[from].transition.clone();
        for target in targets_mut(&mut transition) {
            let Target::State(to) = *target else { continue };
            if entries.group.contains_key(&to) {
                *target = match never.contains(&from) {
                    true => Target::Reject,
                    false => Target::State(entries.entry(program, parser, to)),
                };
            }
        }
        program.parsers[parser].states[from].transition = transition;
    }
    let start = program.parsers[parser].start;
    if entries.group.contains_key(&start) {
        program.parsers[parser].start = entries.entry(program, parser, start);
    }
}

/// Returns the number of bytes that may be taken before the one with which a counter reaches its final value;
/// `bit<32>`.
fn turns(program: &mut Program, counter: Var, step: &Bits, end: &Bits, span: Span) -> Expr {
    let ty = program.vars[counter].ty;
    let now = build::var(program, counter, span);
    let last = Bits::from_int(end.width(), &(end.to_int(false) - step.to_signed()));
    let last = build::make(program, ExprKind::Const(last), ty, span);
    let (from, to) = match *step == Bits::new(step.width(), 1u32) {
        true => (now, last),
        false => (last, now),
    };
    let left = build::make(program, ExprKind::Binary(BinaryOp::Sub, to, from), ty, span);
    match ty == Type::bit(32) {
        true => left,
        false => build::make(program, ExprKind::Cast(left), Type::bit(32), span),
    }
}
