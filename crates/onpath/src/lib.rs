//! The command line: the only crate that prints, exits, or reads flags.
//!
//! [`driver`] takes a program through the compiler's phases and is what tests and benchmarks call;
//! [`commands`] has a file a command.

pub mod args;
pub mod bpf_target;
pub mod bundle;
pub mod commands;
pub mod driver;
mod graph;
pub mod hooks;
mod instance_name;
mod loader;
pub mod output;
pub mod pdm;
mod progress;
pub mod stf;

pub use loader::FileLoader;
