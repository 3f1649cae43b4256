//! What commands print, and how they end.

use diag::{Diagnostic, Diagnostics, SourceMap};
use std::io::IsTerminal;
use std::process::ExitCode;

/// Why a command ends early.
#[derive(Debug)]
pub enum Stop {
    /// Something was refused or failed: exit status 1. The text says what and what to do.
    Failed(String),
    /// Wrong usage, or a target that cannot run the program: exit status 2.
    Usage(String),
    /// As [`Stop::Failed`], and everything has been said already.
    Told(u8),
}

/// What a command comes to.
pub type Done = Result<ExitCode, Stop>;

/// Ends with status 1 and a text.
pub fn failed<T>(text: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Failed(text.into()))
}

/// Prints a diagnostic that is about no source text, and stops with status 1.
pub fn refused(diagnostic: Box<Diagnostic>) -> Stop {
    refused_in(diagnostic, &SourceMap::new())
}

/// Prints a diagnostic, and stops with status 1.
pub fn refused_in(diagnostic: Box<Diagnostic>, map: &SourceMap) -> Stop {
    print_diagnostics(&diagnostic.into(), map);
    Stop::Told(1)
}

/// Whether to colour standard error.
fn colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::io::stderr().is_terminal()
}

/// What the system said, without its number.
pub fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_string()
}

/// Diagnostics as text without colours.
pub fn text_of(diagnostics: &Diagnostics, map: &SourceMap) -> String {
    diag::render_text(diagnostics, map, false)
}

/// Prints diagnostics for people on standard error.
pub fn print_diagnostics(diagnostics: &Diagnostics, map: &SourceMap) {
    if !diagnostics.is_empty() {
        eprint!("{}", diag::render_text(diagnostics, map, colour()));
    }
}

/// Prints a value as JSON on standard output.
pub fn print_json(value: &serde_json::Value) {
    println!("{value:#}");
}

/// Rows of cells with the columns aligned, two blanks between.
pub fn columns(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (i, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(i) {
                Some(known) => *known = (*known).max(width),
                None => widths.push(width),
            }
        }
    }
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:width$}"))
            .collect();
        cells.join("  ").trim_end().to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_has_no_number() {
        let error = std::io::Error::from_raw_os_error(2);
        assert_eq!(words(&error), "No such file or directory");
    }

    #[test]
    fn columns_align_and_lines_have_no_blanks_at_the_end() {
        let rows = vec![
            vec!["a".into(), "bb".into()],
            vec!["ccc".into(), "d".into()],
        ];
        assert_eq!(columns(&rows), "a    bb\nccc  d\n");
    }
}
