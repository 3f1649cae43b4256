//! Repair of buckets after a writer was killed or failed: entries that are in two slots, and counts that are too large.

use super::bucket::{Counts, Elsewhere};
use super::{Buckets, Found};
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
        let entries = entries + self.mend_overflow(counts)?;
        self.memory.set_entries(entries).map_err(unwritten)?;
        self.settle();
        Ok(())
    }

    /// Hides duplicates in the buckets. Returns the counts of all buckets without the overflow map, and the number of
    /// entries in the buckets.
    fn mend_buckets(&self) -> io::Result<(Vec<Counts>, u32)> {
        let mut counts = vec![Counts::default(); self.abi.count as usize];
        let mut entries = 0;
        for bucket in 0..self.abi.count {
            for place in self.memory.places(bucket)? {
                let key = self.memory.key(place)?;
                let homes = self.homes(&key);
                let there = Found::At(place);
                if self
                    .find_in(homes.first, &key)?
                    .is_some_and(|found| found != there)
                {
                    self.memory.show(bucket, None, Some(place))?;
                    continue;
                }
                entries += 1;
                if let Some(elsewhere) = homes.elsewhere(there) {
                    let count = &mut counts[homes.first as usize];
                    *count = count.plus(elsewhere);
                }
            }
        }
        Ok((counts, entries))
    }

    /// Removes duplicates from the overflow map and writes all counts. `counts` has those of the buckets alone. Returns
    /// the number of entries in the overflow map.
    fn mend_overflow(&self, mut counts: Vec<Counts>) -> Result<u32, StoreError> {
        let (mut entries, mut doubled, mut failed) = (0, Vec::new(), None);
        let mut note = |key: &[u8]| -> io::Result<()> {
            let homes = self.homes(key);
            let first = self.find_in(homes.first, key)?;
            if first.is_some() || self.find_in(homes.second, key)?.is_some() {
                doubled.extend_from_slice(key);
            } else {
                entries += 1;
                let count = &mut counts[homes.first as usize];
                *count = count.plus(Elsewhere::Overflow);
            }
            Ok(())
        };
        let read = self.overflow.each(&mut |key, _| {
            if let Err(error) = note(key) {
                failed = Some(error);
            }
        });
        read.and(failed.map_or(Ok(()), Err)).map_err(unread)?;
        let gone = self.overflow.delete_many(&doubled);
        gone.map_err(|partial| system("remove an entry")(partial.error))?;
        for (bucket, right) in (0..).zip(counts) {
            if self.memory.counts(bucket).map_err(unread)? != right {
                self.memory.set_counts(bucket, right).map_err(unwritten)?;
            }
        }
        Ok(entries)
    }
}
