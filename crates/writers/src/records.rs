//! Old and new elements of a map, in memory compact enough for a million of them.

use crate::encoding;
use crate::steps::ChangeStep;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Marks a record without an old value.
const NONE: u32 = u32::MAX;
/// Origin of a record that no change concerns.
pub(super) const NO_ORIGIN: u32 = u32::MAX;

/// Keys of one size, each with its old and its new value. A record's number is its position in the order in which
/// records were added.
#[derive(Debug)]
pub(super) struct Records {
    key_size: usize,
    value_size: usize,
    keys: Vec<u8>,
    /// New values; zeros where there is none.
    new: Vec<u8>,
    wanted: Vec<bool>,
    /// Old values. `old_at` has the index of each record's old value, or [`NONE`].
    old: Vec<u8>,
    old_at: Vec<u32>,
    /// Last change that concerned each record.
    origins: Vec<u32>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    live: u64,
}

/// Elements that differ between the old and the new state.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Keys of removed elements.
    pub gone: Vec<u8>,
    /// Old values of removed elements.
    pub gone_values: Vec<u8>,
    /// Keys whose values change.
    pub changed: Vec<u8>,
    /// Old values of changed elements.
    pub changed_old: Vec<u8>,
    /// New values of changed elements.
    pub changed_new: Vec<u8>,
    /// Change that each changed element belongs to.
    pub changed_origins: Vec<u32>,
    /// Keys of new elements.
    pub added: Vec<u8>,
    /// Values of new elements.
    pub added_values: Vec<u8>,
    /// Change that each new element belongs to.
    pub added_origins: Vec<u32>,
}

impl Records {
    /// Creates an empty set of records.
    pub(crate) fn new(key_size: usize, value_size: usize) -> Records {
        Records {
            key_size,
            value_size,
            keys: Vec::new(),
            new: Vec::new(),
            wanted: Vec::new(),
            old: Vec::new(),
            old_at: Vec::new(),
            origins: Vec::new(),
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            live: 0,
        }
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.wanted.len()
    }

    /// Returns the number of elements in the new state.
    pub(crate) fn live(&self) -> u64 {
        self.live
    }

