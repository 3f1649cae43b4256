//! Data-flow analysis: facts at every point of a program.
//!
//! An analysis is a domain ([`Domain`]: a fact and its join) with a transfer function for statements. It runs in one of
//! two directions: [`Forward`] or [`Backward`]. The parts common to all analyses are here and in these two modules:
//! structured statements with breaks, continues, returns and exits, the actions of applied tables, the parser's graph,
//! and the order of the pipeline's blocks.

mod backward;
mod forward;

pub use backward::Backward;
pub use forward::{After, Forward};

pub use backward::pipeline as backward;
pub use forward::{
    blocks as forward_blocks, parser as forward_parser, pipeline as forward,
    region as forward_region,
};

use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::HashSet;
use std::rc::Rc;

/// Facts of an analysis, with their join.
pub trait Domain: Clone {
    /// Joins the other fact into this one, which then holds wherever either held. Returns true if this fact changed.
    fn join(&mut self, other: &Self) -> bool;
}

/// Fact that many points share.
impl<D: Domain + PartialEq> Domain for Rc<D> {
    fn join(&mut self, other: &Rc<D>) -> bool {
        if Rc::ptr_eq(self, other) || **self == **other {
            return false;
        }
        let mut joined = (**self).clone();
        let changed = joined.join(other);
        if changed {
            *self = Rc::new(joined);
        }
        changed
    }
}

/// Joins a point's facts; `None` is the fact of an unreachable point. Returns true if `into` changed.
pub fn join<D: Domain>(into: &mut Option<D>, other: Option<D>) -> bool {
    match (into.as_mut(), other) {
        (_, None) => false,
        (None, other) => {
            *into = other;
            true
        }
        (Some(into), Some(other)) => into.join(&other),
    }
}

/// Returns a transition's targets in order.
pub fn targets(transition: &Transition) -> Vec<TransitionTarget> {
    targets_of(transition).collect()
}

/// Iterates over a transition's targets in order.
fn targets_of(transition: &Transition) -> impl DoubleEndedIterator<Item = TransitionTarget> {
    let (only, cases) = match transition {
        Transition::To(target) => (Some(*target), [].as_slice()),
        Transition::Select { cases, .. } => (None, cases.as_slice()),
    };
    only.into_iter().chain(cases.iter().map(|case| case.target))
}

/// Returns the states that a transition leads to, in order.
pub fn successors(transition: &Transition) -> Vec<State> {
    targets_of(transition)
        .filter_map(|target| match target {
            TransitionTarget::State(state) => Some(state),
            TransitionTarget::Accept
            | TransitionTarget::AcceptAt(_)
            | TransitionTarget::Reject
            | TransitionTarget::Rare => None,
        })
        .collect()
}

/// Returns the states that a parser reaches, in reverse postorder: only edges of loops lead backwards. The state of a
/// select's first case comes as early as possible.
pub fn reverse_postorder(parser: &ParserData) -> Vec<State> {
    let next = |state: State| targets_of(&parser.states[state].transition).rev();
    let mut seen = SecondaryMap::with_capacity(parser.states.len());
    seen[parser.start] = true;
    let mut path = vec![(parser.start, next(parser.start))];
    let mut order = Vec::with_capacity(parser.states.len());
    while let Some((state, rest)) = path.last_mut() {
        match rest.next() {
            Some(TransitionTarget::State(to)) => {
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, next(to)));
                }
            }
            Some(_) => {}
            None => {
                order.push(*state);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Returns true if a packet that the parser rejects by timeout continues after the parser: the parser has a loop, and
/// the architecture continues after a rejection. Targets do not define the step limit, so the packet may be rejected at
/// any statement.
fn goes_on_after_timeout(program: &Program, parser: &ParserData, order: &[State]) -> bool {
    if program.on_reject == OnReject::Stop {
        return false;
    }
    let mut seen = HashSet::new();
    order.iter().any(|&state| {
        seen.insert(state);
        let StateData {
            body, transition, ..
        } = &parser.states[state];
        let mut loops = successors(transition).iter().any(|to| seen.contains(to));
        visit::walk_block(body, &mut |stmt| {
            loops |= matches!(
                stmt.kind,
                StmtKind::Loop(..)
                    | StmtKind::SkipAhead { .. }
                    | StmtKind::Search { .. }
                    | StmtKind::Automaton { .. }
            );
        });
        loops
    })
}

#[cfg(test)]
mod tests;
