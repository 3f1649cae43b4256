//! Searches for a value in the packet: Boyer-Moore-Horspool where its shifts are long, else eight bytes at a time.
//!
//! Both find the first place where the value is. Horspool's algorithm compares the value's last byte, and moves on as far as the
//! byte that is there allows, which a table has for each of the 256. The other one compares eight places at once with the
//! value's first and last byte, in two words, and all of the value where both are right.

use super::CursorAt;
use crate::emitter::Gen;
use crate::plan::facts;
use crate::target::Target;
use crate::values::Value;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Item, Stmt, Type as CType};
use ir::{Expr, ExprKind, Pattern, Place, Var, visit};

/// From so many bytes on that a place moves on by, on average over all bytes, Horspool's algorithm is faster: a turn of it waits for two
/// loads, one after the other, and takes nearly twice as long as one of the other, which always moves on by eight. `bench payload` measures values of several lengths.
const LONG_SHIFT: usize = 16;

/// A pattern as bytes, from the first that matters to the last.
struct Needle {
    /// Bytes from the cursor to the first one.
    skip: u32,
    value: Vec<u8>,
    mask: Vec<u8>,
    /// Bytes from the cursor to the end of the pattern.
    end: u32,
}

impl Needle {
    fn of(pattern: &Pattern) -> Needle {
        let end = pattern.end().div_ceil(8);
        let first = pattern.skip / 8;
        let len = (end - first) as usize;
        let behind = end * 8 - pattern.end();
        let bytes = |bits: &ir::Bits| {
            let raw = (bits.value() << behind).to_bytes_be();
            let mut all = vec![0; len - raw.len().min(len)];
            all.extend(raw);
            all
        };
        let (value, mask) = (bytes(&pattern.value), bytes(&pattern.mask));
        let matters = |byte: &u8| *byte != 0;
        let from = mask.iter().position(matters).unwrap_or(0);
        let to = mask.iter().rposition(matters).map_or(len, |last| last + 1);
        Needle {
            skip: first + from as u32,
            value: value[from..to].to_vec(),
            mask: mask[from..to].to_vec(),
            end,
        }
    }

    fn len(&self) -> u32 {
        self.value.len() as u32
    }

    /// By how much a place moves on without passing the value, for each byte at the value's end.
    fn shifts(&self) -> Vec<u8> {
        let last = self.value.len() - 1;
        (0..=u8::MAX)
            .map(|byte| {
                let fits = |i: &usize| byte & self.mask[*i] == self.value[*i];
                let shift = (0..last).rev().find(fits).map_or(last + 1, |i| last - i);
                shift.min(u8::MAX.into()) as u8
            })
            .collect()
    }
}

