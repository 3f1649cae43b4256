//! Tables with one prefix key: LPM tries.

use super::{layout, ranges::prefix_mask, refused};
use crate::sys::{Map, Update};
use bpf::abi::{KeyAbi, ValueAbi};
use control::StoreError;
use ir::{ActionCall, Bits, KeyMatch};

/// Tries before Linux 6.13 ignore whether an update may make or replace an entry.
fn flags_are_heeded() -> bool {
    crate::probe::kernel_version() >= (6, 13)
}

/// An LPM trie; its keys begin with the prefix length.
pub struct Lpm<'a> {
    /// The map.
    pub map: &'a Map,
    /// The map's keys, the prefix length included in offsets.
    pub key: &'a KeyAbi,
    /// Which P4 key has the prefix.
    pub lpm_key: usize,
    /// Bits of the trie's key before that one's own.
    pub prefix_base: u32,
    /// The map's values.
    pub value: &'a ValueAbi,
}

impl Lpm<'_> {
    fn key(&self, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError> {
        let mut values = Vec::with_capacity(keys.len());
        let mut prefix = 0;
        for (index, (key, field)) in keys.iter().zip(&self.key.fields).enumerate() {
            let (value, length) = match key {
                KeyMatch::Exact(value) => (value.clone(), field.width),
                KeyMatch::Lpm(value, length) if index == self.lpm_key => (
                    Bits::new(
                        field.width,
                        value.value() & prefix_mask(field.width, *length).value(),
                    ),
                    *length,
                ),
                KeyMatch::Any if index == self.lpm_key => (Bits::zero(field.width), 0),
                _ => {
                    return Err(StoreError::Unsupported {
                        what: "this table takes one prefix and else exact values".into(),
                    });
                }
            };
            if index == self.lpm_key {
                prefix = self.prefix_base + length;
            }
            values.push(value);
        }
        let mut bytes = layout::put_key(self.key, &values);
        layout::put_u32(&mut bytes, 0, prefix);
        Ok(bytes)
    }

    /// Adds an entry.
    pub fn insert(&self, keys: &[KeyMatch], call: &ActionCall) -> Result<(), StoreError> {
        let key = self.key(keys)?;
        if !flags_are_heeded() && self.is_there(&key)? {
            return Err(StoreError::Duplicate);
        }
        let value = layout::put_value(self.value, call, 0);
        self.map
            .set(&key, &value, Update::New)
            .map_err(refused("write the table"))
    }

    /// Gives an entry another action.
    pub fn modify(&self, keys: &[KeyMatch], call: &ActionCall) -> Result<(), StoreError> {
        let key = self.key(keys)?;
        if !flags_are_heeded() && !self.is_there(&key)? {
            return Err(StoreError::Missing);
        }
        let value = layout::put_value(self.value, call, 0);
        self.map
            .set(&key, &value, Update::Existing)
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

    /// Looking a trie up finds the longest match, not this very prefix, so the keys are walked.
    fn is_there(&self, key: &[u8]) -> Result<bool, StoreError> {
        let near = self.map.get(key).map_err(refused("read the table"))?;
        if near.is_none() {
            return Ok(false);
        }
        let keys = self.map.keys().map_err(refused("read the table"))?;
        Ok(keys.iter().any(|k| k == key))
    }

    /// All entries, shortest prefix first.
    pub fn entries(&self) -> Result<Vec<(Vec<KeyMatch>, ActionCall)>, StoreError> {
        let mut keys = self.map.keys().map_err(refused("read the table"))?;
        keys.sort_by_key(|k| (layout::get_u32(k, 0), k.clone()));
        let mut all = Vec::new();
        for key in keys {
            // A look-up by the entry's own prefix finds the entry: nothing longer matches it.
            let bytes = self.map.get(&key).map_err(refused("read the table"))?;
            let Some(call) = bytes.and_then(|b| layout::get_value(self.value, &b)) else {
                continue;
            };
            let length = layout::get_u32(&key, 0).saturating_sub(self.prefix_base);
            let fields = self.key.fields.iter().enumerate();
            let matches = fields.map(|(index, field)| {
                let value = layout::get(field, &key);
                match index == self.lpm_key {
                    true if length == 0 => KeyMatch::Any,
                    true => KeyMatch::Lpm(value, length),
                    false => KeyMatch::Exact(value),
                }
            });
            all.push((matches.collect(), call));
        }
        Ok(all)
    }
}
