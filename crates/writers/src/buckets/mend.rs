//! Repair of buckets after a writer was killed or failed: entries that are in two slots, slots that the overflow map does
//! not lead to, and counts that are too large.

use super::bucket::{BucketSlot, Counts};
use super::{Buckets, Homes};
use crate::errors::system;
use crate::in_memory::{unread, unwritten};
use control::StoreError;
use std::io;

impl Buckets<'_> {
    /// Removes duplicates and corrects all counts. Of duplicates the entry that packets find stays.
    pub(super) fn mend(&self) -> Result<(), StoreError> {
        // The writer may not have waited for packets that read the slots it has hidden.
        self.settle();
        let (counts, entries) = self.mend_buckets().map_err(unwritten)?;
        self.mend_overflow(counts)?;
        self.memory.set_entries(entries).map_err(unwritten)?;
        self.settle();
        Ok(())
    }

    /// Hides duplicates in the buckets, and what neither a hash nor the overflow map leads to. Returns the counts of all
    /// buckets and the number of entries.
    fn mend_buckets(&self) -> io::Result<(Vec<Counts>, u32)> {
        let mut counts = vec![Counts::default(); self.abi.count as usize];
        let mut entries = 0;
        for bucket in 0..self.abi.count {
            for place in self.memory.places(bucket)? {
                let key = self.memory.key(place)?;
                let homes = self.homes(&key);
                if self.found_first(homes, &key)? != Some(place) {
                    self.memory.show(bucket, None, Some(place))?;
                    continue;
                }
                entries += 1;
                if let Some(elsewhere) = homes.elsewhere(place) {
                    let count = &mut counts[homes.first as usize];
                    *count = count.plus(elsewhere);
                }
            }
        }
        Ok((counts, entries))
    }

    /// Finds the entry of a key as packets do if all counts are right.
    fn found_first(&self, homes: Homes, key: &[u8]) -> io::Result<Option<BucketSlot>> {
        for home in [homes.first, homes.second] {
            let found = self.find_in(home, key)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.overflow_slot(key)
    }

    /// Removes from the overflow map the keys whose entries are not where it leads, and writes all counts.
    fn mend_overflow(&self, counts: Vec<Counts>) -> Result<(), StoreError> {
        let (mut stale, mut failed) = (Vec::new(), None);
        let leads = |key: &[u8], number: &[u8]| -> io::Result<bool> {
            let Some(slot) = self.overflow_slot_of(number) else {
                return Ok(false);
            };
            let is_used = self.memory.places(slot.bucket)?.any(|used| used == slot);
            Ok(is_used
                && self.found_first(self.homes(key), key)? == Some(slot)
                && self.memory.has(slot, key)?)
        };
        let read = self
            .overflow
            .each(&mut |key, number| match leads(key, number) {
                Ok(true) => {}
                Ok(false) => stale.extend_from_slice(key),
                Err(error) => failed = Some(error),
            });
        read.and(failed.map_or(Ok(()), Err)).map_err(unread)?;
        let gone = self.overflow.delete_many(&stale);
        gone.map_err(|partial| system("remove an entry")(partial.error))?;
        for (bucket, right) in (0..).zip(counts) {
            if self.memory.counts(bucket).map_err(unread)? != right {
                self.memory.set_counts(bucket, right).map_err(unwritten)?;
            }
        }
        Ok(())
    }
}
