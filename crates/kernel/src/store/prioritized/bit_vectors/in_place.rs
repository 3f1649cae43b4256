//! A change of one entry in the half that packets read.
//!
//! A new entry gets a free position between those that win over it and the others. Its bits are written, which change nothing
//! for packets as long as the position is not enabled; then it is. An entry that goes is disabled. One that gets another
//! action gets another position beside the one that it has. Positions that were used are not used again before the rows are
//! written anew: a packet may have seen that they were enabled.

use super::{BitVectors, Staged, rows, without_form};
use crate::store::layout;
use crate::store::refused;
use crate::store::steps::{Step, StepFailed};
use bpf::abi::{RowForm, WORDS_OF_A_BLOCK};
use std::io;

/// Values of a byte.
const VALUES: u32 = 256;
/// How far behind the last entry a new last one goes at most.
const BEHIND: usize = 7;

/// The half that packets read.
struct Half<'p, 'a> {
    bits: &'p BitVectors<'a>,
    number: u32,
    /// Words of the row of enabled positions.
    enabled: Vec<u64>,
    /// Positions that were never used.
    free: Vec<bool>,
    /// Positions with entries in order, and the number of the record of each.
    taken: Vec<(u32, usize)>,
}

/// What has to be written for a change of one entry; nothing if it needs rows that are written anew.
pub(super) fn plan(
    bits: &BitVectors<'_>,
    staged: &Staged<'_>,
) -> Result<Option<Vec<Step>>, StepFailed> {
    let records = &staged.records;
    let mut changed = (0..records.len()).filter(|number| !records.is_unchanged(*number));
    let (Some(record), None) = (changed.next(), changed.next()) else {
        return Ok(None);
    };
    let head = bits.head()?;
    if head.count == 0 || records.live() == 0 {
        return Ok(None);
    }
    let half = Half::read(bits, head.half, staged);
    let Some(mut half) = half.map_err(refused("read the table"))? else {
        return Ok(None);
    };
    let old = half.taken.iter().position(|(_, other)| *other == record);
    if old.is_none() && records.old(record).is_some() {
        return Ok(None);
    }
    let (mut steps, _, numbers) = staged.shadow_steps();
    if let Some(entry) = records.new_value(record) {
        let Some(place) = half.place_for(staged, entry, old) else {
            return Ok(None);
        };
        steps.extend(half.put(staged, record, place, numbers[record])?);
    }
    if let Some(old) = old {
        let (place, _) = half.taken[old];
        steps.push(half.enable(place, false));
    }
    Ok(Some(steps))
}

impl<'p, 'a> Half<'p, 'a> {
    /// What there is; nothing if it is not what the records say.
    fn read(
        bits: &'p BitVectors<'a>,
        number: u32,
        staged: &Staged<'_>,
    ) -> io::Result<Option<Half<'p, 'a>>> {
        let mut half = Half {
            bits,
            number,
            enabled: Vec::new(),
            free: Vec::new(),
            taken: Vec::new(),
        };
        for word in 0..bits.abi.form.words {
            let at = half.word(half.enabled_row(), word);
            half.enabled.push(bits.rows.u64(at)?);
        }
        for place in 0..bits.abi.positions {
            // Elements are multiples of eight bytes.
            let owner = bits.places.u32(8 * bits.element(number, place))?;
            half.free.push(owner == 0);
            if half.enabled[place as usize / 64] >> (place % 64) & 1 == 1 {
                let record = staged.numbers.binary_search(&owner.wrapping_sub(1));
                let Ok(record) = record else {
                    return Ok(None);
                };
                half.taken.push((place, record));
            }
        }
        let all = staged.numbers.len() == half.taken.len();
        Ok(all.then_some(half))
    }

