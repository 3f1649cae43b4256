//! Members of value sets.

use ir::{Bits, KeyMatch};

/// Whether values are a member of a value set.
pub(crate) fn member_matches<'a>(
    values: impl Iterator<Item = (&'a Bits, bool)>,
    member: &[KeyMatch],
) -> bool {
    values
        .zip(member)
        .all(|((value, signed), found)| found.matches(value, signed))
}
