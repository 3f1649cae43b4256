//! Entries of a table with staged changes.

use super::tuple_space::{self, Tally, Unread};
use super::{Structure, bit_vectors};
use crate::encoding;
use crate::records::Records;
use crate::steps::{ChangeStep, StepFailed};
use control::StoreError;
use schema::{ActionCall, Entry, KeyMatch};
use std::collections::BTreeSet;

/// Most entries of one change that are looked up one by one. For more it is faster to read all existing entries.
const FEW: usize = 256;

/// Staged shadow entries by identity, in the order of their numbers.
pub(crate) struct Staged<'a> {
    pub(super) structure: Structure<'a>,
    pub(super) records: Records,
    /// Numbers of existing entries. New entries get theirs when the change is planned.
    pub(super) numbers: Vec<u32>,
    /// Tally of the existing entries as long as none of them is read. All records are new entries then.
    pub(super) unread: Option<Unread>,
}

impl<'a> Staged<'a> {
    /// Opens a structure for changes, of which there are none yet.
    pub(crate) fn new(structure: Structure<'a>) -> Result<Staged<'a>, StoreError> {
        let unread = match &structure {
            Structure::TupleSpace(space) => space.unread()?,
            // Bit vectors need all entries.
            Structure::BitVectors(_) => None,
        };
        let mut staged = Staged::of_none(structure);
        // Enough free numbers must follow for the entries that may be added without reading.
        staged.unread = unread.filter(|unread| u32::MAX - unread.tally.next > FEW as u32);
        if staged.unread.is_none() {
            staged.read()?;
        }
        Ok(staged)
    }

    fn of_none(structure: Structure<'a>) -> Staged<'a> {
        let shadow = structure.shadow();
        Staged {
            records: Records::new(shadow.identity_size(), shadow.map.info().value_size),
            numbers: Vec::new(),
            unread: None,
            structure,
        }
    }

    /// Reads the existing shadow entries. Entries staged before come after them.
    fn read(&mut self) -> Result<(), StoreError> {
        let shadow = self.structure.shadow();
        let stored = shadow.read()?;
        self.unread = None;
        let size = shadow.identity_size();
        let all = Records::new(size, shadow.map.info().value_size);
        let staged = std::mem::replace(&mut self.records, all);
        self.numbers.reserve(stored.len());
        let mut identity = Vec::with_capacity(size);
        for (number, bytes) in stored.iter() {
            if shadow.identity_of(bytes, &mut identity).is_some() {
                self.records.add(&identity, Some(bytes));
                self.numbers.push(number);
            }
        }
        self.add_wanted(&staged);
        Ok(())
    }

    /// Reads the shadow entries, unless they are read already.
    fn read_once(&mut self) -> Result<(), StoreError> {
        match self.unread {
            Some(_) => self.read(),
            None => Ok(()),
        }
    }

    /// Adds the new values of other records.
    fn add_wanted(&mut self, others: &Records) {
        for number in 0..others.len() {
            if let Some(entry) = others.new_value(number) {
                let at = self.records.add(others.key(number), None);
                self.records.set(at, Some(entry), others.origin(number));
            }
        }
    }

    /// Stages all entries after the changes as insertions into another, empty structure.
    pub(crate) fn onto<'b>(mut self, structure: Structure<'b>) -> Result<Staged<'b>, StoreError> {
        self.read_once()?;
        let mut all = Staged::of_none(structure);
        all.add_wanted(&self.records);
        Ok(all)
    }

    /// Returns the number of entries after the changes.
    pub(super) fn live(&self) -> u64 {
        let unread = self.unread.as_ref();
        self.records.live() + unread.map_or(0, |unread| u64::from(unread.tally.count))
    }

    /// Returns true if the entry may be among the existing ones that are not read.
    fn may_be_unread(&self, identity: &[u8], entry: &Entry) -> Result<bool, StoreError> {
        let Some(unread) = &self.unread else {
            return Ok(false);
        };
        if self.records.find(identity).is_some() {
            return Ok(false);
        }
        let lacks = match &self.structure {
            Structure::TupleSpace(space) => space.lacks(unread, entry)?,
            Structure::BitVectors(_) => false,
        };
        Ok(self.records.len() >= FEW || !lacks)
    }

