//! Tables with one prefix key: LPM tries.

use crate::encoding;
use crate::flat::{Codec, Elements};
use crate::memory::Map;
use control::StoreError;
use layout::{KeyAbi, ValueAbi};
use schema::{Bits, KeyMatch};
use std::io;

/// Layout of keys with a prefix. It converts matches to a key and a prefix length in bits, and back.
#[derive(Clone, Copy)]
pub(super) struct Prefixes<'a> {
    /// Layout of the key.
    pub key: &'a KeyAbi,
    /// Index of the P4 key that has the prefix.
    pub lpm_key: usize,
    /// Number of bits of the whole key before that P4 key.
    pub prefix_base: u32,
}

impl Prefixes<'_> {
    /// Encodes a key. Returns it with the length of its prefix in bits.
    pub(super) fn put(&self, keys: &[KeyMatch]) -> Result<(Vec<u8>, u32), StoreError> {
        let mut values = Vec::with_capacity(keys.len());
        let mut prefix = 0;
        for (index, (key, field)) in keys.iter().zip(&self.key.fields).enumerate() {
            let (value, length) = match key {
                KeyMatch::Exact(value) => (value.clone(), field.width),
                KeyMatch::Lpm(value, length) if index == self.lpm_key => (
                    Bits::new(
                        field.width,
                        value.value() & Bits::prefix_mask(field.width, *length).value(),
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
        Ok((encoding::put_key(self.key, &values), prefix))
    }

    /// Decodes a key with a prefix of this length.
    pub(super) fn get(&self, key: &[u8], length: u32) -> Vec<KeyMatch> {
        let length = length.saturating_sub(self.prefix_base);
        let fields = self.key.fields.iter().enumerate();
        let found = fields.map(|(index, field)| {
            let value = encoding::get(field, key);
            match index == self.lpm_key {
                true if length == 0 => KeyMatch::Any,
                true => KeyMatch::Lpm(value, length),
                false => KeyMatch::Exact(value),
            }
        });
        found.collect()
    }
}

/// LPM trie, whose keys begin with the prefix length.
pub(super) struct Lpm<'a> {
    /// The map.
    pub map: &'a dyn Map,
    /// Layout of the map's keys. Offsets include the prefix length.
    pub prefixes: Prefixes<'a>,
    /// Layout of the map's values.
    pub value: &'a ValueAbi,
}

impl Codec for Lpm<'_> {
    fn elements(&self) -> Elements<'_> {
        Elements::Map(self.map)
    }

    fn layout(&self) -> &ValueAbi {
        self.value
    }

    fn key(&self, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError> {
        let (mut bytes, length) = self.prefixes.put(keys)?;
        encoding::put_u32(&mut bytes, 0, length);
        Ok(bytes)
    }

    fn matches(&self, key: &[u8]) -> Vec<KeyMatch> {
        self.prefixes.get(key, encoding::get_u32(key, 0))
    }

    fn current(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>> {
        self.map.get_exactly(key)
    }
}