    fn form(&self) -> &'p RowForm {
        &self.bits.abi.form
    }

    fn enabled_row(&self) -> u32 {
        self.form().lanes.len() as u32 * VALUES
    }

    /// Where a row begins, in bytes.
    fn row(&self, row: u32) -> u32 {
        let half = self.form().rows() as u32 * self.form().stride();
        8 * (self.number * half + row * self.form().stride())
    }

    /// Where a word of a row is, its summary aside.
    fn word(&self, row: u32, word: u32) -> u32 {
        self.row(row) + 8 * (self.form().head() + word)
    }

    /// A free position for an entry, which has another one now if `old` is its number among those that are taken.
    fn place_for(&self, staged: &Staged<'_>, entry: &[u8], old: Option<usize>) -> Option<u32> {
        let shadow = &self.bits.shadow;
        let rank = shadow.rank(entry);
        let wins = |(_, record): &(u32, usize)| {
            let other = staged.records.old(*record);
            other.is_some_and(|other| shadow.rank(other) <= rank)
        };
        let behind = old.unwrap_or_else(|| self.taken.partition_point(wins));
        // In front of the old one, or behind it.
        let gaps = [Some(behind), old.map(|old| old + 1)];
        gaps.into_iter().flatten().find_map(|gap| self.free_in(gap))
    }

    /// A free position in front of the taken one of this number.
    fn free_in(&self, gap: usize) -> Option<u32> {
        let before = gap.checked_sub(1).and_then(|before| self.taken.get(before));
        let from = before.map_or(0, |(place, _)| place + 1);
        let after = self.taken.get(gap);
        let to = after.map_or(self.bits.abi.positions, |(place, _)| *place);
        let free: Vec<u32> = (from..to).filter(|p| self.free[*p as usize]).collect();
        let middle = match after {
            Some(_) => free.len() / 2,
            None => (free.len() / 2).min(BEHIND),
        };
        free.get(middle).copied()
    }

    /// Gives a position to an entry.
    fn put(
        &mut self,
        staged: &Staged<'_>,
        record: usize,
        place: u32,
        number: u32,
    ) -> Result<Vec<Step>, StepFailed> {
        let BitVectors { abi, shadow, .. } = self.bits;
        let bytes = staged.records.new_value(record);
        let entry = bytes.and_then(|bytes| shadow.decode(bytes));
        let entry = entry.ok_or_else(|| without_form(staged, record))?;
        let only = RowForm {
            lanes: self.form().lanes.clone(),
            words: 1,
        };
        let keys = [(0, &entry.keys[..])].into_iter();
        let answers = rows::rows(&only, &abi.key, &shadow.types, keys)
            .map_err(|_| without_form(staged, record))?;
        let words = self.words(place, &answers);
        let words = words.map_err(refused("read the table"))?;
        let element = self.bits.element(self.number, place).to_ne_bytes().to_vec();
        let mut steps = vec![
            Step::Prepare {
                map: abi.entries.clone(),
                keys: element.clone(),
                values: layout::put_value(&abi.value, &entry.action, entry.priority),
            },
            Step::Prepare {
                map: abi.places.clone(),
                keys: element,
                values: (number + 1).to_ne_bytes().to_vec(),
            },
            Step::Words {
                map: abi.rows.clone(),
                words,
            },
        ];
        if !cfg!(target_arch = "x86_64") {
            // Other processors may load the rows before they load what is enabled.
            steps.push(Step::Settle);
        }
        steps.push(self.enable(place, true));
        Ok(steps)
    }

    /// What words of rows become with the answers about one entry, which are a word each.
    fn words(&self, place: u32, answers: &[u8]) -> io::Result<Vec<(u32, u64)>> {
        let rows = self.bits.rows;
        let bit = 1u64 << (place % 64);
        let block = 1u64 << (place / 64 / WORDS_OF_A_BLOCK);
        let mut words = Vec::new();
        for (row, answer) in (0..).zip(answers.chunks_exact(8)) {
            let yes = answer.iter().any(|byte| *byte != 0);
            if row < self.enabled_row() {
                let at = self.word(row, place / 64);
                let old = rows.u64(at)?;
                let new = if yes { old | bit } else { old & !bit };
                words.extend((new != old).then_some((at, new)));
            }
            if yes && self.form().head() == 1 {
                let at = self.row(row);
                let old = rows.u64(at)?;
                words.extend((old & block == 0).then_some((at, old | block)));
            }
        }
        Ok(words)
    }

    /// Has packets find the entry of a position, or not.
    fn enable(&mut self, place: u32, yes: bool) -> Step {
        let word = &mut self.enabled[place as usize / 64];
        let (old, bit) = (*word, 1 << (place % 64));
        *word = if yes { old | bit } else { old & !bit };
        Step::Store {
            map: self.bits.abi.rows.clone(),
            old,
            new: *word,
            offset: self.word(self.enabled_row(), place / 64),
        }
    }
}
