//! Tables with ternary, range and optional keys: tuple space search.
//!
//! The shadow entries are the entries as they were given; the maps that the program reads follow from them. A
//! change ([`Staged`]) puts new entries in, switches the list of masks, and takes out what is left over. It reads all
//! shadow entries, unless it only adds a few that can be seen to be new ([`tally`]).

mod identity;
mod plan;
mod shadow;
mod staged;
mod tally;

pub(super) use staged::Staged;

use super::globals::Globals;
use super::{layout, ranges::masked, refused};
use crate::sys::Map;
use bpf::abi::TupleSpaceAbi;
use control::StoreError;
use schema::{Entry, KeyMatch, Type};
use std::collections::BTreeMap;

/// A tuple space with its maps.
pub(super) struct TupleSpace<'a> {
    /// Its description.
    pub abi: &'a TupleSpaceAbi,
    /// The list of masks, in two halves.
    pub masks: &'a Map,
    /// What the program looks up.
    pub entries: &'a Map,
    /// The shadow entries, by number.
    pub shadow: &'a Map,
    /// Where the head of the list is.
    pub globals: &'a Globals,
    /// The types of the P4 keys.
    pub types: Vec<Type>,
    /// How many P4 entries it may hold.
    pub capacity: u64,
    /// Whether entries have priorities; value sets have none.
    pub priorities: bool,
}

/// A mask in the layout of the key.
type Mask = Vec<u8>;

/// The list of masks that the program goes through.
struct List {
    /// Where it begins.
    first: u32,
    /// The masks by tuple, each with the highest priority under it.
    tuples: BTreeMap<u32, (Mask, u32)>,
}

/// Shadow entries in the order in which they were given.
struct Shadow {
    /// Bytes of one.
    size: usize,
    /// Their numbers, and where each begins.
    order: Vec<(u32, usize)>,
    bytes: Vec<u8>,
}

impl Shadow {
    fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let all = self.order.iter();
        all.map(|(number, at)| (*number, &self.bytes[*at..*at + self.size]))
    }
}

impl TupleSpace<'_> {
    /// All entries in the order in which they were given.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        let stored = self.read_shadow()?;
        Ok(stored
            .iter()
            .filter_map(|(_, bytes)| self.decode(bytes))
            .collect())
    }

    /// The shadow entries as bytes.
    fn read_shadow(&self) -> Result<Shadow, StoreError> {
        let mut all = Shadow {
            size: self.shadow.info().value_size,
            order: Vec::new(),
            bytes: Vec::new(),
        };
        self.shadow
            .each(|key, value| {
                all.order.push((layout::get_u32(key, 0), all.bytes.len()));
                all.bytes.extend_from_slice(value);
            })
            .map_err(refused("read the table's shadow entries"))?;
        all.order.sort_unstable();
        Ok(all)
    }

    /// The masks and masked keys of an entry: every combination of the keys' own.
    fn pieces(&self, keys: &[KeyMatch]) -> Vec<(Mask, Vec<u8>)> {
        let size = self.abi.key.size as usize;
        let mut all = vec![(vec![0; size], vec![0; size])];
        for ((key, field), ty) in keys.iter().zip(&self.abi.key.fields).zip(&self.types) {
            let choices = masked(key, *ty);
            if let [choice] = &choices[..] {
                for (mask, value) in &mut all {
                    layout::put(field, &choice.mask, mask);
                    layout::put(field, &choice.value, value);
                }
                continue;
            }
            let mut next = Vec::with_capacity(all.len() * choices.len());
            for (mask, value) in &all {
                for choice in &choices {
                    let (mut mask, mut value) = (mask.clone(), value.clone());
                    layout::put(field, &choice.mask, &mut mask);
                    layout::put(field, &choice.value, &mut value);
                    next.push((mask, value));
                }
            }
            all = next;
        }
        all
    }

    fn entry_key(&self, tuple: u32, masked: &[u8]) -> Vec<u8> {
        let mut key = vec![0; self.entries.info().key_size];
        layout::put_u32(&mut key, 0, tuple);
        let from = self.abi.key_offset as usize;
        key[from..from + masked.len()].copy_from_slice(masked);
        key
    }

    /// Has the program find nothing, in maps that are empty.
    pub(crate) fn start_empty(&self) -> Result<(), StoreError> {
        let emptied = self.globals.set_u64(self.abi.head_offset, 0);
        emptied.map_err(refused("write the head of the masks"))
    }

    fn read_list(&self) -> Result<List, StoreError> {
        let head = self
            .globals
            .u64(self.abi.head_offset)
            .map_err(refused("read the head of the masks"))?
            .to_ne_bytes();
        let (first, count) = (layout::get_u32(&head, 0), layout::get_u32(&head, 4));
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
                layout::get_u32(&bytes, 0),
                (mask, layout::get_u32(&bytes, 4)),
            );
        }
        Ok(List { first, tuples })
    }
}
