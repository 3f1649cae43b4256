//! Parser states that no transition leads to.

use crate::checker::Checker;
use crate::errors::warnings;
use cranelift_entity::EntityRef;
use hir::{ParserBody, StateId, Transition, TransitionTarget};

pub(super) fn run(checker: &mut Checker<'_>) {
    let mut found = Vec::new();
    for parser in checker.module.parsers.values() {
        let Some(body) = &parser.body else { continue };
        let reached = reached(body);
        found.extend(
            body.states
                .iter()
                .filter(|(id, _)| !reached[id.index()])
                .map(|(_, s)| (s.span, s.name.clone())),
        );
    }
    for (span, name) in found {
        checker.report(warnings::unreachable_state(span, &name));
    }
}

/// Returns, for each state, true if `start` leads to it.
fn reached(body: &ParserBody) -> Vec<bool> {
    let mut reached = vec![false; body.states.len()];
    let mut todo: Vec<StateId> = vec![body.start];
    while let Some(id) = todo.pop() {
        let Some(seen) = reached.get_mut(id.index()) else {
            continue;
        };
        if std::mem::replace(seen, true) {
            continue;
        }
        let mut go = |target: &TransitionTarget| {
            if let TransitionTarget::State(next) = target {
                todo.push(*next);
            }
        };
        match &body.states[id].transition {
            Transition::To(target, _) => go(target),
            Transition::Select { cases, .. } => cases.iter().for_each(|(_, target, _)| go(target)),
        }
    }
    reached
}
