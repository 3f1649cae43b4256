//! One automaton of several expressions, which tells for each of them whether it matches.

use super::{PatternError, tree};
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::{Input, MatchKind};
use std::collections::HashMap;

/// Greatest memory of an automaton, in bytes.
pub const UNION_LIMIT: usize = 8 << 20;

/// Deterministic automaton of expressions whose letters match in both cases. State 0 is the initial one.
#[derive(Clone, Debug)]
pub struct Union {
    /// Class of each byte.
    pub classes: Box<[u8; 256]>,
    /// Number of classes.
    pub stride: usize,
    /// Next states, by state and class; `None` where no expression can match any more.
    pub next: Vec<Option<u32>>,
    /// Expressions that match in front of the byte that led to a state, by their indices, for each state.
    pub found: Vec<Vec<usize>>,
    /// Expressions that match if the text ends in a state, for each state.
    pub at_end: Vec<Vec<usize>>,
}

impl Union {
    /// Compiles expressions.
    ///
    /// # Errors
    /// The index of an expression that has no automaton, with the reason; `None` for one about all of them.
    pub fn new(expressions: &[&str]) -> Result<Union, (Option<usize>, PatternError)> {
        let trees = expressions.iter().enumerate();
        let trees: Result<Vec<_>, _> = trees
            .map(|(at, text)| tree(text, true).map_err(|why| (Some(at), why)))
            .collect();
        let config = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(UNION_LIMIT));
        let nfa = thompson::Compiler::new()
            .configure(config)
            .build_many_from_hir(&trees?)
            .map_err(|error| match error.size_limit() {
                Some(_) => (None, PatternError::TooLarge),
                None => (None, PatternError::NoAutomaton(error.to_string())),
            })?;
        let config = dense::Config::new()
            .start_kind(StartKind::Unanchored)
            .match_kind(MatchKind::All)
            .dfa_size_limit(Some(UNION_LIMIT))
            .determinize_size_limit(Some(2 * UNION_LIMIT));
        let automaton = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&nfa)
            .map_err(|error| match error.is_size_limit_exceeded() {
                true => (None, PatternError::TooLarge),
                false => (None, PatternError::NoAutomaton(error.to_string())),
            })?;
        Ok(Union::of(&automaton))
    }

    fn of(automaton: &dense::DFA<Vec<u32>>) -> Union {
        let (classes, members) = super::table::classes(automaton);
        let mut union = Union {
            classes: Box::new(classes),
            stride: members.len(),
            next: Vec::new(),
            found: Vec::new(),
            at_end: Vec::new(),
        };
        let mut known: HashMap<StateID, u32> = HashMap::new();
        let mut queue: Vec<StateID> = Vec::new();
        let mut number = |state: StateID, queue: &mut Vec<StateID>| {
            // The automaton has no quit bytes.
            if automaton.is_dead_state(state) || automaton.is_quit_state(state) {
                return None;
            }
            Some(*known.entry(state).or_insert_with(|| {
                queue.push(state);
                queue.len() as u32 - 1
            }))
        };
        let of_state = |state: StateID| -> Vec<usize> {
            let count = match automaton.is_match_state(state) {
                true => automaton.match_len(state),
                false => 0,
            };
            let all = (0..count).map(|at| automaton.match_pattern(state, at).as_usize());
            all.collect()
        };
        if let Ok(first) = automaton.start_state_forward(&Input::new(b"")) {
            number(first, &mut queue);
        }
        let mut done = 0;
        while let Some(&state) = queue.get(done) {
            for &byte in &members {
                let next = number(automaton.next_state(state, byte), &mut queue);
                union.next.push(next);
            }
            union.found.push(of_state(state));
            union.at_end.push(of_state(automaton.next_eoi_state(state)));
            done += 1;
        }
        union
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn found(union: &Union, text: &[u8]) -> Vec<usize> {
        let (mut state, mut all) = (0, BTreeSet::new());
        for byte in text {
            let class = usize::from(union.classes[usize::from(*byte)]);
            let Some(next) = union.next[state * union.stride + class] else {
                return all.into_iter().collect();
            };
            state = next as usize;
            all.extend(union.found[state].iter().copied());
        }
        all.extend(union.at_end[state].iter().copied());
        all.into_iter().collect()
    }

    #[test]
    fn each_expression_that_matches_is_found() {
        let union =
            Union::new(&["ads?/", "^[a-z]+$", "ADS", "x{2,}\\.gif$"]).expect("an automaton");
        assert_eq!(found(&union, b"ads"), [1, 2]);
        assert_eq!(found(&union, b"/ad/xxx.gif"), [0, 3]);
        assert_eq!(found(&union, b"ads/x.gif"), [0, 2]);
        assert_eq!(found(&union, b""), Vec::<usize>::new());
        assert_eq!(
            found(&Union::new(&["^a"]).expect("one"), b"ba"),
            Vec::<usize>::new()
        );
    }

    #[test]
    fn the_expression_without_an_automaton_is_named() {
        let refused = |all: &[&str]| Union::new(all).unwrap_err();
        assert!(matches!(
            refused(&["a", "(a)\\1"]),
            (Some(1), PatternError::Syntax(..))
        ));
        let large: Vec<String> = (0..40).map(|n| format!("a{n}.*b{n}.*c")).collect();
        let large: Vec<&str> = large.iter().map(String::as_str).collect();
        assert_eq!(refused(&large), (None, PatternError::TooLarge));
    }
}
