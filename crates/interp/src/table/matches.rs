//! Matching of value sets.

use ir::{Bits, KeyMatch};

/// Returns true if values match a member of a value set. Each value comes with true if it is signed.
pub(crate) fn member_matches<'a>(
    values: impl Iterator<Item = (&'a Bits, bool)>,
    member: &[KeyMatch],
) -> bool {
    values
        .zip(member)
        .all(|((value, signed), found)| found.matches(value, signed))
}
