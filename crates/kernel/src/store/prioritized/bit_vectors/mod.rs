//! Bit vectors by key byte.
//!
//! Rows follow from the entries in their order, all of them anew at each change: that takes as long as reading the
//! shadow entries, and leaves nothing to keep track of. They go to the half that packets do not read, so that a change,
//! however large, is one store for them.

mod rows;

use super::{Shadow, Staged};
use crate::store::globals::Globals;
use crate::store::steps::{Step, StepFailed, Word};
use crate::store::{layout, refused};
use bpf::abi::BitVectorsAbi;
use control::StoreError;
use schema::{Entry, KeyMatch};
use std::cmp::Reverse;

/// Bit vectors with their maps.
pub(in crate::store) struct BitVectors<'a> {
    /// Their description.
    pub abi: &'a BitVectorsAbi,
    /// The shadow entries.
    pub shadow: Shadow<'a>,
    /// Where the head is.
    pub globals: &'a Globals,
}

/// The half in use, and how many entries there are.
#[derive(Clone, Copy)]
struct Head {
    half: u32,
    count: u32,
}

impl Head {
    fn word(self) -> Word {
        let mut bytes = [0; 8];
        layout::put_u32(&mut bytes, 0, self.half);
        layout::put_u32(&mut bytes, 4, self.count);
        Word::Eight(u64::from_ne_bytes(bytes))
    }
}

impl BitVectors<'_> {
    fn head(&self) -> Result<Head, StoreError> {
        let word = self.globals.u64(self.abi.head_offset);
        let bytes = word
            .map_err(refused("read how many entries there are"))?
            .to_ne_bytes();
        Ok(Head {
            half: layout::get_u32(&bytes, 0),
            count: layout::get_u32(&bytes, 4),
        })
    }
}

/// What has to be written for changes, of which there are some.
pub(super) fn plan(bits: &BitVectors<'_>, staged: &Staged<'_>) -> Result<Vec<Step>, StepFailed> {
    let BitVectors { abi, shadow, .. } = bits;
    // In the order in which they win, each with the change that it is for.
    let mut entries: Vec<(u32, Entry)> = Vec::new();
    for number in 0..staged.records.len() {
        let entry = staged.records.new_value(number);
        if let Some(entry) = entry.and_then(|bytes| shadow.decode(bytes)) {
            entries.push((staged.records.origin(number), entry));
        }
    }
    // Of equal ones the earlier stays in front.
    entries.sort_by_cached_key(|(_, entry)| {
        let lengths: u32 = entry.keys.iter().map(prefix_length).sum();
        (Reverse(entry.priority), Reverse(lengths))
    });
    let keys = entries.iter().map(|(_, entry)| &entry.keys[..]);
    let rows = rows::rows(abi, &shadow.types, keys).map_err(|at| StepFailed {
        origin: Some(entries[at].0).filter(|origin| *origin != crate::store::records::NO_ORIGIN),
        error: StoreError::Unsupported {
            what: "the entry has a match of a form that the table's keys do not have".into(),
        },
    })?;
    let head = bits.head()?;
    let half = u32::from(head.half == 0);
    let (mut places, mut values) = (Vec::new(), Vec::new());
    for (position, (_, entry)) in entries.iter().enumerate() {
        let place = half * abi.positions + position as u32;
        places.extend(place.to_ne_bytes());
        values.extend(layout::put_value(&abi.value, &entry.action, entry.priority));
    }
    let (mut steps, _) = staged.shadow_steps();
    let new = Head {
        half,
        count: entries.len() as u32,
    };
    steps.extend([
        Step::Prepare {
            map: abi.rows.clone(),
            keys: half.to_ne_bytes().to_vec(),
            values: rows,
        },
        Step::Prepare {
            map: abi.entries.clone(),
            keys: places,
            values,
        },
        Step::Switch {
            offset: abi.head_offset,
            old: head.word(),
            new: new.word(),
        },
        // The half that was in use is the next one to be written.
        Step::Settle,
    ]);
    Ok(steps)
}

/// How long a prefix is: of equal priorities the longer ones win.
fn prefix_length(found: &KeyMatch) -> u32 {
    match found {
        KeyMatch::Lpm(_, length) => *length,
        _ => 0,
    }
}
