//! Canonical form of matches: equal matches become equal values.

use crate::{Bits, KeyMatch, MatchKind, Type};
use num_bigint::BigUint;

/// Returns the canonical form of a match for a key of this kind and type. Bits outside a mask or prefix are zero. A
/// match of every value is [`KeyMatch::Any`], except for exact keys. Any other match takes its kind's own form if there
/// is one: a single value is a prefix of full length for `lpm`, has a full mask for `ternary`, and is a range of one
/// value for `range`.
pub fn canonical(found: KeyMatch, kind: MatchKind, ty: Type) -> KeyMatch {
    let width = ty.width();
    match (kind, found) {
        (MatchKind::Selector, _) => KeyMatch::Any,
        (MatchKind::Exact | MatchKind::Optional, found) => single(found, kind, width),
        (MatchKind::Lpm, KeyMatch::Exact(value)) => prefix(value, width),
        (MatchKind::Lpm, KeyMatch::Lpm(value, length)) => prefix(value, length),
        (MatchKind::Lpm, KeyMatch::Ternary(value, mask)) => match mask.prefix_length() {
            Some(length) => prefix(value, length),
            None => masked(value, mask),
        },
        (MatchKind::Ternary, KeyMatch::Exact(value)) => masked(value, Bits::ones(width)),
        (MatchKind::Ternary, KeyMatch::Lpm(value, length)) => {
            masked(value, Bits::prefix_mask(width, length))
        }
        (MatchKind::Ternary, KeyMatch::Ternary(value, mask)) => masked(value, mask),
        (MatchKind::Range, KeyMatch::Exact(value)) => range(value.clone(), value, ty),
        (MatchKind::Range, KeyMatch::Lpm(value, length)) if !is_signed(ty) => {
            let mask = Bits::prefix_mask(width, length);
            let low = value.value() & mask.value();
            let high = &low | (Bits::ones(width).value() ^ mask.value());
            range(Bits::new(width, low), Bits::new(width, high), ty)
        }
        (MatchKind::Range, KeyMatch::Range(low, high)) => range(low, high, ty),
        (_, found) => found,
    }
}

/// Returns the canonical form of a match for an `exact` or `optional` key: a single value, or any value if the key is
/// optional.
fn single(found: KeyMatch, kind: MatchKind, width: u32) -> KeyMatch {
    match found {
        KeyMatch::Lpm(value, length) if length == width => KeyMatch::Exact(value),
        KeyMatch::Ternary(value, mask) if mask == Bits::ones(width) => KeyMatch::Exact(value),
        KeyMatch::Range(low, high) if low == high => KeyMatch::Exact(low),
        KeyMatch::Lpm(_, 0) if kind == MatchKind::Optional => KeyMatch::Any,
        KeyMatch::Ternary(_, mask) if mask.is_zero() && kind == MatchKind::Optional => {
            KeyMatch::Any
        }
        found => found,
    }
}

fn prefix(value: Bits, length: u32) -> KeyMatch {
    let width = value.width();
    match length {
        0 => KeyMatch::Any,
        _ if length >= width => KeyMatch::Lpm(value, width),
        _ => {
            let kept = value.value() & Bits::prefix_mask(width, length).value();
            KeyMatch::Lpm(Bits::new(width, kept), length)
        }
    }
}

fn masked(value: Bits, mask: Bits) -> KeyMatch {
    if mask.is_zero() {
        KeyMatch::Any
    } else {
        KeyMatch::Ternary(Bits::new(value.width(), value.value() & mask.value()), mask)
    }
}

fn range(low: Bits, high: Bits, ty: Type) -> KeyMatch {
    let width = ty.width();
    let (least, greatest) = if is_signed(ty) && width > 0 {
        let sign = BigUint::from(1u32) << (width - 1);
        let greatest = &sign - 1u32;
        (Bits::new(width, sign), Bits::new(width, greatest))
    } else {
        (Bits::zero(width), Bits::ones(width))
    };
    if low == least && high == greatest {
        KeyMatch::Any
    } else {
        KeyMatch::Range(low, high)
    }
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::Bits { signed: true, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(value: u32) -> Bits {
        Bits::new(8, value)
    }

    fn form(kind: MatchKind, found: KeyMatch) -> KeyMatch {
        canonical(found, kind, Type::bit(8))
    }

    #[test]
    fn ways_to_write_one_match_have_one_form() {
        use KeyMatch::*;
        let same = [
            (
                MatchKind::Exact,
                Ternary(bits(5), bits(255)),
                Exact(bits(5)),
            ),
            (MatchKind::Exact, Lpm(bits(5), 8), Exact(bits(5))),
            (MatchKind::Optional, Ternary(bits(5), bits(0)), Any),
            (MatchKind::Optional, Range(bits(5), bits(5)), Exact(bits(5))),
            (MatchKind::Lpm, Exact(bits(5)), Lpm(bits(5), 8)),
            (MatchKind::Lpm, Lpm(bits(0xa5), 4), Lpm(bits(0xa0), 4)),
            (MatchKind::Lpm, Lpm(bits(5), 0), Any),
            (
                MatchKind::Lpm,
                Ternary(bits(0xa5), bits(0xf0)),
                Lpm(bits(0xa0), 4),
            ),
            (
                MatchKind::Ternary,
                Exact(bits(5)),
                Ternary(bits(5), bits(255)),
            ),
            (
                MatchKind::Ternary,
                Lpm(bits(0xa5), 4),
                Ternary(bits(0xa0), bits(0xf0)),
            ),
            (
                MatchKind::Ternary,
                Ternary(bits(5), bits(1)),
                Ternary(bits(1), bits(1)),
            ),
            (MatchKind::Ternary, Ternary(bits(5), bits(0)), Any),
            (MatchKind::Range, Exact(bits(5)), Range(bits(5), bits(5))),
            (MatchKind::Range, Range(bits(0), bits(255)), Any),
            (
                MatchKind::Range,
                Lpm(bits(0xa5), 4),
                Range(bits(0xa0), bits(0xaf)),
            ),
            (MatchKind::Selector, Exact(bits(5)), Any),
        ];
        for (kind, found, expected) in same {
            assert_eq!(form(kind, found.clone()), expected, "{kind:?} {found:?}");
            assert_eq!(
                form(kind, expected.clone()),
                expected,
                "{kind:?} {expected:?}"
            );
        }
    }

    #[test]
    fn a_signed_range_is_everything_from_the_least_to_the_greatest_number() {
        let ty = Type::Bits {
            width: 8,
            signed: true,
        };
        let range = |low, high| KeyMatch::Range(bits(low), bits(high));
        let form = |found| canonical(found, MatchKind::Range, ty);
        assert_eq!(form(range(0x80, 0x7f)), KeyMatch::Any);
        assert_eq!(form(range(0, 0xff)), range(0, 0xff));
    }
}
