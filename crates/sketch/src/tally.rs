//! Count, sum, least and greatest of numbers.

/// Count, sum, least and greatest of numbers that are not kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Number of numbers.
    pub count: u64,
    /// Their sum, which wraps.
    pub sum: u64,
    /// Least number; 0 if there are none.
    pub least: u64,
    /// Greatest number; 0 if there are none.
    pub greatest: u64,
}

impl Tally {
    /// Counts a number.
    pub fn add(&mut self, value: u64) {
        if self.count == 0 || value < self.least {
            self.least = value;
        }
        self.greatest = self.greatest.max(value);
        self.sum = self.sum.wrapping_add(value);
        self.count = self.count.wrapping_add(1);
    }

    /// Adds another tally. The result is the same as if one tally had counted all numbers.
    pub fn merge(&mut self, other: &Tally) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 || other.least < self.least {
            self.least = other.least;
        }
        self.greatest = self.greatest.max(other.greatest);
        self.sum = self.sum.wrapping_add(other.sum);
        self.count = self.count.wrapping_add(other.count);
    }

    /// Returns the mean; `None` if there are no numbers.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_is_one_tally_of_all_numbers() {
        let of = |numbers: &[u64]| {
            let mut tally = Tally::default();
            numbers.iter().for_each(|&n| tally.add(n));
            tally
        };
        for (left, right) in [
            (&[][..], &[][..]),
            (&[5], &[]),
            (&[], &[5]),
            (&[3, 9], &[0, u64::MAX]),
        ] {
            let mut merged = of(left);
            merged.merge(&of(right));
            assert_eq!(merged, of(&[left, right].concat()));
        }
        assert_eq!(of(&[4, 5]).mean(), Some(4.5));
        assert_eq!(of(&[]).mean(), None);
    }
}
