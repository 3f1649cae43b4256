//! The command line: the only crate that prints, exits, or reads flags.
//!
//! [`driver`] takes a program through the compiler's phases and is what tests and benchmarks call;
//! [`commands`] has a file a command.

pub mod args;
pub mod commands;
pub mod driver;
mod graph;
mod loader;
pub mod output;
pub mod stf;
pub mod xdp;

pub use loader::FileLoader;
