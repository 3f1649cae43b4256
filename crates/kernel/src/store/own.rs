//! The entries that the program itself has, found by their keys.

use ir::{Bits, Entry, KeyMatch, MatchKind, TableData};
use std::collections::HashMap;

/// A program's own entries of a table by keys and, where the table has any, priority.
pub(super) struct Own<'a> {
    table: &'a TableData,
    ordered: bool,
    places: HashMap<(Vec<KeyMatch>, u32), usize>,
}

impl<'a> Own<'a> {
    /// Those of a table.
    pub fn of(table: &'a TableData) -> Own<'a> {
        let ordered = table.keys.iter().any(|k| has_priority(k.kind));
        let mut own = Own {
            table,
            ordered,
            places: HashMap::new(),
        };
        for (place, entry) in table.entries.iter().enumerate() {
            let identity = own.identity(&entry.keys, entry.priority);
            own.places.entry(identity).or_insert(place);
        }
        own
    }

    fn identity(&self, keys: &[KeyMatch], priority: u32) -> (Vec<KeyMatch>, u32) {
        let keys = keys.iter().map(canonical).collect();
        (keys, if self.ordered { priority } else { 0 })
    }

    /// The place, among the program's own, of the entry with these keys.
    pub fn place(&self, keys: &[KeyMatch], priority: u32) -> Option<usize> {
        if self.places.is_empty() {
            return None;
        }
        self.places.get(&self.identity(keys, priority)).copied()
    }

    /// The entry with these keys.
    pub fn entry(&self, keys: &[KeyMatch], priority: u32) -> Option<&'a Entry> {
        Some(&self.table.entries[self.place(keys, priority)?])
    }

    /// Whether the entry with these keys may not be changed.
    pub fn is_const(&self, keys: &[KeyMatch], priority: u32) -> bool {
        self.table.const_entries || self.entry(keys, priority).is_some_and(|e| e.is_const)
    }
}

/// Whether keys of this kind can overlap without one being longer.
pub(super) fn has_priority(kind: MatchKind) -> bool {
    matches!(
        kind,
        MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
    )
}

/// One form for what asks the same, however it was written.
fn canonical(key: &KeyMatch) -> KeyMatch {
    match key {
        KeyMatch::Lpm(_, 0) => KeyMatch::Any,
        KeyMatch::Lpm(value, length) if *length == value.width() => KeyMatch::Exact(value.clone()),
        KeyMatch::Ternary(_, mask) if mask.is_zero() => KeyMatch::Any,
        KeyMatch::Ternary(value, mask) if *mask == Bits::ones(mask.width()) => {
            KeyMatch::Exact(value.clone())
        }
        KeyMatch::Range(low, high) if low == high => KeyMatch::Exact(low.clone()),
        KeyMatch::Range(low, high) if low.is_zero() && *high == Bits::ones(high.width()) => {
            KeyMatch::Any
        }
        other => other.clone(),
    }
}
