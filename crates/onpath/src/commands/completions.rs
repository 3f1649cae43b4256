//! `onpath completions`

use crate::args::{Cli, Completions};
use crate::output::Done;
use clap::CommandFactory;
use std::process::ExitCode;

/// Prints completions for a shell.
pub fn run(args: Completions) -> Done {
    clap_complete::generate(
        args.shell,
        &mut Cli::command(),
        "onpath",
        &mut std::io::stdout(),
    );
    Ok(ExitCode::SUCCESS)
}
