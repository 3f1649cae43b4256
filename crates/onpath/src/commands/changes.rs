//! Changes of tables from lines of text, and what making them took: the same for a running program and for one that starts.

use control::entries::{self, Existing};
use control::{Piece, Store};
use diag::{Diagnostics, counted};
use serde_json::{Map, Value, json};
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
