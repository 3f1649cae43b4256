//! `onpath man`

use crate::args::{Cli, Man};
use crate::output::{Done, failed, say_line};
use clap::CommandFactory;
use diag::system_message;
use std::process::ExitCode;

/// Writes the man pages to a directory.
pub fn run(args: Man) -> Done {
    let written = std::fs::create_dir_all(&args.output)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.output));
    match written {
        Ok(()) => {
            say_line!("{}: man pages written", args.output.display());
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => failed(format!(
            "the man pages were not written to `{}`: {}",
            args.output.display(),
            system_message(&error)
        )),
    }
}
