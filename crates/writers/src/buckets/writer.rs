//! Changes of a table with buckets, one entry after the other.
//!
//! An entry is written into a free slot and made visible to packets by one store. If its old value is in the same
//! bucket, the same store hides it. An old value elsewhere is hidden a grace period after the new one became visible,
//! since packets may have searched the new slot already. A hidden slot is not reused before the next grace period,
//! since packets may have found it.
//!
//! Many entries share one grace period: the writer records what it must hide and what packets may still read. It waits
//! only if it needs a slot, and at the end. A changed entry waits for a slot in the bucket where it is, since packets
//! search second buckets later.
//!
//! An entry in a bucket of other keys becomes visible when its slot's number is in the overflow map: no packet that has its
//! key searches that bucket. The slot's bit is set before, so that a repair knows an entry from a slot that was given up.

use super::bucket::{BucketSlot, Elsewhere};
use super::{Buckets, Homes};
use crate::errors::{refused, system};
use crate::in_memory::{unread, unwritten};
use control::StoreError;
use std::collections::HashSet;

/// Most grace periods that new values wait for slots in their keys' buckets. A bucket whose slots are all in use frees
/// a slot after two grace periods, once an entry has moved elsewhere, and one slot in each further period.
const PATIENCE: u32 = 8;

/// Result of an attempt to write an entry.
enum Put {
    /// The entry is written.
    Done,
    /// The entry is unchanged, and waits for a slot in its bucket.
    Waits,
    /// The entry is written elsewhere. It waits for a slot in its first bucket, after all entries that are in that
    /// bucket.
    WaitsForHome,
}

