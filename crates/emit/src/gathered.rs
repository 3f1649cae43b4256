//! Field lists with varbits. They are gathered in memory, where hashes and comparisons read them
//! (`onpath/gathered.h`), because their length is only known at run time.

use crate::emitter::Gen;
use crate::errors;
use crate::hash::Packed;
use crate::locals::LocalKind;
use crate::target::Target;
use crate::values::Value;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use diag::Span;
use externs::hash::Algorithm;
use ir::Expr;

/// Bytes of memory for a field list, as in the C.
const MEMORY: u32 = 4096;

/// Bytes that the C may write after a field list: zeros up to a whole word.
const SLACK: u32 = 8;

/// A part of a field list.
pub(crate) enum Piece {
    /// Values of fixed width.
    Fixed(Packed),
    /// A varbit: its offset in the packet as it came in, its length in bytes, and its greatest length.
    Varying(C, C, u32),
}

/// A field list in memory.
pub(crate) struct Gathered {
    at: C,
    bytes: C,
}

impl Gathered {
    fn args(&self) -> Vec<C> {
        vec![self.at.clone(), self.bytes.clone()]
    }

    /// Returns the sum of its 16-bit words in memory order, and whether it has an odd number of bytes.
    pub(crate) fn sum(&self) -> (C, C) {
        let is_odd = C::bin(BinOp::And, self.bytes.clone(), C::int(1));
        (C::call("gathered_sum", self.args()), is_odd)
    }
}

