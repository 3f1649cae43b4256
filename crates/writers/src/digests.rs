//! Digests that packets put into the ring buffer.

use crate::encoding;
use crate::errors::{refused, unsupported};
use crate::memory::{Map, Memory};
use crate::state::ProgramState;
use crate::store::Store;
use control::{Digest, Digests, StoreError};
use layout::DigestsAbi;
use std::time::{Duration, Instant};

/// Longest wait before the reader checks for an interrupt, or for the end of the program.
const SLICE: Duration = Duration::from_millis(100);

impl<M: Memory> Store<M> {
    /// Reads the digests that have arrived, at most `most`. Waits for one up to `patience`.
    pub(super) fn read_digests(
        &self,
        most: u64,
        patience: Duration,
    ) -> Result<Digests, StoreError> {
        let Some(abi) = &self.memory.contents().digests else {
            return Err(unsupported("the program sends no digests"));
        };
        let failed = refused("read the digests");
        let begun = Instant::now();
        loop {
            // Nobody else reads meanwhile, and a successor of the program has the same ring buffer.
            let digests = self.exclusively(|now| now.take_digests(abi, most))?;
            let left = patience.saturating_sub(begun.elapsed());
            if digests != Digests::default() || left.is_zero() {
                return Ok(digests);
            }
            self.state()
                .map(&abi.ring)?
                .wait(left.min(SLICE))
                .map_err(&failed)?;
        }
    }
}

impl ProgramState<'_> {
    fn take_digests(&self, abi: &DigestsAbi, most: u64) -> Result<Digests, StoreError> {
        let failed = refused("read the digests");
        let mut received = Vec::new();
        let ring = self.map(&abi.ring)?;
        let taken = ring.take(most, &mut |record| received.extend(digest(abi, record)));
        taken.map_err(&failed)?;
        let lost = self.map(&abi.lost)?;
        let [all, reported] = [0u32, 1].map(|at| count(lost, at));
        let (all, reported) = (all.map_err(&failed)?, reported.map_err(&failed)?);
        if all != reported {
            lost.set(&1u32.to_ne_bytes(), &all.to_ne_bytes())
                .map_err(&failed)?;
        }
        Ok(Digests {
            received,
            lost: all.wrapping_sub(reported),
        })
    }
}

fn count(map: &dyn Map, at: u32) -> std::io::Result<u64> {
    let bytes = map.get(&at.to_ne_bytes())?.unwrap_or_default();
    let (words, _) = bytes.as_chunks();
    Ok(words.first().copied().map_or(0, u64::from_ne_bytes))
}

/// Decodes a record. `None` if the description has no such digest.
fn digest(abi: &DigestsAbi, record: &[u8]) -> Option<Digest> {
    let number = encoding::get_u32(record, 0);
    let known = abi.records.iter().find(|known| known.number == number)?;
    if record.len() < known.size as usize {
        return None;
    }
    let fields = known.fields.iter();
    Some(Digest {
        number,
        receiver: encoding::get_u32(record, 4).into(),
        values: fields.map(|field| encoding::get(field, record)).collect(),
    })
}
