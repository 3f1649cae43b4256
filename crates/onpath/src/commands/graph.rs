//! `onpath graph`

use super::source::elaborate;
use crate::args::Graph;
use crate::output::{Done, failed, say_line};
use diag::system_message;
use std::process::ExitCode;

/// Draws a program to a file.
pub fn run(args: Graph) -> Done {
    let elaborated = elaborate(&args.source)?;
    let drawing = crate::graph::draw(&elaborated.program, &elaborated.map);
    match std::fs::write(&args.output, drawing) {
        Ok(()) => {
            say_line!("{}: parser and pipeline drawn", args.output.display());
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => failed(format!(
            "`{}` was not written: {}",
            args.output.display(),
            system_message(&error)
        )),
    }
}
