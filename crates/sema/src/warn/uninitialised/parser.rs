//! Data-flow analysis of a parser's states.

use super::state::{InitFacts, join};
use super::walk::Walk;
use super::{declare, entry, unset_outs};
use crate::checker::Checker;
use cranelift_entity::EntityRef;
use diag::Diagnostic;
use hir::*;
use std::collections::BTreeSet;

/// Most visits to a state before the analysis of the parser gives up.
const MAX_VISITS: usize = 64;

pub(super) fn check(
    checker: &Checker<'_>,
    parser: &Parser,
    body: &ParserBody,
    found: &mut Vec<Diagnostic>,
) {
    let mut first = Walk::new(checker, true);
    first.set(Some(entry(checker, &parser.params, InitFacts::default())));
    declare(&mut first, &body.locals);
    let start = first.end();
    found.append(&mut first.found);

    let mut entries: Vec<Option<InitFacts>> = vec![None; body.states.len()];
    if let Some(slot) = entries.get_mut(body.start.index()) {
        *slot = start;
    }
    let order = order(body);
    let mut todo = BTreeSet::from([(order[body.start.index()], body.start)]);
    let mut budget = body.states.len() * MAX_VISITS;
    while let Some((_, id)) = todo.pop_first() {
        if budget == 0 {
            return;
        }
        budget -= 1;
        let (out, _) = transfer(checker, body, id, entries[id.index()].clone(), false);
        for next in targets(&body.states[id].transition) {
            let TransitionTarget::State(next) = next else {
                continue;
            };
            let known = &entries[next.index()];
            let joined = join(known.clone(), out.clone());
            if joined != *known {
                entries[next.index()] = joined;
                todo.insert((order[next.index()], next));
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
        if targets(&state.transition).contains(&TransitionTarget::Accept) {
            accepted = join(accepted, out);
        }
    }
    if let Some(end) = &accepted {
        unset_outs(checker, &parser.params, end, &parser.name, found);
    }
}

/// Returns the index of each state in reverse postorder. All predecessors of a join come before it, so a parser without
/// loops is walked once, and not once for each path.
fn order(body: &ParserBody) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let mut place = vec![UNSEEN; body.states.len()];
    let mut last = body.states.len();
    let next = |id: StateId| -> Vec<StateId> {
        let targets = targets(&body.states[id].transition).into_iter();
        let states = targets.filter_map(|target| match target {
            TransitionTarget::State(next) => Some(next),
            _ => None,
        });
        states.collect()
    };
    let mut entered = vec![false; body.states.len()];
    entered[body.start.index()] = true;
    let mut open = vec![(body.start, next(body.start))];
    while let Some((id, left)) = open.last_mut() {
        match left.pop() {
            Some(to) if entered[to.index()] => {}
            Some(to) => {
                entered[to.index()] = true;
                open.push((to, next(to)));
            }
            None => {
                last -= 1;
                place[id.index()] = last;
                open.pop();
            }
        }
    }
    place
}

/// Transfer function of a state: the facts at its entry to those at its end.
fn transfer(
    checker: &Checker<'_>,
    body: &ParserBody,
    id: StateId,
    known: Option<InitFacts>,
    report: bool,
) -> (Option<InitFacts>, Vec<Diagnostic>) {
    let mut walk = Walk::new(checker, report);
    walk.set(known.clone());
    let state = &body.states[id];
    walk.block(&state.body);
    if let Transition::Select { keys, .. } = &state.transition {
        keys.iter().for_each(|k| walk.read(k));
    }
    let mut end = walk.end();
    if let (Some(end), Some(known)) = (&mut end, &known) {
        end.leave_scope(known);
    }
    (end, walk.found)
}

fn targets(transition: &Transition) -> Vec<TransitionTarget> {
    match transition {
        Transition::To(target, _) => vec![*target],
        Transition::Select { cases, .. } => cases.iter().map(|(_, target, _)| *target).collect(),
    }
}
