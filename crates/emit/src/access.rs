//! Reads and writes of bits at any offset of a run of bytes in network order: a header's or a table entry's. They
//! use the fewest accesses that stay inside the run.

use cgen::lower::mask;
use cgen::tree::{BinOp, Expr as C, Stmt, Type};

/// A run of bytes.
#[derive(Clone, Debug)]
pub struct Bytes {
    /// Address of its first byte.
    pub base: C,
    /// Number of bytes that may be accessed.
    pub len: u32,
}

impl Bytes {
    fn at(&self, offset: u32) -> C {
        self.base.clone().plus(offset.into())
    }

    /// Returns a container inside the run, as offset and size (1, 2, 4 or 8 bytes), that holds bytes
    /// `first..=last`.
    fn container(&self, first: u32, last: u32) -> Option<(u32, u32)> {
        let need = last - first + 1;
        [1, 2, 4, 8]
            .into_iter()
            .filter(|&size| size >= need)
            .find_map(|size| {
                if first + size <= self.len {
                    Some((first, size))
                } else {
                    (last + 1 >= size).then(|| (last + 1 - size, size))
                }
            })
    }

    /// Loads the `width` (1 to 64) bits that begin `bit` bits into the run, as a number.
    pub fn load(&self, bit: u32, width: u32) -> C {
        let (first, last) = (bit / 8, (bit + width - 1) / 8);
        let bytes = last - first + 1;
        if bytes > 8 {
            let high_width = 8 * (first + 8) - bit;
            let low_width = width - high_width;
            let high = self.load(bit, high_width);
            let low = self.load(bit + high_width, low_width);
            let high = C::bin(BinOp::Shl, high, C::int(low_width.into()));
            return C::bin(BinOp::Or, high, low);
        }
        let exact = bit.is_multiple_of(8) && width.is_multiple_of(8);
        let (start, size) = if exact {
            (first, bytes)
        } else {
            self.container(first, last).unwrap_or((first, bytes))
        };
        let whole = C::pure(format!("load_be{}", size * 8), vec![self.at(start)]);
        let below = 8 * (start + size) - (bit + width);
        let above = bit - 8 * start;
        let mut value = whole;
        if below > 0 {
            value = C::bin(BinOp::Shr, value, C::int(below.into()));
        }
        if size > 4 && width <= 32 {
            value = value.cast(Type::U32);
            if above > 0 || (above + width) > 32 {
                value = mask_to(value, width);
            }
            return value;
        }
        if above > 0 {
            value = mask_to(value, width);
        }
        value
    }

    /// Stores a number to the `width` bits that begin `bit` bits into the run.
    pub fn store(&self, bit: u32, width: u32, value: C, out: &mut Vec<Stmt>) {
        let (first, last) = (bit / 8, (bit + width - 1) / 8);
        let bytes = last - first + 1;
        if bit.is_multiple_of(8) && width.is_multiple_of(8) && bytes <= 8 {
            let name = format!("store_be{width}");
            out.push(Stmt::Expr(C::call(name, vec![self.at(first), value])));
            return;
        }
        let container = if bytes <= 8 {
            self.container(first, last)
        } else {
            None
        };
        if let Some((start, size)) = container {
            let below = 8 * (start + size) - (bit + width);
            let hole = mask(width) << below;
            let rest = mask(size * 8) & !hole;
            let wide = size > 4;
            let old = C::pure(format!("load_be{}", size * 8), vec![self.at(start)]);
            let old = C::bin(BinOp::And, old, C::int(rest));
            let mut new = match value {
                C::Int { value, .. } => C::int((value << below) & hole),
                other if wide => other.cast(Type::U64),
                other => other,
            };
            if below > 0 && new.as_int().is_none() {
                new = C::bin(BinOp::Shl, new, C::int(below.into()));
            }
            let sum = if new.as_int() == Some(0) {
                old
            } else {
                C::bin(BinOp::Or, old, new)
            };
            let name = format!("store_be{}", size * 8);
            out.push(Stmt::Expr(C::call(name, vec![self.at(start), sum])));
            return;
        }
        // No single access holds the bits. The value is computed once, before a part of the old one is overwritten.
        if !is_settled(&value) {
            let mut block = vec![Stmt::decl(Type::U64, "whole", value)];
            self.store(bit, width, C::id("whole"), &mut block);
            out.push(Stmt::Block(block));
            return;
        }
        // The bits in the last byte by themselves, then those before.
        let low_width = bit + width - 8 * last;
        let part = |shift: u32, width: u32| match value.as_int() {
            Some(v) => C::int((v >> shift) & mask(width)),
            None if shift == 0 => C::bin(BinOp::And, value.clone(), C::int(mask(width))),
            None => C::bin(BinOp::Shr, value.clone(), C::int(shift.into())),
        };
        self.store(8 * last, low_width, part(0, low_width), out);
        self.store(
            bit,
            width - low_width,
            part(low_width, width - low_width),
            out,
        );
    }
}

