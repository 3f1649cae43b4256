//! The loops of a parser: where each begins, and the paths by which it comes back to there.
//!
//! Passes that recognise what a loop does (a search, a table of sizes) look at its turns, one path after the other. A loop
//! is found if only its first state can be entered from outside, and if nothing inside it goes round without
//! passing that state: of nested loops the innermost, and none of those whose states can be entered in several places.

use super::dataflow::{reverse_postorder, successors, targets};
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::HashSet;

/// A loop of a parser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParserLoop {
    /// The only state of it that other states lead to.
    pub head: State,
    /// The paths that begin at its head and come back to it, in the order of the selects' cases.
    pub turns: Vec<Turn>,
}

/// A path once around a loop, from its head on.
pub type Turn = Vec<Step>;

/// A state on a path, and how the path leaves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The state.
    pub state: State,
    /// Which of its transition's targets is taken, as [`super::dataflow::targets`] lists them: the index of a select's case, or 0.
    pub target: usize,
}

impl ParserLoop {
    /// The states that turns pass, each once.
    pub fn states(&self) -> HashSet<State> {
        self.turns.iter().flatten().map(|step| step.state).collect()
    }
}

/// The loops of a parser, but for those with more than `most` turns, by the reverse postorder of their heads.
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
        let turns = turns(parser, head, &body, most)?;
        Some(ParserLoop { head, turns })
    });
    found.collect()
}

/// The states from which a loop's head is reached by its edges backwards; nothing if it has none.
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

/// The paths from a loop's head back to it. Nothing if there are too many, or a loop inside.
fn turns(
    parser: &ParserData,
    head: State,
    body: &HashSet<State>,
    most: usize,
) -> Option<Vec<Turn>> {
    let inside = |state: State| {
        let all = targets(&parser.states[state].transition);
        let next = all.into_iter().enumerate();
        next.filter_map(|(target, to)| match to {
            Target::State(to) if body.contains(&to) => Some((target, to)),
            _ => None,
        })
        .collect::<Vec<_>>()
        .into_iter()
    };
    let mut found = Vec::new();
    let mut path: Turn = Vec::new();
    // The edges still to be taken from each state of the path, and from the one behind it.
    let mut rest = vec![(head, inside(head))];
    while let Some((state, edges)) = rest.last_mut() {
        let state = *state;
        let Some((target, next)) = edges.next() else {
            rest.pop();
            path.pop();
            continue;
        };
        path.push(Step { state, target });
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