impl<T: Target> Gen<'_, T> {
    /// Returns the hash of a field list in memory; `None` if only the target has the algorithm.
    pub(crate) fn hash_gathered(&mut self, algorithm: Algorithm, list: &Gathered) -> Option<C> {
        let call = |name: &str| C::call(name, list.args());
        let hash = match algorithm {
            Algorithm::Random => return None,
            Algorithm::Identity => call("gathered_identity"),
            Algorithm::Xor16 => call("gathered_xor16"),
            Algorithm::Csum16 => C::call("csum_of", vec![list.sum().0]),
            Algorithm::Crc32 => call("gathered_crc32"),
            Algorithm::Crc16 => call("gathered_crc16"),
        };
        // The memory may hold another list when the result is used.
        let result = self.own_local("hashed", CType::U64, None);
        self.set(result.clone(), hash);
        Some(result)
    }

    /// 1 if two varbits differ, else 0.
    pub(crate) fn differ(&mut self, a: Expr, b: Expr) -> C {
        let result = self.own_local("differ", CType::U32, Some(C::int(0)));
        let span = self.p.exprs[a].span;
        let mut lists = Vec::new();
        for (place, e) in [a, b].into_iter().enumerate() {
            let Value::Slice(at, len) = self.value(e) else {
                return result;
            };
            let most = self.p.ty(e).width().div_ceil(8);
            let pieces = vec![Piece::Varying(at, len, most)];
            match self.gather(place as u32, pieces, span) {
                Some(list) => lists.extend(list.args()),
                None => return result,
            }
        }
        self.set(result.clone(), C::call("gathered_differ", lists));
        result
    }

    /// Writes a field list to one of the slots in memory.
    pub(crate) fn gather(
        &mut self,
        place: u32,
        pieces: Vec<Piece>,
        span: Span,
    ) -> Option<Gathered> {
        let bits = pieces.iter().map(|piece| match piece {
            Piece::Fixed(packed) => u64::from(packed.bits()),
            Piece::Varying(_, _, most) => 8 * u64::from(*most),
        });
        let bytes = bits.sum::<u64>().div_ceil(8);
        if bytes > (MEMORY - SLACK).into() {
            let target = self.target.name();
            self.refuse(errors::long_varbits(target, bytes, MEMORY - SLACK, span));
            return None;
        }
        self.file.contents.gathered = true;
        let space = &mut self.rebuilding.relocated_bytes;
        *space = (*space).max((place + 1) * MEMORY + SLACK);
        let memory = self.target.relocated().plus((place * MEMORY).into());
        let memory = memory.cast(CType::U8.ptr());
        let mut end = End {
            at: None,
            most: 0,
            bits: 0,
        };
        for piece in pieces {
            match piece {
                Piece::Fixed(packed) => self.put_fixed(&memory, &mut end, packed),
                Piece::Varying(at, len, most) => {
                    self.put_varying(&memory, &mut end, (at, len, most));
                }
            }
        }
        let here = self.end_of(&end);
        let bytes = here.plus(u64::from(end.bits > 0));
        let zeros = C::bin(BinOp::Add, memory.clone(), bytes.clone());
        self.push(Stmt::Expr(C::call("store_be64", vec![zeros, C::int(0)])));
        Some(Gathered { at: memory, bytes })
    }

    /// Returns the end of a list, as a bounded number.
    fn end_of(&mut self, end: &End) -> C {
        let Some(at) = &end.at else {
            return C::int(end.most.into());
        };
        let here = self.pinned_local("gathered_to", None);
        self.set(here.clone(), at.clone());
        self.at_most(&here, end.most.into());
        here
    }

    fn lengthen(&mut self, end: &mut End, by: C, most: u32) {
        match (&end.at, by.as_int()) {
            (None, Some(_)) => {}
            (Some(at), _) => {
                let at = at.clone();
                self.push(Stmt::Update(BinOp::Add, at, by));
            }
            (None, None) => {
                let at = self.own_local("gathered_end", CType::U32, Some(C::int(0)));
                self.set(at.clone(), by.plus(end.most.into()));
                end.at = Some(at);
            }
        }
        end.most += most;
    }

    fn put_fixed(&mut self, memory: &C, end: &mut End, mut packed: Packed) {
        let here = self.end_of(end);
        let here = C::bin(BinOp::Add, memory.clone(), here);
        if end.bits > 0 {
            let byte = C::pure("load_be8", vec![here.clone()]);
            let taken = self.own_local("taken", CType::U32, None);
            self.set(
                taken.clone(),
                C::bin(BinOp::Shr, byte, C::int((8 - end.bits).into())),
            );
            packed.prepend(taken, end.bits);
        }
        let bits = packed.bits();
        for i in 0..bits.div_ceil(64) {
            let to = here.clone().plus((8 * i).into());
            let word = packed.take(64 * i, 64);
            self.push(Stmt::Expr(C::call("store_be64", vec![to, word])));
        }
        end.bits = bits % 8;
        self.lengthen(end, C::int((bits / 8).into()), bits / 8);
    }

    fn put_varying(&mut self, memory: &C, end: &mut End, (at, len, most): (C, C, u32)) {
        let here = self.end_of(end);
        let size = self.pinned_local("gathered_len", None);
        self.set(size.clone(), len);
        self.at_most(&size, most.into());
        let skipped = u64::from(end.bits > 0);
        let from_packet = self.plan.state.is_none() || self.regions.in_parser();
        if from_packet {
            let to = C::bin(BinOp::Add, memory.clone(), here.clone().plus(skipped));
            self.file.contents.copied_bytes = true;
            let load = |len: C| {
                let args = vec![C::id("ctx"), at, to, len];
                vec![Stmt::goto_if(C::call("packet_load_bytes", args), "reject")]
            };
            let loaded = self.unless_empty(&size, most, load);
            self.out.extend(loaded);
        } else {
            // The packet may now hold the bytes of another copy.
            let front = self.local(LocalKind::Front);
            let args = vec![
                memory.clone(),
                here.clone().plus(skipped),
                front,
                at,
                size.clone(),
            ];
            self.push(Stmt::Expr(C::call("gathered_copy", args)));
        }
        if end.bits > 0 {
            let args = vec![memory.clone(), here, size.clone(), C::int(end.bits.into())];
            self.push(Stmt::Expr(C::call("gathered_shift", args)));
        }
        self.lengthen(end, size, most);
    }
}

/// The end of a list so far.
struct End {
    /// Number of whole bytes; the constant `most` if `None`.
    at: Option<C>,
    /// Upper bound of the whole bytes.
    most: u32,
    /// Bits used in the byte after them.
    bits: u32,
}

#[cfg(test)]
mod tests {
    use super::MEMORY;

    #[test]
    fn the_c_has_the_same_size() {
        let (_, text) = crate::HEADERS
            .iter()
            .find(|(name, _)| name.ends_with("gathered.h"))
            .expect("gathered.h");
        assert!(text.contains(&format!("#define GATHERED {MEMORY} ")));
    }
}
