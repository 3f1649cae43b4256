//! Change of one entry in the half that packets read.
//!
//! A new entry gets a free position between the entries that win over it and the others. Its bits are written first:
//! they have no effect on packets until a store enables the position. A removed entry is disabled.
//!
//! An entry with a new action gets a new position beside its old one. If possible, one store enables the new position
//! and disables the old one, since a packet that reads two words might miss both. Used positions are not reused before
//! the rows are rewritten, since a packet may have seen that they were enabled.

use super::{BitVectors, Staged, rows, without_form};
use crate::errors::refused;
use crate::steps::{ChangeStep, StepFailed};
use layout::RowForm;
use std::io;

/// Number of values of a byte.
const VALUES: u32 = 256;
/// Longest distance of a new last entry from the previous last one.
const BEHIND: usize = 7;

/// Half that packets read.
struct Half<'p, 'a> {
    bits: &'p BitVectors<'a>,
    number: u32,
    /// Words of the row of enabled positions.
    enabled: Vec<u64>,
    /// True for each position that was never used.
    free: Vec<bool>,
    /// Positions with entries in order, each with the index of its record.
    taken: Vec<(u32, usize)>,
}

/// Plans the steps that change one entry in place. `None` if the rows must be rewritten.
pub(super) fn plan(
    bits: &BitVectors<'_>,
    staged: &Staged<'_>,
) -> Result<Option<Vec<ChangeStep>>, StepFailed> {
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
    let Some(half) = half.map_err(refused("read the table"))? else {
        return Ok(None);
    };
    let old = half.taken.iter().position(|(_, other)| *other == record);
    if old.is_none() && records.old(record).is_some() {
        return Ok(None);
    }
    let (mut steps, _, numbers) = staged.shadow_steps();
    let mut place = None;
    if let Some(entry) = records.new_value(record) {
        place = half.place_for(staged, entry, old);
        let Some(place) = place else {
            return Ok(None);
        };
        steps.extend(half.put(staged, record, place, numbers[record])?);
    }
    let old = old.map(|old| half.taken[old].0);
    for change in exchange(&half.enabled, place, old) {
        steps.push(match change {
            Change::Settle => ChangeStep::Settle,
            Change::Store { word, old, new } => ChangeStep::Store {
                map: bits.abi.rows.clone(),
                offset: half.word(half.enabled_row(), word),
                old,
                new,
            },
        });
    }
    Ok(Some(steps))
}

/// Change of the row of enabled positions.
#[derive(PartialEq, Eq, Debug)]
enum Change {
    /// Stores a word.
    Store { word: u32, old: u64, new: u64 },
    /// Waits for packets that have read the previous word.
    Settle,
}

/// Enables one position and disables another.
fn exchange(enabled: &[u64], on: Option<u32>, off: Option<u32>) -> Vec<Change> {
    let bit = |place: Option<u32>, word: u32| match place {
        Some(place) if place / 64 == word => 1u64 << (place % 64),
        _ => 0,
    };
    let store = |word: u32| {
        let old = enabled[word as usize];
        Change::Store {
            word,
            old,
            new: (old | bit(on, word)) & !bit(off, word),
        }
    };
    match (on.map(|place| place / 64), off.map(|place| place / 64)) {
        (Some(on), Some(off)) if on != off => vec![store(on), Change::Settle, store(off)],
        (Some(word), _) | (None, Some(word)) => vec![store(word)],
        (None, None) => Vec::new(),
    }
}

impl<'p, 'a> Half<'p, 'a> {
    /// Reads the half. `None` if it contradicts the records.
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
            // The size of an element is a multiple of eight bytes.
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

    /// Returns the offset of a row, in bytes.
    fn row(&self, row: u32) -> u32 {
        let half = self.form().rows() as u32 * self.form().stride();
        8 * (self.number * half + row * self.form().stride())
    }

    /// Returns the offset of a word of a row, in bytes. The row's summary is not counted.
    fn word(&self, row: u32, word: u32) -> u32 {
        self.row(row) + 8 * (self.form().head() + word)
    }

