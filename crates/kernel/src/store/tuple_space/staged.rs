//! A tuple space's entries with the changes that are to be made.

use super::TupleSpace;
use super::tally::Unread;
use crate::store::records::Records;
use control::StoreError;
use schema::{Entry, KeyMatch};

/// Entries of one change that are looked up one by one before it is faster to read all that are there.
const FEW: usize = 256;

/// Shadow entries by what finds them, in the order of their numbers.
pub(in crate::store) struct Staged<'a> {
    pub(super) space: TupleSpace<'a>,
    pub(super) records: Records,
    /// The numbers of those that are there; new ones get theirs when they are planned.
    pub(super) numbers: Vec<u32>,
    /// Those that are there, as long as none of them is read: all records are new.
    pub(super) unread: Option<Unread>,
}

impl<'a> Staged<'a> {
    /// No changes yet.
    pub(crate) fn new(space: TupleSpace<'a>) -> Result<Staged<'a>, StoreError> {
        let unread = space.unread()?;
        let mut staged = Staged::of_none(space);
        // There are numbers for as many as may be added without reading.
        staged.unread = unread.filter(|unread| u32::MAX - unread.tally.next > FEW as u32);
        if staged.unread.is_none() {
            staged.read()?;
        }
        Ok(staged)
    }

    fn of_none(space: TupleSpace<'a>) -> Staged<'a> {
        Staged {
            records: Records::new(space.identity_size(), space.shadow.info().value_size),
            numbers: Vec::new(),
            unread: None,
            space,
        }
    }

    /// Reads the shadow entries that there are; what was staged without them comes after them.
    fn read(&mut self) -> Result<(), StoreError> {
        let stored = self.space.read_shadow()?;
        self.unread = None;
        let size = self.space.identity_size();
        let all = Records::new(size, self.space.shadow.info().value_size);
        let staged = std::mem::replace(&mut self.records, all);
        self.numbers.reserve(stored.order.len());
        let mut identity = Vec::with_capacity(size);
        for (number, bytes) in stored.iter() {
            if self.space.identity_of(bytes, &mut identity).is_some() {
                self.records.add(&identity, Some(bytes));
                self.numbers.push(number);
            }
        }
        self.add_wanted(&staged);
        Ok(())
    }

    /// Reads the shadow entries, if they are not read yet.
    fn read_once(&mut self) -> Result<(), StoreError> {
        match self.unread {
            Some(_) => self.read(),
            None => Ok(()),
        }
    }

    /// Adds what other records want.
    fn add_wanted(&mut self, others: &Records) {
        for number in 0..others.len() {
            if let Some(entry) = others.new_value(number) {
                let at = self.records.add(others.key(number), None);
                self.records.set(at, Some(entry), others.origin(number));
            }
        }
    }

    /// What is to be there, as changes of another, empty space.
    pub(crate) fn onto<'b>(mut self, space: TupleSpace<'b>) -> Result<Staged<'b>, StoreError> {
        self.read_once()?;
        let mut all = Staged::of_none(space);
        all.add_wanted(&self.records);
        Ok(all)
    }

    /// How many are to be there.
    pub(super) fn live(&self) -> u64 {
        let unread = self.unread.as_ref();
        self.records.live() + unread.map_or(0, |unread| u64::from(unread.tally.count))
    }

    /// Whether an entry may be there although no record shows it.
    fn may_be_unread(&self, identity: &[u8], entry: &Entry) -> Result<bool, StoreError> {
        let Some(unread) = &self.unread else {
            return Ok(false);
        };
        if self.records.find(identity).is_some() {
            return Ok(false);
        }
        Ok(self.records.len() >= FEW || !self.space.lacks(unread, entry)?)
    }

    /// Its maps.
    pub(crate) fn maps(&self) -> [&str; 3] {
        let abi = self.space.abi;
        [&abi.masks, &abi.entries, &abi.shadow].map(String::as_str)
    }

    /// Adds an entry.
    pub(crate) fn insert(&mut self, entry: &Entry, origin: u32) -> Result<(), StoreError> {
        let identity = self.space.identity(&entry.keys, entry.priority);
        if self.may_be_unread(&identity, entry)? {
            self.read()?;
        }
        let number = self.records.find(&identity);
        if number.is_some_and(|n| self.records.new_value(n).is_some()) {
            return Err(StoreError::Duplicate);
        }
        if self.live() >= self.space.capacity {
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
        self.read_once()?;
        for number in 0..self.records.len() {
            let entry = self.records.new_value(number);
            let entry = entry.and_then(|bytes| self.space.decode(bytes));
            if entry.is_some_and(|e| !kept(&e.keys, e.priority)) {
                self.records.set(number, None, origin);
            }
        }
        Ok(())
    }

    fn existing(&mut self, keys: &[KeyMatch], priority: u32) -> Result<usize, StoreError> {
        self.read_once()?;
        let number = self.records.find(&self.space.identity(keys, priority));
        number
            .filter(|n| self.records.new_value(*n).is_some())
            .ok_or(StoreError::Missing)
    }
}
