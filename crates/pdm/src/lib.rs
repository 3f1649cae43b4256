//! Performance and Diagnostic Metrics (RFC 8250) of an interface: what `onpath pdm` measures and shows.
//!
//! The P4 programs of `programs/pdm` mark packets and keep what they measure in maps; here it is read and shown. All
//! but reading are pure functions of a [`snapshot::Snapshot`].

pub mod counters;
pub mod errors;
pub mod filter;
pub mod histogram;
pub mod history;
pub mod instance;
pub mod json;
mod mode;
pub mod prometheus;
pub mod reader;
pub mod snapshot;
pub mod state;
pub mod table;
pub mod units;

pub use mode::Mode;