impl<T: Target> Gen<'_, T> {
    /// Moves on to where a pattern is, after at most so many bytes, or to where the packet, as far as it can be seen, has not all
    /// of its bytes.
    pub(crate) fn search(&mut self, pattern: &Pattern, limit: Option<Expr>, passed: Option<Var>) {
        let needle = Needle::of(pattern);
        self.file.contents.loops = true;
        self.file.contents.searches = true;
        let mut counters = Vec::new();
        if let Some(limit) = limit {
            visit::walk_expr(self.p, limit, &mut |data| match data.kind {
                ExprKind::Var(var) if !counters.contains(&var) => counters.push(var),
                _ => {}
            });
        }
        let limit = limit.map(|limit| lower::scalar(self, limit));
        self.start_loop();
        let stop = self.offset_local("stop");
        let from = passed.map(|_| self.offset_local("from"));
        self.stop_at(&needle, limit, &stop);
        self.hide(&counters);
        if let Some(from) = &from {
            self.set(from.clone(), C::id("off"));
        }
        let [again, done] = ["search", "searched"].map(|wish| self.file.names.fresh(wish));
        self.enter_loop();
        self.push(Stmt::Label(again.clone()));
        let hint = self.target.turn_begins();
        self.out.extend(hint);
        let is_over = C::bin(BinOp::Ge, C::id("off"), stop.clone());
        self.push(Stmt::goto_if(is_over, done.clone()));
        self.follow_in_bounds();
        let shifts = needle.shifts();
        let average = shifts
            .iter()
            .map(|&shift| usize::from(shift))
            .sum::<usize>()
            / shifts.len();
        match average >= LONG_SHIFT {
            true => self.by_shifts(&needle, &shifts, &again, &done),
            false => self.by_words(&needle, &again, &done),
        }
        self.exit_loop();
        self.push(Stmt::Label(done));
        // The last step may have been too long.
        let beyond = C::bin(BinOp::Gt, C::id("off"), stop.clone());
        let back = vec![Stmt::Assign(C::id("off"), stop)];
        self.push(Stmt::If(beyond, back, Vec::new()));
        if let (Some(passed), Some(from)) = (passed, from) {
            let bytes = C::bin(BinOp::Sub, C::id("off"), from).cast(CType::U32);
            self.store(Place::Var(passed), Value::Scalar(bytes));
        }
        self.follow_offset(true);
        self.cursor = CursorAt::variable();
        self.passed(facts::Step::Skip);
    }

    fn offset_local(&mut self, wish: &str) -> C {
        self.function_local(wish, CType::U64, Some(C::int(0)))
    }

    /// Sets `cur` from an offset that is less than where the search stops, so that it is in bounds. A verifier sees that without
    /// a jump: one that follows every turn would have to keep what is behind the jump for each of them.
    fn follow_in_bounds(&mut self) {
        let most = self.target.limits().offset;
        if (most + 1).is_power_of_two() {
            self.set(C::id("off"), C::bin(BinOp::And, C::id("off"), C::int(most)));
            self.barrier(&C::id("off"));
        }
        self.follow_offset(false);
    }

    /// Sets the offset at which a search ends in any case, which is not before the cursor.
    fn stop_at(&mut self, needle: &Needle, limit: Option<C>, stop: &C) {
        let bounds = vec![C::id("data"), C::id("data_end"), C::int(needle.end.into())];
        self.set(stop.clone(), C::pure("offsets_with", bounds));
        let most = C::int(self.target.limits().offset + 1);
        let beyond = C::bin(BinOp::Gt, stop.clone(), most.clone());
        let bounded = vec![Stmt::Assign(stop.clone(), most)];
        self.push(Stmt::If(beyond, bounded, Vec::new()));
        let before = C::bin(BinOp::Lt, stop.clone(), C::id("off"));
        let here = vec![Stmt::Assign(stop.clone(), C::id("off"))];
        self.push(Stmt::If(before, here, Vec::new()));
        if let Some(limit) = limit {
            let most = C::bin(BinOp::Add, C::id("off"), limit.cast(CType::U64));
            let beyond = C::bin(BinOp::Gt, stop.clone(), most.clone());
            let less = vec![Stmt::Assign(stop.clone(), most)];
            self.push(Stmt::If(beyond, less, Vec::new()));
        }
        // The verifier of the C would follow the search for each way in which it may be bounded.
        let hidden = self.target.unknown(stop.clone());
        if hidden != *stop {
            self.set(stop.clone(), hidden);
        }
    }

    /// Horspool's algorithm, at the place `cur`.
    fn by_shifts(&mut self, needle: &Needle, shifts: &[u8], again: &str, done: &str) {
        let table = self.file.names.fresh("shifts");
        let shift = |&shift: &u8| (None, C::int(shift.into()));
        self.file.structs.push(Item::Variable {
            ty: CType::U8.array(shifts.len() as u32),
            name: table.clone(),
            init: Some(C::Init(shifts.iter().map(shift).collect())),
            attribute: None,
            constant: true,
        });
        let [compare, next] = ["compare", "move_on"].map(|wish| self.file.names.fresh(wish));
        self.goto_done_unless_there(needle.skip + needle.len(), done);
        let last = needle.len() - 1;
        let byte = self.function_local("last_byte", CType::U32, None);
        let at_last = C::id("cur").plus((needle.skip + last).into());
        self.set(byte.clone(), C::pure("load_be8", vec![at_last]));
        let [value, mask] = [&needle.value, &needle.mask].map(|of| of[last as usize].into());
        if let Some(is_last) = masked_equals(byte.clone(), value, mask, 1) {
            self.push(Stmt::goto_if(is_last, compare.clone()));
        }
        self.push(Stmt::Label(next.clone()));
        let by = C::Ident(table).index(byte);
        self.set(C::id("off"), C::bin(BinOp::Add, C::id("off"), by));
        self.back_edge("reject", again);
        self.push(Stmt::Label(compare));
        let is_at = self.is_at(needle, last);
        self.push(Stmt::goto_if(is_at, done));
        self.push(Stmt::Goto(next));
    }

    /// Eight places at a time, from the place `cur` on; one at a time where the packet has less than eight more.
    fn by_words(&mut self, needle: &Needle, again: &str, done: &str) {
        let [some, one] = ["search_in_word", "search_one"].map(|wish| self.file.names.fresh(wish));
        let last = needle.len() - 1;
        let end = C::id("cur").plus((needle.skip + last + 8).into());
        let few = C::bin(BinOp::Gt, end, C::id("data_end"));
        self.push(Stmt::goto_if(few, one.clone()));
        let first = self.differing(needle, 0);
        let differing = match last {
            0 => first,
            _ => C::bin(BinOp::Or, first, self.differing(needle, last)),
        };
        let marks = self.function_local("marks", CType::U64, None);
        self.set(marks.clone(), C::pure("zero_bytes", vec![differing]));
        let is_some = C::bin(BinOp::Ne, marks.clone(), C::int(0));
        self.push(Stmt::goto_if(is_some, some.clone()));
        self.set(C::id("off"), C::id("off").plus(8));
        self.back_edge("reject", again);
        self.push(Stmt::Label(some));
        let found = C::pure("first_byte", vec![marks]);
        self.set(C::id("off"), C::bin(BinOp::Add, C::id("off"), found));
        self.follow_in_bounds();
        self.push(Stmt::Label(one));
        self.goto_done_unless_there(needle.skip + needle.len(), done);
        let is_at = self.is_at(needle, needle.len());
        self.push(Stmt::goto_if(is_at, done));
        self.set(C::id("off"), C::id("off").plus(1));
        self.back_edge("reject", again);
    }

    /// The verifier of the C does not follow from the offset that the bytes are there.
    fn goto_done_unless_there(&mut self, bytes: u32, done: &str) {
        let end = C::id("cur").plus(bytes.into());
        let short = C::bin(BinOp::Gt, end, C::id("data_end"));
        self.push(Stmt::goto_if(short, done));
    }

    /// A word with a zero for each of eight places where a byte of the needle is.
    fn differing(&self, needle: &Needle, at: u32) -> C {
        let every = |byte: u8| u64::from(byte) * 0x0101_0101_0101_0101;
        let (value, mask) = (needle.value[at as usize], needle.mask[at as usize]);
        let place = C::id("cur").plus((needle.skip + at).into());
        let word = C::pure("load_le64", vec![place]);
        let word = match mask {
            u8::MAX => word,
            mask => C::bin(BinOp::And, word, C::int(every(mask))),
        };
        C::bin(BinOp::Xor, word, C::int(every(value)))
    }

    /// Whether the first `len` bytes of the needle are at the place `cur`.
    fn is_at(&self, needle: &Needle, len: u32) -> C {
        let mut all = C::int(1);
        let mut at = 0;
        while at < len {
            let bytes = (len - at).min(8);
            let number = |of: &[u8]| {
                let part = &of[at as usize..][..bytes as usize];
                part.iter().fold(0, |n, &byte| n << 8 | u64::from(byte))
            };
            let (value, mask) = (number(&needle.value), number(&needle.mask));
            let place = C::id("cur").plus((needle.skip + at).into());
            let load = C::pure(format!("load_be{}", bytes * 8), vec![place]);
            if let Some(same) = masked_equals(load, value, mask, bytes) {
                all = C::and(all, same);
            }
            at += bytes;
        }
        all
    }
}

/// Whether a number of some bytes is a value where a mask has ones; nothing if none matters.
fn masked_equals(number: C, value: u64, mask: u64, bytes: u32) -> Option<C> {
    let masked = match mask {
        0 => return None,
        mask if mask == u64::MAX >> (64 - 8 * bytes) => number,
        mask => C::bin(BinOp::And, number, C::int(mask)),
    };
    Some(C::bin(BinOp::Eq, masked, C::int(value)))
}
