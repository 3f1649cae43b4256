//! A tuple space's entries with the changes that are to be made.

use super::TupleSpace;
use crate::store::records::Records;
use control::StoreError;
use schema::{Entry, KeyMatch};

/// Shadow entries by what finds them, in the order of their numbers.
pub(in crate::store) struct Staged<'a> {
    pub(super) space: TupleSpace<'a>,
    pub(super) records: Records,
    /// The numbers of those that are there; new ones get theirs when they are planned.
    pub(super) numbers: Vec<u32>,
}

impl<'a> Staged<'a> {
    /// No changes yet.
    pub(crate) fn new(space: TupleSpace<'a>) -> Result<Staged<'a>, StoreError> {
        let stored = space.read_shadow()?;
        let mut staged = Staged {
            records: Records::new(space.identity_size(), space.shadow.info().value_size),
            numbers: Vec::with_capacity(stored.order.len()),
            space,
        };
        let mut identity = Vec::with_capacity(staged.space.identity_size());
        for (number, bytes) in stored.iter() {
            if staged.space.identity_of(bytes, &mut identity).is_some() {
                staged.records.add(&identity, Some(bytes));
                staged.numbers.push(number);
            }
        }
        Ok(staged)
    }

    /// What is to be there, as changes of another, empty space.
    pub(crate) fn onto<'b>(self, space: TupleSpace<'b>) -> Staged<'b> {
        let info = space.shadow.info();
        let mut all = Staged {
            records: Records::new(space.identity_size(), info.value_size),
            numbers: Vec::new(),
            space,
        };
        for number in 0..self.records.len() {
            if let Some(entry) = self.records.new_value(number) {
                let at = all.records.add(self.records.key(number), None);
                all.records
                    .set(at, Some(entry), self.records.origin(number));
            }
        }
        all
    }

    /// Its maps.
    pub(crate) fn maps(&self) -> [&str; 3] {
        let abi = self.space.abi;
        [&abi.masks, &abi.entries, &abi.shadow].map(String::as_str)
    }

    /// Adds an entry.
    pub(crate) fn insert(&mut self, entry: &Entry, origin: u32) -> Result<(), StoreError> {
        let identity = self.space.identity(&entry.keys, entry.priority);
        let number = self.records.find(&identity);
        if number.is_some_and(|n| self.records.new_value(n).is_some()) {
            return Err(StoreError::Duplicate);
        }
        if self.records.live() >= self.space.capacity {
            return Err(StoreError::Full {
                capacity: self.space.capacity,
            });
        }
        let bytes = self.space.encode(entry);
        if let Some(removed) = number {
            // It comes after those that are there, as any other new entry.
            self.records.forget(removed);
        }
        let number = self.records.add(&identity, None);
        self.records.set(number, Some(&bytes), origin);
        Ok(())
    }

    /// Gives an entry another action.
    pub(crate) fn modify(&mut self, entry: &Entry, origin: u32) -> Result<(), StoreError> {
        let number = self.existing(&entry.keys, entry.priority)?;
        let bytes = self.space.encode(entry);
        self.records.set(number, Some(&bytes), origin);
        Ok(())
    }

    /// Removes an entry.
    pub(crate) fn remove(
        &mut self,
        keys: &[KeyMatch],
        priority: u32,
        origin: u32,
    ) -> Result<(), StoreError> {
        let number = self.existing(keys, priority)?;
        self.records.set(number, None, origin);
        Ok(())
    }

    /// Removes all entries but those that are to be kept.
    pub(crate) fn clear(
        &mut self,
        kept: impl Fn(&[KeyMatch], u32) -> bool,
        origin: u32,
    ) -> Result<(), StoreError> {
        for number in 0..self.records.len() {
            let entry = self.records.new_value(number);
            let entry = entry.and_then(|bytes| self.space.decode(bytes));
            if entry.is_some_and(|e| !kept(&e.keys, e.priority)) {
                self.records.set(number, None, origin);
            }
        }
        Ok(())
    }

    fn existing(&self, keys: &[KeyMatch], priority: u32) -> Result<usize, StoreError> {
        let number = self.records.find(&self.space.identity(keys, priority));
        number
            .filter(|n| self.records.new_value(*n).is_some())
            .ok_or(StoreError::Missing)
    }
}