    /// Finds a free position for an entry. `old` is the index of its present position in `taken`, if it has one.
    fn place_for(&self, staged: &Staged<'_>, entry: &[u8], old: Option<usize>) -> Option<u32> {
        let shadow = &self.bits.shadow;
        let rank = shadow.rank(entry);
        let wins = |(_, record): &(u32, usize)| {
            let other = staged.records.old(*record);
            other.is_some_and(|other| shadow.rank(other) <= rank)
        };
        let Some(old) = old else {
            return self.free_in(self.taken.partition_point(wins), |_| true);
        };
        let (now, _) = self.taken[old];
        // Before or after the old position.
        let gaps = || [old, old + 1].into_iter();
        let beside = gaps().find_map(|gap| self.free_in(gap, |place| place / 64 == now / 64));
        beside.or_else(|| gaps().find_map(|gap| self.free_in(gap, |_| true)))
    }

    /// Finds a suitable free position before the taken one with this index.
    fn free_in(&self, gap: usize, suits: impl Fn(u32) -> bool) -> Option<u32> {
        let before = gap.checked_sub(1).and_then(|before| self.taken.get(before));
        let from = before.map_or(0, |(place, _)| place + 1);
        let after = self.taken.get(gap);
        let to = after.map_or(self.bits.abi.positions, |(place, _)| *place);
        let is_free = |place: &u32| self.free[*place as usize] && suits(*place);
        let free: Vec<u32> = (from..to).filter(is_free).collect();
        let middle = match after {
            Some(_) => free.len() / 2,
            None => (free.len() / 2).min(BEHIND),
        };
        free.get(middle).copied()
    }

    /// Returns the steps that write an entry at a position that is enabled later.
    fn put(
        &self,
        staged: &Staged<'_>,
        record: usize,
        place: u32,
        number: u32,
    ) -> Result<Vec<ChangeStep>, StepFailed> {
        let BitVectors { abi, shadow, .. } = self.bits;
        let bytes = staged.records.new_value(record).unwrap_or_default();
        let entry = shadow.decode(bytes);
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
            ChangeStep::Prepare {
                map: abi.entries.clone(),
                keys: element.clone(),
                values: shadow.value(bytes).to_vec(),
            },
            ChangeStep::Prepare {
                map: abi.places.clone(),
                keys: element,
                values: (number + 1).to_ne_bytes().to_vec(),
            },
            ChangeStep::Words {
                map: abi.rows.clone(),
                words,
            },
        ];
        if !cfg!(target_arch = "x86_64") {
            // Other processors may load the rows before they load the enabled positions.
            steps.push(ChangeStep::Settle);
        }
        Ok(steps)
    }

    /// Returns offsets and new values of the words that change in the rows. `answers` are the rows of this entry alone,
    /// one word each.
    fn words(&self, place: u32, answers: &[u8]) -> io::Result<Vec<(u32, u64)>> {
        let rows = self.bits.rows;
        let bit = 1u64 << (place % 64);
        let block = 1u64 << (place / 64 / self.form().words_of_a_block());
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all pairs of words that a packet may read while the two words change one after the other.
    fn seen(enabled: [u64; 2], changes: &[Change]) -> Vec<[u64; 2]> {
        let mut now = enabled;
        let mut seen = vec![now];
        // Words that a packet may have read before now.
        let mut before = vec![now];
        for change in changes {
            match change {
                Change::Settle => before.clear(),
                Change::Store { word, old, new } => {
                    assert_eq!(now[*word as usize], *old);
                    now[*word as usize] = *new;
                }
            }
            before.push(now);
            seen.extend(before.iter().map(|[first, _]| [*first, now[1]]));
        }
        assert_eq!(seen.last(), Some(&now));
        seen
    }

    #[test]
    fn a_packet_meets_an_entry_that_changes_once_at_least() {
        for (on, off) in [(3, 5), (5, 3), (3, 70), (70, 3), (66, 70)] {
            let mut enabled = [0; 2];
            enabled[off as usize / 64] = 1 << (off % 64);
            let changes = exchange(&enabled, Some(on), Some(off));
            for words in seen(enabled, &changes) {
                assert_ne!(words, [0; 2], "{on} for {off}: {changes:?}");
            }
        }
    }

    #[test]
    fn positions_of_one_word_change_at_once() {
        let store = |old, new| vec![Change::Store { word: 1, old, new }];
        assert_eq!(exchange(&[0, 4], Some(64), Some(66)), store(4, 1));
        assert_eq!(exchange(&[0, 4], Some(64), None), store(4, 5));
        assert_eq!(exchange(&[0, 4], None, Some(66)), store(4, 0));
    }
}
