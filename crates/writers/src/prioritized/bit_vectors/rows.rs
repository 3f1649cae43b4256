//! Rows of bits, computed from the entries of a table.

use crate::encoding;
use crate::ranges::{ends, masked};
use layout::{KeyAbi, Lane, RowForm, Test};
use schema::{KeyMatch, Type};
use std::iter;

/// Number of values of a byte.
const VALUES: usize = 256;

/// Encodes a half as the program reads it. `entries` are positions and matches, in the order of positions.
///
/// # Errors
/// Index of an entry with a match that no lane can express.
pub(super) fn rows<'m>(
    form: &RowForm,
    key_abi: &KeyAbi,
    types: &[Type],
    entries: impl Iterator<Item = (usize, &'m [KeyMatch])>,
) -> Result<Vec<u8>, usize> {
    let mut lanes: Vec<Rows> = form
        .lanes
        .iter()
        .map(|lane| Rows::new(form, key_abi, lane, types))
        .collect();
    let mut enabled = vec![0u64; form.words as usize];
    let mut key = vec![(0u8, 0u8); key_abi.size as usize];
    for (number, (position, matches)) in entries.enumerate() {
        enabled[position / 64] |= 1 << (position % 64);
        let mut bounds: Vec<Option<[Vec<u8>; 2]>> = Vec::with_capacity(matches.len());
        for (part, (found, field)) in matches.iter().zip(&key_abi.fields).enumerate() {
            let ty = types.get(part).copied().unwrap_or(Type::bit(field.width));
            let own = form.lanes.iter().filter(|lane| lane.field == part as u32);
            if own.clone().any(|lane| lane.test != Test::Accepts) {
                bounds.push(Some(ends(found, ty).ok_or(number)?));
                continue;
            }
            bounds.push(None);
            let [only] = &masked(found, ty)[..] else {
                return Err(number);
            };
            let (mut mask, mut value) = (vec![0; key.len()], vec![0; key.len()]);
            encoding::put(field, &only.mask, &mut mask);
            encoding::put(field, &only.value, &mut value);
            for at in own.map(|lane| lane.offset as usize) {
                key[at] = (value[at], mask[at]);
            }
        }
        for rows in &mut lanes {
            let lane = rows.lane;
            match bounds.get(lane.field as usize) {
                Some(Some([low, high])) => {
                    let digit = lane.digit as usize;
                    rows.bound(position, low[digit], high[digit]);
                }
                _ => {
                    let (value, mask) = key[lane.offset as usize];
                    rows.accept(position, value, mask);
                }
            }
        }
    }
    let mut bytes = Vec::with_capacity(form.bytes() as usize);
    for word in lanes.into_iter().flat_map(Rows::finish) {
        bytes.extend(word.to_ne_bytes());
    }
    let summary = (form.head() == 1).then(|| summary(&enabled, form.words_of_a_block()));
    for word in summary.into_iter().chain(enabled) {
        bytes.extend(word.to_ne_bytes());
    }
    Ok(bytes)
}

/// Returns a word with one bit for each block of words, which is set if the block is not all zeros.
fn summary(words: &[u64], of_a_block: u32) -> u64 {
    let blocks = words.chunks(of_a_block as usize);
    let used = blocks.map(|block| u64::from(block.iter().any(|word| *word != 0)));
    let places = iter::successors(Some(1u64), |bit| Some(bit << 1));
    used.zip(places).map(|(used, bit)| used * bit).sum()
}

/// Rows of a lane.
struct Rows {
    lane: Lane,
    /// Mask of the bits that values of the byte may have.
    valid: u8,
    /// Sign bit, if the byte has one. Ranges invert it.
    sign: u8,
    /// Number of words before a row's first position: the summary, if there is one.
    head: usize,
    /// Number of words in a block.
    of_a_block: u32,
    stride: usize,
    words: Vec<u64>,
    /// Entries that accept every value, one bit each.
    any: Vec<u64>,
}

impl Rows {
    fn new(form: &RowForm, key: &KeyAbi, lane: &Lane, types: &[Type]) -> Rows {
        let width = key.fields[lane.field as usize].width;
        let bits = match lane.digit {
            0 => (width - 1) % 8 + 1,
            _ => 8,
        };
        let ty = types.get(lane.field as usize);
        let signed = matches!(ty, Some(Type::Bits { signed: true, .. })) && lane.digit == 0;
        let stride = form.stride() as usize;
        Rows {
            lane: *lane,
            valid: u8::MAX >> (8 - bits),
            sign: if signed { 1 << (bits - 1) } else { 0 },
            head: form.head() as usize,
            of_a_block: form.words_of_a_block(),
            stride,
            words: vec![0; VALUES * stride],
            any: vec![0; form.words as usize],
        }
    }

    fn set(&mut self, value: u8, position: usize) {
        let word = usize::from(value) * self.stride + self.head + position / 64;
        self.words[word] |= 1 << (position % 64);
    }

    /// Adds an entry that requires the byte to equal `value` where `mask` has ones.
    fn accept(&mut self, position: usize, value: u8, mask: u8) {
        if mask == 0 {
            self.any[position / 64] |= 1 << (position % 64);
            return;
        }
        // Bits that no value has need no rows.
        let free = !mask & self.valid;
        let mut rest = free;
        loop {
            self.set(value | rest, position);
            if rest == 0 {
                return;
            }
            rest = (rest - 1) & free;
        }
    }

    /// Adds an entry with a range whose ends have these bytes. Its bit is set in the row of the first value for which
    /// the answer is yes.
    fn bound(&mut self, position: usize, low: u8, high: u8) {
        let first = match self.lane.test {
            Test::Above => low.checked_add(1),
            Test::From => Some(low),
            Test::Below => high.checked_sub(1),
            Test::To => Some(high),
            Test::Accepts => None,
        };
        if let Some(first) = first {
            self.set(first ^ self.sign, position);
        }
    }

    /// Completes the rows: spreads bits to all values that satisfy a test, adds entries that accept every value, and
    /// computes summaries. Returns all words.
    fn finish(mut self) -> Vec<u64> {
        let upwards = matches!(self.lane.test, Test::Above | Test::From);
        if self.lane.test != Test::Accepts {
            let values = 0..VALUES - 1;
            let in_order: Vec<usize> = match upwards {
                true => values.collect(),
                false => values.map(|value| VALUES - 1 - value).collect(),
            };
            for value in in_order {
                let next = if upwards { value + 1 } else { value - 1 };
                let sign = usize::from(self.sign);
                self.spread(value ^ sign, next ^ sign);
            }
        }
        let (head, stride) = (self.head, self.stride);
        for row in self.words.chunks_exact_mut(stride) {
            let (head_word, bits) = row.split_at_mut(head);
            for (word, any) in bits.iter_mut().zip(&self.any) {
                *word |= any;
            }
            if let [first] = head_word {
                *first = summary(bits, self.of_a_block);
            }
        }
        self.words
    }

    /// Adds the entries in one value's row to another row.
    fn spread(&mut self, from: usize, to: usize) {
        for word in self.head..self.stride {
            self.words[to * self.stride + word] |= self.words[from * self.stride + word];
        }
    }
}

#[cfg(test)]
mod tests;
