//! Reads the program that the flags name.

use crate::args::Source;
use crate::output::{Stop, print_diagnostics};
use diag::{Diagnostics, SourceMap};
use driver::{Elaborated, Input};

/// Returns the program's file, folders and macros from the flags.
pub(crate) fn input(source: &Source) -> Input {
    let defines = source.define.iter().map(|d| driver::macro_of(d)).collect();
    Input {
        file: source.file.clone(),
        text: None,
        include: source.include.clone(),
        defines,
    }
}

/// Reads, checks and elaborates the program, and prints its diagnostics. Stops with status 1 if it is wrong, and with
/// 2 if it is valid but cannot be run, such as a library or a program for an unknown architecture.
pub(crate) fn elaborate(source: &Source) -> Result<Elaborated, Stop> {
    elaborate_or(source, print_diagnostics)
}

/// Acts as [`elaborate`], but calls `refuse` to print a refusal.
pub(crate) fn elaborate_or(
    source: &Source,
    refuse: impl FnOnce(&Diagnostics, &SourceMap),
) -> Result<Elaborated, Stop> {
    elaborate_input(&input(source), refuse)
}

/// Acts as [`elaborate_or`], for a program that no flags name.
pub(crate) fn elaborate_input(
    input: &Input,
    refuse: impl FnOnce(&Diagnostics, &SourceMap),
) -> Result<Elaborated, Stop> {
    match driver::elaborate(input) {
        Ok(elaborated) => {
            print_diagnostics(&elaborated.diagnostics, &elaborated.map);
            Ok(elaborated)
        }
        Err(refused) => {
            refuse(&refused.diagnostics, &refused.map);
            let status = if refused.right_elsewhere.is_some() {
                2
            } else {
                1
            };
            Err(Stop::AlreadyReported(status))
        }
    }
}
