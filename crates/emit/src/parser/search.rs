//! Searches for a value in the packet: by groups of four bytes if the value is long enough, else eight bytes at a
//! time. Both find the first position of the value.
//!
//! The search by groups is that of Wu and Manber ("A fast algorithm for multi-pattern searching", 1994), for one
//! value. The four bytes at the value's end determine how far the search may advance; a table has this number for
//! each hash of four bytes. Most groups do not occur in the value. Therefore several positions are looked at
//! together, each as far after the one before as such a group allows. Their loads do not depend on each other, and
//! one jump advances past all of them. The table's bytes for these positions form a word. It shows without a
//! further load which group is the first that occurs in the value, and so where to compare.
//!
//! The other search compares eight positions at once with the value's first and last byte, in two words, and the
//! whole value where both match.
//!
//! A search that compares too many positions in vain continues in `search_densely.rs`. If iterations are counted,
//! `search_by_iterations.rs` has other loops.

use super::CursorAt;
use super::search_densely::Densely;
use crate::emitter::Gen;
use crate::hints::{Event, Role};
use crate::plan::facts;
use crate::target::Target;
use crate::values::Value;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Item, Stmt, Type as CType};
use ir::{Expr, ExprKind, Pattern, Place, Var, visit};
use smol_str::SmolStr;

/// Bytes of a group.
const GROUP: usize = 4;
/// Number of consecutive significant bytes from which the search by groups is faster. `bench payload` measures
/// values of several lengths.
const LONG: usize = 10;
/// Approximate number of bytes that an iteration advances if none of its groups is in the value.
const FAR: usize = 96;
/// Greatest number of groups in an iteration: the table's entry for each is a byte of a word.
const MOST_GROUPS: usize = size_of::<u64>();
/// An odd number with its ones spread evenly: 2^32 divided by the golden ratio (Knuth, The Art of Computer
/// Programming 3, section 6.4).
const MULTIPLIER: u32 = 0x9e37_79b1;

/// A pattern as bytes, from the first significant one to the last.
pub(super) struct Needle {
    /// Bytes from the cursor to the first one.
    pub(super) skip: u32,
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

    pub(super) fn len(&self) -> u32 {
        self.value.len() as u32
    }

    /// Returns true if a position can match the first and the last byte without matching all bytes.
    fn is_compared(&self) -> bool {
        self.len() > 2
    }

    /// Returns true if the pattern's byte at this index may be `byte`.
    pub(super) fn may_be(&self, at: u32, byte: u8) -> bool {
        byte & self.mask[at as usize] == self.value[at as usize]
    }

    /// Returns the significant parts of the pattern, of up to eight bytes each, at the position `cur`.
    pub(super) fn words(&self) -> Vec<Word> {
        let values = self.value.chunks(8).zip(self.mask.chunks(8));
        let number = |part: &[u8]| part.iter().fold(0, |n, &byte| n << 8 | u64::from(byte));
        let word = |(index, (value, mask)): (usize, (&[u8], &[u8]))| {
            let place = C::id("cur").plus(u64::from(self.skip) + 8 * index as u64);
            let load = C::pure(format!("load_be{}", 8 * value.len()), vec![place]);
            let at = match mask.iter().all(|&byte| byte == u8::MAX) {
                true => load,
                false => C::bin(BinOp::And, load, C::int(number(mask))),
            };
            let value = number(value);
            (number(mask) != 0).then_some(Word { at, value })
        };
        values.enumerate().filter_map(word).collect()
    }

    /// Returns the search by groups for the value, if enough consecutive bytes are significant.
    fn groups(&self) -> Option<Groups> {
        let matters = |at: &usize| self.mask[*at] == u8::MAX;
        let run = |from: usize| {
            from..(from..self.value.len())
                .find(|at| !matters(at))
                .unwrap_or(self.value.len())
        };
        // The last of the longest runs: an iteration that compares has the whole value in the packet in any case.
        let longest = (0..self.value.len())
            .filter(matters)
            .map(run)
            .max_by_key(|run| run.len())?;
        (longest.len() >= LONG).then(|| Groups::of(longest.start, &self.value[longest]))
    }
}

