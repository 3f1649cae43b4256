//! State of running programs, through the control plane.

use super::Kept;
use control::entry::find;
use control::metric::find_metrics;
use control::{Groups, Piece, Store, StoreError};
use diag::Diagnostic;
use std::collections::BTreeMap;

/// Stores of the programs that a query runs as, at least one. They share their metrics, and each counts its packets.
#[derive(Debug)]
pub struct Stores<S>(pub Vec<S>);

impl<S: Store> Kept for Stores<S> {
    type Error = StoreError;

    fn groups(&mut self, object: &str) -> Result<Groups, StoreError> {
        let Some(store) = self.0.first() else {
            return Ok(Groups::default());
        };
        let found = find_metrics(store.schema(), Piece::new(object, 0));
        store.metrics(found.map_err(|wrong| absent(&wrong))?)
    }

    fn counters(&mut self, object: &str) -> Result<Vec<(u64, u64)>, StoreError> {
        let mut sums = BTreeMap::new();
        for store in &self.0 {
            let counters = store.schema().counters();
            let found = find(counters, Piece::new(object, 0), "counter");
            let found = found.map_err(|wrong| absent(&wrong))?;
            for (index, count) in store.counters(found)? {
                *sums.entry(index).or_insert(0) += count.packets;
            }
        }
        Ok(sums.into_iter().collect())
    }
}

/// Reports an object that is missing although the program should have it.
fn absent(wrong: &Diagnostic) -> StoreError {
    StoreError::Unsupported {
        what: wrong.message.clone(),
    }
}
