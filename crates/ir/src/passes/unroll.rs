//! Unrolls parser loops that fill a header stack.
//!
//! If a state, or a state after it, reads a stack's next index, it is copied for each value that the index can have at
//! the state's start. In each copy the index is a constant, which propagation finds; an extraction past the end has no
//! successor. Loops that do not move a next index by constants remain. So do those that fill [`rolled`] stacks, which
//! the pass marks.

mod rolled;

use super::inline;
use crate::analysis::dataflow::{successors, targets};
use crate::analysis::facts::{Facts, KnownVar};
use crate::analysis::point_facts;
use crate::*;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use std::collections::{BTreeSet, HashMap};

/// Greatest number of states of a parser after unrolling, unless it has more already.
const MAX_STATES: usize = 300;

/// Runs the pass.
pub fn run(program: &mut Program) {
    rolled::mark(program);
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        if let Some(copies) = plan(program, parser) {
            rebuild(program, parser, copies);
        }
    }
}

/// A state with the known values of next indices at its start.
type Version = (State, Vec<(Var, u64)>);

struct Copies {
    versions: Vec<Version>,
    /// For each version, the version to which each target of its transition leads, or `None` for a target that is not a
    /// state. The list is `None` if the end of the version's body is unreachable.
    targets: Vec<Option<Vec<Option<usize>>>>,
}

/// Returns the versions of states; `None` if there is one of each, or too many.
fn plan(program: &Program, parser: Parser) -> Option<Copies> {
    let data = &program.parsers[parser];
    let wanted = wanted(program, data);
    if wanted.values().all(BTreeSet::is_empty) {
        return None;
    }
    let begin = wanted[data.start].iter().map(|&var| (var, 0)).collect();
    let is_first = program.blocks.first().map(|b| b.body) == Some(BlockBody::Parser(parser));
    let start = (data.start, if is_first { begin } else { Vec::new() });
    let mut numbers: HashMap<Version, usize> = HashMap::new();
    numbers.insert(start.clone(), 0);
    let mut copies = Copies {
        versions: vec![start],
        targets: Vec::new(),
    };
    while copies.targets.len() < copies.versions.len() {
        let (state, values) = copies.versions[copies.targets.len()].clone();
        let mut facts = Facts::unknown(program);
        for (var, value) in values {
            facts.set(var, Value::Bits(Bits::new(32, value)));
        }
        let state = &data.states[state];
        let Some(after) = point_facts::after_state(program, &state.body, facts) else {
            copies.targets.push(None);
            continue;
        };
        let mut leads = Vec::new();
        for target in targets(&state.transition) {
            let TransitionTarget::State(next) = target else {
                leads.push(None);
                continue;
            };
            let value = |&var: &Var| match after.var(var) {
                Some(KnownVar::Value(Value::Bits(bits))) => Some((var, bits.to_u64()?)),
                _ => None,
            };
            let values = wanted[next].iter().filter_map(value).collect();
            let version = (next, values);
            let fresh = copies.versions.len();
            let number = *numbers.entry(version.clone()).or_insert(fresh);
            if number == fresh {
                copies.versions.push(version);
            }
            leads.push(Some(number));
        }
        copies.targets.push(Some(leads));
        if copies.versions.len() > MAX_STATES.max(data.states.len()) {
            return None;
        }
    }
    Some(copies)
}

/// Returns the next indices that each state, or one after it, reads.
fn wanted(program: &Program, parser: &ParserData) -> SecondaryMap<State, BTreeSet<Var>> {
    let unrolled = program.stacks.values().filter(|stack| !stack.rolled);
    let nexts: BTreeSet<Var> = unrolled.map(|stack| stack.next).collect();
    let mut wanted: SecondaryMap<State, BTreeSet<Var>> = SecondaryMap::new();
    for (id, state) in &parser.states {
        let mut reads = BTreeSet::new();
        let mut expr = |e: Expr| {
            visit::walk_expr(program, e, &mut |data| {
                if let ExprKind::Var(var) = data.kind
                    && nexts.contains(&var)
                {
                    reads.insert(var);
                }
            });
        };
        visit::walk_block(&state.body, &mut |stmt| {
            visit::accesses(program, &stmt.kind, |access| {
                if let visit::Access::Eval(e) = access {
                    expr(e);
                }
            });
        });
        if let Transition::Select { keys, .. } = &state.transition {
            keys.iter().for_each(|&key| expr(key));
        }
        wanted[id] = reads;
    }
    loop {
        let mut changed = false;
        for (id, state) in &parser.states {
            for next in successors(&state.transition) {
                let more: Vec<_> = wanted[next].difference(&wanted[id]).copied().collect();
                changed |= !more.is_empty();
                wanted[id].extend(more);
            }
        }
        if !changed {
            return wanted;
        }
    }
}

fn rebuild(program: &mut Program, parser: Parser, copies: Copies) {
    let old = std::mem::take(&mut program.parsers[parser].states);
    let mut often: SecondaryMap<State, u32> = SecondaryMap::new();
    for (state, _) in &copies.versions {
        often[*state] += 1;
    }
    let mut states = PrimaryMap::new();
    let mut seen: SecondaryMap<State, u32> = SecondaryMap::new();
    for ((id, values), leads) in copies.versions.iter().zip(&copies.targets) {
        let mut state = old[*id].clone();
        if often[*id] > 1 {
            let values: Vec<_> = values.iter().map(|(_, v)| format!("[{v}]")).collect();
            state.name = format!("{}{}", state.name, values.concat()).into();
        }
        // Labels are unique in a parser.
        if seen[*id] > 0 {
            inline::fresh_labels(program, &mut state.body);
        }
        seen[*id] += 1;
        super::dce::lead_to_copies(&mut state.transition, leads.as_deref());
        states.push(state);
    }
    let data = &mut program.parsers[parser];
    data.states = states;
    data.start = State::from_u32(0);
}
