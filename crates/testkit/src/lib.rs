//! Helpers for the tests of several crates: the repository's files, random programs with entries and packets for them,
//! and texts with their expectations. Crates use it only in their tests.

pub mod changes;
pub mod entries;
pub mod files;
pub mod generate;
pub mod golden;
pub mod inputs;
pub mod notes;
pub mod packets;
pub mod refused;
pub mod relay;
pub mod sample;
pub mod state;

/// Returns the number of tests to run at a time if they wait for the kernel most of the time: three per processor.
pub fn threads() -> usize {
    3 * std::thread::available_parallelism().map_or(1, usize::from)
}
