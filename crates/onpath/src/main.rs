//! `onpath`: reads the flags, runs the command, ends with its status.

use clap::Parser;
use onpath::args::Cli;
use onpath::commands;
use onpath::output::ending;
use std::process::ExitCode;

fn main() -> ExitCode {
    ending(|| commands::run(Cli::parse().command))
}
