//! Command line of Onpath: besides tools for measurements and tests, the only crate that prints, exits or reads
//! flags.
//!
//! [`commands`] has a file for each command. The work on programs is done by the crate `driver`.

pub mod args;
pub mod commands;
pub mod complete;
mod explained;
mod graph;
pub mod output;
mod progress;
mod prometheus_page;
mod screen;
mod written;
