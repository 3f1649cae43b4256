//! Steps of a planned change, in order, and the undoing of each step.

use crate::errors::{refused, system, with_capacity};
use crate::in_memory;
use crate::memory::{Map, Partial};
use crate::records::{Differences, NO_ORIGIN};
use crate::state::ProgramState;
use control::StoreError;
use host::words::Words;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;

/// Step of a change. Keys and values are concatenated without padding.
#[derive(Debug)]
pub(super) enum ChangeStep {
    /// Adds elements whose keys are not in the map.
    Insert {
        map: String,
        keys: Vec<u8>,
        values: Vec<u8>,
        /// Change that each element belongs to.
        origins: Vec<u32>,
        /// Capacity that users were promised, in entries.
        capacity: u64,
    },
    /// Replaces the values of elements.
    Replace {
        map: String,
        keys: Vec<u8>,
        old: Vec<u8>,
        new: Vec<u8>,
        origins: Vec<u32>,
    },
    /// Removes elements.
    Erase {
        map: String,
        keys: Vec<u8>,
        old: Vec<u8>,
    },
    /// Changes entries in memory, of the table with this main map. Each change of an entry is atomic for packets.
    InMemory { map: String, changes: Differences },
    /// Writes elements that packets do not read at this time.
    Prepare {
        map: String,
        keys: Vec<u8>,
        values: Vec<u8>,
    },
    /// Writes bytes of the program's data that packets do not read at this time.
    PrepareGlobal { offset: u32, bytes: Vec<u8> },
    /// Writes words of an array, in memory, that have no effect on packets at this time: offset and word.
    Words { map: String, words: Vec<(u32, u64)> },
    /// Stores a word of an array, in memory.
    Store {
        map: String,
        offset: u32,
        old: u64,
        new: u64,
    },
    /// Stores an aligned word of the program's data, of 4 or 8 bytes.
    Switch { offset: u32, old: Word, new: Word },
    /// Stores an element of an array under the lock that it contains.
    Locked {
        map: String,
        key: Vec<u8>,
        old: Vec<u8>,
        new: Vec<u8>,
        /// Change that the step belongs to.
        origin: u32,
    },
    /// Zeroes elements of an array that belong to no entry that packets find, so that new entries start from zero.
    Zero { map: String, keys: Vec<u8> },
    /// Waits until no packet that may have seen the previous state is in the program.
    Settle,
}

/// Word that a program reads at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Word {
    Four(u32),
    Eight(u64),
}

/// Undoing of a step.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Undo<'a> {
    /// Removes elements that may exist.
    Delete {
        #[serde(borrow)]
        map: Cow<'a, str>,
        #[serde(borrow, with = "serde_bytes")]
        keys: Cow<'a, [u8]>,
    },
    /// Restores the old values of elements.
    Restore {
        #[serde(borrow)]
        map: Cow<'a, str>,
        #[serde(borrow, with = "serde_bytes")]
        keys: Cow<'a, [u8]>,
        #[serde(borrow, with = "serde_bytes")]
        values: Cow<'a, [u8]>,
    },
    /// Restores the old values of entries in memory, and removes others.
    InMemory {
        #[serde(borrow)]
        map: Cow<'a, str>,
        #[serde(borrow, with = "serde_bytes")]
        keys: Cow<'a, [u8]>,
        #[serde(borrow, with = "serde_bytes")]
        values: Cow<'a, [u8]>,
        #[serde(borrow, with = "serde_bytes")]
        removed: Cow<'a, [u8]>,
    },
    /// Stores an element of an array under the lock that it contains.
    Locked {
        #[serde(borrow)]
        map: Cow<'a, str>,
        #[serde(borrow, with = "serde_bytes")]
        key: Cow<'a, [u8]>,
        #[serde(borrow, with = "serde_bytes")]
        value: Cow<'a, [u8]>,
    },
    /// Stores a word of an array, and waits as [`ChangeStep::Settle`] does.
    Store {
        #[serde(borrow)]
        map: Cow<'a, str>,
        offset: u32,
        word: u64,
    },
    /// Stores a word, and waits as [`ChangeStep::Settle`] does.
    Switch { offset: u32, word: Word },
}

