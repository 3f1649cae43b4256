//! Changes of tables that keep each entry in one element of one map.

use super::records::Records;
use super::steps::Step;
use super::{layout, refused};
use crate::sys::Map;
use bpf::abi::ValueAbi;
use control::StoreError;
use schema::{ActionCall, KeyMatch};
use std::io;

/// How a map's elements are made of entries.
pub(super) trait Codec {
    /// The map.
    fn map(&self) -> &Map;

    /// Its values.
    fn layout(&self) -> &ValueAbi;

    /// The map's key for an entry's keys.
    fn key(&self, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError>;

    /// The entry's keys for a map's key.
    fn matches(&self, key: &[u8]) -> Vec<KeyMatch>;

    /// The value that a key has now, if it is there. The outer `None`: that can only be seen by reading all elements.
    fn current(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>>;
}

/// An entry as the maps keep it.
pub(super) type Kept = (Vec<KeyMatch>, ActionCall);

/// All entries, by key bytes.
pub(super) fn entries(codec: &dyn Codec) -> Result<Vec<Kept>, StoreError> {
    let mut all = Vec::new();
    let read = codec.map().each(|key, value| {
        if let Some(call) = layout::get_value(codec.layout(), value) {
            all.push((key.to_vec(), call));
        }
    });
    read.map_err(refused("read the table"))?;
    if !codec.map().is_array() {
        // A trie's keys begin with the prefix length, in the machine's order.
        let trie = codec.map().info().kind == libbpf_sys::BPF_MAP_TYPE_LPM_TRIE;
        let length = |key: &[u8]| if trie { layout::get_u32(key, 0) } else { 0 };
        all.sort_by(|(a, _), (b, _)| (length(a), a).cmp(&(length(b), b)));
    }
    Ok(all
        .into_iter()
        .map(|(key, call)| (codec.matches(&key), call))
        .collect())
}

/// A table's changes.
pub(super) struct Staged<'a> {
    codec: Box<dyn Codec + 'a>,
    capacity: u64,
    records: Records,
    /// Whether a key without a record is not in the map.
    complete: bool,
}

impl<'a> Staged<'a> {
    /// No changes yet.
    pub fn new(codec: Box<dyn Codec + 'a>, capacity: u64) -> Result<Staged<'a>, StoreError> {
        let info = codec.map().info();
        let mut staged = Staged {
            capacity,
            records: Records::new(info.key_size, info.value_size),
            complete: false,
            codec,
        };
        if staged.codec.map().is_array() {
            staged.read_all()?;
        } else {
            let empty = staged.codec.map().is_empty();
            staged.complete = empty.map_err(refused("read the table"))?;
        }
        Ok(staged)
    }

    fn read_all(&mut self) -> Result<(), StoreError> {
        if self.complete {
            return Ok(());
        }
        let (records, codec) = (&mut self.records, &self.codec);
        let read = codec.map().each(|key, value| {
            let is_entry = layout::get_value(codec.layout(), value).is_some();
            if is_entry && records.find(key).is_none() {
                records.add(key, Some(value));
            }
        });
        read.map_err(refused("read the table"))?;
        self.complete = true;
        Ok(())
    }

    fn record(&mut self, keys: &[KeyMatch]) -> Result<usize, StoreError> {
        let key = self.codec.key(keys)?;
        if let Some(number) = self.records.find(&key) {
            return Ok(number);
        }
        if !self.complete {
            let now = self.codec.current(&key);
            match now.map_err(refused("read the table"))? {
                Some(now) => return Ok(self.records.add(&key, now.as_deref())),
                None => self.read_all()?,
            }
        }
        Ok(match self.records.find(&key) {
            Some(number) => number,
            None => self.records.add(&key, None),
        })
    }

    /// Adds an entry.
    pub fn insert(
        &mut self,
        keys: &[KeyMatch],
        call: &ActionCall,
        origin: u32,
    ) -> Result<(), StoreError> {
        let number = self.record(keys)?;
        if self.records.new_value(number).is_some() {
            return Err(StoreError::Duplicate);
        }
        if self.records.live() >= self.capacity {
            let capacity = self.capacity;
            return Err(StoreError::Full { capacity });
        }
        let value = layout::put_value(self.codec.layout(), call, 0);
        self.records.set(number, Some(&value), origin);
        Ok(())
    }

    /// Gives an entry another action.
    pub fn modify(
        &mut self,
        keys: &[KeyMatch],
        call: &ActionCall,
        origin: u32,
    ) -> Result<(), StoreError> {
        let number = self.existing(keys)?;
        let value = layout::put_value(self.codec.layout(), call, 0);
        self.records.set(number, Some(&value), origin);
        Ok(())
    }

    /// Removes an entry.
    pub fn remove(&mut self, keys: &[KeyMatch], origin: u32) -> Result<(), StoreError> {
        let number = self.existing(keys)?;
        self.records.set(number, None, origin);
        Ok(())
    }

    fn existing(&mut self, keys: &[KeyMatch]) -> Result<usize, StoreError> {
        let number = self.record(keys)?;
        match self.records.new_value(number) {
            Some(_) => Ok(number),
            None => Err(StoreError::Missing),
        }
    }

    /// Removes all entries but those that are to be kept.
    pub fn clear(
        &mut self,
        kept: impl Fn(&[KeyMatch]) -> bool,
        origin: u32,
    ) -> Result<(), StoreError> {
        self.read_all()?;
        for number in 0..self.records.len() {
            let is_there = self.records.new_value(number).is_some();
            if is_there && !kept(&self.codec.matches(self.records.key(number))) {
                self.records.set(number, None, origin);
            }
        }
        Ok(())
    }

    /// What has to be written. What goes makes room for what comes.
    pub fn plan(self, map: &str) -> Vec<Step> {
        let mut found = self.records.differences();
        if !self.codec.map().is_array() {
            let gone = found.removals(map);
            let [changed, added] = found.writes(map, self.capacity);
            return vec![gone, changed, added];
        }
        // An array has all its elements always. A new entry's parameters are there before its action number is, so
        // that a packet sees all of it or nothing.
        let action = self.codec.layout().action_offset as usize;
        let size = self.codec.map().info().value_size;
        let mut without_action = found.added_values.clone();
        for value in without_action.chunks_exact_mut(size) {
            layout::put_u32(value, action, 0);
        }
        let first = Step::Prepare {
            map: map.to_string(),
            keys: found.added.clone(),
            values: without_action,
        };
        let zeros = |len: usize| vec![0; len];
        found.changed_old.extend(zeros(found.added_values.len()));
        found.changed_old.extend_from_slice(&found.gone_values);
        found.changed_new.append(&mut found.added_values);
        found.changed_new.extend(zeros(found.gone_values.len()));
        found.changed.append(&mut found.added);
        found.changed.append(&mut found.gone);
        found.changed_origins.append(&mut found.added_origins);
        let [changed, _] = found.writes(map, self.capacity);
        vec![first, changed]
    }
}
