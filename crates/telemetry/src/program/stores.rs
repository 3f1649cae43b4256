//! The state of running programs, as the control plane reads it.

use super::Kept;
use control::entry::find;
use control::figure::find_figures;
use control::{Groups, Piece, Store, StoreError};
use diag::Diagnostic;
use std::collections::BTreeMap;

/// The states of the programs that a query runs as, one at least: they share their figures, and each counts its packets.
#[derive(Debug)]
pub struct Stores<S>(pub Vec<S>);

impl<S: Store> Kept for Stores<S> {
    type Error = StoreError;

    fn groups(&mut self, object: &str) -> Result<Groups, StoreError> {
        let Some(store) = self.0.first() else {
            return Ok(Groups::default());
        };
        let found = find_figures(store.schema(), Piece::new(object, 0));
        store.figures(found.map_err(|wrong| absent(&wrong))?)
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

/// The program has every object that a report is made of.
fn absent(wrong: &Diagnostic) -> StoreError {
    StoreError::Unsupported {
        what: wrong.message.clone(),
    }
}
