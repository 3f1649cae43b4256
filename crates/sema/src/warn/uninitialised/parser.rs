//! The data-flow through a parser's states.

use super::state::{State, join};
use super::walk::Walk;
use super::{declare, entry, unset_outs};
use crate::checker::Checker;
use cranelift_entity::EntityRef;
use diag::Diagnostic;
use hir::*;

/// How often a state is visited before the analysis of the parser gives up.
const MAX_VISITS: usize = 64;

pub(super) fn check(
    checker: &Checker<'_>,
    parser: &Parser,
    body: &ParserBody,
    found: &mut Vec<Diagnostic>,
) {
    let mut first = Walk::new(checker, true);
    first.set(Some(entry(checker, &parser.params, State::default())));
    declare(&mut first, &body.locals);
    let start = first.end();
    found.append(&mut first.found);

    let mut entries: Vec<Option<State>> = vec![None; body.states.len()];
    if let Some(slot) = entries.get_mut(body.start.index()) {
        *slot = start;
    }
    let mut todo = vec![body.start];
    let mut budget = body.states.len() * MAX_VISITS;
    while let Some(id) = todo.pop() {
        if budget == 0 {
            return;
        }
        budget -= 1;
        let (out, _) = transfer(checker, body, id, entries[id.index()].clone(), false);
        for next in targets(&body.states[id].transition) {
            let Target::State(next) = next else { continue };
            let known = &entries[next.index()];
            let joined = join(known.clone(), out.clone());
            if joined != *known {
                entries[next.index()] = joined;
                todo.push(next);
            }
        }
    }
    let mut accepted = None;
    for (id, state) in &body.states {
        if entries[id.index()].is_none() {
            continue;
        }
        let (out, mut reported) = transfer(checker, body, id, entries[id.index()].clone(), true);
        found.append(&mut reported);
        if targets(&state.transition).contains(&Target::Accept) {
            accepted = join(accepted, out);
        }
    }
    if let Some(end) = &accepted {
        unset_outs(checker, &parser.params, end, &parser.name, found);
    }
}

/// The facts after a state (its transfer function).
fn transfer(
    checker: &Checker<'_>,
    body: &ParserBody,
    id: StateId,
    known: Option<State>,
    report: bool,
) -> (Option<State>, Vec<Diagnostic>) {
    let mut walk = Walk::new(checker, report);
    walk.set(known);
    let state = &body.states[id];
    walk.block(&state.body);
    if let Transition::Select { keys, .. } = &state.transition {
        keys.iter().for_each(|k| walk.read(k));
    }
    let end = walk.end();
    (end, walk.found)
}

fn targets(transition: &Transition) -> Vec<Target> {
    match transition {
        Transition::To(target, _) => vec![*target],
        Transition::Select { cases, .. } => cases.iter().map(|(_, target, _)| *target).collect(),
    }
}
