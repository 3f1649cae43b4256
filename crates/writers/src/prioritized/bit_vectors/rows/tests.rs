//! Tests of rows against the entries that they are computed from.

use super::*;
use layout::{BitVectorsAbi, ByteOrder, FieldAbi, ValueAbi};
use schema::Bits;

const SIGNED: Type = Type::Bits {
    width: 12,
    signed: true,
};
const TYPES: [Type; 3] = [Type::bit(16), SIGNED, Type::bit(20)];

/// Describes a table with a ternary key in network order, and a signed range and a range in the machine's order.
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
        form: RowForm { lanes, words },
        entries: String::new(),
        places: String::new(),
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
            number_offset: None,
            actions: Vec::new(),
        },
        head_offset: 0,
        shadow: String::new(),
    }
}

/// Combines the words of the rows that a key's bytes select, as the description says.
fn combined(abi: &BitVectorsAbi, rows: &[u8], key: &[u8], word: usize) -> u64 {
    let stride = abi.form.stride() as usize;
    let bits = |field: u32, digit: u32, test: Test| {
        let is_it = |l: &Lane| (l.field, l.digit, l.test) == (field, digit, test);
        let lane = abi.form.lanes.iter().position(is_it).expect("a lane");
        let byte = usize::from(key[abi.form.lanes[lane].offset as usize]);
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

/// Generator of pseudo-random numbers, the same in each run.
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
    for (count, words) in [(0, 1), (3, 1), (200, 4), (700, 16), (700, 20)] {
        let abi = abi(words);
        let entries: Vec<Vec<KeyMatch>> = (0..count).map(|_| numbers.entry()).collect();
        let rows = rows(
            &abi.form,
            &abi.key,
            &TYPES,
            entries.iter().map(|keys| &keys[..]).enumerate(),
        )
        .expect("rows");
        let lanes = abi.form.lanes.len();
        assert_eq!(
            rows.len(),
            (lanes * VALUES + 1) * abi.form.stride() as usize * 8
        );
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
            let key = encoding::put_key(&abi.key, &values);
            let mut blocks = 0;
            for word in 0..abi.form.words as usize {
                let at = abi.form.head() as usize + word;
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
                blocks |= u64::from(bits != 0) << (word / abi.form.words_of_a_block() as usize);
            }
            if abi.form.head() == 1 {
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
    assert_eq!(
        rows(&abi(1).form, &abi(1).key, &TYPES, keys.enumerate()),
        Err(1)
    );
}
