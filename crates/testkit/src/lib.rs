//! Means of the tests of several crates: the repository's files, random programs with entries and packets for
//! them, and texts with their expectations. No crate uses it outside of its tests.

pub mod entries;
pub mod files;
pub mod generate;
pub mod golden;
pub mod inputs;
pub mod notes;
pub mod packets;
pub mod refused;
pub mod sample;
