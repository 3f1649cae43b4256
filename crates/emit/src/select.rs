//! Selects: the next state, by the values of keys.

use super::block::wide_equals;
use super::parser::States;
use crate::emitter::Gen;
use crate::target::Target;
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt};
use ir::{Expr, Keyset, SelectCase};

impl<T: Target> Gen<'_, T> {
    pub(crate) fn select(&mut self, keys: &[Expr], cases: &[SelectCase], states: &mut States) {
        let total = |case: &SelectCase| case.keysets.iter().all(|k| matches!(k, Keyset::Any));
        let reached = cases.iter().position(total).map_or(cases.len(), |i| i + 1);
        let (cases, otherwise) = match cases[..reached].split_last() {
            Some((last, rest)) if total(last) => (rest, Some(last)),
            _ => (&cases[..reached], None),
        };
        let fallback = match otherwise {
            Some(case) => self.edge(case.target, states),
            None => vec![Stmt::Goto("reject".into())],
        };
        let simple = keys.len() == 1
            && self.p.ty(keys[0]).width() <= 64
            && cases.len() > 1
            && cases
                .iter()
                .all(|c| matches!(&c.keysets[..], [Keyset::Value(_)]));
        if simple {
            let on = lower::scalar(self, keys[0]);
            if on.as_int().is_none() {
                self.line(self.p.exprs[keys[0]].span);
                let mut arms: Vec<(Vec<C>, Block)> = Vec::new();
                let mut seen = Vec::new();
                for case in cases {
                    let [Keyset::Value(value)] = &case.keysets[..] else {
                        continue;
                    };
                    let value = value.to_u64().unwrap_or(0);
                    if seen.contains(&value) {
                        continue;
                    }
                    seen.push(value);
                    let mut jump = self.block(|g| g.line(case.span));
                    jump.extend(self.edge(case.target, states));
                    arms.push((vec![C::int(value)], jump));
                }
                self.push(Stmt::Switch {
                    on,
                    cases: arms,
                    default: fallback,
                });
                return;
            }
        }
        if self.chain(keys, cases, states) {
            self.out.extend(fallback);
        }
    }

    /// Tries cases in order; returns true if possibly none matches. Tests that successive cases have in common are
    /// made once.
    fn chain(&mut self, keys: &[Expr], cases: &[SelectCase], states: &mut States) -> bool {
        let mut rest = cases;
        while let Some((first, others)) = rest.split_first() {
            let mut shared = askable(&first.keysets);
            let mut run = 1;
            for other in others {
                let both: Vec<usize> = shared
                    .iter()
                    .copied()
                    .filter(|&i| other.keysets.get(i) == first.keysets.get(i))
                    .collect();
                let aligned = askable(&other.keysets).len() + count_any(&other.keysets)
                    == other.keysets.len();
                if both.is_empty() || !aligned {
                    break;
                }
                shared = both;
                run += 1;
            }
            if run == 1 || keys.len() < 2 {
                self.line(first.span);
                let cond = self.matches(keys, &first.keysets);
                let jump = self.edge(first.target, states);
                match cond.as_int() {
                    Some(0) => {}
                    Some(_) => {
                        self.out.extend(jump);
                        return false;
                    }
                    None => self.push(Stmt::If(cond, jump, Block::new())),
                }
                rest = others;
                continue;
            }
            let (group, after) = rest.split_at(run);
            let blank = |case: &SelectCase, keep: bool| SelectCase {
                keysets: case
                    .keysets
                    .iter()
                    .enumerate()
                    .map(|(i, k)| {
                        if shared.contains(&i) == keep {
                            k.clone()
                        } else {
                            Keyset::Any
                        }
                    })
                    .collect(),
                target: case.target,
                span: case.span,
            };
            self.line(first.span);
            let common = blank(first, true);
            let cond = self.matches(keys, &common.keysets);
            let inner: Vec<SelectCase> = group.iter().map(|c| blank(c, false)).collect();
            let mut open = true;
            let block = self.block(|g| open = g.chain(keys, &inner, states));
            match cond.as_int() {
                Some(0) => {}
                Some(_) => {
                    self.out.extend(block);
                    if !open {
                        return false;
                    }
                }
                None => self.push(Stmt::If(cond, block, Block::new())),
            }
            rest = after;
        }
        true
    }

    /// Condition that keys are in keysets.
    fn matches(&mut self, keys: &[Expr], keysets: &[Keyset]) -> C {
        let mut result = C::int(1);
        let mut at = 0;
        for keyset in keysets {
            let count = match keyset {
                Keyset::ValueSet(set) => self.p.value_sets[*set].fields.len(),
                _ => 1,
            };
            let Some(own) = keys.get(at..at + count) else {
                break;
            };
            let one = match keyset {
                Keyset::ValueSet(set) => self.value_set_member(*set, own),
                other => self.key_matches(own[0], other),
            };
            result = C::and(result, one);
            at += count;
        }
        result
    }

    fn key_matches(&mut self, key: Expr, keyset: &Keyset) -> C {
        let ty = self.p.ty(key);
        let width = ty.width();
        if width == 0 {
            return C::int(1);
        }
        if width > 64 {
            let array = lower::wide(self, key);
            return match keyset {
                Keyset::Value(value) => wide_equals(&array, value),
                Keyset::Mask(value, mask) => super::table::wide_masked_equals(&array, value, mask),
                Keyset::Range(lo, hi) => super::table::wide_between(&array, lo, hi, ty),
                Keyset::Any | Keyset::ValueSet(_) => C::int(1),
            };
        }
        let number = |b: &ir::Bits| b.to_u64().unwrap_or(0);
        match keyset {
            Keyset::Any | Keyset::ValueSet(_) => C::int(1),
            Keyset::Value(value) => {
                let c = lower::cond_or_equal(self, key, number(value));
                fold_equal(c)
            }
            Keyset::Mask(value, mask) => {
                let key = lower::scalar(self, key);
                super::table::masked_equals(key, width, number(value), number(mask))
            }
            Keyset::Range(lo, hi) => {
                let c = lower::scalar(self, key);
                super::table::between(c, ty, lo, hi)
            }
        }
    }
}

/// Folds a comparison of literals.
fn fold_equal(c: C) -> C {
    match &c {
        C::Binary(BinOp::Eq, a, b) => match (a.as_int(), b.as_int()) {
            (Some(a), Some(b)) => C::int((a == b).into()),
            _ => c,
        },
        _ => c,
    }
}

/// Returns the indices of the keysets that test one key.
fn askable(keysets: &[Keyset]) -> Vec<usize> {
    if keysets.iter().any(|k| matches!(k, Keyset::ValueSet(_))) {
        return Vec::new();
    }
    (0..keysets.len())
        .filter(|&i| !matches!(keysets[i], Keyset::Any))
        .collect()
}

fn count_any(keysets: &[Keyset]) -> usize {
    keysets.iter().filter(|k| matches!(k, Keyset::Any)).count()
}
