//! Tables whose entries are found by one look-up of the whole key: array and hash maps. Buckets encode keys alike.

use crate::encoding;
use crate::flat::{Codec, Elements};
use crate::memory::Map;
use control::StoreError;
use layout::{KeyAbi, ValueAbi};
use schema::{Bits, KeyMatch};
use std::io;

/// Returns the values of keys, all of which must be exact.
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

/// Encodes a key.
pub(super) fn put_key(key: &KeyAbi, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError> {
    Ok(encoding::put_key(key, &exact(keys)?))
}

/// Decodes a key.
pub(super) fn matches(key: &KeyAbi, bytes: &[u8]) -> Vec<KeyMatch> {
    let fields = key.fields.iter();
    fields
        .map(|field| KeyMatch::Exact(encoding::get(field, bytes)))
        .collect()
}

/// Codec of an array map. The key is the index; an element with action 0 is no entry.
pub(super) struct Array<'a> {
    /// The map.
    pub map: &'a dyn Map,
    /// Width of the P4 key, in bits.
    pub key_width: u32,
    /// Layout of the map's values.
    pub value: &'a ValueAbi,
}

impl Codec for Array<'_> {
    fn elements(&self) -> Elements<'_> {
        Elements::Map(self.map)
    }

    fn layout(&self) -> &ValueAbi {
        self.value
    }

    fn key(&self, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError> {
        let size = u64::from(self.map.info().max_entries);
        match exact(keys)?.first().and_then(Bits::to_u64) {
            Some(index) if index < size => Ok((index as u32).to_ne_bytes().to_vec()),
            _ => Err(StoreError::OutOfRange { size }),
        }
    }

    fn matches(&self, key: &[u8]) -> Vec<KeyMatch> {
        let index = encoding::get_u32(key, 0);
        vec![KeyMatch::Exact(Bits::new(self.key_width, index))]
    }

    fn current(&self, _: &[u8]) -> io::Result<Option<Option<Vec<u8>>>> {
        // An array has so few elements that all are read at once.
        Ok(None)
    }
}

/// Codec of a hash map.
pub(super) struct Hash<'a> {
    /// The map.
    pub map: &'a dyn Map,
    /// Layout of the map's keys.
    pub key: &'a KeyAbi,
    /// Layout of the map's values.
    pub value: &'a ValueAbi,
}

impl Codec for Hash<'_> {
    fn elements(&self) -> Elements<'_> {
        Elements::Map(self.map)
    }

    fn layout(&self) -> &ValueAbi {
        self.value
    }

    fn key(&self, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError> {
        put_key(self.key, keys)
    }

    fn matches(&self, key: &[u8]) -> Vec<KeyMatch> {
        matches(self.key, key)
    }

    fn current(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>> {
        self.map.get_exactly(key)
    }
}
