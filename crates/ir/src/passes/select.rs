//! Merges parser states.
//!
//! Guarantees: no edge leads to an empty state with a single successor. A state whose only predecessor has no other
//! successor is part of that predecessor. The last cases of a select before its default have other targets than the
//! default.

use super::dce::targets_mut;
use crate::analysis::dataflow::successors;
use crate::*;
use cranelift_entity::SecondaryMap;

/// Runs the pass.
pub fn run(program: &mut Program) {
    for parser in program.parsers.values_mut() {
        skip_empty(parser);
        for state in parser.states.values_mut() {
            settle(&mut state.transition);
        }
        join(parser);
    }
}

/// Redirects edges past states without statements.
fn skip_empty(parser: &mut ParserData) {
    let through = |parser: &ParserData, mut target: TransitionTarget| {
        // Empty states may form a cycle; then any of them will do.
        for _ in 0..parser.states.len() {
            match target {
                TransitionTarget::State(state) if parser.states[state].body.is_empty() => {
                    match parser.states[state].transition {
                        Transition::To(next) => target = next,
                        Transition::Select { .. } => break,
                    }
                }
                _ => break,
            }
        }
        target
    };
    for id in parser.states.keys().collect::<Vec<_>>() {
        let mut transition = parser.states[id].transition.clone();
        for target in targets_mut(&mut transition) {
            *target = through(parser, *target);
        }
        parser.states[id].transition = transition;
    }
}

/// Removes redundant cases.
fn settle(transition: &mut Transition) {
    let Transition::Select { cases, .. } = transition else {
        return;
    };
    let is_any = |case: &SelectCase| case.keysets.iter().all(|k| matches!(k, Keyset::Any));
    let Some(first_any) = cases.iter().position(is_any) else {
        return;
    };
    cases.truncate(first_any + 1);
    let last = cases[first_any].target;
    while let [.., before, _] = &cases[..]
        && before.target == last
    {
        cases.remove(cases.len() - 2);
    }
    if let [only] = &cases[..] {
        *transition = Transition::To(only.target);
    }
}

/// Appends states to their only predecessor.
fn join(parser: &mut ParserData) {
    let mut edges: SecondaryMap<State, u32> = SecondaryMap::new();
    edges[parser.start] += 1;
    for state in parser.states.values() {
        for next in successors(&state.transition) {
            edges[next] += 1;
        }
    }
    let ids: Vec<_> = parser.states.keys().collect();
    for id in ids {
        while let Transition::To(TransitionTarget::State(next)) = parser.states[id].transition
            && edges[next] == 1
            && next != id
        {
            let body = std::mem::take(&mut parser.states[next].body);
            let rest = Transition::To(TransitionTarget::Reject);
            let transition = std::mem::replace(&mut parser.states[next].transition, rest);
            let state = &mut parser.states[id];
            state.body.extend(body);
            state.transition = transition;
            // The state is now unreachable.
            edges[next] = 0;
        }
    }
}
