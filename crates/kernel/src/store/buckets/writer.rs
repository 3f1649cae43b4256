//! A change of a table with buckets, an entry after the other.
//!
//! An entry is written at a free place, and shown to packets by one store. Its old value is at another place of the same bucket,
//! which the same store hides, or it is elsewhere, and is hidden later: a grace period after the new one was shown, for packets
//! that have searched the new place already. What was hidden is not written before the next grace period, for packets
//! that have found it. So that many entries wait for one grace period together, the writer notes what is to be hidden, and
//! what may still be read, and waits only if it needs a place, and at the end.

use super::bucket::{Elsewhere, Place};
use super::{Buckets, Found, Homes};
use crate::store::in_memory::{unread, unwritten};
use crate::store::{refused, system};
use crate::sys::Update;
use control::StoreError;
use std::collections::HashSet;

/// Who writes a change.
pub(super) struct Writer<'a> {
    table: &'a Buckets<'a>,
    /// How many entries there are.
    entries: u32,
    /// Old values that have a new one elsewhere, by their keys.
    old: Vec<(Vec<u8>, Found)>,
    /// Places that are hidden, and that packets may still read.
    left: HashSet<Place>,
    /// Whether packets may still read something that is not in the overflow map any more.
    overflow_left: bool,
}

impl Writer<'_> {
    pub(super) fn new<'a>(table: &'a Buckets<'a>) -> Result<Writer<'a>, StoreError> {
        Ok(Writer {
            table,
            entries: table.memory.entries().map_err(unread)?,
            old: Vec::new(),
            left: HashSet::new(),
            overflow_left: false,
        })
    }

    fn count(&mut self, entries: u32) -> Result<(), StoreError> {
        self.entries = entries;
        let wrote = self.table.memory.set_entries(entries);
        wrote.map_err(unwritten)
    }

    /// Adds an entry whose key is not there.
    pub(super) fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let capacity = self.table.overflow.info().max_entries;
        if self.entries >= capacity {
            return Err(StoreError::Full {
                capacity: capacity.into(),
            });
        }
        self.place(self.table.homes(key), key, value)?;
        self.count(self.entries + 1)
    }

    /// Adds an entry, or has it take the place of one with the same key.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let table = self.table;
        let homes = table.homes(key);
        let Some(found) = table.find(homes, key).map_err(unread)? else {
            return self.insert(key, value);
        };
        if table.value(found, key).map_err(unread)?.as_deref() == Some(value) {
            return Ok(());
        }
        if let Found::At(old) = found
            && let Some(new) = self.vacant(old.bucket)?
        {
            table.memory.write(new, key, value).map_err(unwritten)?;
            let shown = table.memory.show(old.bucket, Some(new), Some(old));
            self.left.insert(old);
            return shown.map_err(unwritten);
        }
        let new = self.place(homes, key, value)?;
        // In the overflow map the new value has taken the old one's place.
        if new != found {
            self.old.push((key.to_vec(), found));
        }
        Ok(())
    }

    /// Removes an entry, if it is there.
    pub(super) fn remove(&mut self, key: &[u8]) -> Result<(), StoreError> {
        let table = self.table;
        let homes = table.homes(key);
        match table.find(homes, key).map_err(unread)? {
            Some(found) => {
                self.hide(homes, key, found)?;
                self.count(self.entries.saturating_sub(1))
            }
            None => Ok(()),
        }
    }

    /// Waits until packets find nothing old any more, and read nothing that is hidden.
    pub(super) fn end(mut self) -> Result<(), StoreError> {
        while !self.old.is_empty() || !self.left.is_empty() || self.overflow_left {
            self.settle()?;
        }
        Ok(())
    }

    /// Waits for a grace period, and hides what is old.
    fn settle(&mut self) -> Result<(), StoreError> {
        self.table.settle();
        self.left.clear();
        self.overflow_left = false;
        for (key, found) in std::mem::take(&mut self.old) {
            self.hide(self.table.homes(&key), &key, found)?;
        }
        Ok(())
    }

    fn hide(&mut self, homes: Homes, key: &[u8], found: Found) -> Result<(), StoreError> {
        let table = self.table;
        match found {
            Found::At(place) => {
                let hidden = table.memory.show(place.bucket, None, Some(place));
                hidden.map_err(unwritten)?;
                self.left.insert(place);
            }
            Found::Overflow => {
                let gone = table.overflow.delete(key);
                gone.map_err(system("remove an entry"))?;
                self.overflow_left = true;
            }
        }
        match homes.elsewhere(found) {
            Some(place) => {
                let counted = table.memory.subtract(homes.first, place);
                counted.map_err(unwritten)
            }
            None => Ok(()),
        }
    }

    /// A place of a bucket that no packet reads.
    fn vacant(&self, bucket: u32) -> Result<Option<Place>, StoreError> {
        let mut places = self.table.memory.vacant(bucket).map_err(unread)?;
        Ok(places.find(|place| !self.left.contains(place)))
    }

    fn vacant_of(&self, homes: Homes) -> Result<Option<Place>, StoreError> {
        match self.vacant(homes.first)? {
            None => self.vacant(homes.second),
            found => Ok(found),
        }
    }

    /// Writes an entry, and has packets find it.
    fn place(&mut self, homes: Homes, key: &[u8], value: &[u8]) -> Result<Found, StoreError> {
        let mut place = self.vacant_of(homes)?;
        let is_home = |place: &Place| [homes.first, homes.second].contains(&place.bucket);
        if place.is_none() && self.left.iter().any(is_home) {
            self.settle()?;
            place = self.vacant_of(homes)?;
        }
        let Some(place) = place else {
            return self.place_in_overflow(homes, key, value);
        };
        let memory = &self.table.memory;
        let wrote = memory.write(place, key, value).and_then(|()| {
            if place.bucket != homes.first {
                memory.add(homes.first, Elsewhere::Second)?;
            }
            memory.show(place.bucket, Some(place), None)
        });
        wrote.map_err(unwritten)?;
        Ok(Found::At(place))
    }

    fn place_in_overflow(
        &mut self,
        homes: Homes,
        key: &[u8],
        value: &[u8],
    ) -> Result<Found, StoreError> {
        // The kernel gives a new element the memory of one that is gone.
        if self.overflow_left {
            self.settle()?;
        }
        let (memory, overflow) = (&self.table.memory, self.table.overflow);
        let is_there = overflow.get(key).map_err(unread)?.is_some();
        if !is_there {
            let counted = memory.add(homes.first, Elsewhere::Overflow);
            counted.map_err(unwritten)?;
        }
        let wrote = overflow.set(key, value, Update::Any);
        wrote.map_err(refused("write the table"))?;
        self.overflow_left = is_there;
        Ok(Found::Overflow)
    }
}