/// Failure of a step.
#[derive(Debug)]
pub(super) struct StepFailed {
    /// Change that the step belongs to, if one is to blame.
    pub origin: Option<u32>,
    /// Error that occurred.
    pub error: StoreError,
}

impl From<StoreError> for StepFailed {
    fn from(error: StoreError) -> StepFailed {
        StepFailed {
            origin: None,
            error,
        }
    }
}

impl ChangeStep {
    /// Returns the number of elements that the step changes and that somebody may read.
    pub(crate) fn weight(&self, store: &ProgramState<'_>) -> usize {
        let count = |map: &str, keys: &[u8]| {
            let size = store.map(map).map_or(1, |m| m.info().key_size);
            keys.len() / size.max(1)
        };
        match self {
            ChangeStep::Insert { map, keys, .. }
            | ChangeStep::Replace { map, keys, .. }
            | ChangeStep::Erase { map, keys, .. } => count(map, keys),
            ChangeStep::Switch { .. } | ChangeStep::Store { .. } | ChangeStep::Locked { .. } => 1,
            // Each entry changes several items: counts as well, or an index and nodes.
            ChangeStep::InMemory { changes, .. } => 2 * usize::from(!changes.is_empty()),
            ChangeStep::Prepare { .. }
            | ChangeStep::PrepareGlobal { .. }
            | ChangeStep::Words { .. }
            | ChangeStep::Zero { .. }
            | ChangeStep::Settle => 0,
        }
    }

    /// Returns the undoing of the step. `None` if the step is not visible.
    pub(crate) fn undo(&self) -> Option<Undo<'_>> {
        match self {
            ChangeStep::Insert { map, keys, .. } => Some(Undo::Delete {
                map: map.into(),
                keys: keys.into(),
            }),
            ChangeStep::Replace { map, keys, old, .. } | ChangeStep::Erase { map, keys, old } => {
                Some(Undo::Restore {
                    map: map.into(),
                    keys: keys.into(),
                    values: old.into(),
                })
            }
            ChangeStep::InMemory { map, changes } => Some(Undo::InMemory {
                map: map.into(),
                keys: [&changes.gone[..], &changes.changed].concat().into(),
                values: [&changes.gone_values[..], &changes.changed_old]
                    .concat()
                    .into(),
                removed: (&changes.added).into(),
            }),
            ChangeStep::Locked { map, key, old, .. } => Some(Undo::Locked {
                map: map.into(),
                key: key.into(),
                value: old.into(),
            }),
            ChangeStep::Switch { offset, old, .. } => Some(Undo::Switch {
                offset: *offset,
                word: *old,
            }),
            ChangeStep::Store {
                map, offset, old, ..
            } => Some(Undo::Store {
                map: map.into(),
                offset: *offset,
                word: *old,
            }),
            ChangeStep::Prepare { .. }
            | ChangeStep::PrepareGlobal { .. }
            | ChangeStep::Words { .. }
            | ChangeStep::Zero { .. }
            | ChangeStep::Settle => None,
        }
    }

    /// Runs the step.
    pub(crate) fn run(&self, store: &ProgramState<'_>) -> Result<(), StepFailed> {
        let blame = |origins: &[u32], capacity: u64| {
            let origins = origins.to_vec();
            move |Partial { done, error }: Partial| StepFailed {
                origin: origins.get(done).copied().filter(|o| *o != NO_ORIGIN),
                error: with_capacity(refused("write the table")(error), capacity),
            }
        };
        match self {
            ChangeStep::Insert {
                map,
                keys,
                values,
                origins,
                capacity,
            } => {
                let wrote = store.map(map)?.set_many(keys, values);
                wrote.map_err(|partial| blame(origins, *capacity)(partial))
            }
            ChangeStep::Replace {
                map,
                keys,
                new,
                origins,
                ..
            } => {
                let wrote = store.map(map)?.set_many(keys, new);
                wrote.map_err(|partial| blame(origins, 0)(partial))
            }
            ChangeStep::Erase { map, keys, .. } => {
                let erased = store.map(map)?.delete_many(keys);
                Ok(erased.map_err(|p| system("remove an entry")(p.error))?)
            }
            ChangeStep::InMemory { map, changes } => {
                let changed = in_memory::of_map(*store, map)?.change(changes);
                changed.map_err(|refused| {
                    let origins = changes.added_origins.iter();
                    let mut origins = origins.chain(&changes.changed_origins).copied();
                    let origin = refused.entry.and_then(|at| origins.nth(at));
                    StepFailed {
                        origin: origin.filter(|o| *o != NO_ORIGIN),
                        error: refused.error,
                    }
                })
            }
            ChangeStep::Prepare { map, keys, values } => {
                let wrote = store.map(map)?.set_many(keys, values);
                Ok(wrote.map_err(|p| refused("write the table")(p.error))?)
            }
            ChangeStep::PrepareGlobal { offset, bytes } => {
                let wrote = store.globals()?.set_bytes(*offset, bytes);
                Ok(wrote.map_err(system("write the program's data"))?)
            }
            ChangeStep::Words { map, words } => {
                let memory = store.shared(map)?;
                let mut words = words.iter();
                let wrote = words.try_for_each(|(offset, word)| memory.set_u64(*offset, *word));
                Ok(wrote.map_err(system("write the table"))?)
            }
            ChangeStep::Store {
                map, offset, new, ..
            } => {
                let wrote = store.shared(map)?.set_u64(*offset, *new);
                Ok(wrote.map_err(system("write the table"))?)
            }
            ChangeStep::Switch { offset, new, .. } => {
                let wrote = switch(store.globals()?, *offset, *new);
                Ok(wrote.map_err(system("write the program's data"))?)
            }
            ChangeStep::Locked {
                map,
                key,
                new,
                origin,
                ..
            } => {
                let wrote = store.map(map)?.set_locked(key, new);
                wrote.map_err(|error| StepFailed {
                    origin: Some(*origin),
                    error: refused("write the meter")(error),
                })
            }
            ChangeStep::Zero { map, keys } => {
                let map = store.map(map)?;
                let zero = vec![0; map.info().value_size];
                let mut keys = keys.chunks_exact(map.info().key_size);
                let wrote = keys.try_for_each(|key| map.set(key, &zero));
                Ok(wrote.map_err(system("begin what is kept for an entry"))?)
            }
            ChangeStep::Settle => {
                settle(store);
                Ok(())
            }
        }
    }
}

