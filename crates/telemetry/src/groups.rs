//! The table of groups, which has a fixed size.

use crate::aggregate::{self, State};
use crate::query::Query;
use crate::value::Value;
use std::collections::HashMap;

/// The groups that there are room for where nothing else is asked for, if [`MEMORY`] suffices.
const GROUPS: usize = 4096;
/// The most memory for groups where nothing else is asked for, in bytes.
const MEMORY: usize = 256 << 20;
/// The most groups that there can be room for.
pub const MAX_GROUPS: usize = 1 << 20;

/// The groups of a query.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    index: HashMap<Box<[Value<'static>]>, usize>,
    groups: Vec<Group>,
    most: usize,
}

/// A group: the values of its keys, and its figures.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub keys: Box<[Value<'static>]>,
    pub states: Vec<State>,
    /// The number of the last packet that it has something of; 0 for none.
    pub packet: u64,
    /// The same of records.
    pub record: u64,
}

impl Groups {
    /// Empty, with room for so many groups.
    pub(crate) fn new(most: usize) -> Groups {
        Groups {
            index: HashMap::new(),
            groups: Vec::new(),
            most,
        }
    }

    /// The group with these keys, made by `states` if there is none yet and the table is not full.
    pub(crate) fn get(
        &mut self,
        keys: &[Value],
        states: impl FnOnce() -> Vec<State>,
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

    /// All groups, as they came.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Group> {
        self.groups.iter_mut()
    }
}

/// The lifetime of the map's keys is shortened to that of the key that is looked for.
fn position<'a>(index: &HashMap<Box<[Value<'a>]>, usize>, keys: &[Value<'a>]) -> Option<usize> {
    index.get(keys).copied()
}

/// The most memory that a group takes, in bytes.
pub(crate) fn group_memory(query: &Query) -> usize {
    let keys = query.keys.iter().map(|&key| {
        let value = aggregate::value_memory(query.attributes[key].ty);
        // In the index and in the group.
        2 * (size_of::<Value>() + value)
    });
    let states = query.aggregates.iter();
    let states = states.map(|a| size_of::<State>() + aggregate::memory(a.function, query));
    size_of::<Group>() + size_of::<usize>() + keys.sum::<usize>() + states.sum::<usize>()
}

/// How many groups there is room for where nothing else is asked for. Without `by` there is one.
pub(crate) fn default_groups(query: &Query) -> usize {
    fitting(query, group_memory(query))
}

/// As many groups as there is room for where nothing else is asked for and each takes so many bytes. Without `by` there is one.
pub(crate) fn fitting(query: &Query, group: usize) -> usize {
    match query.keys.is_empty() {
        true => 1,
        false => (MEMORY / group).clamp(1, GROUPS),
    }
}
