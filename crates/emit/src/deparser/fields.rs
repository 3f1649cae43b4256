//! Writing the fields of a header that lives in variables.

use crate::access::Bytes;
use crate::emitter::Gen;
use crate::target::Target;
use cgen::tree::{BinOp, Block, Expr as C, Type as CType};
use ir::{Header, Type};

impl<T: Target> Gen<'_, T> {
    /// Writes fields from variables, in as few stores as whole bytes allow.
    pub(super) fn write_fields(&mut self, h: Header, from: usize, to: usize, bytes: &Bytes) {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let widths: Vec<u32> = layout.fields[from..to]
            .iter()
            .map(|f| match f.ty {
                Type::Varbit(_) => 0,
                _ => f.ty.width(),
            })
            .collect();
        let total: u32 = widths.iter().sum();
        let mut start = 0;
        while start < total {
            let end = chunk_end(&widths, start, total);
            let value = self.chunk(h, from, &widths, start, end);
            let mut out = Block::new();
            bytes.store(start, end - start, value, &mut out);
            self.out.append(&mut out);
            start = end;
        }
    }

    /// Returns bits `start..end` of a header's fields as one number of up to 64 bits.
    fn chunk(&mut self, h: Header, from: usize, widths: &[u32], start: u32, end: u32) -> C {
        let mut result: Option<C> = None;
        let mut at = 0;
        for (i, &width) in widths.iter().enumerate() {
            let (lo, hi) = (at.max(start), (at + width).min(end));
            if lo < hi {
                let value = self.local_field(
                    h,
                    (from + i) as u32,
                    width - 1 - (lo - at),
                    width - (hi - at),
                );
                let below = end - hi;
                let value = if end - start > 32 && hi - lo <= 32 {
                    value.cast(CType::U64)
                } else if end - start <= 32 && width > 32 {
                    value.cast(CType::U32)
                } else {
                    value
                };
                let value = if below > 0 {
                    C::bin(BinOp::Shl, value, C::int(below.into()))
                } else {
                    value
                };
                result = Some(match result {
                    None => value,
                    Some(high) => C::bin(BinOp::Or, high, value),
                });
            }
            at += width;
        }
        result.unwrap_or(C::int(0))
    }
}

/// Returns the end, in bits, of the run of fields from `start` on that one store writes.
fn chunk_end(widths: &[u32], start: u32, total: u32) -> u32 {
    let mut ends = Vec::new();
    let mut at = 0;
    for width in widths {
        at += width;
        if at > start && at.is_multiple_of(8) {
            ends.push(at);
        }
    }
    let first = ends.first().copied().unwrap_or(total);
    let len = first - start;
    if len > 64 {
        return start + 64;
    }
    if matches!(len, 8 | 16 | 32 | 48 | 64) {
        return first;
    }
    // 3, 5 or 7 bytes: together with the next field they may need only one store.
    match ends.get(1) {
        Some(&second) if matches!(second - start, 32 | 64) => second,
        _ => first,
    }
}