/// A part of a needle.
pub(super) struct Word {
    /// Significant bytes of the packet, as a number.
    pub(super) at: C,
    /// Their value where the pattern matches.
    pub(super) value: u64,
}

/// Search by the groups of a part of a value.
pub(super) struct Groups {
    /// Bytes from the value's start to the last group of the part.
    last: usize,
    /// Number of bytes to advance if the group at a position is not in the part.
    pub(super) step: u8,
    /// Reduction of `step` for each hash: 0 except for groups of the part.
    less: Vec<u8>,
    /// Reduction for the last group's hash if the value is not at the position.
    less_after: u8,
}

impl Groups {
    fn of(begin: usize, part: &[u8]) -> Groups {
        let groups: Vec<_> = part.windows(GROUP).collect();
        let last = groups.len() - 1;
        let step = groups.len().min(u8::MAX.into());
        // Large enough that few groups outside the part have the same hash as one inside it.
        let hashes = (32 * groups.len()).next_power_of_two().min(4096);
        let of_last = hash(groups[last], hashes);
        let mut less = vec![0; hashes];
        for (at, group) in groups[..last].iter().enumerate() {
            less[hash(group, hashes)] = step.saturating_sub(last - at) as u8;
        }
        let less_after = std::mem::replace(&mut less[of_last], step as u8);
        Groups {
            last: begin + last,
            step: step as u8,
            less,
            less_after,
        }
    }

    /// Returns the number of positions that an iteration looks at.
    fn at_once(&self) -> u32 {
        (FAR / usize::from(self.step)).clamp(2, MOST_GROUPS) as u32
    }

    /// Returns the reduction of `step` for a position that is `place` steps after `cur`.
    pub(super) fn less_at(&self, table: &SmolStr, needle: &Needle, place: u32) -> C {
        let at = needle.skip + self.last as u32 + place * u32::from(self.step);
        let shift = C::int(self.shift().into());
        let hash = C::pure("group_hash", vec![C::id("cur").plus(at.into()), shift]);
        C::Ident(table.clone()).index(hash)
    }

    /// Returns the reductions for a search that compares the value at each position: there, the last group needs no
    /// number of its own.
    pub(super) fn less_behind_comparison(&self) -> Vec<u8> {
        let of_last = |&less: &u8| {
            if less == self.step {
                self.less_after
            } else {
                less
            }
        };
        self.less.iter().map(of_last).collect()
    }

    /// Returns the number of bits by which a hash is shifted to the right to get an index.
    fn shift(&self) -> u32 {
        u32::BITS - self.less.len().ilog2()
    }
}

/// Returns a group's hash, as `group_hash` in `search.h` computes it.
fn hash(group: &[u8], hashes: usize) -> usize {
    let word = group
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u32::from(byte));
    (word.wrapping_mul(MULTIPLIER) >> (u32::BITS - hashes.ilog2())) as usize
}