impl Undo<'_> {
    /// Undoes a step, which may have been done in part or not at all.
    pub(crate) fn run(&self, store: &ProgramState<'_>) -> Result<(), StoreError> {
        let failed = |partial: Partial| system("undo a change")(partial.error);
        match self {
            Undo::Delete { map, keys } => present(store.map(map)?, keys, None).map_err(failed),
            Undo::Restore { map, keys, values } => {
                present(store.map(map)?, keys, Some(values)).map_err(failed)
            }
            Undo::InMemory {
                map,
                keys,
                values,
                removed,
            } => in_memory::of_map(*store, map)?.restore(keys, values, removed),
            Undo::Locked { map, key, value } => {
                let wrote = store.map(map)?.set_locked(key, value);
                wrote.map_err(system("undo a change"))
            }
            Undo::Store { map, offset, word } => {
                let stored = store.shared(map)?.set_u64(*offset, *word);
                stored.map_err(system("undo a change"))?;
                settle(store);
                Ok(())
            }
            Undo::Switch { offset, word } => {
                switch(store.globals()?, *offset, *word).map_err(system("undo a change"))?;
                settle(store);
                Ok(())
            }
        }
    }
}

fn present(map: &dyn Map, keys: &[u8], values: Option<&[u8]>) -> Result<(), Partial> {
    match values {
        Some(values) => map.set_many(keys, values),
        None => map.delete_many(keys),
    }
}

fn switch(globals: &Words, offset: u32, word: Word) -> io::Result<()> {
    match word {
        Word::Four(value) => globals.set_u32(offset, value),
        Word::Eight(value) => globals.set_u64(offset, value),
    }
}

/// Waits until no packet that may have seen the previous state is in the program.
pub(super) fn settle(store: &ProgramState<'_>) {
    store.grace().wait();
}
