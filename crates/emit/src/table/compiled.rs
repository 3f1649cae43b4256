//! Entries compiled in, as comparisons in the order of their priority.

use super::{LoweredTable, Results};
use crate::block::wide_equals;
use crate::emitter::Gen;
use crate::target::{Lookups, Target};
use cgen::lower::{self, limb_count, mask};
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use ir::{Bits, Entry, Key, KeyMatch, MatchKind, TableData, Type};

/// Greatest number of entries that are compared one by one. If there are more, the target keeps them.
const FEW: usize = 8;

/// Returns true if a table's entries are few enough to be compared one by one.
pub(crate) fn few(data: &TableData) -> bool {
    data.entries.len() <= FEW
}

impl<T: Target> Gen<'_, T> {
    /// Applies a table whose entries are compiled in, or that has none.
    pub(crate) fn apply_compiled(
        &mut self,
        data: &TableData,
        keys: &[Key],
        results: &Results,
        made: &LoweredTable<T>,
    ) {
        let mut entries: Vec<(u32, &Entry)> = (1..).zip(&data.entries).collect();
        let ordered = super::has_priorities(data);
        entries.sort_by_key(|(_, e)| std::cmp::Reverse(rank(e, ordered)));
        let conds: Vec<C> = entries
            .iter()
            .map(|(_, e)| self.entry_matches(keys, e))
            .collect();
        self.compare_entries(data, &entries, conds, results, made);
    }

    fn compare_entries(
        &mut self,
        data: &TableData,
        entries: &[(u32, &Entry)],
        mut conds: Vec<C>,
        results: &Results,
        made: &LoweredTable<T>,
    ) {
        let Some(((number, entry), rest)) = entries.split_first() else {
            return self.miss(data, results, made);
        };
        let cond = conds.remove(0);
        let hit = |g: &mut Self| {
            if let Some(hit) = &results.hit {
                g.set(hit.clone(), C::int(1));
            }
            let numbered = super::has_direct_objects(g.p, data);
            if numbered {
                T::Lookups::enter_entry(g, &made.of, C::int((*number).into()));
            }
            g.run_action_call(data, &entry.action, results);
            if numbered {
                T::Lookups::leave_entry(g);
            }
        };
        match cond.as_int() {
            Some(0) => return self.compare_entries(data, rest, conds, results, made),
            Some(_) => return hit(self),
            None => {}
        }
        let yes = self.block(hit);
        let no = self.block(|g| g.compare_entries(data, rest, conds, results, made));
        self.push(Stmt::If(cond, yes, no));
    }

    fn miss(&mut self, data: &TableData, results: &Results, made: &LoweredTable<T>) {
        let Some(stored) = made.value.as_ref().filter(|_| made.keeps_default) else {
            return self.run_default(data, results);
        };
        if let Some(hit) = &results.hit {
            self.set(hit.clone(), C::int(0));
        }
        let name = self.file.names.fresh("entry");
        let value = T::Lookups::default_action(self, &made.of);
        let outer = std::mem::take(&mut self.out);
        let ty = CType::Struct(stored.name.clone());
        self.push(Stmt::decl(ty.ptr(), name.clone(), value));
        self.switch_action(data, made, &C::Ident(name), results, false);
        let block = std::mem::replace(&mut self.out, outer);
        self.push(Stmt::Block(block));
    }

    fn entry_matches(&mut self, keys: &[Key], entry: &Entry) -> C {
        let mut result = C::int(1);
        for (key, wanted) in keys.iter().zip(&entry.keys) {
            let ty = self.p.ty(key.expr);
            let width = ty.width();
            if width == 0 || *wanted == KeyMatch::Any || key.kind == MatchKind::Selector {
                continue;
            }
            let one = if width > 64 {
                let array = lower::wide(self, key.expr);
                match wanted {
                    KeyMatch::Exact(v) => wide_equals(&array, v),
                    KeyMatch::Ternary(v, m) => wide_masked_equals(&array, v, m),
                    KeyMatch::Lpm(v, n) => {
                        wide_masked_equals(&array, v, &Bits::prefix_mask(width, *n))
                    }
                    KeyMatch::Range(lo, hi) => wide_between(&array, lo, hi, ty),
                    KeyMatch::Any => C::int(1),
                }
            } else {
                let number = |b: &Bits| b.to_u64().unwrap_or(0);
                match wanted {
                    KeyMatch::Exact(v) => lower::cond_or_equal(self, key.expr, number(v)),
                    KeyMatch::Ternary(v, m) => {
                        let key = lower::scalar(self, key.expr);
                        masked_equals(key, width, number(v), number(m))
                    }
                    KeyMatch::Lpm(v, n) => {
                        let key = lower::scalar(self, key.expr);
                        masked_equals(key, width, number(v), number(&Bits::prefix_mask(width, *n)))
                    }
                    KeyMatch::Range(lo, hi) => {
                        let key = lower::scalar(self, key.expr);
                        between(key, ty, lo, hi)
                    }
                    KeyMatch::Any => C::int(1),
                }
            };
            result = C::and(result, one);
        }
        result
    }
}

