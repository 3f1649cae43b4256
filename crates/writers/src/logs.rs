//! Log messages of packets, from the ring buffer.

use crate::encoding;
use crate::errors::{refused, unsupported};
use crate::memory::{Map, Memory};
use crate::state::ProgramState;
use crate::store::Store;
use control::{Logged, Logs, StoreError};
use externs::log_msg::{as_written, format};
use host::linux::monotonic_now;
use layout::LogsAbi;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Longest wait before the reader checks for an interrupt, or for the end of the program.
const SLICE: Duration = Duration::from_millis(100);
/// Offset in `struct log_limit` of the number of lost messages, in bytes.
const LOST: usize = 16;

fn lost(limit: &dyn Map, at: u32) -> std::io::Result<u64> {
    let state = limit.get(&at.to_ne_bytes())?.unwrap_or_default();
    let word = state
        .get(LOST..)
        .and_then(|word| word.first_chunk().copied());
    Ok(word.map_or(0, u64::from_ne_bytes))
}

impl<M: Memory> Store<M> {
    /// Returns the messages that have arrived, at most `most`. Waits for one up to `patience`.
    pub(super) fn read_logs(&self, most: u64, patience: Duration) -> Result<Logs, StoreError> {
        let Some(abi) = &self.memory.contents().logs else {
            return Err(unsupported("the program logs nothing"));
        };
        let begun = Instant::now();
        loop {
            // Nobody else reads meanwhile, and a successor of the program has the same ring buffer.
            let logs = self.exclusively(|now| now.take_logs(abi, most))?;
            let left = patience.saturating_sub(begun.elapsed());
            if logs != Logs::default() || left.is_zero() {
                return Ok(logs);
            }
            let waited = self.state().map(&abi.ring)?.wait(left.min(SLICE));
            waited.map_err(refused("read the log"))?;
        }
    }
}

impl ProgramState<'_> {
    fn take_logs(&self, abi: &LogsAbi, most: u64) -> Result<Logs, StoreError> {
        let failed = refused("read the log");
        let mut lines = Vec::new();
        let taken = self.map(&abi.ring)?.take(most, &mut |record| {
            lines.extend(logged(abi, record));
        });
        taken.map_err(&failed)?;
        let limit = self.map(&abi.limit)?;
        let [all, reported] = [0u32, 1].map(|at| lost(limit, at));
        let (all, reported) = (all.map_err(&failed)?, reported.map_err(&failed)?);
        if all != reported {
            let mut state = vec![0; limit.info().value_size];
            state[LOST..LOST + 8].copy_from_slice(&all.to_ne_bytes());
            let wrote = limit.set(&1u32.to_ne_bytes(), &state);
            wrote.map_err(&failed)?;
        }
        Ok(Logs {
            lines,
            lost: all.wrapping_sub(reported),
        })
    }
}

/// Decodes a record. `None` if the description has no such message.
fn logged(abi: &LogsAbi, record: &[u8]) -> Option<Logged> {
    let known = abi.records.get(encoding::get_u32(record, 0) as usize)?;
    if record.len() < known.size as usize {
        return None;
    }
    let fields = known.fields.iter();
    let mut values: Vec<_> = fields.map(|field| encoding::get(field, record)).collect();
    let time = known.timed.then(|| values.remove(0));
    let time = time.and_then(|time| time.to_u64());
    Some(Logged {
        line: format(&known.text, &values),
        message: as_written(&known.text),
        time: time.map(wall_clock),
        values,
    })
}

/// Converts a time of the clock that programs read to a time since 1970.
fn wall_clock(monotonic: u64) -> Duration {
    let ago = Duration::from_nanos(monotonic_now().saturating_sub(monotonic));
    let now = UNIX_EPOCH.elapsed().unwrap_or_default();
    now.saturating_sub(ago)
}
