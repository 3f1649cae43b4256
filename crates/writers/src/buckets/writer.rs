//! A change of a table with buckets, an entry after the other.
//!
//! An entry is written at a free place, and shown to packets by one store. Its old value is at another place of the same bucket,
//! which the same store hides, or it is elsewhere, and is hidden later: a grace period after the new one was shown, for packets
//! that have searched the new place already. What was hidden is not written before the next grace period, for packets
//! that have found it. So that many entries wait for one grace period together, the writer notes what is to be hidden, and
//! what may still be read, and waits only if it needs a place, and at the end. Entries that change wait for a place in the
//! bucket where they are: in second buckets, packets find them later.

use super::bucket::{Elsewhere, Place};
use super::{Buckets, Found, Homes};
use crate::errors::{refused, system};
use crate::in_memory::{unread, unwritten};
use control::StoreError;
use std::collections::HashSet;

/// Grace periods that new values wait for at most for places in their keys' buckets. A bucket whose places are all in use gets a
/// place in two, when an entry has gone elsewhere, and from then on one in each.
const PATIENCE: u32 = 8;

/// What has become of an entry.
enum Put {
    /// It is written.
    Done,
    /// It is as it was, and waits for a place in its bucket.
    Waits,
    /// It is written elsewhere, and waits for a place in its first bucket, behind all that are there.
    WaitsForHome,
}

/// Who writes a change.
pub(super) struct Writer<'a> {
    table: &'a Buckets<'a>,
    /// How many entries there are.
    entries: u32,
    /// Old values that have a new one elsewhere, by their keys.
    old: Vec<(Vec<u8>, Found)>,
    /// Places that are hidden, and that packets may still read.
    left: HashSet<Place>,
    /// Buckets of which a place is in `old` or `left`.
    freeing: HashSet<u32>,
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
            freeing: HashSet::new(),
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

    /// Adds entries, or has them take the place of those with the same keys. An error comes with the number of its entry.
    pub(super) fn put<'e>(
        &mut self,
        entries: impl Iterator<Item = (&'e [u8], &'e [u8])>,
    ) -> Result<(), (usize, StoreError)> {
        let mut rest: Vec<_> = entries.enumerate().collect();
        let mut patience = PATIENCE;
        while !rest.is_empty() {
            let (mut later, mut last) = (Vec::new(), Vec::new());
            for (at, (key, value)) in rest {
                let put = self.put_one(key, value, patience > 0);
                match put.map_err(|error| (at, error))? {
                    Put::Done => {}
                    Put::Waits => later.push((at, (key, value))),
                    Put::WaitsForHome => last.push((at, (key, value))),
                }
            }
            later.append(&mut last);
            if let Some((at, _)) = later.first() {
                self.settle().map_err(|error| (*at, error))?;
            }
            rest = later;
            patience = patience.saturating_sub(1);
        }
        Ok(())
    }

    /// Writes one of them; not if it may wait, and a grace period will give it a better place.
    fn put_one(&mut self, key: &[u8], value: &[u8], may_wait: bool) -> Result<Put, StoreError> {
        let table = self.table;
        let homes = table.homes(key);
        let Some(found) = table.find(homes, key).map_err(unread)? else {
            self.insert(key, value)?;
            return Ok(Put::Done);
        };
        let is_home = homes.elsewhere(found).is_none();
        let waits_for_home = |writer: &Self, is_home: bool| match may_wait
            && !is_home
            && writer.freeing.contains(&homes.first)
        {
            true => Put::WaitsForHome,
            false => Put::Done,
        };
        let goes_home = !is_home && self.vacant(homes.first)?.is_some();
        if !goes_home {
            if table.value(found, key).map_err(unread)?.as_deref() == Some(value) {
                return Ok(waits_for_home(self, is_home));
            }
            if let Found::At(old) = found {
                if let Some(new) = self.vacant(old.bucket)? {
                    table.memory.write(new, key, value).map_err(unwritten)?;
                    let shown = table.memory.show(old.bucket, Some(new), Some(old));
                    self.leave(old);
                    shown.map_err(unwritten)?;
                    return Ok(waits_for_home(self, is_home));
                }
                if may_wait && self.freeing.contains(&old.bucket) {
                    return Ok(Put::Waits);
                }
            }
        }
        let new = self.place(homes, key, value)?;
        // In the overflow map the new value has taken the old one's place.
        if new != found {
            self.old.push((key.to_vec(), found));
            if let Found::At(place) = found {
                self.freeing.insert(place.bucket);
            }
        }
        Ok(waits_for_home(self, homes.elsewhere(new).is_none()))
    }

    /// Packets may still read what is hidden at a place.
    fn leave(&mut self, place: Place) {
        self.left.insert(place);
        self.freeing.insert(place.bucket);
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
        self.freeing.clear();
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
                self.leave(place);
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
        let is_freeing = |writer: &Self| {
            let mut both = [homes.first, homes.second].into_iter();
            both.any(|bucket| writer.freeing.contains(&bucket))
        };
        while place.is_none() && is_freeing(self) {
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
        // A map gives a new element the memory of one that is gone.
        if self.overflow_left {
            self.settle()?;
        }
        let (memory, overflow) = (&self.table.memory, self.table.overflow);
        let is_there = overflow.get(key).map_err(unread)?.is_some();
        if !is_there {
            let counted = memory.add(homes.first, Elsewhere::Overflow);
            counted.map_err(unwritten)?;
        }
        let wrote = overflow.set(key, value);
        wrote.map_err(refused("write the table"))?;
        self.overflow_left = is_there;
        Ok(Found::Overflow)
    }
}
