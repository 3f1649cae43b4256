//! Metrics of a group of packets.

use crate::{Error, Histogram, HyperLogLog, Tally};

/// Metric of one of several kinds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Count, sum, least and greatest of numbers.
    Tally(Tally),
    /// Distribution of numbers.
    Histogram(Histogram),
    /// Number of distinct items.
    Distinct(HyperLogLog),
    /// Weight of one of the heaviest keys.
    Top {
        /// Upper bound of the true weight.
        weight: u64,
        /// Greatest excess of `weight` over the true weight.
        error: u64,
    },
}

impl Metric {
    /// Adds another processor's metric of the same group. Both must be of the same kind and shape. Weights of the
    /// heaviest keys are only added here. [`SpaceSaving::merge`](crate::SpaceSaving::merge) merges them with the bounds
    /// of the keys that are not kept.
    pub fn merge(&mut self, other: &Metric) -> Result<(), Error> {
        match (self, other) {
            (Metric::Tally(mine), Metric::Tally(theirs)) => mine.merge(theirs),
            (Metric::Histogram(mine), Metric::Histogram(theirs)) => mine.merge(theirs)?,
            (Metric::Distinct(mine), Metric::Distinct(theirs)) => mine.merge(theirs)?,
            (
                Metric::Top { weight, error },
                Metric::Top {
                    weight: more,
                    error: unsure,
                },
            ) => {
                *weight = weight.saturating_add(*more);
                *error = error.saturating_add(*unsure);
            }
            _ => return Err(Error::Different),
        }
        Ok(())
    }
}