    /// Returns the record with this key.
    pub(crate) fn find(&self, key: &[u8]) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        let same = |&number: &u32| self.key(number as usize) == key;
        self.index.find(hash, same).map(|&number| number as usize)
    }

    /// Adds a key that has no record, with its old value. The new value is the same until it is set.
    pub(crate) fn add(&mut self, key: &[u8], old: Option<&[u8]>) -> usize {
        let number = self.len();
        let hash = self.hasher.hash_one(key);
        self.keys.extend_from_slice(key);
        self.wanted.push(old.is_some());
        self.origins.push(NO_ORIGIN);
        match old {
            Some(value) => {
                self.old_at.push((self.old.len() / self.value_size) as u32);
                self.old.extend_from_slice(value);
                self.new.extend_from_slice(value);
                self.live += 1;
            }
            None => {
                self.old_at.push(NONE);
                self.new.resize(self.new.len() + self.value_size, 0);
            }
        }
        let (keys, size, hasher) = (&self.keys, self.key_size, &self.hasher);
        let rehash = |&n: &u32| hasher.hash_one(&keys[n as usize * size..][..size]);
        self.index.insert_unique(hash, number as u32, rehash);
        number
    }

    /// Removes a record from the index by key. The record's element is removed, and its key can be added again as the
    /// last record.
    pub(crate) fn forget(&mut self, number: usize) {
        let hash = self.hasher.hash_one(self.key(number));
        let found = self.index.find_entry(hash, |n| *n as usize == number);
        if let Ok(entry) = found {
            entry.remove();
        }
    }

    /// Returns the record's key.
    pub(crate) fn key(&self, number: usize) -> &[u8] {
        &self.keys[number * self.key_size..][..self.key_size]
    }

    /// Returns the record's old value, if it has one.
    pub(crate) fn old(&self, number: usize) -> Option<&[u8]> {
        let at = Some(self.old_at[number]).filter(|at| *at != NONE)?;
        Some(&self.old[at as usize * self.value_size..][..self.value_size])
    }

    /// Returns the record's new value, if it has one.
    pub(crate) fn new_value(&self, number: usize) -> Option<&[u8]> {
        let value = || &self.new[number * self.value_size..][..self.value_size];
        self.wanted[number].then(value)
    }

    /// Returns the last change that concerned a record.
    pub(crate) fn origin(&self, number: usize) -> u32 {
        self.origins[number]
    }

    /// Sets or removes the record's new value.
    pub(crate) fn set(&mut self, number: usize, value: Option<&[u8]>, origin: u32) {
        self.live -= u64::from(self.wanted[number]);
        self.live += u64::from(value.is_some());
        self.wanted[number] = value.is_some();
        self.origins[number] = origin;
        let slot = &mut self.new[number * self.value_size..][..self.value_size];
        match value {
            Some(value) => slot.copy_from_slice(value),
            None => slot.fill(0),
        }
    }

    /// Assigns a unique number from 1 to `most` to each new value that has none yet. `offset` is the number's offset in
    /// a value ([`layout::ValueAbi::number_offset`]). Returns the assigned numbers. Numbers of removed entries are used
    /// last, since packets may still use them.
    pub(crate) fn number(&mut self, offset: usize, most: u32) -> Vec<u32> {
        let mut taken = vec![false; most as usize + 1];
        let mut used = taken.clone();
        let note = |value: Option<&[u8]>, all: &mut [bool]| {
            let number = value.map_or(0, |value| encoding::get_u32(value, offset));
            if let Some(known) = all.get_mut(number as usize) {
                *known = true;
            }
        };
        for at in 0..self.len() {
            note(self.old(at), &mut used);
            note(self.new_value(at), &mut taken);
        }
        let all = || 1..=most;
        let unused = all().filter(|n| !used[*n as usize] && !taken[*n as usize]);
        let of_gone = all().filter(|n| used[*n as usize] && !taken[*n as usize]);
        let mut free = unused.chain(of_gone);
        let mut given = Vec::new();
        for at in 0..self.len() {
            let value = &mut self.new[at * self.value_size..][..self.value_size];
            if !self.wanted[at] || encoding::get_u32(value, offset) != 0 {
                continue;
            }
            // There are as many numbers as entries.
            if let Some(number) = free.next() {
                encoding::put_u32(value, offset, number);
                given.push(number);
            }
        }
        given
    }

    /// Returns true if the record's element does not change.
    pub(crate) fn is_unchanged(&self, number: usize) -> bool {
        self.old(number) == self.new_value(number)
    }

    /// Returns all elements of the new state as additions to an empty map.
    pub(crate) fn anew(self) -> Differences {
        let mut all = Differences::default();
        for number in 0..self.len() {
            if let Some(value) = self.new_value(number) {
                all.added.extend_from_slice(self.key(number));
                all.added_values.extend_from_slice(value);
                all.added_origins.push(self.origin(number));
            }
        }
        all
    }

    /// Returns the old and the new value of each element that changes.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (Option<&[u8]>, Option<&[u8]>)> {
        let all = (0..self.len()).map(|n| (self.old(n), self.new_value(n)));
        all.filter(|(old, new)| old != new)
    }

    /// Returns the differences between the old and the new state.
    pub(crate) fn differences(self) -> Differences {
        if self.old.is_empty() && self.live == self.len() as u64 {
            return Differences {
                added: self.keys,
                added_values: self.new,
                added_origins: self.origins,
                ..Differences::default()
            };
        }
        let mut all = Differences::default();
        for number in 0..self.len() {
            let key = self.key(number);
            match (self.old(number), self.new_value(number)) {
                (None, None) => {}
                (Some(old), None) => {
                    all.gone.extend_from_slice(key);
                    all.gone_values.extend_from_slice(old);
                }
                (None, Some(new)) => {
                    all.added.extend_from_slice(key);
                    all.added_values.extend_from_slice(new);
                    all.added_origins.push(self.origin(number));
                }
                (Some(old), Some(new)) if old != new => {
                    all.changed.extend_from_slice(key);
                    all.changed_old.extend_from_slice(old);
                    all.changed_new.extend_from_slice(new);
                    all.changed_origins.push(self.origin(number));
                }
                (Some(_), Some(_)) => {}
            }
        }
        all
    }
}

