//! Shared steps of commands on a running program's objects: finding the named object, and printing results.

use crate::output::{Stop, failed, out, out_line, print_json, refused, refused_in};
use control::{Piece, StoreError, errors};
use diag::{Diagnostic, SourceMap, Span, columns};
use serde_json::Value;

/// Runs `work` on a text of the command line, and reports its diagnostic with the location in that text.
pub(super) fn with_text<T>(
    text: &str,
    work: impl FnOnce(Piece) -> Result<T, Box<Diagnostic>>,
) -> Result<T, Stop> {
    let mut map = SourceMap::new();
    let Some(file) = map.add("command line", text) else {
        return failed("the command line is too long");
    };
    let start = map.span(file, 0..0).lo;
    work(Piece::new(text, start)).map_err(|diagnostic| refused_in(diagnostic, &map))
}

/// Returns the object that the command line names, or else all.
pub(super) fn one_or_all<T>(
    name: Option<&str>,
    find: impl FnOnce(Piece) -> Result<T, Box<Diagnostic>>,
    all: impl Iterator<Item = T>,
) -> Result<Vec<T>, Stop> {
    match name {
        Some(name) => Ok(vec![with_text(name, find)?]),
        None => Ok(all.collect()),
    }
}

/// Reports a failed operation of a store, and why it failed.
pub(super) fn not_done(what: impl AsRef<str>) -> impl Fn(StoreError) -> Stop {
    move |error| refused(errors::store(Span::NONE, what.as_ref(), &error))
}

/// Prints values as a JSON array.
pub(super) fn print_array(values: impl IntoIterator<Item = Value>) {
    print_json(&values.into_iter().collect());
}

/// Prints rows below the heads of their columns. Without rows it prints the line `none`.
pub(super) fn print_rows<const N: usize>(
    heads: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    none: &str,
) {
    let mut all = vec![heads.map(String::from).to_vec()];
    all.extend(rows.into_iter().map(Vec::from));
    match all.len() {
        1 => out_line!("{none}"),
        _ => out!("{}", columns(&all)),
    }
}
