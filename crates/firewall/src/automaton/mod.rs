//! Automata that find names in a payload, as entries of a table.
//!
//! A state and a slice of the payload select an entry, which has the next state and whether a name was found. So an
//! entry stands for an edge of a trie of the names ([`trie`]), or for several edges if slices have several bytes
//! ([`stride`]). A slice without an entry is treated by [`Reset`].
//!
//! Names in text and in DNS messages have an automaton each, and no state in common: see [`Form`].

mod links;
mod minimal;
mod stride;
mod trie;
mod walk;

pub use walk::{Walk, Walker};

use trie::Graph;

/// Form in which a payload has names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// Labels with dots between them, as in HTTP and TLS.
    Text,
    /// Each label after its length, as in DNS (RFC 1035, 3.1).
    Labels,
}

impl Form {
    /// Both forms.
    pub const ALL: [Form; 2] = [Form::Text, Form::Labels];

    /// Mask of a state for the bit that distinguishes forms.
    pub const MASK: u32 = 1 << 31;

    /// Returns the start of its automaton. All its states have the same highest bit.
    pub const fn start(self) -> u32 {
        match self {
            Form::Text => 0,
            Form::Labels => Form::MASK,
        }
    }

    /// Returns its name for output.
    pub fn name(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Labels => "labels",
        }
    }

    /// Returns a name as such payloads have it. It is without the root's label, so it is found in longer names too.
    pub fn pattern(self, name: &str) -> Vec<u8> {
        match self {
            Form::Text => name.as_bytes().to_vec(),
            Form::Labels => name
                .split('.')
                // A label has 63 bytes at most.
                .flat_map(|label| std::iter::once(label.len() as u8).chain(label.bytes()))
                .collect(),
        }
    }
}

/// Treatment of a slice that does not continue a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reset {
    /// The state becomes the start, and the slice is lost, as published. A name that begins within a false start is
    /// not found.
    Start,
    /// The state becomes that of the longest suffix of the match that begins a name, and the slice is looked up again
    /// (Aho and Corasick, "Efficient string matching", CACM 1975). Every name is found.
    Links,
}

/// Number of bytes of a slice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SliceBytes {
    /// One byte: entries are exact.
    One,
    /// Two bytes: entries are ternary.
    Two,
    /// Four bytes: entries are ternary.
    Four,
}

impl SliceBytes {
    /// All sizes.
    pub const ALL: [SliceBytes; 3] = [SliceBytes::One, SliceBytes::Two, SliceBytes::Four];

    /// Returns the number.
    pub const fn count(self) -> usize {
        match self {
            SliceBytes::One => 1,
            SliceBytes::Two => 2,
            SliceBytes::Four => 4,
        }
    }
}

/// Entry of the automaton's table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// State that it is for; `None` for all states of the form that have no entry of their own for the slice.
    pub state: Option<u32>,
    /// Form of the names.
    pub form: Form,
    /// Number of bytes at the beginning of the slice that may be any.
    pub skipped: u8,
    /// Number of bytes after them that are compared. The rest of the slice may be any bytes.
    compared: u8,
    /// These bytes, and zeros.
    bytes: [u8; 4],
    /// Next state.
    pub next: u32,
    /// True if a name was found.
    pub decides: bool,
}

impl Entry {
    /// Returns the bytes that are compared.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.compared)]
    }

    /// Returns the priority over other entries for the same slice; the higher one wins.
    pub fn priority(&self, slice: SliceBytes) -> usize {
        slice.count() - usize::from(self.skipped)
    }

    /// Returns the slice, and a mask of the bits that are compared. The first byte is the most significant one.
    pub fn slice(&self, slice: SliceBytes) -> (u32, u32) {
        let at = |index: usize| 8 * (self.priority(slice) - 1 - index);
        let bytes = self.bytes().iter().enumerate();
        bytes.fold((0, 0), |(value, mask), (index, byte)| {
            let shift = at(index);
            (value | u32::from(*byte) << shift, mask | 0xff << shift)
        })
    }
}

/// Size of an automaton's part for one form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// The form.
    pub form: Form,
    /// Number of its states.
    pub states: usize,
    /// Number of its entries.
    pub entries: usize,
    /// Number of its failure links that are not the start.
    pub links: usize,
}

/// Automaton of some names.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// Size of its slices.
    pub slice: SliceBytes,
    /// Treatment of other slices.
    pub reset: Reset,
    /// Number of states that are reached, by form.
    pub states: Vec<(Form, usize)>,
    /// Entries of the table.
    pub entries: Vec<Entry>,
    /// Pairs of a state and the state that follows if no entry is for it and the slice. The start follows others.
    pub links: Vec<(u32, u32)>,
}

impl Automaton {
    /// Builds the automaton of some names, for payloads of some forms.
    pub fn new<'a>(
        names: impl Iterator<Item = &'a str> + Clone,
        forms: &[Form],
        slice: SliceBytes,
        reset: Reset,
    ) -> Automaton {
        let mut automaton = Automaton {
            slice,
            reset,
            states: Vec::new(),
            entries: Vec::new(),
            links: Vec::new(),
        };
        for &form in forms {
            let patterns = names.clone().map(|name| form.pattern(name)).collect();
            automaton.add(form, Graph::trie(patterns));
        }
        automaton
    }

    fn add(&mut self, form: Form, trie: Graph) {
        let (graph, links) = match self.reset {
            Reset::Start => (minimal::merge(&trie), Vec::new()),
            Reset::Links => links::find(trie),
        };
        // A graph has far fewer nodes than 2^31.
        let state = |node: usize| form.start() | node as u32;
        let links = links.into_iter();
        self.links
            .extend(links.map(|(from, to)| (state(from), state(to))));
        let states = stride::entries(&graph, form, self.slice, self.reset, &mut self.entries);
        self.states.push((form, states));
    }

    /// Returns the size of each form's part.
    pub fn sizes(&self) -> Vec<Size> {
        let of = |&(form, states): &(Form, usize)| Size {
            form,
            states,
            entries: self.entries.iter().filter(|e| e.form == form).count(),
            links: self
                .links
                .iter()
                .filter(|(from, _)| from & Form::MASK == form.start())
                .count(),
        };
        self.states.iter().map(of).collect()
    }

    /// Returns the number of all states.
    pub fn state_count(&self) -> usize {
        self.states.iter().map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests;
