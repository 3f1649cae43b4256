//! Summaries of streams in bounded memory.
//!
//! [`HyperLogLog`] estimates how many distinct values there were, [`SpaceSaving`] finds the most frequent items, and
//! [`Histogram`] keeps a distribution. Each has a bound on its error, a size that is fixed when it is made, and a merge of
//! summaries that different processors made. What a summary holds is a function of what was added alone, defined
//! here down to the bit: an implementation elsewhere (in generated code, in C) that follows the same steps has the
//! same memory, and can be read by this crate.
//!
//! All arithmetic on `u64` wraps unless something else is stated.

mod figure;
mod hash;
mod histogram;
mod hyperloglog;
mod space_saving;
mod tally;

pub use figure::Figure;
pub use hash::{HashKey, hash, hash_u64, hash_words};
pub use histogram::{Histogram, bounds};
pub use hyperloglog::HyperLogLog;
pub use space_saving::{Item, SpaceSaving};
pub use tally::Tally;

/// Why a summary cannot be made or merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// A parameter is outside its range.
    Parameter {
        /// Which one.
        name: &'static str,
        /// What it was.
        value: u64,
        /// Its least value.
        least: u64,
        /// Its greatest value.
        greatest: u64,
    },
    /// The two have different parameters, so that their memory does not correspond.
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

/// `value` if it is in the range.
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