/// Rank that decides between entries that both match, as in every target: the priority if entries have priorities
/// (`ordered`), otherwise the longer prefix.
fn rank(entry: &Entry, ordered: bool) -> (u32, u32) {
    let prefix = entry
        .keys
        .iter()
        .map(|k| match k {
            KeyMatch::Lpm(_, n) => *n,
            _ => 0,
        })
        .sum();
    if ordered {
        (entry.priority, prefix)
    } else {
        (prefix, entry.priority)
    }
}

/// Condition that a number of up to 64 bits agrees with a value in the bits that a mask selects.
pub(crate) fn masked_equals(key: C, width: u32, value: u64, wanted: u64) -> C {
    if wanted == 0 {
        return C::int(1);
    }
    let value = value & wanted;
    if let Some(key) = key.as_int() {
        return C::int((key & wanted == value).into());
    }
    let key = if wanted == mask(width) {
        key
    } else {
        C::bin(BinOp::And, key, C::int(wanted))
    };
    C::bin(BinOp::Eq, key, C::int(value))
}

/// Condition that a number of up to 64 bits is in a range, compared with the signedness of its type.
pub(crate) fn between(key: C, ty: Type, lo: &Bits, hi: &Bits) -> C {
    let width = ty.width();
    let number = |b: &Bits| b.to_u64().unwrap_or(0);
    let is_signed = matches!(ty, Type::Bits { signed: true, .. });
    // Flipping the sign bit turns the signed order into the unsigned one.
    let flip = if is_signed { 1u64 << (width - 1) } else { 0 };
    let (lo, hi) = (number(lo) ^ flip, number(hi) ^ flip);
    if lo > hi {
        return C::int(0);
    }
    let key = if is_signed {
        C::bin(BinOp::Xor, key, C::int(flip))
    } else {
        key
    };
    let mut result = C::int(1);
    if lo > 0 {
        result = C::and(result, C::bin(BinOp::Ge, key.clone(), C::int(lo)));
    }
    if hi < mask(width) {
        result = C::and(result, C::bin(BinOp::Le, key, C::int(hi)));
    }
    result
}

/// As [`masked_equals`], for an array of limbs.
pub(crate) fn wide_masked_equals(array: &C, value: &Bits, wanted: &Bits) -> C {
    let digit = |b: &Bits, i: u32| {
        let digits: Vec<u64> = b.value().iter_u64_digits().collect();
        digits.get(i as usize).copied().unwrap_or(0)
    };
    let mut result = C::int(1);
    for i in 0..limb_count(wanted.width()) {
        let limb = array.clone().index(C::int(i.into()));
        let one = masked_equals(limb, 64, digit(value, i), digit(wanted, i));
        result = C::and(result, one);
    }
    result
}

/// As [`between`], for an array of limbs.
pub(crate) fn wide_between(array: &C, lo: &Bits, hi: &Bits, ty: Type) -> C {
    let width = ty.width();
    let last = limb_count(width) - 1;
    let is_signed = matches!(ty, Type::Bits { signed: true, .. });
    let flip = if is_signed {
        1u64 << ((width - 1) % 64)
    } else {
        0
    };
    let side = |bound: &Bits, strict: BinOp, equal: BinOp| {
        let digits: Vec<u64> = bound.value().iter_u64_digits().collect();
        let mut result: Option<C> = None;
        for i in 0..=last {
            let flip = if i == last { flip } else { 0 };
            let digit = C::int(digits.get(i as usize).copied().unwrap_or(0) ^ flip);
            let mut limb = array.clone().index(C::int(i.into()));
            if flip != 0 {
                limb = C::bin(BinOp::Xor, limb, C::int(flip));
            }
            result = Some(match result {
                None => C::bin(equal, limb, digit),
                Some(below) => C::Cond(
                    Box::new(C::bin(BinOp::Ne, limb.clone(), digit.clone())),
                    Box::new(C::bin(strict, limb, digit)),
                    Box::new(below),
                ),
            });
        }
        result.unwrap_or(C::int(1))
    };
    C::bin(
        BinOp::LogicalAnd,
        side(lo, BinOp::Gt, BinOp::Ge),
        side(hi, BinOp::Lt, BinOp::Le),
    )
}
