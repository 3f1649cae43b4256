//! Losses of the traffic manager: sums over processors.

use crate::errors::refused;
use crate::state::ProgramState;
use control::{DropReason, StoreError};

impl ProgramState<'_> {
    /// Returns the number of packets and copies lost for each reason. Empty if the program has no traffic manager.
    pub(super) fn read_drops(&self) -> Result<Vec<(DropReason, u64)>, StoreError> {
        let Some(name) = self.memory.traffic().drops else {
            return Ok(Vec::new());
        };
        let map = self.map(name)?;
        let count = |reason: DropReason| {
            let copies = map
                .get(&(reason as u32).to_ne_bytes())
                .map_err(refused("read what was dropped"))?
                .unwrap_or_default();
            let (words, _) = copies.as_chunks();
            let words = words.iter().map(|word| u64::from_ne_bytes(*word));
            Ok((reason, words.fold(0, u64::wrapping_add)))
        };
        DropReason::ALL.into_iter().map(count).collect()
    }
}
