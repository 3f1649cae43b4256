//! Loops of a parser: each one's head, and the paths that lead from there back to it.
//!
//! Passes that recognise loops (a search, a table of sizes) examine each path through an iteration. Only loops that can
//! be entered at the head alone, and that contain no other cycle, are found. So of nested loops only the innermost is
//! found, and no irreducible loop is.

use super::dataflow::{reverse_postorder, successors, targets};
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::HashSet;

/// A loop of a parser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParserLoop {
    /// Head of the loop: its only state with predecessors outside.
    pub head: State,
    /// Paths through one iteration, from the head back to it, in the order of the selects' cases.
    pub iterations: Vec<Iteration>,
}

/// Path through one iteration of a loop, starting at its head.
pub type Iteration = Vec<PathStep>;

/// State on a path, with the edge by which the path leaves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathStep {
    /// The state.
    pub state: State,
    /// Index of the edge's target in the list that [`super::dataflow::targets`] returns: of a select's case, or 0.
    pub target: usize,
}

impl ParserLoop {
    /// Returns the states on all paths, each once.
    pub fn states(&self) -> HashSet<State> {
        self.iterations
            .iter()
            .flatten()
            .map(|step| step.state)
            .collect()
    }
}

/// Returns the loops of a parser, in reverse postorder of their heads. A loop with more than `most` paths is omitted.
pub fn find(parser: &ParserData, most: usize) -> Vec<ParserLoop> {
    let order = reverse_postorder(parser);
    let mut number: SecondaryMap<State, Option<usize>> = SecondaryMap::new();
    let mut before: SecondaryMap<State, Vec<State>> = SecondaryMap::new();
    for (i, &state) in order.iter().enumerate() {
        number[state] = Some(i);
        for next in successors(&parser.states[state].transition) {
            before[next].push(state);
        }
    }
    let found = order.iter().filter_map(|&head| {
        let backwards = before[head].iter().copied();
        let ends: Vec<_> = backwards
            .filter(|&from| number[from] >= number[head])
            .collect();
        let body = body(head, ends, &before)?;
        let is_entered = body.iter().any(|&state| {
            state != head
                && (state == parser.start || before[state].iter().any(|from| !body.contains(from)))
        });
        if is_entered {
            return None;
        }
        let iterations = iterations(parser, head, &body, most)?;
        Some(ParserLoop { head, iterations })
    });
    found.collect()
}

/// Returns the states of a natural loop: those from which its back edges' sources, `ends`, are reached without passing
/// the head. Returns `None` if there is no back edge.
fn body(
    head: State,
    mut ends: Vec<State>,
    before: &SecondaryMap<State, Vec<State>>,
) -> Option<HashSet<State>> {
    if ends.is_empty() {
        return None;
    }
    let mut body = HashSet::from([head]);
    while let Some(state) = ends.pop() {
        if body.insert(state) {
            ends.extend(&before[state]);
        }
    }
    Some(body)
}

/// Returns the paths from a loop's head back to it; `None` if there are more than `most`, or if the body has another
/// cycle.
fn iterations(
    parser: &ParserData,
    head: State,
    body: &HashSet<State>,
    most: usize,
) -> Option<Vec<Iteration>> {
    let inside = |state: State| {
        let all = targets(&parser.states[state].transition);
        let next = all.into_iter().enumerate();
        next.filter_map(|(target, to)| match to {
            TransitionTarget::State(to) if body.contains(&to) => Some((target, to)),
            _ => None,
        })
        .collect::<Vec<_>>()
        .into_iter()
    };
    let mut found = Vec::new();
    let mut path: Iteration = Vec::new();
    // The edges not yet taken from each state of the path, and from the state after it.
    let mut rest = vec![(head, inside(head))];
    while let Some((state, edges)) = rest.last_mut() {
        let state = *state;
        let Some((target, next)) = edges.next() else {
            rest.pop();
            path.pop();
            continue;
        };
        path.push(PathStep { state, target });
        if next == head {
            if found.len() == most {
                return None;
            }
            found.push(path.clone());
            path.pop();
        } else if path.iter().any(|step| step.state == next) {
            return None;
        } else {
            rest.push((next, inside(next)));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests;
