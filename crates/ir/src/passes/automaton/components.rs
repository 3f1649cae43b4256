//! Cycles of a graph of states.

use crate::State;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the strongly connected components that contain a cycle (Kosaraju's algorithm). `next` has the successors of
/// each state; successors outside of the map are ignored.
pub(super) fn cycles(next: &BTreeMap<State, BTreeSet<State>>) -> Vec<BTreeSet<State>> {
    let mut before: BTreeMap<State, BTreeSet<State>> = BTreeMap::new();
    for (&from, all) in next {
        for &to in all {
            before.entry(to).or_default().insert(from);
        }
    }
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    for &state in next.keys() {
        order.extend(from(state, next, |state| {
            next.contains_key(&state) && seen.insert(state)
        }));
    }
    let mut taken = BTreeSet::new();
    let mut found = Vec::new();
    for &state in order.iter().rev() {
        let all = from(state, &before, |state| {
            next.contains_key(&state) && taken.insert(state)
        });
        let is_cycle = all.len() > 1 || next[&state].contains(&state);
        if is_cycle && !all.is_empty() {
            found.push(all.into_iter().collect());
        }
    }
    found
}

/// Returns the states reachable from one, as far as `enter` admits them, in postorder.
fn from(
    state: State,
    next: &BTreeMap<State, BTreeSet<State>>,
    mut enter: impl FnMut(State) -> bool,
) -> Vec<State> {
    let of = |state: State| next.get(&state).into_iter().flatten().copied();
    let mut done = Vec::new();
    let mut path = Vec::new();
    if enter(state) {
        path.push((state, of(state)));
    }
    while let Some((state, rest)) = path.last_mut() {
        match rest.next() {
            Some(to) => {
                if enter(to) {
                    path.push((to, of(to)));
                }
            }
            None => {
                done.push(*state);
                path.pop();
            }
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_whatever_the_states_numbers() {
        let state = State::from_u32;
        let found = |edges: &[(u32, &[u32])]| {
            let next = edges.iter().map(|&(from, to)| {
                (
                    state(from),
                    to.iter().copied().map(state).collect::<BTreeSet<_>>(),
                )
            });
            let mut all: Vec<Vec<u32>> = cycles(&next.collect())
                .iter()
                .map(|cycle| cycle.iter().map(|state| state.as_u32()).collect())
                .collect();
            all.sort();
            all
        };
        assert_eq!(
            found(&[(0, &[1]), (1, &[2]), (2, &[9])]),
            Vec::<Vec<u32>>::new()
        );
        assert_eq!(found(&[(3, &[3, 1]), (1, &[2]), (2, &[])]), [[3]]);
        let two = found(&[
            (0, &[5]),
            (5, &[2, 4]),
            (2, &[0, 3]),
            (4, &[4]),
            (3, &[1]),
            (1, &[3]),
        ]);
        assert_eq!(two, [vec![0, 2, 5], vec![1, 3], vec![4]]);
    }
}
