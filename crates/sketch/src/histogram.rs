//! Distributions of numbers, in buckets of a relative width.

use crate::{Error, checked};

/// Distribution of numbers: a count for each bucket of a log-linear scale.
///
/// With *detail* `k`, numbers below `2^k` have a bucket each, and every power of two above is divided into `2^k`
/// buckets of equal width. The bucket of `v` is
///
/// - `v` if `v < 2^k`;
/// - otherwise, with `e` the position of the highest set bit of `v` (63 at most) and `s = e - k`:
///   `(s << k) + (v >> s)`.
///
/// So the buckets are `0 .. (65 - k) << k` without a gap. The width of a bucket is at most `2^-k` of its least number.
/// So its middle differs from each number in it by at most `2^-(k+1)` of that number. Counts have 64 bits and saturate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram {
    detail: u32,
    counts: Vec<u64>,
}

impl Histogram {
    /// The greatest detail.
    pub const GREATEST: u32 = 8;

    /// Returns an empty histogram. The detail is 0 to 8.
    pub fn new(detail: u32) -> Result<Histogram, Error> {
        checked("detail", detail.into(), 0, Histogram::GREATEST.into())?;
        Ok(Histogram {
            detail,
            counts: vec![0; (65 - detail as usize) << detail],
        })
    }

    /// Builds a histogram from the counts of another implementation, one for each bucket.
    pub fn from_counts(detail: u32, counts: &[u64]) -> Result<Histogram, Error> {
        let mut histogram = Histogram::new(detail)?;
        if counts.len() != histogram.counts.len() {
            return Err(Error::Different);
        }
        histogram.counts.copy_from_slice(counts);
        Ok(histogram)
    }

    /// Returns the counts, by bucket.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the bucket of a number.
    pub fn bucket(&self, value: u64) -> usize {
        let highest = value.checked_ilog2().unwrap_or(0);
        let Some(shift) = highest.checked_sub(self.detail) else {
            return value as usize;
        };
        ((shift as usize) << self.detail) + (value >> shift) as usize
    }

    /// Returns the least and the greatest number of a bucket.
    pub fn bounds(&self, bucket: usize) -> (u64, u64) {
        bounds(self.detail, bucket)
    }

    /// Returns the number that represents a bucket: the middle, rounded down.
    fn middle(&self, bucket: usize) -> u64 {
        let (least, greatest) = self.bounds(bucket);
        least + (greatest - least) / 2
    }

    /// Returns the greatest relative error of [`Self::quantile`].
    pub fn relative_error(&self) -> f64 {
        0.5 / f64::from(1u32 << self.detail)
    }

    /// Counts a number.
    pub fn add(&mut self, value: u64) {
        let bucket = self.bucket(value);
        self.counts[bucket] = self.counts[bucket].saturating_add(1);
    }

    /// Returns the number of numbers that were added.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &n| sum.saturating_add(n))
    }

    /// Estimates the sum of all numbers: each counts as the middle of its bucket. The relative error is at most
    /// [`Self::relative_error`].
    pub fn sum(&self) -> f64 {
        let buckets = self.counts.iter().enumerate();
        buckets.fold(0.0, |sum, (bucket, &count)| {
            sum + count as f64 * self.middle(bucket) as f64
        })
    }

    /// Adds the counts of another histogram of the same detail. The result is the same as if one histogram had counted
    /// all numbers.
    pub fn merge(&mut self, other: &Histogram) -> Result<(), Error> {
        if self.detail != other.detail {
            return Err(Error::Different);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        Ok(())
    }

    /// Estimates the `q`-quantile, for `q` from 0 to 1: the middle of the bucket with the number of rank
    /// `ceil(q * total)`, at least 1, in ascending order. `None` if there are no numbers.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = (q.clamp(0.0, 1.0) * self.total() as f64).ceil().max(1.0) as u64;
        let mut below = 0u64;
        let reached = |&count: &u64| {
            below = below.saturating_add(count);
            below >= rank
        };
        let bucket = self.counts.iter().position(reached);
        // Rounding may move the rank beyond the last number.
        let last = || self.counts.iter().rposition(|&count| count > 0);
        Some(self.middle(bucket.or_else(last)?))
    }

    /// Returns the buckets that are not empty, in ascending order: least number, greatest number, count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let used = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        used.map(|(bucket, &count)| {
            let (least, greatest) = self.bounds(bucket);
            (least, greatest, count)
        })
    }
}

/// Returns the least and the greatest number of a bucket at this detail.
pub fn bounds(detail: u32, bucket: usize) -> (u64, u64) {
    let one = 1 << detail;
    let Some(shift) = (bucket >> detail).checked_sub(1) else {
        return (bucket as u64, bucket as u64);
    };
    let least = ((bucket & (one - 1)) + one) as u64;
    let least = least << shift;
    (least, least + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_without_gaps_to_the_last_number() {
        for detail in 0..=Histogram::GREATEST {
            let histogram = Histogram::new(detail).unwrap();
            let mut next = 0u128;
            for bucket in 0..histogram.counts().len() {
                let (least, greatest) = histogram.bounds(bucket);
                assert_eq!(u128::from(least), next, "detail {detail}, bucket {bucket}");
                assert_eq!(histogram.bucket(least), bucket);
                assert_eq!(histogram.bucket(greatest), bucket);
                next = u128::from(greatest) + 1;
            }
            assert_eq!(next, 1 << 64, "detail {detail}");
        }
    }

    #[test]
    fn small_numbers_have_a_bucket_each() {
        let mut histogram = Histogram::new(3).unwrap();
        for value in [0, 7, 15, 16, 17, 18] {
            histogram.add(value);
        }
        let found: Vec<_> = histogram.buckets().collect();
        assert_eq!(histogram.sum(), (7 + 15 + 16 + 16 + 18) as f64);
        assert_eq!(
            found,
            [(0, 0, 1), (7, 7, 1), (15, 15, 1), (16, 17, 2), (18, 19, 1)]
        );
    }

    #[test]
    fn without_numbers_there_is_no_quantile() {
        assert_eq!(Histogram::new(3).unwrap().quantile(0.5), None);
    }

    #[test]
    fn parameters_have_a_range_and_have_to_agree() {
        assert!(Histogram::new(9).is_err());
        let mut three = Histogram::new(3).unwrap();
        assert_eq!(
            three.merge(&Histogram::new(4).unwrap()),
            Err(Error::Different)
        );
        assert_eq!(Histogram::from_counts(3, &[0]), Err(Error::Different));
    }
}
