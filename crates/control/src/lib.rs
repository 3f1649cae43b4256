//! Tables, counters and registers by P4 name; entries as people write them; STF; and the [`Store`]
//! that every target implements.

mod store;

pub use store::*;
