//! Index of a table's entries: by hash if matches cannot overlap, by longest prefix first if they can nest, by priority
//! otherwise.

use super::{EntryId, EntryState};
use ir::types::is_signed;
use ir::{Bits, Entry, KeyMatch, MatchKind, Type};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Entries by their matches.
#[derive(Debug)]
pub(super) struct Index {
    /// Indices of the packet's keys that entries match, in order. Selectors are not among them, since entries have no
    /// match for them.
    matched: Vec<usize>,
    widths: Vec<u32>,
    form: IndexKind,
}

#[derive(Debug)]
enum IndexKind {
    /// All keys are exact.
    Exact(HashMap<Vec<Bits>, EntryId>),
    /// One `lpm` key, at this index among the matched keys; the others are exact. Maps are by prefix length, longest
    /// first.
    Lpm(usize, BTreeMap<Reverse<u32>, HashMap<Vec<Bits>, EntryId>>),
    /// Entries are tried one after the other: higher priorities first, then longer prefixes, then older entries.
    Ordered {
        signed: Vec<bool>,
        order: Vec<(Reverse<u32>, Reverse<u32>, EntryId)>,
    },
}

impl Index {
    pub(super) fn new(keys: &[(MatchKind, Type)]) -> Index {
        let matched: Vec<usize> = (0..keys.len())
            .filter(|&at| keys[at].0 != MatchKind::Selector)
            .collect();
        let kinds: Vec<MatchKind> = matched.iter().map(|&at| keys[at].0).collect();
        let lpm: Vec<usize> = (0..kinds.len())
            .filter(|&at| kinds[at] == MatchKind::Lpm)
            .collect();
        let exact = kinds.iter().filter(|&&k| k == MatchKind::Exact).count();
        let form = match lpm[..] {
            [] if exact == kinds.len() => IndexKind::Exact(HashMap::new()),
            [at] if exact + 1 == kinds.len() => IndexKind::Lpm(at, BTreeMap::new()),
            _ => IndexKind::Ordered {
                signed: matched.iter().map(|&at| is_signed(keys[at].1)).collect(),
                order: Vec::new(),
            },
        };
        let widths = matched.iter().map(|&at| keys[at].1.width()).collect();
        Index {
            matched,
            widths,
            form,
        }
    }

    pub(super) fn insert(&mut self, id: EntryId, entry: &Entry) {
        let key = self.exact_key(entry);
        match &mut self.form {
            IndexKind::Exact(map) => {
                map.insert(key, id);
            }
            IndexKind::Lpm(at, lengths) => {
                let length = prefix_length(&entry.keys[*at]);
                lengths.entry(Reverse(length)).or_default().insert(key, id);
            }
            IndexKind::Ordered { order, .. } => {
                let item = rank(id, entry);
                let at = order.partition_point(|other| *other < item);
                order.insert(at, item);
            }
        }
    }

    pub(super) fn remove(&mut self, id: EntryId, entry: &Entry) {
        let key = self.exact_key(entry);
        match &mut self.form {
            IndexKind::Exact(map) => {
                map.remove(&key);
            }
            IndexKind::Lpm(at, lengths) => {
                let length = Reverse(prefix_length(&entry.keys[*at]));
                if let Some(map) = lengths.get_mut(&length) {
                    map.remove(&key);
                    if map.is_empty() {
                        lengths.remove(&length);
                    }
                }
            }
            IndexKind::Ordered { order, .. } => order.retain(|&(_, _, other)| other != id),
        }
    }

    /// Returns the values of an entry's matches. A prefix of length 0 is all zeros.
    fn exact_key(&self, entry: &Entry) -> Vec<Bits> {
        let matches = entry.keys.iter().zip(&self.widths);
        matches
            .map(|(found, &width)| match found {
                KeyMatch::Exact(value) | KeyMatch::Lpm(value, _) => value.clone(),
                _ => Bits::zero(width),
            })
            .collect()
    }

    pub(super) fn lookup(
        &self,
        key: &[Bits],
        entries: &BTreeMap<EntryId, EntryState>,
    ) -> Option<EntryId> {
        match &self.form {
            IndexKind::Exact(map) if self.matched.len() == key.len() => map.get(key).copied(),
            IndexKind::Exact(map) => {
                let key: Vec<Bits> = self.matched.iter().map(|&i| key[i].clone()).collect();
                map.get(&key).copied()
            }
            IndexKind::Lpm(at, lengths) => {
                let mut key: Vec<Bits> = self.matched.iter().map(|&i| key[i].clone()).collect();
                lengths.iter().find_map(|(&Reverse(length), map)| {
                    // Lengths decrease, so that truncating a truncated value loses nothing.
                    key[*at] = prefix(&key[*at], length);
                    map.get(&key).copied()
                })
            }
            IndexKind::Ordered { signed, order } => order.iter().map(|&(_, _, id)| id).find(|id| {
                let wanted = &entries[id].entry.keys;
                self.matched
                    .iter()
                    .zip(wanted)
                    .zip(signed)
                    .all(|((&i, wanted), &signed)| wanted.matches(&key[i], signed))
            }),
        }
    }
}

/// Returns the sort key of an entry among those that may overlap it.
fn rank(id: EntryId, entry: &Entry) -> (Reverse<u32>, Reverse<u32>, EntryId) {
    let length = entry.keys.iter().map(prefix_length).sum();
    (Reverse(entry.priority), Reverse(length), id)
}

fn prefix_length(found: &KeyMatch) -> u32 {
    match found {
        KeyMatch::Lpm(_, length) => *length,
        _ => 0,
    }
}

/// Returns the first bits of a value, followed by zeros.
fn prefix(value: &Bits, length: u32) -> Bits {
    let width = value.width();
    if length >= width {
        return value.clone();
    }
    Bits::new(
        width,
        value.value() & Bits::prefix_mask(width, length).value(),
    )
}
