//! The command line: the only crate that prints, exits, or reads flags.
//!
//! [`commands`] has a file a command; what a command does with programs is the `driver`'s.

pub mod args;
pub mod commands;
pub mod complete;
mod graph;
mod metrics_page;
pub mod output;
mod progress;
mod screen;