/// Returns true if a second evaluation yields the same value, whatever was stored in between, and costs little.
fn is_settled(value: &C) -> bool {
    match value {
        C::Int { .. } | C::Ident(_) => true,
        C::Binary(BinOp::Shr | BinOp::And, a, b) => is_settled(a) && b.as_int().is_some(),
        _ => false,
    }
}

/// Masks a value to its low bits.
pub(crate) fn mask_to(value: C, width: u32) -> C {
    if width == 32 || width == 64 {
        return value;
    }
    C::bin(BinOp::And, value, C::int(mask(width)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cgen::print::expr;

    fn header(len: u32) -> Bytes {
        Bytes {
            base: C::id("h"),
            len,
        }
    }

    #[test]
    fn whole_bytes_are_one_load() {
        assert_eq!(expr(&header(20).load(64, 8)), "load_be8(h + 8)");
        assert_eq!(expr(&header(14).load(0, 48)), "load_be48(h)");
        assert_eq!(expr(&header(14).load(96, 16)), "load_be16(h + 12)");
    }

    #[test]
    fn odd_fields_are_taken_from_a_container_inside_the_header() {
        assert_eq!(expr(&header(4).load(0, 20)), "load_be32(h) >> 12");
        assert_eq!(expr(&header(4).load(20, 3)), "(load_be8(h + 2) >> 1) & 7");
        assert_eq!(expr(&header(20).load(51, 13)), "load_be16(h + 6) & 8191");
        // Three bytes at the end of a header: the container begins one byte earlier.
        assert_eq!(expr(&header(5).load(17, 23)), "load_be32(h + 1) & 0x7fffff");
        assert_eq!(
            expr(&header(9).load(4, 64)),
            "((load_be64(h) & 0xfffffffffffffff) << 4) | (load_be8(h + 8) >> 4)"
        );
    }

    #[test]
    fn stores_keep_their_neighbours() {
        let mut out = Vec::new();
        header(20).store(4, 4, C::id("x"), &mut out);
        let Stmt::Expr(e) = &out[0] else { panic!() };
        assert_eq!(expr(e), "store_be8(h, (load_be8(h) & 240) | x)");
    }

    #[test]
    fn a_value_stored_in_several_parts_is_computed_once() {
        let mut out = Vec::new();
        // 40 bits from the second bit of 6 bytes: no one access holds them.
        header(6).store(1, 40, C::call("f", Vec::new()), &mut out);
        let [Stmt::Block(block)] = &out[..] else {
            panic!("{out:?}")
        };
        let declared = block
            .iter()
            .filter(|s| matches!(s, Stmt::Decl { .. }))
            .count();
        assert_eq!(declared, 1, "{block:?}");
        assert!(
            block.iter().all(|s| !matches!(s, Stmt::Block(_))),
            "{block:?}"
        );
    }
}
