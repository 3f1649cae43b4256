//! Distributions of delays, in the buckets of [`sketch::Histogram`], numbered as by `bucket` of `programs/pdm/pdm.p4h`.

/// Number of buckets. The last one holds all longer delays.
pub const BUCKETS: u64 = 160;
/// Base-2 logarithm of the number of buckets in an octave.
const DETAIL: u32 = 2;

/// Distribution of delays. A bucket holds the delays above the bound before it, up to and including its own bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram {
    /// Upper bound in nanoseconds, ascending, and number of delays of each bucket.
    pub buckets: Vec<(u64, u64)>,
    /// Number of delays above the last bound.
    pub above: u64,
    /// Sum of all delays, in nanoseconds.
    pub sum: u64,
}

impl Histogram {
    /// Builds a histogram from the counts of the buckets, in order, and the sum of all delays.
    pub fn of(counts: &[u64], sum: u64) -> Histogram {
        let mut histogram = Histogram {
            sum,
            ..Histogram::default()
        };
        for (bucket, &count) in counts.iter().enumerate() {
            let (_, longest) = sketch::bounds(DETAIL, bucket);
            match bucket + 1 < BUCKETS as usize {
                true => histogram.buckets.push((longest, count)),
                false => histogram.above += count,
            }
        }
        histogram
    }

    /// Returns the number of delays.
    pub fn samples(&self) -> u64 {
        let within = self.buckets.iter().map(|(_, count)| count);
        within.fold(self.above, |sum, count| sum.saturating_add(*count))
    }

    /// Returns each bound with the number of delays up to it: the cumulative counts of Prometheus.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets.iter().scan(0u64, |sum, (bound, count)| {
            *sum = sum.saturating_add(*count);
            Some((*bound, *sum))
        })
    }

    /// Estimates the delay in nanoseconds that `percent` of all delays do not exceed; `None` if there are no delays.
    ///
    /// Delays are assumed to be evenly spread in a bucket, as by Prometheus' `histogram_quantile`. The result is at
    /// most the last bound, since nothing is known of longer delays.
    pub fn percentile(&self, percent: u8) -> Option<u64> {
        let samples = self.samples();
        if samples == 0 {
            return None;
        }
        let wanted = samples as f64 * f64::from(percent.min(100)) / 100.0;
        let mut below = 0u64;
        let mut from = 0u64;
        for &(bound, count) in &self.buckets {
            if count > 0 && (below + count) as f64 >= wanted {
                let part = (wanted - below as f64) / count as f64;
                return Some(from + ((bound - from) as f64 * part) as u64);
            }
            below += count;
            from = bound;
        }
        Some(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Histogram {
        Histogram {
            buckets: vec![(1000, 0), (2000, 80), (4000, 10), (8000, 9)],
            above: 1,
            sum: 250_000,
        }
    }

    /// Returns the bucket of a delay, as the program computes it.
    fn bucket(ns: u64) -> u64 {
        match ns {
            0..4 => ns,
            _ => {
                let log = u64::from(ns.ilog2());
                (4 * log + (ns >> (log - 2) & 3) - 4).min(BUCKETS - 1)
            }
        }
    }

    #[test]
    fn bounds_are_those_of_the_program() {
        let histogram = Histogram::of(&[0; BUCKETS as usize], 0);
        for (number, &(longest, _)) in (0..).zip(&histogram.buckets) {
            assert_eq!((bucket(longest), bucket(longest + 1)), (number, number + 1));
        }
        assert_eq!(histogram.buckets[158].0, 7 * (1 << 38) - 1);
    }

    #[test]
    fn the_last_bucket_is_what_is_above() {
        let mut counts = [0; BUCKETS as usize];
        (counts[4], counts[159]) = (2, 3);
        let histogram = Histogram::of(&counts, 7);
        assert_eq!(
            (histogram.samples(), histogram.above, histogram.sum),
            (5, 3, 7)
        );
        assert_eq!(histogram.buckets[4], (4, 2));
        assert_eq!(histogram.buckets.len(), 159);
    }

    #[test]
    fn an_empty_one_has_no_percentiles() {
        assert_eq!(Histogram::default().percentile(50), None);
        let empty = Histogram {
            buckets: vec![(1000, 0)],
            ..Histogram::default()
        };
        assert_eq!((empty.samples(), empty.percentile(99)), (0, None));
    }

    #[test]
    fn percentiles_are_within_the_bucket_that_has_them() {
        let some = some();
        assert_eq!(some.samples(), 100);
        assert_eq!(some.percentile(40), Some(1500));
        assert_eq!(some.percentile(80), Some(2000));
        assert_eq!(some.percentile(90), Some(4000));
        assert_eq!(some.percentile(99), Some(8000));
    }

    #[test]
    fn beyond_the_last_bound_it_is_all_that_is_known() {
        assert_eq!(some().percentile(100), Some(8000));
    }

    #[test]
    fn cumulative_counts_never_fall() {
        let all: Vec<_> = some().cumulative().collect();
        assert_eq!(all, [(1000, 0), (2000, 80), (4000, 90), (8000, 99)]);
    }
}
