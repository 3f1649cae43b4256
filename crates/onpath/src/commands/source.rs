//! From flags to a program.

use crate::args::Source;
use crate::output::{Stop, print_diagnostics};
use diag::{Diagnostics, SourceMap};
use driver::{Elaborated, Input};

/// What the flags give for the program's text.
pub(crate) fn input(source: &Source) -> Input {
    let defines = source.define.iter().map(|d| driver::macro_of(d)).collect();
    Input {
        file: source.file.clone(),
        text: None,
        include: source.include.clone(),
        defines,
    }
}

/// Reads, checks and elaborates the program, prints its diagnostics, and stops with status 1 if
/// it is wrong, 2 if it is for no architecture that can be run.
pub(crate) fn elaborate(source: &Source) -> Result<Elaborated, Stop> {
    elaborate_or(source, print_diagnostics)
}

/// As [`elaborate`], with `refuse` to print why the program is refused.
pub(crate) fn elaborate_or(
    source: &Source,
    refuse: impl FnOnce(&Diagnostics, &SourceMap),
) -> Result<Elaborated, Stop> {
    elaborate_input(&input(source), refuse)
}

/// As [`elaborate_or`], for a program that no flags name.
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
