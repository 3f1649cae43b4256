//! What is known of one group of packets.

use crate::{Error, Histogram, HyperLogLog, Tally};

/// A figure of one of the kinds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Figure {
    /// How many, and the sum, the least and the greatest.
    Tally(Tally),
    /// How values are distributed.
    Histogram(Histogram),
    /// How many different items there were.
    Distinct(HyperLogLog),
    /// The weight of a key that is among the greatest.
    Top {
        /// At least the true weight.
        weight: u64,
        /// By how much it may be too large.
        error: u64,
    },
}

impl Figure {
    /// Adds what another processor found of the same group. Both are of one kind and shape. Weights of
    /// greatest keys are merged by [`SpaceSaving::merge`](crate::SpaceSaving::merge), which knows of the keys that are not kept;
    /// here they only add up.
    pub fn merge(&mut self, other: &Figure) -> Result<(), Error> {
        match (self, other) {
            (Figure::Tally(mine), Figure::Tally(theirs)) => mine.merge(theirs),
            (Figure::Histogram(mine), Figure::Histogram(theirs)) => mine.merge(theirs)?,
            (Figure::Distinct(mine), Figure::Distinct(theirs)) => mine.merge(theirs)?,
            (
                Figure::Top { weight, error },
                Figure::Top {
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
