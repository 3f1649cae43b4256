//! Table of groups, which has a fixed size.

use crate::aggregate::{self, AggregateState};
use crate::query::Query;
use crate::value::Value;
use std::collections::HashMap;

/// Default for the greatest number of groups, if [`MEMORY`] suffices.
const GROUPS: usize = 4096;
/// Greatest memory of the default number of groups, in bytes.
const MEMORY: usize = 256 << 20;
/// Upper limit for the number of groups.
pub const MAX_GROUPS: usize = 1 << 20;

/// Groups of a query.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    index: HashMap<Box<[Value<'static>]>, usize>,
    groups: Vec<Group>,
    most: usize,
}

/// Group: the values of its keys, and the states of its aggregates.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub keys: Box<[Value<'static>]>,
    pub states: Vec<AggregateState>,
    /// Number of the last packet that was added; 0 for none.
    pub packet: u64,
    /// Number of the last record that was added; 0 for none.
    pub record: u64,
}

impl Groups {
    /// Returns an empty table with room for `most` groups.
    pub(crate) fn new(most: usize) -> Groups {
        Groups {
            index: HashMap::new(),
            groups: Vec::new(),
            most,
        }
    }

    /// Returns the group with these keys. A new one gets its states from `states`; `None` if the table is full.
    pub(crate) fn get(
        &mut self,
        keys: &[Value],
        states: impl FnOnce() -> Vec<AggregateState>,
    ) -> Option<&mut Group> {
        if let Some(at) = position(&self.index, keys) {
            return self.groups.get_mut(at);
        }
        if self.groups.len() == self.most {
            return None;
        }
        let keys: Box<[Value<'static>]> = keys.iter().map(|key| key.clone().into_owned()).collect();
        self.index.insert(keys.clone(), self.groups.len());
        self.groups.push(Group {
            keys,
            states: states(),
            packet: 0,
            record: 0,
        });
        self.groups.last_mut()
    }

    /// Iterates over all groups, in the order of their first records.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Group> {
        self.groups.iter_mut()
    }
}

/// Looks up keys. The lifetime of the map's keys is shortened to that of the argument.
fn position<'a>(index: &HashMap<Box<[Value<'a>]>, usize>, keys: &[Value<'a>]) -> Option<usize> {
    index.get(keys).copied()
}

/// Returns the greatest memory that a group takes, in bytes.
pub(crate) fn group_memory(query: &Query) -> usize {
    let keys = query.keys.iter().map(|&key| {
        let value = aggregate::value_memory(query.attributes[key].ty);
        // In the index and in the group.
        2 * (size_of::<Value>() + value)
    });
    let states = query.aggregates.iter();
    let states = states.map(|a| size_of::<AggregateState>() + aggregate::memory(a.function, query));
    size_of::<Group>() + size_of::<usize>() + keys.sum::<usize>() + states.sum::<usize>()
}

/// Returns the default for the greatest number of groups. It is 1 without `by`.
pub(crate) fn default_groups(query: &Query) -> usize {
    fitting(query, group_memory(query))
}

/// Returns the default for the greatest number of groups of this size. It is 1 without `by`.
pub(crate) fn fitting(query: &Query, group: usize) -> usize {
    match query.keys.is_empty() {
        true => 1,
        false => (MEMORY / group).clamp(1, GROUPS),
    }
}