    /// Returns the names of the structure's maps.
    pub(crate) fn maps(&self) -> Vec<&'a str> {
        self.structure.maps()
    }

    /// Returns true if anything changes.
    pub(crate) fn differs(&self) -> bool {
        self.records.changes().next().is_some()
    }

    /// Plans the steps of the changes.
    pub(crate) fn plan(&self) -> Result<Vec<ChangeStep>, StepFailed> {
        if !self.differs() {
            return Ok(Vec::new());
        }
        match &self.structure {
            Structure::TupleSpace(space) => tuple_space::plan(space, self),
            Structure::BitVectors(bits) => bit_vectors::plan(bits, self),
        }
    }

    /// Returns true if all changes become visible to packets at once.
    pub(crate) fn is_one_switch(&self) -> bool {
        matches!(self.structure, Structure::BitVectors(_))
    }

    /// Returns true if a packet might meet a mix of two entries while these steps run.
    pub(crate) fn tears(&self, steps: &[ChangeStep]) -> bool {
        match &self.structure {
            Structure::TupleSpace(space) => tuple_space::tears(space, steps),
            Structure::BitVectors(_) => false,
        }
    }

    /// Returns the steps that write the shadow entries, the tally after them, and the number of each record.
    pub(super) fn shadow_steps(&self) -> (Vec<ChangeStep>, Option<Tally>, Vec<u32>) {
        let mut numbers = self.numbers.clone();
        let mut next = match &self.unread {
            Some(unread) => u64::from(unread.tally.next),
            None => numbers.last().map_or(0, |n| u64::from(*n) + 1),
        };
        let starts_over = next + self.records.len() as u64 > u64::from(u32::MAX);
        if starts_over {
            // After 2^32 insertions, numbers of removed entries are reused.
            next = 0;
        }
        let taken: BTreeSet<u32> = if next == 0 {
            numbers.iter().copied().collect()
        } else {
            BTreeSet::new()
        };
        let value_size = self.structure.shadow().map.info().value_size;
        let mut by_number = Records::new(size_of::<u32>(), value_size);
        for at in 0..self.records.len() {
            if at >= numbers.len() {
                while taken.contains(&(next as u32)) {
                    next += 1;
                }
                numbers.push(next as u32);
                next += 1;
            }
            if !self.records.is_unchanged(at) {
                let (old, new) = (self.records.old(at), self.records.new_value(at));
                let number = by_number.add(&numbers[at].to_ne_bytes(), old);
                by_number.set(number, new, self.records.origin(at));
            }
        }
        let map = self.structure.shadow().name;
        let mut found = by_number.differences();
        let gone = found.removals(map);
        let [changed, added] = found.writes(map, self.structure.shadow().capacity);
        // If gaps between numbers were filled, the next number is not known.
        let tally = (!starts_over).then_some(Tally {
            next: next as u32,
            count: self.live() as u32,
        });
        (vec![gone, changed, added], tally, numbers)
    }

    /// Adds an entry.
    pub(crate) fn insert(&mut self, entry: &Entry, origin: u32) -> Result<(), StoreError> {
        let identity = self
            .structure
            .shadow()
            .identity(&entry.keys, entry.priority);
        if self.may_be_unread(&identity, entry)? {
            self.read()?;
        }
        let number = self.records.find(&identity);
        if number.is_some_and(|n| self.records.new_value(n).is_some()) {
            return Err(StoreError::Duplicate);
        }
        if self.live() >= self.structure.shadow().capacity {
            return Err(StoreError::Full {
                capacity: self.structure.shadow().capacity,
            });
        }
        let bytes = self.structure.shadow().encode(entry);
        if let Some(removed) = number {
            // The entry comes after the existing ones, like any other new entry.
            self.records.forget(removed);
        }
        let number = self.records.add(&identity, None);
        self.records.set(number, Some(&bytes), origin);
        Ok(())
    }

    /// Replaces the action of an entry.
    pub(crate) fn modify(&mut self, entry: &Entry, origin: u32) -> Result<(), StoreError> {
        let number = self.existing(&entry.keys, entry.priority)?;
        let shadow = self.structure.shadow();
        let mut bytes = shadow.encode(entry);
        let old = self.records.new_value(number).unwrap_or_default();
        shadow.keep_number(old, &mut bytes);
        self.records.set(number, Some(&bytes), origin);
        Ok(())
    }

    /// Assigns numbers to new entries, if entries have any. Returns the assigned numbers.
    pub(crate) fn number(&mut self) -> Result<Vec<u32>, StoreError> {
        let shadow = self.structure.shadow();
        let most = u32::try_from(shadow.capacity).unwrap_or(u32::MAX);
        let Some(offset) = shadow.number_offset() else {
            return Ok(Vec::new());
        };
        self.read_once()?;
        Ok(self.records.number(offset, most))
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

    /// Removes all entries but those for which `kept` returns true.
    pub(crate) fn clear(
        &mut self,
        kept: impl Fn(&[KeyMatch], u32) -> bool,
        origin: u32,
    ) -> Result<(), StoreError> {
        self.read_once()?;
        for number in 0..self.records.len() {
            let entry = self.records.new_value(number);
            let entry = entry.and_then(|bytes| self.structure.shadow().decode(bytes));
            if entry.is_some_and(|e| !kept(&e.keys, e.priority)) {
                self.records.set(number, None, origin);
            }
        }
        Ok(())
    }

    /// Returns the number of an entry after the changes. 0 if entries have no numbers; `None` if the entry will not
    /// exist.
    pub(crate) fn number_of(
        &mut self,
        keys: &[KeyMatch],
        priority: u32,
    ) -> Result<Option<u32>, StoreError> {
        let number = match self.existing(keys, priority) {
            Err(StoreError::Missing) => return Ok(None),
            found => found?,
        };
        let value = self.records.new_value(number).unwrap_or_default();
        let offset = self.structure.shadow().number_offset();
        Ok(Some(offset.map_or(0, |at| encoding::get_u32(value, at))))
    }

    /// Returns the actions of all entries after the changes.
    pub(crate) fn calls(&mut self) -> Result<Vec<ActionCall>, StoreError> {
        self.read_once()?;
        let shadow = self.structure.shadow();
        let all = (0..self.records.len()).filter_map(|number| self.records.new_value(number));
        let all = all.filter_map(|bytes| shadow.decode(bytes));
        Ok(all.map(|entry| entry.action).collect())
    }

    fn existing(&mut self, keys: &[KeyMatch], priority: u32) -> Result<usize, StoreError> {
        self.read_once()?;
        let number = self
            .records
            .find(&self.structure.shadow().identity(keys, priority));
        number
            .filter(|n| self.records.new_value(*n).is_some())
            .ok_or(StoreError::Missing)
    }
}
