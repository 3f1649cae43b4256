//! `onpath graph`

use super::source::elaborate;
use crate::args::{Drawing, Graph};
use crate::graph::{self, TooLarge};
use crate::output::{Done, failed, out_line};
use diag::system_message;
use std::process::ExitCode;

/// Draws a program to a file.
pub fn run(args: Graph) -> Done {
    let elaborated = elaborate(&args.source)?;
    let (program, map) = (&elaborated.program, &elaborated.map);
    let drawing = match args.format {
        Drawing::Svg => graph::svg(program, map),
        Drawing::Dot => Ok(graph::dot(program, map)),
    };
    let drawing = match drawing {
        Ok(drawing) => drawing,
        Err(TooLarge(title)) => {
            return failed(format!(
                "{title} is too large to be placed as SVG; nothing was written. `--format dot` writes its nodes and \
                 edges for another program to place, such as Graphviz's `sfdp`"
            ));
        }
    };
    match std::fs::write(&args.output, drawing) {
        Ok(()) => {
            out_line!("{}: parser and pipeline drawn", args.output.display());
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => failed(format!(
            "`{}` was not written: {}",
            args.output.display(),
            system_message(&error)
        )),
    }
}
