//! Changes from the words of a command line, and reports of changes: the same for a running program and for one that starts.

use super::instance::open;
use crate::args::Instance;
use crate::output::{Done, failed, refused_in};
use control::{Change, Piece, errors};
use diag::{Diagnostic, SourceMap, counted};
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
    with_text(words, |text| {
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
    })
}

/// Gives the words of the command line as one text with locations in it.
pub(crate) fn with_text(
    words: &[String],
    work: impl FnOnce(Piece) -> Result<(), Box<Diagnostic>>,
) -> Done {
    let mut map = SourceMap::new();
    let Some(file) = map.add("command line", words.join(" ")) else {
        return failed("the command line is too long");
    };
    let text = map.file(file).text.clone();
    let start = map.span(file, 0..0).lo;
    match work(Piece::new(&text, start)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(diagnostic) => Err(refused_in(diagnostic, &map)),
    }
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
