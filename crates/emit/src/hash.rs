//! Hashes and checksums of values, as C. The fields follow one another without gaps and are padded with zeros to
//! whole bytes. `externs::hash` defines the result of each algorithm.

use crate::emitter::Gen;
use crate::gathered::{Gathered, Piece};
use crate::target::Target;
use crate::values::Value;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Type as CType};
use diag::Span;
use externs::hash::Algorithm;
use ir::Expr;

/// Values in order, each of up to 64 bits, with its width.
pub(crate) struct Packed(Vec<(C, u32)>);

/// The input of a hash.
enum Input {
    /// Values of fixed width.
    Packed(Packed),
    /// Varbits among them.
    Gathered(Gathered),
}

impl<T: Target> Gen<'_, T> {
    /// Returns the hash of values, as a number of up to 64 bits. `None` if the program was refused, or if only the
    /// target has the algorithm.
    pub fn hash(&mut self, algorithm: Algorithm, values: &[Expr], span: Span) -> Option<C> {
        let packed = match self.input(values, span)? {
            Input::Packed(packed) => packed,
            Input::Gathered(list) => return self.hash_gathered(algorithm, &list),
        };
        let bytes = packed.bits().div_ceil(8);
        Some(match algorithm {
            Algorithm::Random => return None,
            Algorithm::Identity => packed.take(0, (bytes * 8).min(64)),
            Algorithm::Xor16 => (0..bytes.div_ceil(2))
                .map(|i| packed.take(i * 16, 16))
                .reduce(|a, b| C::bin(BinOp::Xor, a, b))
                .unwrap_or(C::int(0)),
            Algorithm::Csum16 => C::pure("csum_of", vec![packed.sum()]),
            Algorithm::Crc32 => self.crc("crc32_of", &packed, bytes),
            Algorithm::Crc16 => self.crc("crc16_of", &packed, bytes),
        })
    }

    /// Returns the Internet checksum of the values and of the data after them. `rest` returns the sum of that data,
    /// as 16-bit words in packet order. Its argument is 1 if the values have an odd number of bytes: the first word
    /// of the data then begins with their last byte.
    pub fn checksum_with(
        &mut self,
        values: &[Expr],
        rest: impl FnOnce(&mut Self, C) -> C,
        span: Span,
    ) -> Option<C> {
        let (sum, is_odd) = match self.input(values, span)? {
            Input::Packed(packed) => {
                let is_odd = packed.bits().div_ceil(8) % 2;
                (packed.sum(), C::int(is_odd.into()))
            }
            Input::Gathered(list) => {
                let (sum, is_odd) = list.sum();
                let kept = self.own_local("sum", CType::U64, None);
                self.set(kept.clone(), sum);
                (kept, is_odd)
            }
        };
        let rest = rest(self, is_odd);
        let sum = C::bin(BinOp::Add, sum, rest);
        Some(C::pure("csum_of", vec![sum]))
    }

    fn crc(&mut self, function: &str, packed: &Packed, bytes: u32) -> C {
        let words = bytes.div_ceil(8).max(1);
        let array = self.own_local("packed", CType::U64.array(words), None);
        for i in 0..words {
            let word = C::pure("BE64", vec![packed.take(i * 64, 64)]);
            self.set(array.clone().index(C::int(i.into())), word);
        }
        C::pure(function, vec![array, C::int(bytes.into())])
    }

    fn input(&mut self, values: &[Expr], span: Span) -> Option<Input> {
        let mut pieces = Vec::new();
        let mut all = Vec::new();
        for &e in values {
            let width = self.p.ty(e).width();
            match self.value(e) {
                _ if width == 0 => {}
                Value::Scalar(value) => all.push((value, width)),
                Value::Limbs(limbs) => {
                    let mut left = width;
                    for limb in limbs.into_iter().rev() {
                        let bits = (left - 1) % 64 + 1;
                        all.push((limb, bits));
                        left -= bits;
                    }
                }
                Value::Slice(at, len) => {
                    pieces.push(Piece::Fixed(Packed(std::mem::take(&mut all))));
                    pieces.push(Piece::Varying(at, len, width.div_ceil(8)));
                }
            }
        }
        let last = Packed(all);
        if pieces.is_empty() {
            return Some(Input::Packed(last));
        }
        pieces.push(Piece::Fixed(last));
        pieces.retain(|piece| !matches!(piece, Piece::Fixed(packed) if packed.bits() == 0));
        self.gather(0, pieces, span).map(Input::Gathered)
    }
}

impl Packed {
    /// Puts a value before the others.
    pub(crate) fn prepend(&mut self, value: C, width: u32) {
        self.0.insert(0, (value, width));
    }

    /// The number of bits.
    pub(crate) fn bits(&self) -> u32 {
        self.0.iter().map(|(_, width)| width).sum()
    }

    /// Takes up to 64 bits from a position on, with zeros after the last value.
    pub(crate) fn take(&self, from: u32, bits: u32) -> C {
        let to = from + bits;
        let mut start = 0;
        let mut taken: Option<C> = None;
        for (value, width) in &self.0 {
            let end = start + width;
            let (lo, hi) = (from.max(start), to.min(end));
            if lo < hi {
                let mut part = value.clone();
                if hi < end {
                    // A constant that stands for a wide value is an `int`.
                    part = C::bin(BinOp::Shr, part.cast(CType::U64), C::int((end - hi).into()));
                }
                if lo > start {
                    part = C::bin(BinOp::And, part, C::int(lower::mask(hi - lo)));
                }
                if hi < to {
                    part = C::bin(BinOp::Shl, part.cast(CType::U64), C::int((to - hi).into()));
                }
                taken = Some(match taken {
                    None => part,
                    Some(before) => C::bin(BinOp::Or, before, part),
                });
            }
            start = end;
        }
        taken.unwrap_or(C::int(0))
    }

    /// Returns the sum of all 16-bit words in packet order, from which `csum_of` makes a checksum. Words of 32 bits
    /// are added whole: their halves are added later.
    fn sum(&self) -> C {
        let ends: Vec<(u32, u32)> = self
            .0
            .iter()
            .scan(0, |end, (_, width)| {
                *end += width;
                Some((*end - width, *end))
            })
            .collect();
        let mut sum = C::int(0).cast(CType::U64);
        let mut at = 0;
        while at < self.bits() {
            let whole = ends
                .iter()
                .any(|&(start, end)| start <= at && at + 32 <= end);
            let (swap, width) = match whole {
                true => ("BE32", 32),
                false => ("BE16", 16),
            };
            let word = C::pure(swap, vec![self.take(at, width)]);
            sum = C::bin(BinOp::Add, sum, word);
            at += width;
        }
        sum
    }
}
