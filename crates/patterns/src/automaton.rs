//! Automata that find the rules of a pattern set: one each of prefixes, words and expressions. Together they would have a state
//! for each combination of theirs.

use crate::pattern::Pattern;
use crate::rules::{Found, PatternRules, fields};
use domains::{RuleValue, Scope};
use payload::Union;
use std::collections::{HashMap, VecDeque};

/// State that leads nowhere.
pub(crate) const DEAD: u32 = u32::MAX;
/// Most transitions of an automaton.
const MOST_TRANSITIONS: usize = 64 << 20;

/// Values that a text gets in a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Accept {
    /// Number of the rule.
    pub number: u32,
    /// Bits that are set.
    pub lists: u32,
    /// Bits that are cleared before.
    pub clears: u32,
}

impl Accept {
    /// Returns the values with those of a longer prefix.
    fn with_longer(self, value: RuleValue) -> Accept {
        let clears = fields(value.lists);
        Accept {
            number: value.number,
            lists: self.lists & !clears | value.lists,
            clears: self.clears | clears,
        }
    }

    /// Returns the values with those of another word or expression.
    fn and(self, number: u32, lists: u32) -> Accept {
        Accept {
            number: self.number.max(number),
            lists: self.lists | lists,
            clears: 0,
        }
    }

    /// Adds the values to those that were found.
    fn apply(self, to: &mut RuleValue, is_prefix: bool) {
        to.lists = to.lists & !self.clears | self.lists;
        to.number = match is_prefix {
            true => self.number,
            false => to.number.max(self.number),
        };
    }
}

/// Deterministic automaton.
#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    /// Class of each byte.
    pub classes: [u8; 256],
    /// Number of classes.
    pub stride: usize,
    /// Initial state.
    pub start: u32,
    /// Next states, by state and class.
    pub next: Vec<u32>,
    /// Values of each state.
    pub accepts: Vec<Accept>,
    /// Values of each state if the text ends there; empty if there are none.
    pub at_end: Vec<Accept>,
}

/// Automata of a set's prefixes, words and expressions; `None` if there are none of these.
#[derive(Clone, Debug)]
pub struct Automata(pub(crate) [Option<Automaton>; 3]);

impl Automata {
    /// Makes the automata of rules.
    ///
    /// # Errors
    /// The reason why there are none, as a phrase.
    pub fn of(rules: &PatternRules) -> Result<Automata, String> {
        let (mut prefixes, mut words, mut expressions) = (Vec::new(), Vec::new(), Vec::new());
        for (pattern, value) in rules.patterns() {
            match pattern {
                Pattern::Prefix(prefix) => {
                    let text = [prefix.host.name.as_bytes(), &prefix.behind()].concat();
                    prefixes.push((text, prefix.host.scope == Scope::Name, value));
                }
                Pattern::Word(word) => words.push((word.clone(), value)),
                Pattern::Expression(expression) => expressions.push((expression.text(), value)),
            }
        }
        let automata = Automata([
            (!prefixes.is_empty()).then(|| of_prefixes(&prefixes)),
            (!words.is_empty()).then(|| of_words(&words)),
            match expressions.is_empty() {
                true => None,
                false => Some(of_expressions(&expressions)?),
            },
        ]);
        let sizes = automata.0.iter().flatten().map(|one| one.next.len());
        match sizes.max().unwrap_or(0) > MOST_TRANSITIONS {
            true => Err("the patterns have too many states".to_owned()),
            false => Ok(automata),
        }
    }

    /// Returns the number of states of the automata of prefixes, words and expressions.
    pub fn states(&self) -> [usize; 3] {
        self.0
            .each_ref()
            .map(|one| one.as_ref().map_or(0, |one| one.accepts.len()))
    }

