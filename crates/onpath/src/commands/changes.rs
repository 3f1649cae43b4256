//! Changes from the words of a command line, and reports of changes: the same for a running program and for one that starts.

use super::instance::open;
use super::named::with_text;
use crate::args::Instance;
use crate::output::Done;
use control::{Change, Piece, errors};
use diag::{Diagnostic, counted};
use schema::Schema;
use serde_json::{Map, Value, json};
use std::process::ExitCode;
use std::time::Duration;

/// Reads a change from the words of the command line and makes it in a running program.
pub(crate) fn from_words(
    instance: &Instance,
    words: &[String],
    parse: impl FnOnce(&Schema, Piece) -> Result<Change, Box<Diagnostic>>,
) -> Done {
    let mut store = open(instance)?;
    with_text(&words.join(" "), |text| {
        let change = parse(store.schema(), text)?;
        let checked = change.check();
        let made = checked.and_then(|()| {
            let made = store.apply(std::slice::from_ref(&change));
            made.map_err(|rejected| rejected.error)
        });
        made.map_err(|error| {
            let what = errors::not_done(store.schema(), &change);
            errors::store(text.span(), &what, &error)
        })
    })?;
    Ok(ExitCode::SUCCESS)
}

/// `2 changes made in 3 ms`
pub(crate) fn made_text(changes: usize, took: Duration) -> String {
    let changes = counted(changes, "change");
    format!("{changes} made in {} ms", took.as_millis())
}

/// `changes` and `milliseconds`.
pub(crate) fn made_json(changes: usize, took: Duration) -> Map<String, Value> {
    let milliseconds = took.as_millis() as u64;
    [
        ("changes".to_owned(), json!(changes)),
        ("milliseconds".to_owned(), json!(milliseconds)),
    ]
    .into_iter()
    .collect()
}