/// Writer of a change, with the work that it has deferred.
pub(super) struct Writer<'a> {
    table: &'a Buckets<'a>,
    /// Number of entries in the table.
    entries: u32,
    /// Old values whose new value is elsewhere, by key.
    old: Vec<(Vec<u8>, BucketSlot)>,
    /// Hidden slots that packets may still read.
    left: HashSet<BucketSlot>,
    /// Buckets that have a slot in `old` or `left`.
    freeing: HashSet<u32>,
    /// True if packets may still read an element that was removed from the overflow map, or replaced there.
    overflow_left: bool,
    /// Bucket in which the last free slot for an entry of other buckets was found.
    cursor: u32,
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
            cursor: 0,
        })
    }

    fn count(&mut self, entries: u32) -> Result<(), StoreError> {
        self.entries = entries;
        let wrote = self.table.memory.set_entries(entries);
        wrote.map_err(unwritten)
    }

    /// Adds an entry whose key is not in the table.
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

    /// Adds entries or replaces those with the same keys. An error comes with the index of its entry.
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

    /// Writes one entry, unless `may_wait` and a grace period will give it a better slot.
    fn put_one(&mut self, key: &[u8], value: &[u8], may_wait: bool) -> Result<Put, StoreError> {
        let table = self.table;
        let homes = table.homes(key);
        let Some(found) = table.find(homes, key).map_err(unread)? else {
            self.insert(key, value)?;
            return Ok(Put::Done);
        };
        let elsewhere = homes.elsewhere(found);
        let is_home = elsewhere.is_none();
        let waits_for_home = |writer: &Self, is_home: bool| match may_wait
            && !is_home
            && writer.freeing.contains(&homes.first)
        {
            true => Put::WaitsForHome,
            false => Put::Done,
        };
        let goes_home = !is_home && self.vacant(homes.first)?.is_some();
        if !goes_home {
            if table.memory.value(found).map_err(unread)? == value {
                return Ok(waits_for_home(self, is_home));
            }
            if elsewhere != Some(Elsewhere::Overflow) {
                if let Some(new) = self.vacant(found.bucket)? {
                    table.memory.write(new, key, value).map_err(unwritten)?;
                    let shown = table.memory.show(found.bucket, Some(new), Some(found));
                    self.leave(found);
                    shown.map_err(unwritten)?;
                    return Ok(waits_for_home(self, is_home));
                }
                if may_wait && self.freeing.contains(&found.bucket) {
                    return Ok(Put::Waits);
                }
            }
        }
        let new = self.place(homes, key, value)?;
        self.old.push((key.to_vec(), found));
        self.freeing.insert(found.bucket);
        Ok(waits_for_home(self, homes.elsewhere(new).is_none()))
    }

    /// Records that packets may still read a hidden slot.
    fn leave(&mut self, place: BucketSlot) {
        self.left.insert(place);
        self.freeing.insert(place.bucket);
    }

    /// Removes an entry if it is in the table.
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

    /// Waits until packets find no old value and read no hidden slot.
    pub(super) fn end(mut self) -> Result<(), StoreError> {
        while !self.old.is_empty() || !self.left.is_empty() || self.overflow_left {
            self.settle()?;
        }
        Ok(())
    }

    /// Waits for a grace period, then hides old values.
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

    fn hide(&mut self, homes: Homes, key: &[u8], found: BucketSlot) -> Result<(), StoreError> {
        let table = self.table;
        let mut elsewhere = homes.elsewhere(found);
        if elsewhere == Some(Elsewhere::Overflow) {
            // It may lead to the entry's new slot already.
            if table.overflow_slot(key).map_err(unread)? == Some(found) {
                let gone = table.overflow.delete(key);
                gone.map_err(system("remove an entry"))?;
                self.overflow_left = true;
            } else {
                elsewhere = None;
            }
        }
        let hidden = table.memory.show(found.bucket, None, Some(found));
        hidden.map_err(unwritten)?;
        self.leave(found);
        match elsewhere {
            Some(place) => {
                let counted = table.memory.subtract(homes.first, place);
                counted.map_err(unwritten)
            }
            None => Ok(()),
        }
    }

    /// Finds a slot of a bucket that no packet reads.
    fn vacant(&self, bucket: u32) -> Result<Option<BucketSlot>, StoreError> {
        let mut places = self.table.memory.vacant(bucket).map_err(unread)?;
        Ok(places.find(|place| !self.left.contains(place)))
    }

    fn vacant_of(&self, homes: Homes) -> Result<Option<BucketSlot>, StoreError> {
        match self.vacant(homes.first)? {
            None => self.vacant(homes.second),
            found => Ok(found),
        }
    }

    /// Finds a slot of any bucket that no packet reads. There are twice as many slots as entries, so two grace periods
    /// free one at the latest.
    fn vacant_anywhere(&mut self) -> Result<BucketSlot, StoreError> {
        let count = self.table.abi.count;
        for _ in 0..3 {
            for bucket in (self.cursor..count).chain(0..self.cursor) {
                if let Some(slot) = self.vacant(bucket)? {
                    self.cursor = bucket;
                    return Ok(slot);
                }
            }
            self.settle()?;
        }
        Err(StoreError::Full {
            capacity: self.entries.into(),
        })
    }

    /// Writes an entry and makes it visible to packets.
    fn place(&mut self, homes: Homes, key: &[u8], value: &[u8]) -> Result<BucketSlot, StoreError> {
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
            return self.place_anywhere(homes, key, value);
        };
        let memory = &self.table.memory;
        let wrote = memory.write(place, key, value).and_then(|()| {
            if place.bucket != homes.first {
                memory.add(homes.first, Elsewhere::Second)?;
            }
            memory.show(place.bucket, Some(place), None)
        });
        wrote.map_err(unwritten)?;
        Ok(place)
    }

    /// Writes an entry whose buckets are full into another bucket. A grace period frees none of their slots, since the
    /// writer has hidden none there.
    fn place_anywhere(
        &mut self,
        homes: Homes,
        key: &[u8],
        value: &[u8],
    ) -> Result<BucketSlot, StoreError> {
        let slot = self.vacant_anywhere()?;
        // A hash map reuses the memory of a removed element for a new one. Hiding old values removes elements, too.
        while self.overflow_left {
            self.settle()?;
        }
        let (memory, overflow) = (&self.table.memory, self.table.overflow);
        let is_there = overflow.get(key).map_err(unread)?.is_some();
        let shown = memory.write(slot, key, value).and_then(|()| {
            if !is_there {
                memory.add(homes.first, Elsewhere::Overflow)?;
            }
            memory.show(slot.bucket, Some(slot), None)
        });
        shown.map_err(unwritten)?;
        if let Err(error) = overflow.set(key, &slot.number()) {
            // No packet has seen it.
            let hidden = memory.show(slot.bucket, None, Some(slot));
            hidden.map_err(unwritten)?;
            return Err(refused("write the table")(error));
        }
        self.overflow_left = is_there;
        Ok(slot)
    }
}
