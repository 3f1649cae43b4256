//! Shadow entries as bytes: an entry as it was given, and its identity.

use crate::encoding;
use crate::errors::refused;
use crate::memory::Map;
use crate::ranges::masked;
use control::StoreError;
use layout::{FieldAbi, KeyAbi, ValueAbi};
use schema::{ActionCall, Bits, Entry, KeyMatch, Type};
use std::cmp::Reverse;

/// Shadow entries of a table.
pub(crate) struct Shadow<'a> {
    /// Name of the map.
    pub name: &'a str,
    /// Map of shadow entries, by number.
    pub map: &'a dyn Map,
    /// Layout of the table's key.
    pub key: &'a KeyAbi,
    /// Layout of the table's values.
    pub value: &'a ValueAbi,
    /// Types of the P4 keys.
    pub types: Vec<Type>,
    /// Capacity in P4 entries.
    pub capacity: u64,
    /// True if entries have priorities. Value sets have none.
    pub priorities: bool,
}

/// Shadow entries in the order in which they were given.
pub(super) struct Stored {
    /// Size of a shadow entry, in bytes.
    size: usize,
    /// Number of each entry, and the offset of its bytes.
    order: Vec<(u32, usize)>,
    bytes: Vec<u8>,
}

impl Stored {
    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let all = self.order.iter();
        all.map(|(number, at)| (*number, &self.bytes[*at..*at + self.size]))
    }
}

impl Shadow<'_> {
    /// Returns all entries in the order in which they were given.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        let stored = self.read()?;
        Ok(stored
            .iter()
            .filter_map(|(_, bytes)| self.decode(bytes))
            .collect())
    }

    /// Returns all entries, each with the number of its direct objects. The number is 0 if entries have none.
    pub(crate) fn numbered(&self) -> Result<Vec<(Entry, u32)>, StoreError> {
        let stored = self.read()?;
        let number = |bytes: &[u8]| {
            let at = self.number_offset();
            at.map_or(0, |at| encoding::get_u32(bytes, at))
        };
        Ok(stored
            .iter()
            .filter_map(|(_, bytes)| Some((self.decode(bytes)?, number(bytes))))
            .collect())
    }

    /// Reads all entries as bytes.
    pub(super) fn read(&self) -> Result<Stored, StoreError> {
        let mut all = Stored {
            size: self.map.info().value_size,
            order: Vec::new(),
            bytes: Vec::new(),
        };
        self.map
            .each(&mut |key, value| {
                all.order.push((encoding::get_u32(key, 0), all.bytes.len()));
                all.bytes.extend_from_slice(value);
            })
            .map_err(refused("read the table's shadow entries"))?;
        all.order.sort_unstable();
        Ok(all)
    }

    /// Encodes an entry as the shadow map stores it.
    pub(super) fn encode(&self, entry: &Entry) -> Vec<u8> {
        let mut bytes = entry.priority.to_ne_bytes().to_vec();
        bytes.extend(encoding::put_value(
            self.value,
            &entry.action,
            entry.priority,
        ));
        for (key, field) in entry.keys.iter().zip(&self.key.fields) {
            bytes.extend(encode_match(key, field));
        }
        bytes.resize(self.map.info().value_size, 0);
        bytes
    }

    pub(super) fn decode(&self, bytes: &[u8]) -> Option<Entry> {
        let priority = encoding::get_u32(bytes, 0);
        let mut at = VALUE + self.value.size as usize;
        let action = encoding::get_value(self.value, bytes.get(VALUE..at)?).unwrap_or(ActionCall {
            action: 0,
            args: Vec::new(),
        });
        let mut keys = Vec::new();
        for field in &self.key.fields {
            let size = match_size(field);
            keys.push(decode_match(bytes.get(at..at + size)?, field)?);
            at += size;
        }
        Some(Entry {
            keys,
            priority,
            action,
            is_const: false,
        })
    }

    /// Returns the value that packets read, from the bytes of a shadow entry.
    pub(super) fn value<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[VALUE..][..self.value.size as usize]
    }

    /// Returns the offset of an entry's number in its bytes, if entries have numbers.
    pub(super) fn number_offset(&self) -> Option<usize> {
        let at = self.value.number_offset;
        at.map(|at| VALUE + at as usize)
    }

    /// Copies the entry's number from its old bytes to its new ones, if entries have numbers.
    pub(super) fn keep_number(&self, old: &[u8], new: &mut [u8]) {
        encoding::keep_number(self.value, &old[VALUE..], &mut new[VALUE..]);
    }

    /// Returns the sort key of an entry, from its bytes: entries that win come first. Priority decides, then the sum of
    /// prefix lengths.
    pub(super) fn rank(&self, bytes: &[u8]) -> (Reverse<u32>, Reverse<u32>) {
        let mut at = VALUE + self.value.size as usize;
        let mut lengths = 0;
        for field in &self.key.fields {
            let size = match_size(field);
            if bytes.get(at) == Some(&PREFIX) {
                let length = &bytes[at + 1 + digits(field)..at + size];
                let last = length.iter().rev().take(2).rev();
                lengths += last.fold(0, |all, byte| all << 8 | u32::from(*byte));
            }
            at += size;
        }
        (Reverse(encoding::get_u32(bytes, 0)), Reverse(lengths))
    }

    /// Returns the identity of an entry. Its length depends on the table only. Different notations of the same match
    /// have the same identity.
    pub(super) fn identity(&self, keys: &[KeyMatch], priority: u32) -> Vec<u8> {
        let priority = if self.priorities { priority } else { 0 };
        let mut bytes = priority.to_ne_bytes().to_vec();
        for ((key, field), ty) in keys.iter().zip(&self.key.fields).zip(&self.types) {
            // A range that one mask can express becomes that mask.
            let same = match (key, &masked(key, *ty)[..]) {
                (_, [only]) => KeyMatch::Ternary(only.value.clone(), only.mask.clone()),
                _ => key.clone(),
            };
            bytes.extend(encode_match(&same, field));
        }
        bytes.resize(self.identity_size(), 0);
        bytes
    }

    /// Returns the size of an identity, in bytes.
    pub(super) fn identity_size(&self) -> usize {
        let keys = self.key.fields.iter().map(match_size);
        size_of::<u32>() + keys.sum::<usize>()
    }
}

