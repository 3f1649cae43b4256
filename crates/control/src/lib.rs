//! Tables, counters and registers by P4 name; entries as people write them; STF; and the [`Store`]
//! that every target implements.

mod names;
mod store;
pub mod values;

pub use names::{NameError, resolve};
pub use store::*;
