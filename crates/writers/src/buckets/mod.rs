//! Tables with exact keys: buckets in memory that packets read while it changes, and an overflow map that leads to the
//! few entries that find no free slot in the buckets of their keys ([`BucketsAbi`]).
//!
//! No entry ever moves to make room for another, since each move would take a grace period. Half of the slots are free,
//! so that the overflow map leads to one entry in 260. [`writer`] makes changes; [`mend`] repairs the state that a
//! killed process has left.

mod bucket;
mod hash;
mod mend;
mod writer;

use crate::exact;
use crate::flat::{Codec, Elements};
use crate::in_memory::{InMemory, Refused};
use crate::memory::Map;
use crate::records::Differences;
use crate::state::{Grace, ProgramState};
use bucket::{BucketSlot, Elsewhere, Memory};
use control::StoreError;
use layout::{BucketsAbi, ValueAbi};
use schema::KeyMatch;
use std::io;
use writer::Writer;

/// Buckets of a table, with its overflow map.
pub(super) struct Buckets<'a> {
    abi: &'a BucketsAbi,
    memory: Memory<'a>,
    overflow: &'a dyn Map,
    /// Seed of the hash.
    seed: u64,
    /// Packets that may read the table.
    readers: Grace<'a>,
}

/// Indices of the two buckets that a key may be in.
#[derive(Clone, Copy, Debug)]
struct Homes {
    first: u32,
    second: u32,
}

impl Homes {
    /// Returns the location that is counted for an entry outside of its first bucket. `None` if it is in its first
    /// bucket.
    fn elsewhere(self, found: BucketSlot) -> Option<Elsewhere> {
        match found.bucket {
            bucket if bucket == self.first => None,
            bucket if bucket == self.second => Some(Elsewhere::Second),
            _ => Some(Elsewhere::Overflow),
        }
    }
}

impl<'a> Buckets<'a> {
    /// Opens the table that a description describes.
    pub(crate) fn open(
        store: ProgramState<'a>,
        abi: &'a BucketsAbi,
    ) -> Result<Buckets<'a>, StoreError> {
        Ok(Buckets {
            abi,
            memory: Memory {
                memory: store.shared(&abi.buckets)?,
                abi,
            },
            overflow: store.map(&abi.overflow)?,
            seed: store.memory.seeds()?.buckets,
            readers: store.grace(),
        })
    }

    /// Computes the buckets of a key, as `bucket_find` does.
    fn homes(&self, key: &[u8]) -> Homes {
        let mut words = key.to_vec();
        words.resize(key.len().next_multiple_of(8), 0);
        let hash = hash::hash(&words, self.seed);
        let of = |half: u32| ((u64::from(half) * u64::from(self.abi.count)) >> 32) as u32;
        Homes {
            first: of(hash as u32),
            second: of((hash >> 32) as u32),
        }
    }

    fn find_in(&self, bucket: u32, key: &[u8]) -> io::Result<Option<BucketSlot>> {
        for place in self.memory.places(bucket)? {
            if self.memory.has(place, key)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Finds the entry of a key, in the order in which packets search.
    fn find(&self, homes: Homes, key: &[u8]) -> io::Result<Option<BucketSlot>> {
        let found = self.find_in(homes.first, key)?;
        if found.is_some() {
            return Ok(found);
        }
        let counts = self.memory.counts(homes.first)?;
        if counts.of(Elsewhere::Second) > 0
            && let Some(found) = self.find_in(homes.second, key)?
        {
            return Ok(Some(found));
        }
        if counts.of(Elsewhere::Overflow) == 0 {
            return Ok(None);
        }
        self.overflow_slot(key)
    }

    /// Returns the slot that the overflow map has for a key.
    fn overflow_slot(&self, key: &[u8]) -> io::Result<Option<BucketSlot>> {
        let number = self.overflow.get(key)?;
        Ok(number.and_then(|number| self.overflow_slot_of(&number)))
    }

    /// Returns the slot that a value of the overflow map means. `None` if there is no such slot.
    fn overflow_slot_of(&self, number: &[u8]) -> Option<BucketSlot> {
        let slot = BucketSlot::numbered(number);
        slot.filter(|slot| slot.bucket < self.abi.count)
    }

    /// Waits for a grace period: until all packets that began before have ended.
    fn settle(&self) {
        self.readers.wait();
    }
}

impl InMemory for Buckets<'_> {
    fn sizes(&self) -> (usize, usize) {
        (self.abi.key.size as usize, self.abi.value.size as usize)
    }

    fn begin_with_length(&self) -> bool {
        false
    }

    fn start_empty(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn has_more_than(&self, most: usize) -> io::Result<bool> {
        Ok(self.memory.entries()? as usize > most)
    }

    fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()> {
        for bucket in 0..self.abi.count {
            for place in self.memory.places(bucket)? {
                each(&self.memory.key(place)?, &self.memory.value(place)?);
            }
        }
        Ok(())
    }

    fn change(&self, changes: &Differences) -> Result<(), Refused> {
        let (key_size, value_size) = self.sizes();
        let mut writer = Writer::new(self)?;
        for key in changes.gone.chunks_exact(key_size) {
            writer.remove(key)?;
        }
        let with_values = |keys, values| {
            <[u8]>::chunks_exact(keys, key_size).zip(<[u8]>::chunks_exact(values, value_size))
        };
        let refused = |at: usize| {
            move |error| Refused {
                entry: Some(at),
                error,
            }
        };
        let mut added = 0;
        for (key, value) in with_values(&changes.added, &changes.added_values) {
            writer.insert(key, value).map_err(refused(added))?;
            added += 1;
        }
        let changed = writer.put(with_values(&changes.changed, &changes.changed_new));
        changed.map_err(|(at, error)| refused(added + at)(error))?;
        Ok(writer.end()?)
    }

    fn restore(&self, keys: &[u8], values: &[u8], removed: &[u8]) -> Result<(), StoreError> {
        let (key_size, value_size) = self.sizes();
        self.mend()?;
        let mut writer = Writer::new(self)?;
        for key in removed.chunks_exact(key_size) {
            writer.remove(key)?;
        }
        let entries = keys.chunks_exact(key_size);
        let put = writer.put(entries.zip(values.chunks_exact(value_size)));
        put.map_err(|(_, error)| error)?;
        writer.end()
    }
}

/// Codec of the entries of a table with buckets.
pub(super) struct Entries<'a> {
    /// Buckets of the table.
    pub table: Buckets<'a>,
}

impl Codec for Entries<'_> {
    fn elements(&self) -> Elements<'_> {
        Elements::InMemory(&self.table)
    }

    fn layout(&self) -> &ValueAbi {
        &self.table.abi.value
    }

    fn key(&self, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError> {
        exact::put_key(&self.table.abi.key, keys)
    }

    fn matches(&self, key: &[u8]) -> Vec<KeyMatch> {
        exact::matches(&self.table.abi.key, key)
    }

    fn current(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>> {
        let table = &self.table;
        Ok(Some(match table.find(table.homes(key), key)? {
            Some(place) => Some(table.memory.value(place)?),
            None => None,
        }))
    }
}

#[cfg(test)]
mod tests;
