//! Summaries of streams in bounded memory.
//!
//! [`HyperLogLog`] estimates the number of distinct values, [`SpaceSaving`] finds the most frequent items, and
//! [`Histogram`] keeps a distribution. Each has a bounded error, a size that is fixed at its creation, and a merge for
//! the summaries of several processors. The contents of a summary depend only on the values added, in a way that is
//! defined here down to the bit. Another implementation (in generated code, in C) that follows the same steps has the
//! same memory, and this crate can read it.
//!
//! All arithmetic on `u64` wraps unless stated otherwise.

mod hash;
mod histogram;
mod hyperloglog;
mod metric;
mod space_saving;
mod tally;

pub use hash::{HashKey, hash, hash_u64, hash_words};
pub use histogram::{Histogram, bounds};
pub use hyperloglog::HyperLogLog;
pub use metric::Metric;
pub use space_saving::{Item, SpaceSaving};
pub use tally::Tally;

/// Reason why a summary cannot be created or merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// A parameter is outside its range.
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        value: u64,
        /// Its least value.
        least: u64,
        /// Its greatest value.
        greatest: u64,
    },
    /// The two summaries have different parameters, so their memory does not correspond.
    Different,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Error::Parameter {
                name,
                value,
                least,
                greatest,
            } => write!(f, "{name} is {value}; it has to be {least} to {greatest}"),
            Error::Different => f.write_str("the summaries have different parameters"),
        }
    }
}

impl std::error::Error for Error {}

/// Returns `value` if it is in the range.
fn checked(name: &'static str, value: u64, least: u64, greatest: u64) -> Result<u64, Error> {
    if (least..=greatest).contains(&value) {
        return Ok(value);
    }
    Err(Error::Parameter {
        name,
        value,
        least,
        greatest,
    })
}
