//! Tables, counters and registers by P4 name, as a [`schema`] has them; entries as people write them; STF; and the [`Store`]
//! that every target implements.

pub mod change;
pub mod describe;
pub mod entries;
pub mod entry;
pub mod errors;
pub mod flow;
pub mod json;
pub mod names;
mod piece;
pub mod repeatable;
mod replication;
#[cfg(test)]
mod sample;
pub mod stf;
mod store;
pub mod values;

pub use change::{Change, EntryKey, Next, Rejected};
pub use names::{NameError, resolve};
pub use piece::Piece;
pub use replication::*;
pub use store::*;
