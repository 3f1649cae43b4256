//! Bit vectors by key byte.
//!
//! A change of one entry is made in the half that packets read. Packets ignore the rows at a free position until one
//! store enables it ([`in_place`]). Any other change rewrites all rows of the other half from the entries in their
//! order, and then switches halves by one store, however large the change is.

mod in_place;
mod rows;

use super::{Shadow, Staged};
use crate::encoding;
use crate::errors::refused;
use crate::records::NO_ORIGIN;
use crate::steps::{ChangeStep, StepFailed, Word};
use control::StoreError;
use host::words::Words;
use layout::BitVectorsAbi;
use schema::Entry;

/// Bit vectors with their maps.
pub(crate) struct BitVectors<'a> {
    /// Description of the bit vectors.
    pub abi: &'a BitVectorsAbi,
    /// Shadow entries.
    pub shadow: Shadow<'a>,
    /// Rows, in memory.
    pub rows: &'a Words,
    /// Owner of each position, in memory: the number of its shadow entry plus one, or 0.
    pub places: &'a Words,
    /// Memory that holds the head.
    pub globals: &'a Words,
}

/// Half in use, and the number of entries at the time of the last switch.
#[derive(Clone, Copy)]
struct Head {
    half: u32,
    count: u32,
}

impl Head {
    fn word(self) -> Word {
        let mut bytes = [0; 8];
        encoding::put_u32(&mut bytes, 0, self.half);
        encoding::put_u32(&mut bytes, 4, self.count);
        Word::Eight(u64::from_ne_bytes(bytes))
    }
}

impl BitVectors<'_> {
    /// Returns the index of a position's element, in the maps that have one for each position of both halves.
    fn element(&self, half: u32, place: u32) -> u32 {
        half * self.abi.positions + place
    }

    fn head(&self) -> Result<Head, StoreError> {
        let word = self.globals.u64(self.abi.head_offset);
        let bytes = word
            .map_err(refused("read how many entries there are"))?
            .to_ne_bytes();
        Ok(Head {
            half: encoding::get_u32(&bytes, 0),
            count: encoding::get_u32(&bytes, 4),
        })
    }
}

/// Plans the steps of changes, of which there is at least one.
pub(super) fn plan(
    bits: &BitVectors<'_>,
    staged: &Staged<'_>,
) -> Result<Vec<ChangeStep>, StepFailed> {
    match in_place::plan(bits, staged)? {
        Some(steps) => Ok(steps),
        None => anew(bits, staged),
    }
}

/// Returns the number of positions to spread entries over. Free positions between them are left for later entries, as
/// far as there is room.
fn span(entries: usize, positions: u32) -> usize {
    (2 * entries + 64).min(positions as usize)
}

/// Plans the steps that write the half that packets do not read, and switch to it.
fn anew(bits: &BitVectors<'_>, staged: &Staged<'_>) -> Result<Vec<ChangeStep>, StepFailed> {
    let BitVectors { abi, shadow, .. } = bits;
    let records = &staged.records;
    let live = (0..records.len()).filter_map(|number| Some((number, records.new_value(number)?)));
    let mut order: Vec<(usize, &[u8])> = live.collect();
    // The sort is stable: of equal entries the earlier stays first.
    order.sort_by_cached_key(|(_, bytes)| shadow.rank(bytes));
    let decoded = order.iter().filter_map(|(_, bytes)| shadow.decode(bytes));
    let entries: Vec<Entry> = decoded.collect();
    let span = span(entries.len(), abi.positions);
    let place = |at: usize| at * span / entries.len().max(1);
    let keys = entries.iter().enumerate();
    let keys = keys.map(|(at, entry)| (place(at), &entry.keys[..]));
    let rows = rows::rows(&abi.form, &abi.key, &shadow.types, keys)
        .map_err(|at| without_form(staged, order[at].0))?;
    let head = bits.head()?;
    let half = u32::from(head.half == 0);
    let (mut steps, _, numbers) = staged.shadow_steps();
    let mut places = vec![0; abi.positions as usize];
    let (mut at, mut values) = (Vec::new(), Vec::new());
    for (position, (record, bytes)) in order.iter().enumerate() {
        let place = place(position);
        places[place] = numbers[*record] + 1;
        at.extend(bits.element(half, place as u32).to_ne_bytes());
        values.extend(shadow.value(bytes));
    }
    let new = Head {
        half,
        count: entries.len() as u32,
    };
    let all = (0..abi.positions).flat_map(|place| bits.element(half, place).to_ne_bytes());
    steps.extend([
        ChangeStep::Prepare {
            map: abi.rows.clone(),
            keys: half.to_ne_bytes().to_vec(),
            values: rows,
        },
        ChangeStep::Prepare {
            map: abi.places.clone(),
            keys: all.collect(),
            values: places.into_iter().flat_map(u32::to_ne_bytes).collect(),
        },
        ChangeStep::Prepare {
            map: abi.entries.clone(),
            keys: at,
            values,
        },
        ChangeStep::Switch {
            offset: abi.head_offset,
            old: head.word(),
            new: new.word(),
        },
        // The half that was in use is the next one to be written.
        ChangeStep::Settle,
    ]);
    Ok(steps)
}

/// Returns the error for an entry that no rows express.
fn without_form(staged: &Staged<'_>, record: usize) -> StepFailed {
    StepFailed {
        origin: Some(staged.records.origin(record)).filter(|origin| *origin != NO_ORIGIN),
        error: StoreError::Unsupported {
            what: "a match of the entry has a form that its key does not take: a range key takes a value or a range, a \
                   ternary key a value under a mask, an optional key a value or `_`"
                .into(),
        },
    }
}
