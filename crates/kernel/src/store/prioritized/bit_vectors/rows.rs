//! The rows of bits that follow from the entries of a table.

use crate::store::layout;
use crate::store::ranges::{ends, masked};
use bpf::abi::{BitVectorsAbi, Lane, Test, WORDS_OF_A_BLOCK};
use schema::{KeyMatch, Type};
use std::iter;

/// Values of a byte.
const VALUES: usize = 256;

/// A half as the program reads it, for entries with these matches, in their order.
///
/// # Errors
/// The position of an entry with a match that no lane has a form for.
pub(super) fn rows<'m>(
    abi: &BitVectorsAbi,
    types: &[Type],
    entries: impl Iterator<Item = &'m [KeyMatch]>,
) -> Result<Vec<u8>, usize> {
    let mut lanes: Vec<Rows> = abi
        .lanes
        .iter()
        .map(|lane| Rows::new(abi, lane, types))
        .collect();
    let mut key = vec![(0u8, 0u8); abi.key.size as usize];
    for (position, matches) in entries.enumerate() {
        let mut bounds: Vec<Option<[Vec<u8>; 2]>> = Vec::with_capacity(matches.len());
        for (number, (found, field)) in matches.iter().zip(&abi.key.fields).enumerate() {
            let ty = types.get(number).copied().unwrap_or(Type::bit(field.width));
            let own = abi.lanes.iter().filter(|lane| lane.field == number as u32);
            if own.clone().any(|lane| lane.test != Test::Accepts) {
                bounds.push(Some(ends(found, ty).ok_or(position)?));
                continue;
            }
            bounds.push(None);
            let [only] = &masked(found, ty)[..] else {
                return Err(position);
            };
            let (mut mask, mut value) = (vec![0; key.len()], vec![0; key.len()]);
            layout::put(field, &only.mask, &mut mask);
            layout::put(field, &only.value, &mut value);
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
    let mut bytes = Vec::with_capacity(lanes.len() * VALUES * abi.stride() as usize * 8);
    for rows in lanes {
        for word in rows.finish() {
            bytes.extend(word.to_ne_bytes());
        }
    }
    Ok(bytes)
}

/// The rows of a lane.
struct Rows {
    lane: Lane,
    /// Bits that values of the byte may have.
    valid: u8,
    /// The sign, if the byte has one: ranges take it as inverted.
    sign: u8,
    /// Words before a row's first position.
    head: usize,
    stride: usize,
    words: Vec<u64>,
    /// Entries that accept every value.
    any: Vec<u64>,
}

impl Rows {
    fn new(abi: &BitVectorsAbi, lane: &Lane, types: &[Type]) -> Rows {
        let width = abi.key.fields[lane.field as usize].width;
        let bits = match lane.digit {
            0 => (width - 1) % 8 + 1,
            _ => 8,
        };
        let ty = types.get(lane.field as usize);
        let signed = matches!(ty, Some(Type::Bits { signed: true, .. })) && lane.digit == 0;
        let stride = abi.stride() as usize;
        Rows {
            lane: *lane,
            valid: u8::MAX >> (8 - bits),
            sign: if signed { 1 << (bits - 1) } else { 0 },
            head: abi.head() as usize,
            stride,
            words: vec![0; VALUES * stride],
            any: vec![0; abi.words as usize],
        }
    }

    fn set(&mut self, value: u8, position: usize) {
        let word = usize::from(value) * self.stride + self.head + position / 64;
        self.words[word] |= 1 << (position % 64);
    }

    /// An entry that wants the byte to be `value` where `mask` has ones.
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

    /// An entry with a range whose ends have these bytes: its bit is where the answer becomes yes.
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

    /// All words, with what follows from those that are set.
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
            let (summary, bits) = row.split_at_mut(head);
            for (word, any) in bits.iter_mut().zip(&self.any) {
                *word |= any;
            }
            if let [summary] = summary {
                let blocks = bits.chunks(WORDS_OF_A_BLOCK as usize);
                let used = blocks.map(|block| u64::from(block.iter().any(|word| *word != 0)));
                let places = iter::successors(Some(1u64), |bit| Some(bit << 1));
                *summary = used.zip(places).map(|(used, bit)| used * bit).sum();
            }
        }
        self.words
    }

    /// Has the entries of a value's row in that of another one.
    fn spread(&mut self, from: usize, to: usize) {
        for word in self.head..self.stride {
            self.words[to * self.stride + word] |= self.words[from * self.stride + word];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bpf::abi::{ByteOrder, FieldAbi, KeyAbi, ValueAbi};
    use schema::Bits;

    const SIGNED: Type = Type::Bits {
        width: 12,
        signed: true,
    };
    const TYPES: [Type; 3] = [Type::bit(16), SIGNED, Type::bit(20)];

    /// A ternary key in network order, a signed range and a range in the machine's order.
    fn abi(words: u32) -> BitVectorsAbi {
        let field = |offset, size, width, order| FieldAbi {
            name: String::new(),
            offset,
            size,
            width,
            order,
        };
        let lane = |field, digit, offset, test| Lane {
            field,
            digit,
            offset,
            test,
        };
        let mut lanes = vec![lane(0, 0, 8, Test::Accepts), lane(0, 1, 9, Test::Accepts)];
        for (number, places) in [(1, &[5, 4][..]), (2, &[2, 1, 0])] {
            for (digit, place) in places.iter().enumerate() {
                let last = digit + 1 == places.len();
                let tests: &[Test] = match last {
                    false => &[Test::Above, Test::From, Test::Below, Test::To],
                    true => &[Test::From, Test::To],
                };
                let all = tests.iter();
                lanes.extend(all.map(|&test| lane(number, digit as u32, *place, test)));
            }
        }
        BitVectorsAbi {
            rows: String::new(),
            lanes,
            words,
            entries: String::new(),
            positions: words * 64,
            key: KeyAbi {
                size: 12,
                fields: vec![
                    field(8, 2, 16, ByteOrder::Network),
                    field(4, 2, 12, ByteOrder::Host),
                    field(0, 4, 20, ByteOrder::Host),
                ],
            },
            value: ValueAbi {
                size: 0,
                priority_offset: None,
                action_offset: 0,
                actions: Vec::new(),
            },
            head_offset: 0,
            shadow: String::new(),
        }
    }

    /// The words of the rows that a key's bytes choose, combined as the description says.
    fn combined(abi: &BitVectorsAbi, rows: &[u8], key: &[u8], word: usize) -> u64 {
        let stride = abi.stride() as usize;
        let bits = |field: u32, digit: u32, test: Test| {
            let is_it = |l: &Lane| (l.field, l.digit, l.test) == (field, digit, test);
            let lane = abi.lanes.iter().position(is_it).expect("a lane");
            let byte = usize::from(key[abi.lanes[lane].offset as usize]);
            let at = 8 * ((lane * VALUES + byte) * stride + word);
            u64::from_ne_bytes(rows[at..at + 8].try_into().expect("8 bytes"))
        };
        let end = |field, last: u32, beyond, or_equal| {
            (0..last)
                .rev()
                .fold(bits(field, last, or_equal), |rest, digit| {
                    bits(field, digit, beyond) | (bits(field, digit, or_equal) & rest)
                })
        };
        let range = |field, last| {
            end(field, last, Test::Above, Test::From) & end(field, last, Test::Below, Test::To)
        };
        bits(0, 0, Test::Accepts) & bits(0, 1, Test::Accepts) & range(1, 1) & range(2, 2)
    }

    fn matches(found: &KeyMatch, value: &Bits, signed: bool) -> bool {
        match found {
            KeyMatch::Any => true,
            KeyMatch::Exact(want) => want == value,
            KeyMatch::Lpm(want, length) => {
                let mask = Bits::prefix_mask(value.width(), *length);
                want.value() & mask.value() == value.value() & mask.value()
            }
            KeyMatch::Ternary(want, mask) => *want.value() == value.value() & mask.value(),
            KeyMatch::Range(low, high) => {
                let at = value.to_int(signed);
                low.to_int(signed) <= at && at <= high.to_int(signed)
            }
        }
    }

    /// Numbers without a pattern, the same in each run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (self.0 >> 33) % limit
        }

        fn range(&mut self, width: u32, signed: bool, spread: u64) -> KeyMatch {
            let least = if signed { -(1i64 << (width - 1)) } else { 0 };
            let count = 1 << width;
            let (from, more) = (self.below(count), self.below(spread));
            let bits = |n: u64| Bits::from_int(width, &(least + n.min(count - 1) as i64).into());
            KeyMatch::Range(bits(from), bits(from + more))
        }

        fn entry(&mut self) -> Vec<KeyMatch> {
            let mask = self.below(1 << 16) & self.below(1 << 16);
            let value = self.below(1 << 16) & mask;
            let first = match self.below(8) {
                0 => KeyMatch::Any,
                1 => KeyMatch::Exact(Bits::new(16, value)),
                2 => KeyMatch::Lpm(Bits::new(16, value & 0xf800), 5),
                _ => KeyMatch::Ternary(Bits::new(16, value), Bits::new(16, mask)),
            };
            let second = match self.below(4) {
                0 => KeyMatch::Any,
                _ => self.range(12, true, 1 << 12),
            };
            let third = match self.below(4) {
                0 => KeyMatch::Any,
                1 => self.range(20, false, 300),
                _ => self.range(20, false, 1 << 20),
            };
            vec![first, second, third]
        }
    }

    #[test]
    fn the_rows_of_a_key_have_the_bits_of_the_entries_that_match_it() {
        let mut numbers = Numbers(1);
        for (count, words) in [(0, 1), (3, 1), (200, 4), (700, 12)] {
            let abi = abi(words);
            let entries: Vec<Vec<KeyMatch>> = (0..count).map(|_| numbers.entry()).collect();
            let rows = rows(&abi, &TYPES, entries.iter().map(|keys| &keys[..])).expect("rows");
            let lanes = abi.lanes.len();
            assert_eq!(rows.len(), lanes * VALUES * abi.stride() as usize * 8);
            let mut found = 0;
            for turn in 0..400 {
                // Ends of ranges, and values anywhere.
                let own = entries.get(turn % entries.len().max(1));
                let values: Vec<Bits> = TYPES
                    .iter()
                    .enumerate()
                    .map(|(key, ty)| match own.map(|keys| &keys[key]) {
                        Some(KeyMatch::Range(low, _)) if turn % 3 == 0 => low.clone(),
                        Some(KeyMatch::Range(_, high)) if turn % 3 == 1 => high.clone(),
                        Some(KeyMatch::Ternary(value, _)) if turn % 2 == 0 => value.clone(),
                        _ => Bits::new(ty.width(), numbers.below(1 << ty.width())),
                    })
                    .collect();
                let key = layout::put_key(&abi.key, &values);
                let mut blocks = 0;
                for word in 0..abi.words as usize {
                    let at = abi.head() as usize + word;
                    let bits = combined(&abi, &rows, &key, at);
                    for place in 0..64 {
                        let keys = entries.get(word * 64 + place);
                        let wanted = keys.is_some_and(|keys| {
                            let all = keys.iter().zip(&values).enumerate();
                            let mut all = all.map(|(n, (m, v))| matches(m, v, n == 1));
                            all.all(|matches| matches)
                        });
                        assert_eq!(bits >> place & 1 == 1, wanted, "{values:?} {keys:?}");
                        found += usize::from(wanted);
                    }
                    blocks |= u64::from(bits != 0) << (word / WORDS_OF_A_BLOCK as usize);
                }
                if abi.head() == 1 {
                    let summary = combined(&abi, &rows, &key, 0);
                    assert_eq!(blocks & !summary, 0, "the summary leaves nothing out");
                }
            }
            assert_eq!(found > 200, count > 3, "{count}: {found}");
        }
    }

    #[test]
    fn a_match_without_a_form_is_refused_with_its_position() {
        let odd = KeyMatch::Ternary(Bits::new(12, 1u32), Bits::new(12, 1u32));
        let entries = [
            vec![KeyMatch::Any, KeyMatch::Any, KeyMatch::Any],
            vec![KeyMatch::Any, odd, KeyMatch::Any],
        ];
        let keys = entries.iter().map(|keys| &keys[..]);
        assert_eq!(rows(&abi(1), &TYPES, keys), Err(1));
    }
}