impl Differences {
    /// Returns true if nothing changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.changed.is_empty() && self.added.is_empty()
    }

    /// Returns the steps that change and add elements of a map with this capacity.
    pub(crate) fn writes(&mut self, map: &str, capacity: u64) -> [ChangeStep; 2] {
        let take = std::mem::take::<Vec<u8>>;
        [
            ChangeStep::Replace {
                map: map.to_string(),
                keys: take(&mut self.changed),
                old: take(&mut self.changed_old),
                new: take(&mut self.changed_new),
                origins: std::mem::take(&mut self.changed_origins),
            },
            ChangeStep::Insert {
                map: map.to_string(),
                keys: take(&mut self.added),
                values: take(&mut self.added_values),
                origins: std::mem::take(&mut self.added_origins),
                capacity,
            },
        ]
    }

    /// Returns the step that removes elements of a map.
    pub(crate) fn removals(&mut self, map: &str) -> ChangeStep {
        ChangeStep::Erase {
            map: map.to_string(),
            keys: std::mem::take(&mut self.gone),
            old: std::mem::take(&mut self.gone_values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_values_get_numbers_that_no_other_has_those_of_what_goes_last() {
        let value = |number: u32, rest: u32| [number.to_ne_bytes(), rest.to_ne_bytes()].concat();
        let mut records = Records::new(1, 8);
        let kept = records.add(b"k", Some(&value(2, 0)));
        let gone = records.add(b"g", Some(&value(1, 0)));
        records.set(kept, Some(&value(2, 9)), 0);
        records.set(gone, None, 0);
        for key in [b"a", b"b"] {
            let at = records.add(key, None);
            records.set(at, Some(&value(0, 5)), 0);
        }
        assert_eq!(records.number(0, 3), [3, 1]);
        let all: Vec<_> = (0..4).map(|at| records.new_value(at)).collect();
        let wanted = [(2, 9), (3, 5), (1, 5)].map(|(number, rest)| value(number, rest));
        let [kept, first, second] = wanted.each_ref().map(|value| Some(&value[..]));
        assert_eq!(all, [kept, None, first, second]);
        assert!(records.number(0, 3).is_empty());
    }

    #[test]
    fn only_what_differs_is_written() {
        let mut all = Records::new(1, 2);
        let (stays, goes) = (all.add(b"s", Some(b"ss")), all.add(b"g", Some(b"gg")));
        let (comes, changes) = (all.add(b"n", None), all.add(b"c", Some(b"cc")));
        let unborn = all.add(b"u", None);
        assert_eq!(all.live(), 3);
        all.set(goes, None, 1);
        all.set(comes, Some(b"nn"), 2);
        all.set(changes, Some(b"CC"), 3);
        all.set(unborn, Some(b"uu"), 4);
        all.set(unborn, None, 5);
        all.set(stays, Some(b"xx"), 6);
        all.set(stays, Some(b"ss"), 7);
        assert_eq!((all.live(), all.len()), (3, 5));
        assert_eq!(all.find(b"c"), Some(changes));
        assert_eq!(all.find(b"z"), None);
        assert!(all.is_unchanged(stays) && !all.is_unchanged(comes));
        let found = all.differences();
        assert_eq!((&*found.gone, &*found.gone_values), (&b"g"[..], &b"gg"[..]));
        assert_eq!(
            (&*found.added, &*found.added_values),
            (&b"n"[..], &b"nn"[..])
        );
        assert_eq!(found.added_origins, [2]);
        assert_eq!(
            (&*found.changed, &*found.changed_old),
            (&b"c"[..], &b"cc"[..])
        );
        assert_eq!(
            (&*found.changed_new, found.changed_origins),
            (&b"CC"[..], vec![3])
        );
    }

    #[test]
    fn a_key_that_is_added_again_is_the_last_one() {
        let mut all = Records::new(1, 1);
        let (first, second) = (all.add(b"a", Some(b"1")), all.add(b"b", Some(b"2")));
        all.set(first, None, 1);
        all.forget(first);
        assert_eq!(all.find(b"a"), None);
        let again = all.add(b"a", None);
        all.set(again, Some(b"1"), 2);
        assert_eq!((all.find(b"a"), all.live()), (Some(again), 2));
        assert!(second < again);
        let found = all.differences();
        assert_eq!((&*found.gone, &*found.added), (&b"a"[..], &b"a"[..]));
    }

    #[test]
    fn many_keys_are_found_again() {
        let mut all = Records::new(4, 1);
        for n in 0..10_000u32 {
            all.add(&n.to_ne_bytes(), None);
        }
        for n in 0..10_000u32 {
            assert_eq!(all.find(&n.to_ne_bytes()), Some(n as usize));
        }
    }
}
