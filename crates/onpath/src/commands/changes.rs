//! Changes from lines of text, and what making them took: the same for a running program and for one that starts. Changes
//! from the words of a command line.

use super::instance::open;
use crate::args::Instance;
use crate::output::{Done, failed, refused_in};
use control::entries::{self, Existing};
use control::{Change, Piece, Store, errors};
use diag::{Diagnostic, Diagnostics, SourceMap, counted};
use schema::Schema;
use serde_json::{Map, Value, json};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Changes that were made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    /// How many.
    pub changes: usize,
    /// From text to maps.
    pub took: Duration,
}

/// Reads changes, a line each, and makes them, all or none.
pub(crate) fn make<'a>(
    lines: impl IntoIterator<Item = Piece<'a>>,
    existing: Existing,
    store: &mut dyn Store,
) -> Result<Made, Diagnostics> {
    let begun = Instant::now();
    let changes = entries::load(lines, existing, store)?;
    Ok(Made {
        changes,
        took: begun.elapsed(),
    })
}

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

impl Made {
    /// `2 changes made in 3 ms`
    pub(crate) fn text(&self) -> String {
        let Made { changes, took } = self;
        format!(
            "{} made in {} ms",
            counted(*changes, "change"),
            took.as_millis()
        )
    }

    /// `changes` and `milliseconds`.
    pub(crate) fn json(&self) -> Map<String, Value> {
        let milliseconds = self.took.as_millis() as u64;
        [
            ("changes".to_owned(), json!(self.changes)),
            ("milliseconds".to_owned(), json!(milliseconds)),
        ]
        .into_iter()
        .collect()
    }
}
