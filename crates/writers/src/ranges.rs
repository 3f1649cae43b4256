//! Conversion of ternary, prefix, range and optional matches to values under masks.

use num_bigint::BigUint;
use num_traits::{One, Zero};
use schema::{Bits, KeyMatch, Type};

/// Value that is compared only where the mask has ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Masked {
    /// Value, zero where the mask is zero.
    pub value: Bits,
    /// Mask.
    pub mask: Bits,
}

/// Returns disjoint masked values that together match exactly what `key` matches. A range of width w takes at most 2w -
/// 2.
pub(crate) fn masked(key: &KeyMatch, ty: Type) -> Vec<Masked> {
    let width = ty.width();
    let one = |value: Bits, mask: Bits| vec![Masked { value, mask }];
    match key {
        KeyMatch::Exact(value) => one(value.clone(), Bits::ones(width)),
        KeyMatch::Any => one(Bits::zero(width), Bits::zero(width)),
        KeyMatch::Ternary(value, mask) => {
            one(Bits::new(width, value.value() & mask.value()), mask.clone())
        }
        KeyMatch::Lpm(value, length) => one(value.clone(), Bits::prefix_mask(width, *length)),
        KeyMatch::Range(low, high) => match ty {
            Type::Bits { signed: true, .. } if low.to_signed() < high.to_signed() => {
                signed_range(width, low, high)
            }
            _ => unsigned_range(width, low.value(), high.value()),
        },
    }
}

/// Returns the least and the greatest value of a match that is one range, as bytes in network order. Of a signed key
/// the sign bit is inverted, so that values are ordered as their bytes are. `None` if the match is no range.
pub(crate) fn ends(key: &KeyMatch, ty: Type) -> Option<[Vec<u8>; 2]> {
    let width = ty.width();
    let signed = matches!(ty, Type::Bits { signed: true, .. }) && width > 0;
    let ordered = |value: &BigUint| match signed {
        true => value ^ (BigUint::one() << (width - 1)),
        false => value.clone(),
    };
    let under = |value: &BigUint, mask: &Bits| {
        let low = ordered(value) & mask.value();
        let high = &low | (Bits::ones(width).value() ^ mask.value());
        (low, high)
    };
    let (low, high) = match key {
        KeyMatch::Exact(value) => (ordered(value.value()), ordered(value.value())),
        KeyMatch::Any => under(&BigUint::zero(), &Bits::zero(width)),
        KeyMatch::Lpm(value, length) => under(value.value(), &Bits::prefix_mask(width, *length)),
        KeyMatch::Ternary(value, mask) => {
            mask.prefix_length()?;
            under(value.value(), mask)
        }
        KeyMatch::Range(low, high) => (ordered(low.value()), ordered(high.value())),
    };
    Some([low, high].map(|end| Bits::new(width, end).to_bytes()))
}

/// Splits a signed range. In two's complement the negative numbers lie above the others.
fn signed_range(width: u32, low: &Bits, high: &Bits) -> Vec<Masked> {
    let negative = |b: &Bits| b.to_signed().sign() == num_bigint::Sign::Minus;
    if negative(low) && !negative(high) {
        let mut all = unsigned_range(width, low.value(), Bits::ones(width).value());
        all.extend(unsigned_range(width, &BigUint::zero(), high.value()));
        all
    } else {
        unsigned_range(width, low.value(), high.value())
    }
}

/// Splits a range: repeatedly takes the largest aligned power of two that begins at `low` and does not pass `high`.
fn unsigned_range(width: u32, low: &BigUint, high: &BigUint) -> Vec<Masked> {
    let mut all = Vec::new();
    let mut from = low.clone();
    while from <= *high {
        let room = high - &from + BigUint::one();
        let aligned = from.trailing_zeros().unwrap_or(u64::from(width));
        let bits = aligned.min(room.bits() - 1).min(u64::from(width));
        all.push(Masked {
            value: Bits::new(width, from.clone()),
            mask: Bits::prefix_mask(width, width - bits as u32),
        });
        from += BigUint::one() << bits;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(all: &[Masked], value: u64) -> usize {
        all.iter()
            .filter(|m| (m.mask.value() & BigUint::from(value)) == *m.value.value())
            .count()
    }

    #[test]
    fn every_range_of_five_bits_matches_exactly_its_values_once() {
        for low in 0..32u64 {
            for high in low..32 {
                let key = KeyMatch::Range(Bits::new(5, low), Bits::new(5, high));
                let all = masked(&key, Type::bit(5));
                assert!(all.len() <= 8, "{low}..={high}: {}", all.len());
                for value in 0..32 {
                    let expected = usize::from((low..=high).contains(&value));
                    assert_eq!(matches(&all, value), expected, "{low}..={high} {value}");
                }
            }
        }
    }

    #[test]
    fn signed_ranges_go_through_zero() {
        let ty = Type::Bits {
            width: 8,
            signed: true,
        };
        let key = KeyMatch::Range(Bits::new(8, 0xf0u32), Bits::new(8, 0x05u32));
        let all = masked(&key, ty);
        for value in 0..=255u64 {
            let expected = usize::from((-16..=5).contains(&(value as u8 as i8)));
            assert_eq!(matches(&all, value), expected, "{value}");
        }
    }

    #[test]
    fn the_whole_range_is_one_empty_mask() {
        let key = KeyMatch::Range(Bits::zero(16), Bits::ones(16));
        let all = masked(&key, Type::bit(16));
        assert_eq!(all.len(), 1);
        assert!(all[0].mask.is_zero());
    }
}
