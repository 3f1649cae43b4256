//! `onpath completions`

use crate::args::{Cli, Completions};
use crate::output::{Done, out};
use clap::CommandFactory;
use std::process::ExitCode;

/// Prints completions for a shell.
pub fn run(args: Completions) -> Done {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "onpath", &mut text);
    out!("{}", String::from_utf8_lossy(&text));
    Ok(ExitCode::SUCCESS)
}
