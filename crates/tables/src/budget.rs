//! Memory that a table may take for a faster search.

/// Bytes that every table may take, unless the user gives another number.
const EVERY: u64 = 4 << 20;
/// Multiple of the leanest structure's memory that a table may take as well, so that large ones are fast too. At a
/// million routes a multibit trie takes 2.4 times as much as one that goes bit by bit (`make bench-tables`).
const OF_LEANEST: u64 = 5;
/// Bytes of an entry in a map of single entries, besides its key and value.
const ENTRY: u64 = 96;

/// Bytes that a table may take; `None` is the default.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Budget(pub Option<u64>);

impl Budget {
    /// Returns the bytes that every table may take.
    pub(crate) fn every(self) -> u64 {
        self.0.unwrap_or(EVERY)
    }

    /// Returns true if a structure of so many bytes may replace the leanest one.
    pub(crate) fn allows(self, bytes: u64, leanest: u64) -> bool {
        let default = EVERY.max(leanest.saturating_mul(OF_LEANEST));
        bytes <= self.0.unwrap_or(default).max(leanest)
    }

    /// Returns true if a structure that no other one comes near in time may take so many bytes.
    pub(crate) fn admits(self, bytes: u64, leanest: u64) -> bool {
        self.0.is_none() || self.allows(bytes, leanest)
    }
}

/// Returns the approximate size of a map with an element for each entry, in bytes, for keys and values of so many bytes.
pub(crate) fn single_entries(size: u64, key: u32, value: u32) -> u64 {
    size.saturating_mul(ENTRY + u64::from(key) + u64::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_allows_small_structures_and_some_multiple_of_large_ones() {
        let (default, of_one) = (Budget::default(), single_entries(1, 4, 4));
        assert!(default.allows(4 << 20, of_one) && !default.allows((4 << 20) + 1, of_one));
        let of_many = single_entries(1_000_000, 4, 4);
        assert!(default.allows(240 << 20, of_many) && !default.allows(600 << 20, of_many));
        assert!(default.admits(u64::MAX, of_many));
    }

    #[test]
    fn a_given_number_is_the_limit_of_what_takes_more_than_the_leanest() {
        let given = Budget(Some(1 << 20));
        assert!(given.allows(1 << 20, 0) && given.admits(1 << 20, 0));
        assert!(!given.allows((1 << 20) + 1, 0) && !given.admits((1 << 20) + 1, 0));
        assert!(given.admits(2 << 20, 2 << 20));
    }
}
