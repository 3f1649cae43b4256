//! Automata and rules as the blocks of a pattern set's map (`tables/include/onpath/pattern_set.h`).

use crate::automaton::{Accept, Automata, Automaton, DEAD};
use crate::rules::PatternRules;
use domains::{NameRule, RuleValue, Scope, ScopedName};
use std::collections::HashMap;
use std::fmt::Write;

/// Size of a block in bytes.
pub const BLOCK: u32 = 4096;
/// Most states that a set has room for.
pub const MOST_STATES: u32 = 1 << 20;
/// Bytes for each state that a set has room for.
const PER_STATE: u32 = 256;
/// Bit of a transition to a state with values.
const ACCEPTS: u32 = 1 << 31;

/// Words of the first block.
const STARTS: usize = 0;
const ENDS: usize = 3;
const TEXT: usize = 6;
const CLASSES: usize = 16;
/// Words of a block.
const WORDS: usize = BLOCK as usize / 4;
/// Words of a state's values.
const VALUES: usize = 4;

/// Returns the number of blocks of a set with room for this number of states.
pub fn blocks(states: u32) -> u32 {
    1 + states.div_ceil(BLOCK / PER_STATE)
}

/// A set has too little room for its rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// Room that they take, in states.
    pub states: u32,
}

/// Contents of a pattern set's map, in words.
///
/// The first block has the initial states of three automata, the numbers of the columns at which their rows end, the place and
/// length of the rules' text, and the classes of bytes. A state is the number of its row's first word, and 0 for none. A row has the place
/// of the state's values, the next state for each class, and the place of its values at the text's end. Values are a rule's
/// number, the bits that it sets, and those that it clears before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image(Vec<u32>);

impl Image {
    /// Makes the image of rules.
    pub fn of(rules: &PatternRules, automata: &Automata) -> Image {
        let mut words = vec![0u32; WORDS];
        if rules.is_empty() {
            return Image(words);
        }
        let mut known: HashMap<Accept, u32> = HashMap::new();
        let mut values = |accept: Accept, words: &mut Vec<u32>| match accept.lists {
            0 => 0,
            _ => *known.entry(accept).or_insert_with(|| {
                let at = words.len() as u32;
                words.extend([accept.number, accept.lists, accept.clears, 0]);
                at
            }),
        };
        for (at, automaton) in automata.0.iter().enumerate() {
            let Some(automaton) = automaton else { continue };
            let own: Vec<u32> = automaton
                .accepts
                .iter()
                .map(|a| values(*a, &mut words))
                .collect();
            let last = automaton
                .at_end
                .iter()
                .map(|a| values(*a, &mut words))
                .collect();
            rows(automaton, at, &own, last, &mut words);
            words.resize(words.len().next_multiple_of(VALUES), 0);
        }
        let mut text = String::new();
        for NameRule { name, value } in rules.iter() {
            // Writing to a text does not fail.
            let _ = writeln!(text, "{} {} {}", name.name, value.number, value.lists);
        }
        (words[TEXT], words[TEXT + 1]) = (words.len() as u32, text.len() as u32);
        text.push_str(&"\0".repeat(text.len().next_multiple_of(4) - text.len()));
        let text = text.as_bytes().chunks_exact(4);
        words.extend(text.map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]])));
        Image(words)
    }

    /// Returns the room that the image takes, in states.
    pub fn states(&self) -> u32 {
        let bytes = 4 * (self.0.len() - WORDS);
        u32::try_from(bytes.div_ceil(PER_STATE as usize)).unwrap_or(u32::MAX)
    }

    /// Returns the bytes of the image, which fills its last block.
    ///
    /// # Errors
    /// It takes more than this number of blocks.
    pub fn bytes(&self, blocks: u32) -> Result<Vec<u8>, TooLarge> {
        if self.0.len() > blocks as usize * WORDS {
            return Err(TooLarge {
                states: self.states(),
            });
        }
        let mut bytes: Vec<u8> = self.0.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.resize(bytes.len().next_multiple_of(BLOCK as usize), 0);
        Ok(bytes)
    }

    /// Returns the place and the length of the rules' text, in bytes, by a map's first block.
    pub fn place_of_text(first: &[u8]) -> Option<(u64, u32)> {
        let word = |at: usize| {
            let bytes = first.get(4 * at..4 * at + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        Some((u64::from(word(TEXT)?) * 4, word(TEXT + 1)?))
    }

    /// Returns the rules of a text.
    pub fn rules(text: &[u8]) -> PatternRules {
        let mut rules = PatternRules::default();
        for line in String::from_utf8_lossy(text).lines() {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap_or_default();
            let name = ScopedName {
                name: word().into(),
                scope: Scope::Domain,
            };
            let [number, lists] = [word(), word()].map(|word| word.parse().unwrap_or(0));
            let value = RuleValue { number, lists };
            // They were inserted before.
            let _ = rules.insert(&NameRule { name, value });
        }
        rules
    }
}

/// Appends the rows of an automaton, whose states have values at these places.
fn rows(automaton: &Automaton, at: usize, own: &[u32], last: Vec<u32>, words: &mut Vec<u32>) {
    let end = automaton.stride + 1;
    let first = words.len();
    let row = |state: u32| (first + state as usize * (end + 1)) as u32;
    let states = automaton.next.chunks_exact(automaton.stride);
    for (state, next) in states.enumerate() {
        words.push(own[state]);
        words.extend(next.iter().map(|to| match *to {
            DEAD => 0,
            to if own[to as usize] != 0 => row(to) | ACCEPTS,
            to => row(to),
        }));
        words.push(last.get(state).copied().unwrap_or(0));
    }
    words[STARTS + at] = row(automaton.start);
    words[ENDS + at] = end as u32;
    let classes = automaton.classes.as_chunks::<4>().0.iter();
    for (word, four) in words[CLASSES + at * 64..].iter_mut().zip(classes) {
        // Behind the first word of a row.
        *word = u32::from_ne_bytes(four.map(|class| class + 1));
    }
}
