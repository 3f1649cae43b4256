//! From flags to a program.

use crate::args::Source;
use crate::driver::{self, Elaborated, Input};
use crate::output::{Stop, print_diagnostics};

/// What the flags say of the program's text.
pub fn input(source: &Source) -> Input {
    let defines = source
        .define
        .iter()
        .map(|define| match define.split_once('=') {
            Some((name, value)) => (name.to_string(), Some(value.to_string())),
            None => (define.clone(), None),
        })
        .collect();
    Input {
        file: source.file.clone(),
        include: source.include.clone(),
        defines,
    }
}

/// Reads, checks and elaborates the program, prints what there is to say, and stops with status 1 if
/// it is refused.
pub fn elaborate(source: &Source) -> Result<Elaborated, Stop> {
    match driver::elaborate(&input(source)) {
        Ok(elaborated) => {
            print_diagnostics(&elaborated.diagnostics, &elaborated.map);
            Ok(elaborated)
        }
        Err(refused) => {
            print_diagnostics(&refused.diagnostics, &refused.map);
            Err(Stop::Told(1))
        }
    }
}