    /// Returns the values of what is found in a text.
    pub fn find(&self, text: &[u8]) -> Found {
        let mut found = Found::default();
        for (at, automaton) in self.0.iter().enumerate() {
            let Some(automaton) = automaton else { continue };
            let value = match at {
                0 => &mut found.prefix,
                _ => &mut found.other,
            };
            automaton.walk(text, value, at == 0);
        }
        found
    }
}

impl Automaton {
    fn walk(&self, text: &[u8], value: &mut RuleValue, is_prefix: bool) {
        let mut state = self.start as usize;
        for byte in text {
            let class = usize::from(self.classes[usize::from(*byte)]);
            let next = self.next[state * self.stride + class];
            if next == DEAD {
                return;
            }
            state = next as usize;
            if self.accepts[state].lists != 0 {
                self.accepts[state].apply(value, is_prefix);
            }
        }
        if let Some(last) = self.at_end.get(state).filter(|last| last.lists != 0) {
            last.apply(value, is_prefix);
        }
    }
}

/// Trie of texts, and the state that goes on where a text does not.
struct Trie {
    children: HashMap<(u32, u8), u32>,
    /// Children of each node, with their bytes.
    below: Vec<Vec<(u8, u32)>>,
}

impl Trie {
    /// Creates a trie of nodes without children.
    fn new(nodes: usize) -> Trie {
        Trie {
            children: HashMap::new(),
            below: vec![Vec::new(); nodes],
        }
    }

    /// Returns the node of a text below a node.
    fn insert(&mut self, from: u32, text: &[u8]) -> u32 {
        text.iter().fold(from, |node, byte| {
            let next = self.below.len() as u32;
            let child = *self.children.entry((node, *byte)).or_insert(next);
            if child == next {
                self.below[node as usize].push((*byte, child));
                self.below.push(Vec::new());
            }
            child
        })
    }
}

/// Returns the class of each byte, and the number of classes. Bytes that texts do not have are class 0.
fn classes<'t>(texts: impl Iterator<Item = &'t [u8]>, more: &'t [u8]) -> ([u8; 256], usize) {
    let mut is_used = [false; 256];
    for byte in texts.flatten().chain(more) {
        is_used[usize::from(*byte)] = true;
    }
    // One byte at least is in none of the texts, which are in lower case.
    let (mut classes, mut count) = ([0; 256], 1u8);
    for (class, _) in classes.iter_mut().zip(is_used).filter(|(_, used)| *used) {
        *class = count;
        count += 1;
    }
    (classes, count.into())
}

/// Automaton of a trie that is being made. A node goes on as another one, its fallback, where it has no child.
struct Making {
    trie: Trie,
    classes: [u8; 256],
    stride: usize,
    next: Vec<u32>,
    accepts: Vec<Accept>,
}

impl Making {
    fn new(trie: Trie, (classes, stride): ([u8; 256], usize)) -> Making {
        let nodes = trie.below.len();
        Making {
            trie,
            classes,
            stride,
            next: vec![DEAD; nodes * stride],
            accepts: vec![Accept::default(); nodes],
        }
    }

    fn row(&self, node: u32) -> std::ops::Range<usize> {
        let at = node as usize * self.stride;
        at..at + self.stride
    }

    fn set(&mut self, node: u32, byte: u8, to: u32) {
        let at = self.row(node).start + usize::from(self.classes[usize::from(byte)]);
        self.next[at] = to;
    }

    /// Completes a node and all below it, which go on as a fallback does. `own` adds the values of a node to those of its fallback.
    fn complete(&mut self, node: u32, fallback: u32, own: &dyn Fn(u32, Accept) -> Accept) {
        let mut queue = VecDeque::from([(node, fallback)]);
        while let Some((node, fallback)) = queue.pop_front() {
            let goes_on = self.row(fallback);
            let at = self.row(node).start;
            self.next.copy_within(goes_on.clone(), at);
            self.accepts[node as usize] = own(node, self.accepts[fallback as usize]);
            for (byte, child) in std::mem::take(&mut self.trie.below[node as usize]) {
                let class = usize::from(self.classes[usize::from(byte)]);
                queue.push_back((child, self.next[goes_on.start + class]));
                self.set(node, byte, child);
            }
        }
    }

