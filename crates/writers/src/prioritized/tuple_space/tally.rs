//! Tally of the shadow entries: their count and the next number. With it, adding an entry does not require reading all
//! others, so that it takes as long in a large table as in a small one.

use super::{List, Mask, TupleSpace};
use crate::encoding;
use crate::errors::refused;
use crate::records::NO_ORIGIN;
use crate::steps::ChangeStep;
use control::StoreError;
use schema::Entry;
use std::collections::HashMap;

/// Tally in the last element of the masks, as [`layout::TupleSpaceAbi::tally`] describes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::prioritized) struct Tally {
    /// Number greater than those of all shadow entries; not 0.
    pub next: u32,
    /// Number of shadow entries.
    pub count: u32,
}

/// Existing shadow entries that are not read.
pub(in crate::prioritized) struct Unread {
    pub tally: Tally,
    /// Tuples that the program looks up, by mask.
    tuples: HashMap<Mask, u32>,
}

impl TupleSpace<'_> {
    /// Reads the tally. `None` means that the shadow entries must be read.
    pub(in crate::prioritized) fn unread(&self) -> Result<Option<Unread>, StoreError> {
        let Some(bytes) = self.tally_bytes()? else {
            return Ok(None);
        };
        let tally = Tally {
            next: encoding::get_u32(&bytes, 0),
            count: encoding::get_u32(&bytes, 4),
        };
        if tally.next == 0 {
            return Ok(None);
        }
        let List { tuples, .. } = self.read_list()?;
        let by_mask = tuples.into_iter().map(|(number, (mask, _))| (mask, number));
        Ok(Some(Unread {
            tally,
            tuples: by_mask.collect(),
        }))
    }

    /// Returns the step that writes the tally after a change.
    pub(super) fn tally_step(
        &self,
        tally: Option<Tally>,
    ) -> Result<Option<ChangeStep>, StoreError> {
        let Some(old) = self.tally_bytes()? else {
            return Ok(None);
        };
        let mut new = vec![0; old.len()];
        let Tally { next, count } = tally.unwrap_or(Tally { next: 0, count: 0 });
        encoding::put_u32(&mut new, 0, next);
        encoding::put_u32(&mut new, 4, count);
        Ok((new != old).then(|| ChangeStep::Replace {
            map: self.abi.masks.clone(),
            keys: self.abi.tally().to_ne_bytes().to_vec(),
            old,
            new,
            origins: vec![NO_ORIGIN],
        }))
    }

    /// Reads the last element of the masks. `None` if the program was loaded by a version of Onpath that did not create
    /// it.
    fn tally_bytes(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let at = self.abi.tally();
        if self.masks.info().max_entries <= at {
            return Ok(None);
        }
        let bytes = self.masks.get(&at.to_ne_bytes());
        bytes.map_err(refused("read how many entries there are"))
    }

    /// Returns true if the map of entries proves that no shadow entry has this match and priority. For each shadow
    /// entry the map has elements with its priority, or with that of another entry that hides it.
    pub(in crate::prioritized) fn lacks(
        &self,
        unread: &Unread,
        entry: &Entry,
    ) -> Result<bool, StoreError> {
        for (mask, key) in self.pieces(&entry.keys) {
            let Some(tuple) = unread.tuples.get(&mask) else {
                return Ok(true);
            };
            let found = self.entries.get(&self.entry_key(*tuple, &key));
            let Some(value) = found.map_err(refused("read the table"))? else {
                return Ok(true);
            };
            let offset = self.abi.value.priority_offset;
            let priority = offset.map(|offset| encoding::get_u32(&value, offset as usize));
            if priority.is_some_and(|priority| priority < entry.priority) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
