//! Means of the tests of several crates: the repository's files, random programs with entries and packets for
//! them, and texts with their expectations. No crate uses it outside of its tests.

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

/// The number of tests at a time where they wait for the kernel for more than half of their time: three a processor.
pub fn threads() -> usize {
    3 * std::thread::available_parallelism().map_or(1, usize::from)
}