/// Offset of the value, after the priority.
const VALUE: usize = 4;

/// Tag of a prefix match.
const PREFIX: u8 = 2;

/// Returns the size of a value of a key, in bytes.
pub(super) fn digits(field: &FieldAbi) -> usize {
    field.width.div_ceil(8) as usize
}

pub(super) fn match_size(field: &FieldAbi) -> usize {
    1 + 2 * digits(field)
}

pub(super) fn encode_match(key: &KeyMatch, field: &FieldAbi) -> Vec<u8> {
    let zero = Bits::zero(field.width);
    let (tag, a, b) = match key {
        KeyMatch::Any => (0, zero.clone(), zero),
        KeyMatch::Exact(value) => (1, value.clone(), zero),
        KeyMatch::Lpm(value, length) => (
            PREFIX,
            value.clone(),
            Bits::new(digits(field) as u32 * 8, *length),
        ),
        KeyMatch::Ternary(value, mask) => (3, value.clone(), mask.clone()),
        KeyMatch::Range(low, high) => (4, low.clone(), high.clone()),
    };
    let mut bytes = vec![tag];
    bytes.extend(a.to_bytes());
    bytes.extend(b.to_bytes());
    bytes
}

pub(super) fn decode_match(bytes: &[u8], field: &FieldAbi) -> Option<KeyMatch> {
    let size = digits(field);
    let a = Bits::from_bytes(field.width, bytes.get(1..1 + size)?);
    let b = bytes.get(1 + size..1 + 2 * size)?;
    let second = Bits::from_bytes(field.width, b);
    Some(match bytes.first()? {
        0 => KeyMatch::Any,
        1 => KeyMatch::Exact(a),
        2 => {
            let length = Bits::from_bytes(size as u32 * 8, b).to_u64()?;
            KeyMatch::Lpm(a, length as u32)
        }
        3 => KeyMatch::Ternary(a, second),
        4 => KeyMatch::Range(a, second),
        _ => return None,
    })
}
