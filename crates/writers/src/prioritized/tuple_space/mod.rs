//! Tuple space search.
//!
//! A change inserts new entries, switches the list of masks, and removes stale entries. It reads all shadow entries,
//! unless it only adds a few that are evidently new ([`tally`]).

mod plan;
mod tally;

pub(super) use plan::{plan, tears};
pub(super) use tally::{Tally, Unread};

use super::Shadow;
use crate::errors::refused;
use crate::memory::Map;
use crate::{encoding, ranges::masked};
use control::StoreError;
use host::words::Words;
use layout::TupleSpaceAbi;
use schema::KeyMatch;
use std::collections::BTreeMap;

/// Tuple space with its maps.
pub(crate) struct TupleSpace<'a> {
    /// Description of the tuple space.
    pub abi: &'a TupleSpaceAbi,
    /// List of masks, in two halves.
    pub masks: &'a dyn Map,
    /// Map of entries that the program looks up.
    pub entries: &'a dyn Map,
    /// Shadow entries.
    pub shadow: Shadow<'a>,
    /// Memory that holds the head of the list.
    pub globals: &'a Words,
}

/// Mask in the layout of the key.
type Mask = Vec<u8>;

/// List of masks that the program iterates over.
struct List {
    /// Index of the list's first element.
    first: u32,
    /// Masks by tuple, each with the highest priority under it.
    tuples: BTreeMap<u32, (Mask, u32)>,
}

impl TupleSpace<'_> {
    /// Returns the masks and masked keys of an entry: all combinations of those of its keys.
    fn pieces(&self, keys: &[KeyMatch]) -> Vec<(Mask, Vec<u8>)> {
        let size = self.abi.key.size as usize;
        let mut all = vec![(vec![0; size], vec![0; size])];
        for ((key, field), ty) in keys
            .iter()
            .zip(&self.abi.key.fields)
            .zip(&self.shadow.types)
        {
            let choices = masked(key, *ty);
            if let [choice] = &choices[..] {
                for (mask, value) in &mut all {
                    encoding::put(field, &choice.mask, mask);
                    encoding::put(field, &choice.value, value);
                }
                continue;
            }
            let mut next = Vec::with_capacity(all.len() * choices.len());
            for (mask, value) in &all {
                for choice in &choices {
                    let (mut mask, mut value) = (mask.clone(), value.clone());
                    encoding::put(field, &choice.mask, &mut mask);
                    encoding::put(field, &choice.value, &mut value);
                    next.push((mask, value));
                }
            }
            all = next;
        }
        all
    }

    fn entry_key(&self, tuple: u32, masked: &[u8]) -> Vec<u8> {
        let mut key = vec![0; self.entries.info().key_size];
        encoding::put_u32(&mut key, 0, tuple);
        let from = self.abi.key_offset as usize;
        key[from..from + masked.len()].copy_from_slice(masked);
        key
    }

    fn read_list(&self) -> Result<List, StoreError> {
        let head = self
            .globals
            .u64(self.abi.head_offset)
            .map_err(refused("read the head of the masks"))?
            .to_ne_bytes();
        let (first, count) = (encoding::get_u32(&head, 0), encoding::get_u32(&head, 4));
        let mut tuples = BTreeMap::new();
        for index in first..first.saturating_add(count) {
            let bytes = self
                .masks
                .get(&index.to_ne_bytes())
                .map_err(refused("read the masks"))?
                .unwrap_or_default();
            let from = self.abi.mask_offset as usize;
            let mask = bytes
                .get(from..from + self.abi.key.size as usize)
                .unwrap_or_default()
                .to_vec();
            tuples.insert(
                encoding::get_u32(&bytes, 0),
                (mask, encoding::get_u32(&bytes, 4)),
            );
        }
        Ok(List { first, tuples })
    }
}
