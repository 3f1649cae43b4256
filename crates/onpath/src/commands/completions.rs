//! `onpath completions`

use crate::args::Completions;
use crate::complete;
use crate::output::{Done, failed, out};
use std::process::ExitCode;

/// Prints the script that makes a shell complete Onpath's commands.
pub(crate) fn run(args: Completions) -> Done {
    match complete::script(args.shell) {
        Ok(script) => {
            out!("{script}");
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => failed(error.to_string()),
    }
}
