//! The control plane's view of a running program, whatever runs it: tables, defaults, counters, value sets and the rest, kept in
//! the maps that packets read ([`layout`]).
//!
//! [`Store`] is a [`control::Store`] over a [`Memory`], the trait of what a target has to offer: maps of bytes by key, arrays that
//! both sides have in memory, the end of the packets that are on their way, and where it can, a successor with other maps. A
//! change is planned as steps, of which each is whole for packets, and is written down in a journal first if it has several:
//! whoever takes the lock after a writer that was killed undoes what that one began.

mod buckets;
mod changes;
mod copies;
mod counters;
mod digests;
mod direct;
mod drops;
mod encoding;
pub mod errors;
mod exact;
mod figures;
mod flat;
mod flow_state;
mod guard;
mod in_memory;
mod logs;
mod lpm;
pub mod memory;
#[cfg(test)]
mod memory_for_tests;
mod meters;
mod multibit_trie;
mod own;
mod prioritized;
mod profiles;
mod ranges;
mod records;
mod registers;
mod replicas;
mod state;
mod steps;
mod store;
mod transaction;

pub use changes::Changes;
pub use copies::check_copies;
pub use guard::Guard;
pub use memory::{Map, Memory};
pub use replicas::{GroupForm, Traffic};
pub use store::Store;
