//! `onpath graph`

use super::source::elaborate;
use crate::args::{Drawing, Graph};
use crate::graph::{self, TooLarge};
use crate::output::{Done, failed, out_line, print_json};
use diag::system_message;
use std::process::ExitCode;

/// Draws a program to a file.
pub(crate) fn run(args: Graph) -> Done {
    let elaborated = elaborate(&args.source)?;
    let (program, map) = (&elaborated.program, &elaborated.map);
    let Some(output) = args.output else {
        print_json(&graph::json(program, map));
        return Ok(ExitCode::SUCCESS);
    };
    let drawing = match args.format {
        Drawing::Svg => graph::svg(program, map),
        Drawing::Dot => Ok(graph::dot(program, map)),
    };
    let drawing = match drawing {
        Ok(drawing) => drawing,
        Err(TooLarge(title)) => {
            return failed(format!(
                "{title} is too large to be laid out as SVG without Graphviz, or in the 20 s that Graphviz has; nothing was \
                 written. Install `graphviz`, or let `--format dot` write the nodes and edges for another program to lay \
                 out, such as `sfdp`"
            ));
        }
    };
    match std::fs::write(&output, drawing) {
        Ok(()) => {
            out_line!(
                "{}: parser and pipeline drawn",
                diag::shown(&output.to_string_lossy())
            );
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => failed(format!(
            "`{}` was not written: {}",
            output.display(),
            system_message(&error)
        )),
    }
}
