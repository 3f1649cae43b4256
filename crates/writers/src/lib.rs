//! Control plane of a running program, independent of the target: tables, defaults, counters, value sets and other
//! state, kept in the maps that packets read ([`layout`]).
//!
//! [`Store`] is a [`control::Store`] over a [`Memory`]. That trait is what a target offers: maps of bytes by key,
//! arrays that both sides have in memory, grace periods for packets, and where possible a successor with other maps.
//!
//! A change is planned as steps, each of which is atomic for packets. A change of several steps is first recorded in a
//! journal. If its writer is killed, the next holder of the lock undoes it.

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
mod metrics;
mod multibit_trie;
mod name_set;
mod own;
mod pattern_set;
mod prioritized;
mod profiles;
mod ranges;
mod records;
mod registers;
mod replicas;
mod rule_set;
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
