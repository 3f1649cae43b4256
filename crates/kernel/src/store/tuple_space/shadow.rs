//! Shadow entries as bytes: what an entry was given as, and what finds it.

use super::TupleSpace;
use crate::store::layout;
use crate::store::ranges::masked;
use bpf::abi::FieldAbi;
use schema::{ActionCall, Bits, Entry, KeyMatch};

impl TupleSpace<'_> {
    /// An entry as the shadow map keeps it.
    pub(super) fn encode(&self, entry: &Entry) -> Vec<u8> {
        let mut bytes = entry.priority.to_ne_bytes().to_vec();
        bytes.extend(layout::put_value(
            &self.abi.value,
            &entry.action,
            entry.priority,
        ));
        for (key, field) in entry.keys.iter().zip(&self.abi.key.fields) {
            bytes.extend(encode_match(key, field));
        }
        bytes.resize(self.shadow.info().value_size, 0);
        bytes
    }

    pub(super) fn decode(&self, bytes: &[u8]) -> Option<Entry> {
        let priority = layout::get_u32(bytes, 0);
        let mut at = 4 + self.abi.value.size as usize;
        let action = layout::get_value(&self.abi.value, bytes.get(4..at)?).unwrap_or(ActionCall {
            action: 0,
            args: Vec::new(),
        });
        let mut keys = Vec::new();
        for field in &self.abi.key.fields {
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

    /// What finds an entry, whose length depends on the table only: two notations of the same match are equal.
    pub(super) fn identity(&self, keys: &[KeyMatch], priority: u32) -> Vec<u8> {
        let priority = if self.priorities { priority } else { 0 };
        let mut bytes = priority.to_ne_bytes().to_vec();
        for ((key, field), ty) in keys.iter().zip(&self.abi.key.fields).zip(&self.types) {
            // A range that one mask can express is that mask.
            let same = match (key, &masked(key, *ty)[..]) {
                (_, [only]) => KeyMatch::Ternary(only.value.clone(), only.mask.clone()),
                _ => key.clone(),
            };
            bytes.extend(encode_match(&same, field));
        }
        bytes.resize(self.identity_size(), 0);
        bytes
    }

    /// Bytes of what finds an entry.
    pub(super) fn identity_size(&self) -> usize {
        let keys = self.abi.key.fields.iter().map(match_size);
        size_of::<u32>() + keys.sum::<usize>()
    }
}

/// Bytes of a value of a key.
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
            2,
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
