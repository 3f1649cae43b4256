//! Changes given on a command line, and reports of changes to a running program or to one that starts.

use super::instance::open_with_ports;
use super::named::with_text;
use crate::args::Instance;
use crate::output::{Done, print_diagnostics, print_json};
use control::{Change, Piece, Store, StoreError, errors};
use diag::{Diagnostic, Diagnostics, SourceMap, Span, counted};
use schema::Schema;
use serde_json::{Map, Value, json};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Options of a change.
#[derive(Clone, Copy, Default)]
pub(crate) struct How {
    /// True if an entry that exists already gets the new action.
    pub(crate) or_modify: bool,
    /// True if the change is reported as JSON, even if it succeeds.
    pub(crate) as_json: bool,
}

/// Reads a change from the words of the command line and makes it in a running program.
pub(crate) fn from_words(
    instance: &Instance,
    words: &[String],
    how: How,
    parse: impl FnOnce(&Schema, Piece) -> Result<Change, Box<Diagnostic>>,
) -> Done {
    let (mut store, mut strays) = open_with_ports(instance)?;
    let begun = Instant::now();
    with_text(&words.join(" "), |text| {
        let change = parse(store.schema(), text)?;
        make(&mut *store, &change, how.or_modify).map_err(|error| {
            let what = errors::not_done(store.schema(), &change);
            errors::store(text.span(), &what, &error)
        })?;
        let mut warnings = Diagnostics::new();
        for warning in strays.of(store.schema(), &change, Span::NONE) {
            warnings.push(warning);
        }
        print_diagnostics(&warnings, &SourceMap::new());
        Ok(())
    })?;
    if how.as_json {
        print_json(&Value::Object(made_json(1, begun.elapsed())));
    }
    Ok(ExitCode::SUCCESS)
}

fn make(store: &mut dyn Store, change: &Change, or_modify: bool) -> Result<(), StoreError> {
    change.check()?;
    let mut apply = |change: &Change| {
        let made = store.apply(std::slice::from_ref(change));
        made.map_err(|rejected| rejected.error)
    };
    match (apply(change), change) {
        (Err(StoreError::Duplicate), Change::Insert(table, entry)) if or_modify => {
            match apply(&Change::Modify(*table, entry.clone())) {
                // Another writer removed it meanwhile.
                Err(StoreError::Missing) => apply(change),
                made => made,
            }
        }
        (made, _) => made,
    }
}

/// Returns a report as text: `2 changes made in 3 ms`.
pub(crate) fn made_text(changes: usize, took: Duration) -> String {
    let changes = counted(changes, "change");
    format!("{changes} made in {} ms", took.as_millis())
}

/// Returns a report as JSON: `changes` and `milliseconds`.
pub(crate) fn made_json(changes: usize, took: Duration) -> Map<String, Value> {
    let milliseconds = took.as_millis() as u64;
    [
        ("changes".to_owned(), json!(changes)),
        ("milliseconds".to_owned(), json!(milliseconds)),
    ]
    .into_iter()
    .collect()
}
