//! Changes of entries between runs of packets.

use crate::entries::{Filled, call};
use control::{Change, EntryKey, Store, StoreError};
use ir::{Entry, Program};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Changes entries in both stores: removes some, gives others another action, and inserts some again.
pub fn change(
    filled: &mut Filled,
    program: &Program,
    random: &mut ChaCha8Rng,
    reference: &mut dyn Store,
    target: &mut dyn Store,
) -> Result<(), String> {
    let mut left = Vec::new();
    for (table, mut entry) in std::mem::take(&mut filled.entries) {
        let mut both = |what: &str, change: &dyn Fn(&mut dyn Store) -> Result<(), StoreError>| {
            let (a, b) = (change(&mut *reference), change(&mut *target));
            match a.is_ok() == b.is_ok() {
                true => Ok(a.is_ok()),
                false => Err(format!("{what} {entry:?}: interpreter {a:?}, target {b:?}")),
            }
        };
        let what = random.random_range(0..5);
        // An entry for which one store has no room is in neither.
        let is_gone = what < 2
            && both("remove", &|s| {
                s.change(Change::Remove(table, EntryKey::of(&entry)))
            })?;
        if what == 1 && is_gone {
            both("insert again", &|s| {
                s.change(Change::Insert(table, entry.clone()))
            })?;
        }
        if what == 2
            && let Some(action) = call(program, table, random, |a| !a.default_only)
        {
            let changed = Entry {
                action,
                ..entry.clone()
            };
            both("modify", &|s| {
                s.change(Change::Modify(table, changed.clone()))
            })?;
            entry = changed;
        }
        if what > 0 {
            left.push((table, entry));
        }
    }
    filled.entries = left;
    Ok(())
}
