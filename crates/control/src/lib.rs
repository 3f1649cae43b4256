//! The control plane by P4 names: tables, counters and registers of a [`schema`]; entries as people write them; STF;
//! and the [`Store`] that every target implements.

mod call;
pub mod change;
pub mod describe;
pub mod digest;
pub mod entries;
pub mod entry;
pub mod errors;
pub mod exposition;
pub mod flow;
pub mod import;
pub mod json;
pub mod look_up;
pub mod meter;
pub mod metric;
pub mod name_set;
pub mod names;
mod numbers;
mod piece;
pub mod profile;
pub mod register;
pub mod repeatable;
pub mod replication;
#[cfg(test)]
mod sample;
pub mod stf;
mod store;
pub mod strays;
pub mod values;

pub use change::{Change, EntryKey, Next, Rejected, one_by_one};
pub use digest::{Digest, Digests, Logged, Logs};
pub use meter::{MeterRef, Rates};
pub use metric::{Group, Groups, Metric};
pub use names::{NameError, resolve};
pub use piece::Piece;
pub use profile::{MOST_MEMBERS_OF_A_GROUP, check_member_group};
pub use replication::{
    CloneSession, DropReason, MOST_REPLICAS, Replica, check_group, check_session,
};
pub use store::*;
