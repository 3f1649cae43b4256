//! Entries that the program itself declares, found by their keys.

use schema::{Entry, KeyMatch, TableSchema};
use std::collections::HashMap;

/// Program's own entries of a table, by keys and, if the table has priorities, priority.
pub(super) struct Own<'a> {
    table: &'a TableSchema,
    ordered: bool,
    positions: HashMap<(Vec<KeyMatch>, u32), usize>,
}

impl<'a> Own<'a> {
    /// Returns the own entries of a table.
    pub(crate) fn of(table: &'a TableSchema) -> Own<'a> {
        let ordered = table.has_priorities();
        let mut own = Own {
            table,
            ordered,
            positions: HashMap::new(),
        };
        for (position, entry) in table.entries.iter().enumerate() {
            let identity = own.identity(&entry.keys, entry.priority);
            own.positions.entry(identity).or_insert(position);
        }
        own
    }

    fn identity(&self, keys: &[KeyMatch], priority: u32) -> (Vec<KeyMatch>, u32) {
        (
            self.table.canonical(keys),
            if self.ordered { priority } else { 0 },
        )
    }

    /// Returns the position of the entry with these keys among the program's own entries.
    pub(crate) fn position(&self, keys: &[KeyMatch], priority: u32) -> Option<usize> {
        if self.positions.is_empty() {
            return None;
        }
        self.positions.get(&self.identity(keys, priority)).copied()
    }

    /// Returns the program's own entry with these keys.
    pub(crate) fn entry(&self, keys: &[KeyMatch], priority: u32) -> Option<&'a Entry> {
        Some(&self.table.entries[self.position(keys, priority)?])
    }

    /// Returns true if the entry with these keys must not be changed.
    pub(crate) fn is_const(&self, keys: &[KeyMatch], priority: u32) -> bool {
        self.table.const_entries || self.entry(keys, priority).is_some_and(|e| e.is_const)
    }
}