    fn finish(self, start: u32) -> Automaton {
        Automaton {
            classes: self.classes,
            stride: self.stride,
            start,
            next: self.next,
            accepts: self.accepts,
            at_end: Vec::new(),
        }
    }
}

/// Nodes of an automaton of prefixes: somewhere in the host; in a path, where no prefix can begin; at the first byte of a label; and
/// at the first byte of the host.
const IN_HOST: u32 = 0;
const IN_PATH: u32 = 1;
const AT_LABEL: u32 = 2;
const AT_HOST: u32 = 3;

/// Makes the automaton of prefixes, each for its name alone or also for the names below it.
fn of_prefixes(prefixes: &[(Vec<u8>, bool, RuleValue)]) -> Automaton {
    let mut trie = Trie::new(4);
    let mut ends = HashMap::new();
    for (text, is_exact, value) in prefixes {
        let from = if *is_exact { AT_HOST } else { AT_LABEL };
        ends.insert(trie.insert(from, text), *value);
    }
    let texts = prefixes.iter().map(|(text, _, _)| text.as_slice());
    let mut making = Making::new(trie, classes(texts, b"./"));
    let row = making.row(IN_HOST);
    making.next[row].fill(IN_HOST);
    making.set(IN_HOST, b'.', AT_LABEL);
    making.set(IN_HOST, b'/', IN_PATH);
    let row = making.row(IN_PATH);
    making.next[row].fill(IN_PATH);
    let own = |node: u32, inherited: Accept| match ends.get(&node) {
        Some(value) => inherited.with_longer(*value),
        None => inherited,
    };
    making.complete(AT_LABEL, IN_HOST, &own);
    making.complete(AT_HOST, AT_LABEL, &own);
    for next in &mut making.next {
        if *next == IN_PATH {
            *next = DEAD;
        }
    }
    making.finish(AT_HOST)
}

/// Makes the automaton of words.
fn of_words(words: &[(Vec<u8>, RuleValue)]) -> Automaton {
    let mut trie = Trie::new(2);
    let mut ends = HashMap::new();
    for (word, value) in words {
        ends.insert(trie.insert(1, word), *value);
    }
    let texts = words.iter().map(|(word, _)| word.as_slice());
    let mut making = Making::new(trie, classes(texts, b""));
    // Where nothing of a word is found, it goes on at the beginning.
    let row = making.row(0);
    making.next[row].fill(1);
    making.complete(1, 0, &|node, inherited| match ends.get(&node) {
        Some(value) => inherited.and(value.number, value.lists),
        None => inherited,
    });
    making.finish(1)
}

/// Makes the automaton of expressions.
fn of_expressions(expressions: &[(&str, RuleValue)]) -> Result<Automaton, String> {
    let texts: Vec<&str> = expressions.iter().map(|(text, _)| *text).collect();
    let union = Union::new(&texts).map_err(|(at, _)| {
        let limit = payload::UNION_LIMIT >> 20;
        match at {
            Some(at) => format!("`/{}/` has no automaton", texts[at]),
            None => format!("the automaton of all expressions takes more than {limit} MB"),
        }
    })?;
    let accept = |found: &Vec<usize>| {
        let values = found.iter().map(|at| expressions[*at].1);
        values.fold(Accept::default(), |all, value| {
            all.and(value.number, value.lists)
        })
    };
    Ok(Automaton {
        classes: *union.classes,
        stride: union.stride,
        start: 0,
        next: union.next.iter().map(|to| to.unwrap_or(DEAD)).collect(),
        accepts: union.found.iter().map(accept).collect(),
        at_end: union.at_end.iter().map(accept).collect(),
    })
}
