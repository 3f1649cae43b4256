//! Performance and Diagnostic Metrics (RFC 8250) of an interface, for `onpath pdm`.
//!
//! The P4 programs of `programs/pdm` mark packets and keep their measurements in maps, which are read and shown here.
//! Everything except reading is a pure function of a [`snapshot::Snapshot`].

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
