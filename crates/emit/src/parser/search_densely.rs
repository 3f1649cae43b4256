//! Search through bytes that resemble the value too much for the other searches: each byte takes the same time,
//! whatever came before it.
//!
//! For each prefix of the value, a bit says that the last bytes are not that prefix (shift-or: Baeza-Yates and
//! Gonnet, "A new approach to text searching", 1992). A table in read-only data has the bits that each byte sets. A
//! value of more than 64 bytes has a word and a table for each 64 bytes, with a carry from each word to the next.

use super::search::Needle;
use crate::emitter::Gen;
use crate::hints::Role;
use crate::target::Target;
use cgen::tree::{BinOp, Expr as C, Item, Stmt, Type as CType};
use smol_str::SmolStr;

/// Number of positions that another search may compare in vain before this one takes over. In ordinary text, that
/// search compares about one position in 700.
const MOST_IN_VAIN: u64 = 16;
/// Number of bytes in an iteration.
const AT_ONCE: u64 = 8;

/// Switch from another search to this one.
pub(super) struct Densely {
    /// Number of positions compared in vain.
    in_vain: C,
    /// Label of this search's beginning.
    begin: SmolStr,
}

impl<T: Target> Gen<'_, T> {
    /// Prepares a search for the switch to this one, before its loop.
    pub(super) fn may_search_densely(&mut self) -> Densely {
        let in_vain = self.function_local("in_vain", CType::U64, Some(C::int(0)));
        // The number differs between iterations.
        let none = self.target.see(Role::Varying, C::int(0));
        self.set(in_vain.clone(), none);
        Densely {
            in_vain,
            begin: self.file.names.fresh("search_densely"),
        }
    }

    /// Counts a position at which the comparison failed. After too many, switches to this search, which begins at
    /// that position.
    pub(super) fn compared_in_vain(&mut self, needle: &Needle, stop: &C, densely: &Densely) {
        self.push(Stmt::Update(BinOp::Add, densely.in_vain.clone(), C::int(1)));
        let many = C::bin(BinOp::Gt, densely.in_vain.clone(), C::int(MOST_IN_VAIN));
        // This search reads past `stop`. If that could exceed the limit, it is not used: a nearer `stop` would be
        // another path than the other search's.
        let farthest = self
            .target
            .limits()
            .offset
            .saturating_sub(needle.len().into());
        let near = C::bin(BinOp::Le, stop.clone(), C::int(farthest));
        self.push(Stmt::goto_if(C::and(many, near), densely.begin.clone()));
    }

    /// Searches for the pattern from `off` on, then goes to `done`. The other search jumps here.
    pub(super) fn densely(&mut self, needle: &Needle, stop: &C, densely: Densely, done: &str) {
        let count = u64::from(needle.len());
        let words = needle.len().div_ceil(u64::BITS);
        let tables: Vec<SmolStr> = (0..words)
            .map(|word| self.places_table(needle, word * u64::BITS))
            .collect();
        let fresh = |wish: &str| self.file.names.fresh(wish);
        let [again, one, word, behind, over] = [
            "search_bytes",
            "search_byte",
            "found_in_bytes",
            "found_in_front",
            "found_nowhere",
        ]
        .map(fresh);
        let all = !0u64;
        let mut of_words = |wish: &str| -> Vec<C> {
            let one = |_| self.function_local(wish, CType::U64, Some(C::int(all)));
            (0..words).map(one).collect()
        };
        let missing = of_words("missing");
        let before = of_words("missing_before");
        let in_last = &missing[missing.len() - 1];
        let any = self.function_local("missing_in_any", CType::U64, Some(C::int(all)));
        let bytes = self.function_local("bytes", CType::U64, Some(C::int(0)));
        let last = || C::int(1 << ((count - 1) % u64::from(u64::BITS)));
        let has_come = |of: &C| {
            let not = C::bin(BinOp::And, of.clone(), last());
            C::bin(BinOp::Eq, not, C::int(0))
        };
        // The last word first: each takes a bit of the word before it.
        let comes = |byte: C| {
            let word = |(at, table): (usize, &SmolStr)| {
                let mut one_more = C::bin(BinOp::Shl, missing[at].clone(), C::int(1));
                if let Some(front) = at.checked_sub(1) {
                    let carried = C::bin(BinOp::Shr, missing[front].clone(), C::int(63));
                    one_more = C::bin(BinOp::Or, one_more, carried);
                }
                let bits = C::Ident(table.clone()).index(byte.clone());
                Stmt::Assign(missing[at].clone(), C::bin(BinOp::Or, one_more, bits))
            };
            tables
                .iter()
                .enumerate()
                .rev()
                .map(word)
                .collect::<Vec<_>>()
        };
        let set_all = |to: &[C], from: &dyn Fn(usize) -> C| -> Vec<Stmt> {
            let set = |(at, to): (usize, &C)| Stmt::Assign(to.clone(), from(at));
            to.iter().enumerate().map(set).collect()
        };
        let byte_of = |at: u64| {
            let byte = match at {
                0 => bytes.clone(),
                _ => C::bin(BinOp::Shr, bytes.clone(), C::int(8 * at)),
            };
            C::bin(BinOp::And, byte, C::int(0xff))
        };
        let there = |bytes: u64| {
            let end = C::id("cur").plus(u64::from(needle.skip) + bytes);
            C::bin(BinOp::Gt, end, C::id("data_end"))
        };
        let here = || C::id("cur").plus(needle.skip.into());

        self.push(Stmt::Label(densely.begin));
        self.out.extend(set_all(&missing, &|_| C::int(all)));
        self.push(Stmt::Label(again.clone()));
        let farthest = stop.clone().plus(count - 1);
        let is_over = C::bin(BinOp::Ge, C::id("off"), farthest);
        self.push(Stmt::goto_if(is_over, over.clone()));
        self.follow_in_bounds();
        self.push(Stmt::goto_if(there(AT_ONCE), one.clone()));
        self.set(bytes.clone(), C::pure("load_le64", vec![here()]));
        self.out.extend(set_all(&before, &|at| missing[at].clone()));
        self.set(any.clone(), C::int(all));
        for at in 0..AT_ONCE {
            self.out.extend(comes(byte_of(at)));
            self.push(Stmt::Update(BinOp::And, any.clone(), in_last.clone()));
        }
        self.push(Stmt::goto_if(has_come(&any), word.clone()));
        self.set(C::id("off"), C::id("off").plus(AT_ONCE));
        self.back_edge("reject", &again);

        self.push(Stmt::Label(one));
        self.push(Stmt::goto_if(there(1), over.clone()));
        self.out.extend(comes(C::pure("load_be8", vec![here()])));
        self.set(C::id("off"), C::id("off").plus(1));
        self.push(Stmt::goto_if(has_come(in_last), behind.clone()));
        self.back_edge("reject", &again);

        self.push(Stmt::Label(word));
        self.out.extend(set_all(&missing, &|at| before[at].clone()));
        for at in 0..AT_ONCE {
            self.out.extend(comes(byte_of(at)));
            self.set(C::id("off"), C::id("off").plus(1));
            self.push(Stmt::goto_if(has_come(in_last), behind.clone()));
        }
        self.push(Stmt::Label(behind));
        self.set(
            C::id("off"),
            C::bin(BinOp::Sub, C::id("off"), C::int(count)),
        );
        let beyond = C::bin(BinOp::Ge, C::id("off"), stop.clone());
        self.push(Stmt::goto_if(beyond, over.clone()));
        self.push(Stmt::Goto(done.into()));
        self.push(Stmt::Label(over));
        self.set(C::id("off"), stop.clone());
    }

    /// Declares the table of the bits that each byte sets in a word, for 64 bytes of the pattern from `from` on.
    fn places_table(&mut self, needle: &Needle, from: u32) -> SmolStr {
        let count = (needle.len() - from).min(u64::BITS);
        let sets = |byte: u8| {
            let is_there = |at: &u32| needle.may_be(from + *at, byte);
            (0..count)
                .filter(is_there)
                .fold(!0, |bits, at| bits & !(1u64 << at))
        };
        let name = self.file.names.fresh("places");
        self.file.structs.push(Item::Variable {
            ty: CType::U64.array(256),
            name: name.clone(),
            init: Some(C::Init(
                (0..=255).map(|byte| (None, C::int(sets(byte)))).collect(),
            )),
            attribute: None,
            constant: true,
        });
        name
    }
}
