//! Matching one key against an entry.

use ir::{Bits, KeyMatch};

/// Whether a value matches; ranges by `signed`.
pub(super) fn key_matches(value: &Bits, found: &KeyMatch, signed: bool) -> bool {
    match found {
        KeyMatch::Any => true,
        KeyMatch::Exact(want) => value == want,
        KeyMatch::Lpm(want, length) => has_prefix(value, want, *length),
        KeyMatch::Ternary(want, mask) => value.value() & mask.value() == *want.value(),
        KeyMatch::Range(low, high) if signed => {
            let value = value.to_signed();
            low.to_signed() <= value && value <= high.to_signed()
        }
        KeyMatch::Range(low, high) => low.value() <= value.value() && value.value() <= high.value(),
    }
}

/// Whether the first `length` bits agree.
fn has_prefix(value: &Bits, want: &Bits, length: u32) -> bool {
    let behind = value.width() - length.min(value.width());
    value.value() >> behind == want.value() >> behind
}

/// Whether values are a member of a value set.
pub(crate) fn member_matches<'a>(
    values: impl Iterator<Item = (&'a Bits, bool)>,
    member: &[KeyMatch],
) -> bool {
    values
        .zip(member)
        .all(|((value, signed), found)| key_matches(value, found, signed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(value: u32) -> Bits {
        Bits::new(8, value)
    }

    #[test]
    fn each_kind_of_match() {
        let cases = [
            (KeyMatch::Exact(bits(5)), vec![5], vec![4]),
            (KeyMatch::Lpm(bits(0xa0), 4), vec![0xa0, 0xaf], vec![0xb0]),
            (KeyMatch::Lpm(bits(0), 0), vec![0, 255], vec![]),
            (
                KeyMatch::Ternary(bits(1), bits(0x81)),
                vec![1, 0x7f],
                vec![0x81, 0],
            ),
            (KeyMatch::Range(bits(3), bits(5)), vec![3, 5], vec![2, 6]),
            (KeyMatch::Any, vec![0, 255], vec![]),
        ];
        for (found, yes, no) in cases {
            for value in yes {
                assert!(
                    key_matches(&bits(value), &found, false),
                    "{found:?} {value}"
                );
            }
            for value in no {
                assert!(
                    !key_matches(&bits(value), &found, false),
                    "{found:?} {value}"
                );
            }
        }
    }

    #[test]
    fn ranges_of_signed_keys_reach_over_zero() {
        let range = KeyMatch::Range(bits(0xff), bits(1));
        assert!(key_matches(&bits(0), &range, true));
        assert!(!key_matches(&bits(2), &range, true));
        assert!(!key_matches(&bits(0), &range, false));
    }
}
