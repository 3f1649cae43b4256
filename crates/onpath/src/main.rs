//! `onpath`: reads the flags, runs the command, ends with its status.

use clap::Parser;
use onpath::args::Cli;
use onpath::output::ending;
use onpath::{commands, complete};
use std::process::ExitCode;

fn main() -> ExitCode {
    match complete::is_done() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ending(|| commands::run(Cli::parse().command)),
        Err(error) => error.exit(),
    }
}
