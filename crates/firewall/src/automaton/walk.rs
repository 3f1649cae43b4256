//! Runs of an automaton over a payload, by the meaning of its table's entries.

use super::{Automaton, Entry, Form, Reset};
use std::collections::HashMap;

/// Outcome of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// True if a name was found.
    pub found: bool,
    /// Number of look-ups in the automaton's table.
    pub look_ups: usize,
}

/// State, form, number of skipped bytes, and bytes of an entry.
type Key<'a> = (Option<u32>, Form, usize, &'a [u8]);

/// Index of an automaton's entries.
#[derive(Debug)]
pub struct Walker<'a> {
    automaton: &'a Automaton,
    /// Entries by their keys.
    entries: HashMap<Key<'a>, &'a Entry>,
    links: HashMap<u32, u32>,
}

impl<'a> Walker<'a> {
    /// Indexes an automaton.
    pub fn new(automaton: &'a Automaton) -> Walker<'a> {
        let key = |e: &'a Entry| ((e.state, e.form, usize::from(e.skipped), e.bytes()), e);
        Walker {
            automaton,
            entries: automaton.entries.iter().map(key).collect(),
            links: automaton.links.iter().copied().collect(),
        }
    }

    /// Searches a payload. Its last slice is filled up with zeros.
    pub fn walk(&self, form: Form, payload: &[u8]) -> Walk {
        let size = self.automaton.slice.count();
        let (mut state, mut at, mut look_ups) = (form.start(), 0, 0);
        while at < payload.len() {
            let mut slice = [0; 4];
            let end = payload.len().min(at + size);
            slice[..end - at].copy_from_slice(&payload[at..end]);
            look_ups += 1;
            match self.entry(form, state, &slice[..size]) {
                Some(entry) if entry.decides => {
                    return Walk {
                        found: true,
                        look_ups,
                    };
                }
                Some(entry) => {
                    state = entry.next;
                    at += size;
                }
                None if self.automaton.reset == Reset::Start || state == form.start() => {
                    state = form.start();
                    at += size;
                }
                None => state = self.links.get(&state).copied().unwrap_or(form.start()),
            }
        }
        Walk {
            found: false,
            look_ups,
        }
    }

    /// Returns the entry of the highest priority for a state and a slice.
    fn entry(&self, form: Form, state: u32, slice: &[u8]) -> Option<&Entry> {
        for skipped in 0..slice.len() {
            for end in skipped + 1..=slice.len() {
                for state in [Some(state), None] {
                    let key = (state, form, skipped, &slice[skipped..end]);
                    if let Some(entry) = self.entries.get(&key) {
                        return Some(entry);
                    }
                }
            }
        }
        None
    }
}
