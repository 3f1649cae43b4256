//! Encoding of keys, values and actions as the bytes that the program reads, and decoding.

use layout::{ByteOrder, FieldAbi, KeyAbi, ValueAbi};
use schema::{ActionCall, Bits};

/// Writes a scalar at its offset and leaves the bytes around it unchanged.
pub(crate) fn put(field: &FieldAbi, value: &Bits, bytes: &mut [u8]) {
    let target = &mut bytes[range(field)];
    target.fill(0);
    let digits = value.to_bytes();
    let excess = digits.len().saturating_sub(target.len());
    for (to, from) in target.iter_mut().rev().zip(digits[excess..].iter().rev()) {
        *to = *from;
    }
    if host_is_reversed(field.order) {
        target.reverse();
    }
}

/// Reads a scalar from its offset.
pub(crate) fn get(field: &FieldAbi, bytes: &[u8]) -> Bits {
    let mut digits = bytes[range(field)].to_vec();
    if host_is_reversed(field.order) {
        digits.reverse();
    }
    Bits::from_bytes(field.width, &digits)
}

fn range(field: &FieldAbi) -> std::ops::Range<usize> {
    field.offset as usize..(field.offset + field.size) as usize
}

fn host_is_reversed(order: ByteOrder) -> bool {
    order == ByteOrder::Host && cfg!(target_endian = "little")
}

/// Encodes a whole key from one value for each field.
pub(crate) fn put_key(key: &KeyAbi, values: &[Bits]) -> Vec<u8> {
    let mut bytes = vec![0; key.size as usize];
    for (field, value) in key.fields.iter().zip(values) {
        put(field, value, &mut bytes);
    }
    bytes
}

/// Reads a `u32` in the machine's order; 0 past the end.
pub(crate) fn get_u32(bytes: &[u8], offset: usize) -> u32 {
    bytes
        .get(offset..offset + 4)
        .and_then(|b| b.try_into().ok())
        .map_or(0, u32::from_ne_bytes)
}

/// Writes a `u32` in the machine's order.
pub(crate) fn put_u32(bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
}

/// Encodes an action with its arguments, and the priority where the look-up needs it.
pub(crate) fn put_value(value: &ValueAbi, call: &ActionCall, priority: u32) -> Vec<u8> {
    let mut bytes = vec![0; value.size as usize];
    if let Some(offset) = value.priority_offset {
        put_u32(&mut bytes, offset as usize, priority);
    }
    put_u32(&mut bytes, value.action_offset as usize, call.action + 1);
    if let Some(action) = value.actions.get(call.action as usize) {
        for (field, arg) in action.params.iter().zip(&call.args) {
            put(field, arg, &mut bytes);
        }
    }
    bytes
}

/// Copies the entry's number from its old value to its new one, if entries have numbers.
pub(crate) fn keep_number(value: &ValueAbi, old: &[u8], new: &mut [u8]) {
    if let Some(at) = value.number_offset {
        put_u32(new, at as usize, get_u32(old, at as usize));
    }
}

/// Decodes the action in a value. `None` where there is no entry.
pub(crate) fn get_value(value: &ValueAbi, bytes: &[u8]) -> Option<ActionCall> {
    let action = get_u32(bytes, value.action_offset as usize).checked_sub(1)?;
    let params = value
        .actions
        .get(action as usize)
        .map_or(&[][..], |a| &a.params);
    Some(ActionCall {
        action,
        args: params.iter().map(|p| get(p, bytes)).collect(),
    })
}

/// Returns true if two values have the same action and differ in at most one argument, which is an aligned word that
/// the program reads, and a map writes, at once.
pub(crate) fn differ_in_a_word(value: &ValueAbi, old: &[u8], new: &[u8]) -> bool {
    let action = |bytes| get_u32(bytes, value.action_offset as usize);
    let same = action(old)
        .checked_sub(1)
        .filter(|_| action(old) == action(new));
    let Some(found) = same.and_then(|number| value.actions.get(number as usize)) else {
        return false;
    };
    let differs = |field: &&FieldAbi| old.get(range(field)) != new.get(range(field));
    let mut fields = found.params.iter().filter(differs);
    let is_word = |field: &FieldAbi| {
        matches!(field.size, 1 | 2 | 4 | 8) && field.offset.is_multiple_of(field.size)
    };
    fields.next().is_none_or(is_word) && fields.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(offset: u32, size: u32, width: u32, order: ByteOrder) -> FieldAbi {
        FieldAbi {
            name: String::new(),
            offset,
            size,
            width,
            order,
        }
    }

    #[test]
    fn odd_widths_are_right_aligned_in_either_order() {
        let mut bytes = [0xff; 12];
        let value = Bits::new(20, 0x1_2345u32);
        put(&field(1, 3, 20, ByteOrder::Network), &value, &mut bytes);
        put(&field(4, 8, 20, ByteOrder::Host), &value, &mut bytes);
        assert_eq!(bytes[..4], [0xff, 0x01, 0x23, 0x45]);
        assert_eq!(bytes[4..], 0x1_2345u64.to_ne_bytes());
        assert_eq!(get(&field(1, 3, 20, ByteOrder::Network), &bytes), value);
        assert_eq!(get(&field(4, 8, 20, ByteOrder::Host), &bytes), value);
    }

    #[test]
    fn one_aligned_argument_is_a_word() {
        let params = vec![
            field(4, 4, 32, ByteOrder::Host),
            field(8, 2, 16, ByteOrder::Host),
            field(10, 6, 48, ByteOrder::Network),
        ];
        let action = |params| layout::ActionAbi {
            name: String::new(),
            params,
        };
        let value = ValueAbi {
            size: 16,
            priority_offset: None,
            action_offset: 0,
            number_offset: None,
            actions: vec![action(params), action(vec![])],
        };
        let old = [1, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9];
        let word = |at: std::ops::Range<usize>| {
            let mut new = old;
            new[at].fill(7);
            differ_in_a_word(&value, &old, &new)
        };
        assert!(word(4..8) && word(8..10) && word(4..5));
        assert!(!word(4..10) && !word(10..16));
        let mut other = old;
        other[0] = 2;
        assert!(!differ_in_a_word(&value, &old, &other));
    }

    #[test]
    fn a_zero_value_has_no_action() {
        let value = ValueAbi {
            size: 8,
            priority_offset: None,
            action_offset: 0,
            number_offset: None,
            actions: vec![],
        };
        assert_eq!(get_value(&value, &[0; 8]), None);
    }
}
