//! Identity of a shadow entry, computed from its bytes without decoding, since a change of one entry reads all of them.

use super::Shadow;
use super::shadow::{decode_match, digits, encode_match, match_size};
use crate::ranges::masked;
use layout::FieldAbi;
use schema::{KeyMatch, Type};

/// Longest value that is compared as a number, in bytes.
const NUMBER: usize = size_of::<u128>();
/// Tag of a value under a mask, as `encode_match` writes it.
const TERNARY: u8 = 3;

impl Shadow<'_> {
    /// Computes [`Shadow::identity`] from the bytes of a shadow entry.
    pub(super) fn identity_of(&self, bytes: &[u8], identity: &mut Vec<u8>) -> Option<()> {
        identity.clear();
        let priority = if self.priorities {
            bytes.get(..4)?
        } else {
            &[0; 4][..]
        };
        identity.extend_from_slice(priority);
        let mut at = 4 + self.value.size as usize;
        for (field, ty) in self.key.fields.iter().zip(&self.types) {
            let size = match_size(field);
            one_form(bytes.get(at..at + size)?, field, *ty, identity)?;
            at += size;
        }
        Some(())
    }
}

/// Appends the canonical form of a match: a value under a mask where one can express it.
fn one_form(bytes: &[u8], field: &FieldAbi, ty: Type, out: &mut Vec<u8>) -> Option<()> {
    let size = digits(field);
    let (tag, rest) = bytes.split_first()?;
    let (a, b) = rest.split_at_checked(size)?;
    if size > NUMBER {
        let found = decode_match(bytes, field)?;
        let same = match &masked(&found, ty)[..] {
            [only] => KeyMatch::Ternary(only.value.clone(), only.mask.clone()),
            _ => found,
        };
        out.extend(encode_match(&same, field));
        return Some(());
    }
    let ones = u128::MAX.checked_shr(u128::BITS - field.width).unwrap_or(0);
    let (a, b) = (number(a), number(b));
    let under = |value: u128, mask: u128| (TERNARY, value & mask, mask);
    let (tag, a, b) = match tag {
        0 => under(0, 0),
        1 => under(a, ones),
        2 => {
            let length = u32::try_from(b).ok()?;
            let rest = ones.checked_shr(length).unwrap_or(0);
            under(a, ones & !rest)
        }
        3 => under(a, b),
        4 => {
            let differs = a ^ b;
            let sign = 1 << (field.width.max(1) - 1);
            let signed = matches!(ty, Type::Bits { signed: true, .. });
            let through_zero = signed && a & sign != 0 && b & sign == 0;
            let is_one_mask = differs & differs.wrapping_add(1) == 0 && a & differs == 0;
            match is_one_mask && a <= b && !through_zero {
                true => under(a, ones & !differs),
                false => (4, a, b),
            }
        }
        _ => return None,
    };
    out.push(tag);
    out.extend_from_slice(&a.to_be_bytes()[NUMBER - size..]);
    out.extend_from_slice(&b.to_be_bytes()[NUMBER - size..]);
    Some(())
}

fn number(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .fold(0, |all, byte| all << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use layout::ByteOrder;
    use schema::Bits;

    /// Returns the form of a match in [`Shadow::identity`].
    fn wanted(found: &KeyMatch, field: &FieldAbi, ty: Type) -> Vec<u8> {
        match &masked(found, ty)[..] {
            [only] => {
                let same = KeyMatch::Ternary(only.value.clone(), only.mask.clone());
                encode_match(&same, field)
            }
            _ => encode_match(found, field),
        }
    }

    #[test]
    fn bytes_have_the_identity_of_the_match_that_they_encode() {
        for (width, signed) in [
            (5, false),
            (5, true),
            (8, false),
            (128, false),
            (130, false),
        ] {
            let ty = Type::Bits { width, signed };
            let field = FieldAbi {
                name: String::new(),
                offset: 0,
                size: width.div_ceil(8),
                width,
                order: ByteOrder::Network,
            };
            let value = |v: u32| Bits::new(width, v);
            let mut all = vec![KeyMatch::Any, KeyMatch::Range(value(0), Bits::ones(width))];
            for a in 0..32 {
                all.push(KeyMatch::Exact(value(a)));
                let length = a.min(width);
                let prefix = value(a).value() & Bits::prefix_mask(width, length).value();
                all.push(KeyMatch::Lpm(Bits::new(width, prefix), length));
                for b in 0..32 {
                    all.push(KeyMatch::Ternary(value(a), value(b)));
                    let (low, high) = (value(a), value(b));
                    if low.to_int(signed) <= high.to_int(signed) {
                        all.push(KeyMatch::Range(low, high));
                    }
                }
            }
            for found in all {
                let mut out = Vec::new();
                let encoded = encode_match(&found, &field);
                one_form(&encoded, &field, ty, &mut out).expect("a match");
                assert_eq!(out, wanted(&found, &field, ty), "{found:?} of {ty:?}");
            }
        }
    }
}