impl<T: Target> Gen<'_, T> {
    /// Advances to a pattern's position, by at most `limit` bytes, or to the position at which the visible packet
    /// does not have all of its bytes.
    pub(crate) fn search(&mut self, pattern: &Pattern, limit: Option<Expr>, passed: Option<Var>) {
        let needle = Needle::of(pattern);
        self.file.contents.loops = true;
        self.file.contents.searches = true;
        let (limit, counters) = self.limit(limit);
        self.start_loop();
        let stop = self.offset_local("stop");
        let from = passed.map(|_| self.offset_local("from"));
        self.stop_at(needle.end, limit, &stop);
        self.hide(&counters);
        // For a value of one or two bytes, no comparison can fail.
        let may_fail = self.plan.forms.iteration_limit.is_none() && needle.is_compared();
        let densely = may_fail.then(|| self.may_search_densely());
        if let Some(from) = &from {
            self.set(from.clone(), C::id("off"));
            self.on(Event::Differs(from));
        }
        let [again, done] = ["search", "searched"].map(|wish| self.file.names.fresh(wish));
        self.enter_loop();
        self.push(Stmt::Label(again.clone()));
        self.meet();
        let is_over = C::bin(BinOp::Ge, C::id("off"), stop.clone());
        self.push(Stmt::goto_if(is_over, done.clone()));
        self.follow_in_bounds();
        match (needle.groups(), self.plan.forms.iteration_limit) {
            (Some(groups), None) => {
                self.by_groups(&needle, &groups, (&stop, &densely), &again, &done);
            }
            (None, None) => self.by_words(&needle, (&stop, &densely), &again, &done),
            (Some(groups), Some(_)) => self.group_by_group(&needle, &groups, &again, &done),
            (None, Some(_)) => self.word_by_word(&needle, &stop, &again, &done),
        }
        if let Some(densely) = densely {
            self.densely(&needle, &stop, densely, &done);
        }
        self.exit_loop();
        self.push(Stmt::Label(done));
        self.meet();
        // The last step may have been too long.
        let beyond = C::bin(BinOp::Gt, C::id("off"), stop.clone());
        let back = vec![Stmt::Assign(C::id("off"), stop)];
        self.push(Stmt::If(beyond, back, Vec::new()));
        self.finish_search(passed, from);
    }

    /// Emits events at a point where the paths of an iteration, or of all iterations, meet. The offset differs
    /// between the paths; the next iteration and the code after the loop are the same for all.
    pub(super) fn meet(&mut self) {
        self.on(Event::Differs(&C::id("off")));
        self.on(Event::IterationsMeet);
    }

    /// Lowers the number of bytes after which a search ends in any case. Returns it with the variables in it.
    pub(super) fn limit(&mut self, limit: Option<Expr>) -> (Option<C>, Vec<Var>) {
        let mut counters = Vec::new();
        if let Some(limit) = limit {
            visit::walk_expr(self.p, limit, &mut |data| match data.kind {
                ExprKind::Var(var) if !counters.contains(&var) => counters.push(var),
                _ => {}
            });
        }
        (limit.map(|limit| lower::scalar(self, limit)), counters)
    }

    /// Finishes a search that began at an offset.
    pub(super) fn finish_search(&mut self, passed: Option<Var>, from: Option<C>) {
        if let (Some(passed), Some(from)) = (passed, from) {
            let bytes = C::bin(BinOp::Sub, C::id("off"), from).cast(CType::U32);
            self.store(Place::Var(passed), Value::Scalar(bytes));
        }
        self.follow_offset(true);
        self.cursor = CursorAt::variable();
        self.passed(facts::CursorStep::Skip);
    }

    pub(super) fn offset_local(&mut self, wish: &str) -> C {
        self.function_local(wish, CType::U64, Some(C::int(0)))
    }

    /// Sets `cur` from an offset that is less than the search's end, so that it is in bounds. A mask proves that
    /// without a jump, which every iteration would take.
    pub(super) fn follow_in_bounds(&mut self) {
        let most = self.target.limits().offset;
        if (most + 1).is_power_of_two() {
            self.set(C::id("off"), C::bin(BinOp::And, C::id("off"), C::int(most)));
            self.on(Event::Computed(&C::id("off")));
        }
        self.follow_offset(false);
    }

    /// Sets `stop` to the offset at which a search ends in any case: there, the packet no longer has `bytes` more
    /// bytes. It is not before the cursor.
    pub(super) fn stop_at(&mut self, bytes: u32, limit: Option<C>, stop: &C) {
        let bounds = vec![C::id("data"), C::id("data_end"), C::int(bytes.into())];
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
        // Its value may come from several bounds.
        let hidden = self.target.see(Role::Varying, stop.clone());
        if hidden != *stop {
            self.set(stop.clone(), hidden);
        }
        self.on(Event::Differs(stop));
    }

    /// Declares a table of the reductions of a step.
    pub(super) fn declare_less(&mut self, name: &SmolStr, less: &[u8]) {
        let number = |&less: &u8| (None, C::int(less.into()));
        self.file.structs.push(Item::Variable {
            ty: CType::U8.array(less.len() as u32),
            name: name.clone(),
            init: Some(C::Init(less.iter().map(number).collect())),
            attribute: None,
            constant: true,
        });
    }

    /// Looks at several groups at a time, from the position `cur` on; at one if the packet does not have them all.
    /// The first group that is in the value shows where the value may be, and it is compared there.
    fn by_groups(
        &mut self,
        needle: &Needle,
        groups: &Groups,
        (stop, densely): (&C, &Option<Densely>),
        again: &str,
        done: &str,
    ) {
        let table = self.file.names.fresh("less");
        self.declare_less(&table, &groups.less);
        let less_at = |place: u32| groups.less_at(&table, needle, place).cast(CType::U64);
        let [one, some] = ["search_one", "search_here"].map(|wish| self.file.names.fresh(wish));
        let count = groups.at_once();
        let step = C::int(groups.step.into());
        let all = self.function_local("group_less", CType::U64, None);
        let end =
            needle.skip + groups.last as u32 + (count - 1) * u32::from(groups.step) + GROUP as u32;
        let few = C::bin(BinOp::Gt, C::id("cur").plus(end.into()), C::id("data_end"));
        self.push(Stmt::goto_if(few, one.clone()));
        let word = (1..count).fold(less_at(0), |word, place| {
            let byte = C::bin(BinOp::Shl, less_at(place), C::int((8 * place).into()));
            C::bin(BinOp::Or, word, byte)
        });
        self.set(all.clone(), word);
        let is_some = C::bin(BinOp::Ne, all.clone(), C::int(0));
        self.push(Stmt::goto_if(is_some.clone(), some.clone()));
        let far = count * u32::from(groups.step);
        self.set(C::id("off"), C::id("off").plus(far.into()));
        self.back_edge("reject", again);

        self.push(Stmt::Label(one));
        self.goto_done_unless_there(needle.skip + needle.len(), done);
        self.set(all.clone(), less_at(0));
        self.push(Stmt::goto_if(is_some, some.clone()));
        self.set(C::id("off"), C::bin(BinOp::Add, C::id("off"), step.clone()));
        self.back_edge("reject", again);

        self.push(Stmt::Label(some));
        let place = self.function_local("place", CType::U64, None);
        let less = self.function_local("step_less", CType::U64, None);
        let marks = C::pure("nonzero_bytes", vec![all.clone()]);
        self.set(place.clone(), C::pure("first_byte", vec![marks]));
        let bits = C::bin(BinOp::Mul, place.clone(), C::int(8));
        let byte = C::bin(BinOp::Shr, all, bits);
        self.set(less.clone(), C::bin(BinOp::And, byte, C::int(0xff)));
        let passed = C::bin(BinOp::Mul, place, step.clone());
        let by = C::bin(BinOp::Sub, step.clone(), less.clone());
        let by = C::bin(BinOp::Add, passed, by);
        self.set(C::id("off"), C::bin(BinOp::Add, C::id("off"), by));
        let is_over = C::bin(BinOp::Ge, C::id("off"), stop.clone());
        self.push(Stmt::goto_if(is_over, done));
        self.follow_in_bounds();
        self.goto_done_unless_there(needle.skip + needle.len(), done);
        let is_at = self.is_at(needle);
        self.push(Stmt::goto_if(is_at, done));
        let is_last = C::bin(BinOp::Eq, less, step);
        let after = C::id("off").plus((groups.step - groups.less_after).into());
        let on = vec![Stmt::Assign(C::id("off"), after)];
        self.push(Stmt::If(is_last, on, Vec::new()));
        if let Some(densely) = densely {
            self.compared_in_vain(needle, stop, densely);
        }
        self.back_edge("reject", again);
    }

    /// Compares eight positions at a time, from `cur` on; one at a time if the packet has fewer than eight more.
    fn by_words(
        &mut self,
        needle: &Needle,
        (stop, densely): (&C, &Option<Densely>),
        again: &str,
        done: &str,
    ) {
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
        let is_at = self.is_at(needle);
        self.push(Stmt::goto_if(is_at, done));
        self.set(C::id("off"), C::id("off").plus(1));
        if let Some(densely) = densely {
            self.compared_in_vain(needle, stop, densely);
        }
        self.back_edge("reject", again);
    }

    /// Goes to `done` unless the packet has the bytes, which the offset alone does not prove.
    pub(super) fn goto_done_unless_there(&mut self, bytes: u32, done: &str) {
        let end = C::id("cur").plus(bytes.into());
        let short = C::bin(BinOp::Gt, end, C::id("data_end"));
        self.push(Stmt::goto_if(short, done));
    }

    /// Returns a word with a zero byte for each of eight positions at which a byte of the pattern matches.
    pub(super) fn differing(&self, needle: &Needle, at: u32) -> C {
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

    /// Condition that the pattern is at the position `cur`.
    pub(super) fn is_at(&self, needle: &Needle) -> C {
        let parts = needle.words().into_iter();
        let same = parts.map(|Word { at, value }| C::bin(BinOp::Eq, at, C::int(value)));
        same.fold(C::int(1), C::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the position at which a search by groups, as `by_groups` emits it, finds a value.
    fn found(value: &[u8], groups: &Groups, text: &[u8]) -> Option<usize> {
        let step = usize::from(groups.step);
        let mut at = 0;
        while at + value.len() <= text.len() {
            let less = |place: usize| {
                let group = text.get(at + groups.last + place * step..)?.get(..GROUP)?;
                Some(groups.less[hash(group, groups.less.len())])
            };
            let iteration = groups.at_once() as usize;
            let all: Option<Vec<u8>> = (0..iteration).map(less).collect();
            let all = match all {
                Some(all) => all,
                None => vec![less(0)?],
            };
            let Some(place) = all.iter().position(|&less| less != 0) else {
                at += all.len() * step;
                continue;
            };
            at += (place + 1) * step - usize::from(all[place]);
            if text.get(at..)?.starts_with(value) {
                return Some(at);
            }
            if all[place] == groups.step {
                at += step - usize::from(groups.less_after);
            }
        }
        None
    }

    /// As `found`, for the search that `group_by_group` emits.
    fn found_group_by_group(value: &[u8], groups: &Groups, text: &[u8]) -> Option<usize> {
        let less = groups.less_behind_comparison();
        let mut at = 0;
        while at + value.len() <= text.len() {
            if text[at..].starts_with(value) {
                return Some(at);
            }
            let group = text.get(at + groups.last..)?.get(..GROUP)?;
            at += usize::from(groups.step - less[hash(group, less.len())]);
        }
        None
    }

    /// Few letters make groups that recur in a value; long values make steps that a byte cannot hold.
    #[test]
    fn a_search_by_groups_finds_the_first_place() {
        let mut state = 1u64;
        let mut below = |most: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % most
        };
        let mut hits = 0;
        for round in 0..20_000 {
            let letters = [1, 2, 3, 26, 256][round % 5];
            let length = LONG + below([8, 30, 300][round % 3]);
            let part: Vec<u8> = (0..length).map(|_| below(letters) as u8).collect();
            // A part of the value is searched for by groups; the bytes around it are only compared.
            let (front, behind) = (below(4), below(4));
            let around = |bytes: usize| vec![b'x'; bytes];
            let value = [around(front), part.clone(), around(behind)].concat();
            let mut text: Vec<u8> = (0..below(1_500)).map(|_| below(letters) as u8).collect();
            if below(3) > 0 && text.len() > value.len() {
                let at = below(text.len() - value.len());
                text[at..at + value.len()].copy_from_slice(&value);
            }
            let groups = Groups::of(front, &part);
            let first = text.windows(value.len()).position(|window| window == value);
            assert_eq!(
                found(&value, &groups, &text),
                first,
                "{value:?} in {text:?}"
            );
            assert_eq!(
                found_group_by_group(&value, &groups, &text),
                first,
                "{value:?} in {text:?}"
            );
            hits += usize::from(first.is_some());
        }
        assert!((5_000..19_000).contains(&hits), "{hits}");
    }

    #[test]
    fn groups_are_of_the_longest_run_of_bytes_that_matter() {
        let needle = |mask: &[u8]| Needle {
            skip: 0,
            value: vec![0; mask.len()],
            mask: mask.to_vec(),
            end: mask.len() as u32,
        };
        let run = |mask: &[u8]| needle(mask).groups().map(|g| (g.last, g.step));
        assert_eq!(run(&[255; LONG - 1]), None);
        assert_eq!(
            run(&[255; LONG]),
            Some((LONG - GROUP, (LONG - GROUP + 1) as u8))
        );
        let holed = [&[255; 11][..], &[0x0f], &[255; 12], &[0, 255]].concat();
        assert_eq!(run(&holed), Some((12 + 12 - GROUP, 9)));
        assert_eq!(run(&[[255, 15]; 20].concat()), None);
    }
}
