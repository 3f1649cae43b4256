//! Tables whose entries are found by one look-up of the whole key: array and hash maps.

use super::{layout, refused};
use crate::sys::{Map, Update};
use bpf::abi::{KeyAbi, ValueAbi};
use control::StoreError;
use ir::{ActionCall, Bits, KeyMatch};

/// The values of keys that must all be exact.
fn exact(keys: &[KeyMatch]) -> Result<Vec<Bits>, StoreError> {
    keys.iter()
        .map(|key| match key {
            KeyMatch::Exact(value) => Ok(value.clone()),
            _ => Err(StoreError::Unsupported {
                what: "this table takes exact values only".into(),
            }),
        })
        .collect()
}

/// An array map: the key is the index, an element with action 0 is no entry.
pub struct Array<'a> {
    /// The map.
    pub map: &'a Map,
    /// Bits of the key.
    pub key_width: u32,
    /// The map's values.
    pub value: &'a ValueAbi,
    /// Entries that the table takes; the map has one for each index, which may be more.
    pub capacity: u64,
}

impl Array<'_> {
    fn index(&self, keys: &[KeyMatch]) -> Result<[u8; 4], StoreError> {
        let size = u64::from(self.map.info().max_entries);
        match exact(keys)?.first().and_then(Bits::to_u64) {
            Some(index) if index < size => Ok((index as u32).to_ne_bytes()),
            _ => Err(StoreError::OutOfRange { size }),
        }
    }

    fn current(&self, index: &[u8]) -> Result<Option<ActionCall>, StoreError> {
        let bytes = self.map.get(index).map_err(refused("read the table"))?;
        Ok(bytes.and_then(|b| layout::get_value(self.value, &b)))
    }

    /// Adds an entry. Its parameters are there before its action number is, so that a packet sees
    /// all of it or nothing.
    pub fn insert(&self, keys: &[KeyMatch], call: &ActionCall) -> Result<(), StoreError> {
        let index = self.index(keys)?;
        if self.current(&index)?.is_some() {
            return Err(StoreError::Duplicate);
        }
        let larger = u64::from(self.map.info().max_entries) > self.capacity;
        if larger && self.entries()?.len() as u64 >= self.capacity {
            return Err(StoreError::Full {
                capacity: self.capacity,
            });
        }
        let value = layout::put_value(self.value, call, 0);
        let mut without_action = value.clone();
        layout::put_u32(&mut without_action, self.value.action_offset as usize, 0);
        let set = |v: &[u8]| self.map.set(&index, v, Update::Any);
        set(&without_action).map_err(refused("write the table"))?;
        set(&value).map_err(refused("write the table"))
    }

    /// Gives an entry another action.
    pub fn modify(&self, keys: &[KeyMatch], call: &ActionCall) -> Result<(), StoreError> {
        let index = self.index(keys)?;
        if self.current(&index)?.is_none() {
            return Err(StoreError::Missing);
        }
        let value = layout::put_value(self.value, call, 0);
        self.map
            .set(&index, &value, Update::Any)
            .map_err(refused("write the table"))
    }

    /// Removes an entry.
    pub fn remove(&self, keys: &[KeyMatch]) -> Result<(), StoreError> {
        let index = self.index(keys)?;
        if self.current(&index)?.is_none() {
            return Err(StoreError::Missing);
        }
        let zeros = vec![0; self.value.size as usize];
        self.map
            .set(&index, &zeros, Update::Any)
            .map_err(refused("write the table"))
    }

    /// All entries by index.
    pub fn entries(&self) -> Result<Vec<(Vec<KeyMatch>, ActionCall)>, StoreError> {
        let mut all = Vec::new();
        for index in 0..self.map.info().max_entries {
            if let Some(call) = self.current(&index.to_ne_bytes())? {
                let key = KeyMatch::Exact(Bits::new(self.key_width, index));
                all.push((vec![key], call));
            }
        }
        Ok(all)
    }
}

/// A hash map.
pub struct Hash<'a> {
    /// The map.
    pub map: &'a Map,
    /// The map's keys.
    pub key: &'a KeyAbi,
    /// The map's values.
    pub value: &'a ValueAbi,
}

impl Hash<'_> {
    fn key(&self, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError> {
        Ok(layout::put_key(self.key, &exact(keys)?))
    }

    /// Adds an entry.
    pub fn insert(&self, keys: &[KeyMatch], call: &ActionCall) -> Result<(), StoreError> {
        let value = layout::put_value(self.value, call, 0);
        self.map
            .set(&self.key(keys)?, &value, Update::New)
            .map_err(refused("write the table"))
    }

    /// Gives an entry another action.
    pub fn modify(&self, keys: &[KeyMatch], call: &ActionCall) -> Result<(), StoreError> {
        let value = layout::put_value(self.value, call, 0);
        self.map
            .set(&self.key(keys)?, &value, Update::Existing)
            .map_err(refused("write the table"))
    }

    /// Removes an entry.
    pub fn remove(&self, keys: &[KeyMatch]) -> Result<(), StoreError> {
        match self.map.delete(&self.key(keys)?) {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::Missing),
            Err(e) => Err(refused("write the table")(e)),
        }
    }

    /// All entries, by key bytes.
    pub fn entries(&self) -> Result<Vec<(Vec<KeyMatch>, ActionCall)>, StoreError> {
        let mut keys = self.map.keys().map_err(refused("read the table"))?;
        keys.sort();
        let mut all = Vec::new();
        for key in keys {
            let bytes = self.map.get(&key).map_err(refused("read the table"))?;
            if let Some(call) = bytes.and_then(|b| layout::get_value(self.value, &b)) {
                let fields = self.key.fields.iter();
                all.push((
                    fields
                        .map(|f| KeyMatch::Exact(layout::get(f, &key)))
                        .collect(),
                    call,
                ));
            }
        }
        Ok(all)
    }
}
