//! Automata as byte classes and a transition table.

use regex_automata::Input;
use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::primitives::StateID;
use std::collections::HashMap;

/// Greatest number of transitions in a table: their indices have 16 bits.
const MOST: usize = 1 << 16;
/// Greatest number of rounds in which equivalent states are merged.
const ROUNDS: usize = 64;

/// Deterministic automaton: byte classes, and for each state and class the next state. A state is the index of its
/// first transition.
///
/// State 0 is the dead state: the pattern cannot match any more. The last state is the accepting sink: it has matched,
/// whatever follows. If the bytes end in a state from [`Table::found`] on, the pattern matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// The class of each byte.
    pub classes: Box<[u8; 256]>,
    /// Number of classes, which is the number of transitions of a state.
    pub stride: u16,
    /// Transitions, by state and class.
    pub next: Vec<u16>,
    /// Initial state.
    pub start: u16,
    /// First state in which the pattern matches if the bytes end.
    pub found: u16,
}

/// State: the next state for each class, and true if the pattern matches where the bytes end.
type Row = (Vec<usize>, bool);

/// Rows of the dead state and of the accepting sink.
const ABSENT: usize = 0;
const PRESENT: usize = 1;

impl Table {
    pub(super) fn new(automaton: &dense::DFA<Vec<u32>>) -> Result<Table, (usize, usize)> {
        let (classes, members) = classes(automaton);
        let (rows, start) = merged(rows(automaton, &members));
        let size = rows.len() * members.len();
        if size > MOST {
            return Err((rows.len(), members.len()));
        }
        // Accepting states come after the others; the accepting sink is the last.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&state| (state != ABSENT, rows[state].1, state == PRESENT));
        let mut place = vec![0; rows.len()];
        for (number, &state) in order.iter().enumerate() {
            place[state] = number * members.len();
        }
        let of = |state: usize| u16::try_from(place[state]).unwrap_or(u16::MAX);
        let first = order.iter().find(|&&state| rows[state].1);
        let next = order.iter().flat_map(|&state| &rows[state].0);
        Ok(Table {
            classes: Box::new(classes),
            stride: members.len() as u16,
            next: next.map(|&to| of(to)).collect(),
            start: of(start),
            found: first.map_or(u16::MAX, |&state| of(state)),
        })
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.next.len() / usize::from(self.stride)
    }

    /// Returns the last state, the accepting sink.
    pub fn last(&self) -> u16 {
        (self.next.len() - usize::from(self.stride)) as u16
    }

    /// Returns true if the pattern matches in a text.
    pub fn is_in(&self, text: &[u8]) -> bool {
        self.after(self.start, text) >= self.found
    }

    /// Returns the state after these bytes.
    pub fn after(&self, mut state: u16, bytes: &[u8]) -> u16 {
        for &byte in bytes {
            // Nothing leads out of these two states.
            if state == 0 || state == self.last() {
                break;
            }
            let class = self.classes[usize::from(byte)];
            state = self.next[usize::from(state) + usize::from(class)];
        }
        state
    }
}

/// Returns the class of each byte, and one byte of each class.
pub(super) fn classes(automaton: &dense::DFA<Vec<u32>>) -> ([u8; 256], Vec<u8>) {
    let known = automaton.byte_classes();
    let mut classes = [0; 256];
    let mut members = Vec::new();
    for byte in 0..=255u8 {
        let class = known.get(byte);
        classes[usize::from(byte)] = class;
        if usize::from(class) == members.len() {
            members.push(byte);
        }
    }
    (classes, members)
}

/// Returns the reachable states and the initial one.
fn rows(automaton: &dense::DFA<Vec<u32>>, members: &[u8]) -> (Vec<Row>, usize) {
    let mut rows: Vec<Row> = vec![
        (vec![ABSENT; members.len()], false),
        (vec![PRESENT; members.len()], true),
    ];
    let mut known: HashMap<StateID, usize> = HashMap::new();
    let mut queue: Vec<StateID> = Vec::new();
    let mut number = |state: StateID, queue: &mut Vec<StateID>| {
        if automaton.is_match_state(state) {
            return PRESENT;
        }
        // The automaton has no quit bytes.
        if automaton.is_dead_state(state) || automaton.is_quit_state(state) {
            return ABSENT;
        }
        *known.entry(state).or_insert_with(|| {
            queue.push(state);
            queue.len() + PRESENT
        })
    };
    let Ok(first) = automaton.start_state_forward(&Input::new(b"")) else {
        return (rows, ABSENT);
    };
    let start = number(first, &mut queue);
    let mut done = 0;
    while let Some(&state) = queue.get(done) {
        let next = members
            .iter()
            .map(|&byte| number(automaton.next_state(state, byte), &mut queue));
        let next = next.collect();
        rows.push((
            next,
            automaton.is_match_state(automaton.next_eoi_state(state)),
        ));
        done += 1;
    }
    (rows, start)
}

/// Merges states with the same transitions.
fn merged((mut rows, mut start): (Vec<Row>, usize)) -> (Vec<Row>, usize) {
    for _ in 0..ROUNDS {
        let mut kept: Vec<Row> = Vec::new();
        let mut seen: HashMap<Row, usize> = HashMap::new();
        let same: Vec<usize> = rows
            .iter()
            .map(|row| {
                *seen.entry(row.clone()).or_insert_with(|| {
                    kept.push(row.clone());
                    kept.len() - 1
                })
            })
            .collect();
        let is_done = kept.len() == rows.len();
        for row in &mut kept {
            row.0.iter_mut().for_each(|to| *to = same[*to]);
        }
        (rows, start) = (kept, same[start]);
        if is_done {
            break;
        }
    }
    (rows, start)
}

#[cfg(test)]
mod tests {
    use crate::Pattern;

    #[test]
    fn where_nothing_is_to_come_is_a_state_of_its_own() {
        let table = |text: &str| {
            Pattern::new(text)
                .expect("a pattern")
                .table()
                .expect("a table")
        };
        let all = table("");
        assert_eq!((all.start, all.states()), (all.last(), 2));
        let bound = table("^a");
        let after = |byte: u8| {
            bound.next[usize::from(bound.start + u16::from(bound.classes[usize::from(byte)]))]
        };
        assert_eq!((after(b'b'), after(b'a')), (0, bound.last()));
        // A pattern with `$` matches only at the end.
        let ending = table("a$");
        assert!(ending.found < ending.last() && ending.states() == 4);
        let none = table("[a&&b]");
        assert!(!none.is_in(b"ab") && none.states() <= 3);
    }

    /// An `a` at a fixed distance from the end takes a state for each combination of the last bytes.
    #[test]
    fn no_pattern_that_is_small_enough_has_too_large_a_table() {
        let large = Pattern::new("^(a|b)*a(a|b){10}$").expect("a pattern");
        let table = large.table().expect("a table");
        assert!(table.states() > 2000, "{}", table.states());
        let is_in = |text: String| table.is_in(text.as_bytes());
        assert!(is_in(format!("ba{}", "b".repeat(10))) && !is_in("b".repeat(12)));
    }
}
