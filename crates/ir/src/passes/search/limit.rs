//! Exits of a loop's iteration: conditions of its selects, and the number of iterations after which counters reach
//! their limits.

use super::turn::{Walk, Wanted};
use crate::*;
use diag::Span;

/// Reason for which an iteration leaves the loop.
pub(super) enum Exit {
    /// All these bits of the packet have these values. `target` is the index of the transition's target.
    Found { wanted: Vec<Wanted>, target: usize },
    /// The packet has not enough bits for those that are read otherwise.
    Short,
    /// A counter reaches its limit after this number of iterations (`bit<32>`).
    After(Expr),
}

/// Relation of two numbers that do not depend on the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Returns the exits of a step's transition, of which the target `stays` remains in the loop. Returns `None` if there
/// is an exit that a search cannot represent.
pub(super) fn exits(
    walk: &mut Walk<'_>,
    keys: &[Expr],
    cases: &[SelectCase],
    stays: usize,
) -> Option<Vec<Exit>> {
    let is_any = |case: &SelectCase| case.keysets.iter().all(|k| *k == Keyset::Any);
    let mut exits = Exits {
        walk,
        target: 0,
        found: Vec::new(),
    };
    if is_any(&cases[stays]) {
        for (target, case) in cases[..stays].iter().enumerate() {
            exits.target = target;
            exits.case(keys, case)?;
        }
        return Some(exits.found);
    }
    let ([key], [first, second]) = (keys, cases) else {
        return None;
    };
    let is_bool = exits.walk.program.ty(*key) == Type::Bool;
    let differ = matches!(
        (&first.keysets[..], &second.keysets[..]),
        ([Keyset::Value(a)], [Keyset::Value(b)]) if a != b
    );
    let covers = stays == 0 && is_any(second) || is_bool && differ;
    exits.target = 1 - stays;
    match &cases[stays].keysets[..] {
        [keyset] if covers => exits.unless(*key, keyset)?,
        _ => return None,
    }
    Some(exits.found)
}

struct Exits<'a, 'b> {
    walk: &'a mut Walk<'b>,
    /// Index of the target that is being analysed.
    target: usize,
    found: Vec<Exit>,
}

impl Exits<'_, '_> {
    /// Adds the exit by a case.
    fn case(&mut self, keys: &[Expr], case: &SelectCase) -> Option<()> {
        if case.keysets.len() != keys.len() {
            // A value set covers several keys.
            return None;
        }
        let all = keys.iter().zip(&case.keysets);
        let asked: Vec<_> = all.filter(|(_, k)| **k != Keyset::Any).collect();
        if let [(key, keyset)] = asked[..] {
            return self.when(*key, keyset);
        }
        let wanted = asked.into_iter();
        let wanted = wanted.map(|(&key, keyset)| self.wanted(key, keyset));
        let wanted = wanted.collect::<Option<Vec<Wanted>>>()?;
        self.push(wanted)
    }

    fn push(&mut self, wanted: Vec<Wanted>) -> Option<()> {
        self.found.push(Exit::Found {
            wanted,
            target: self.target,
        });
        Some(())
    }

    /// Adds the exit that is taken if a key is in a set.
    fn when(&mut self, key: Expr, keyset: &Keyset) -> Option<()> {
        if self.walk.program.ty(key) == Type::Bool {
            return match keyset {
                Keyset::Value(value) => self.cond(key, !value.is_zero()),
                _ => None,
            };
        }
        if self.walk.masked_window(key).is_some() {
            let wanted = self.wanted(key, keyset)?;
            return self.push(vec![wanted]);
        }
        match keyset {
            Keyset::Value(value) => self.interval(key, value, value),
            Keyset::Range(lo, hi) => self.interval(key, lo, hi),
            _ => None,
        }
    }

    /// Adds the exit that is taken unless a key is in a set.
    fn unless(&mut self, key: Expr, keyset: &Keyset) -> Option<()> {
        if self.walk.program.ty(key) == Type::Bool {
            return match keyset {
                Keyset::Value(value) => self.cond(key, value.is_zero()),
                _ => None,
            };
        }
        let Keyset::Range(lo, hi) = keyset else {
            return None;
        };
        let width = lo.width();
        let next = Bits::new(width, hi.value() + 1u32);
        let before = Bits::from_int(width, &(lo.to_int(false) - 1));
        if next == *lo {
            // The set contains all values.
            return Some(());
        }
        self.interval(key, &next, &before)
    }

    fn wanted(&self, key: Expr, keyset: &Keyset) -> Option<Wanted> {
        let (window, own) = self.walk.masked_window(key)?;
        let (value, mask) = match keyset {
            Keyset::Value(value) => (value, Bits::ones(value.width())),
            Keyset::Mask(value, mask) => (value, mask.clone()),
            _ => return None,
        };
        wanted(window, own, value, &mask)
    }

    /// Adds the exit that is taken if a condition has the value `so`.
    fn cond(&mut self, cond: Expr, so: bool) -> Option<()> {
        let (op, a, b) = match self.walk.program.exprs[cond].kind {
            ExprKind::Var(var) if self.walk.fits.contains(&var) && !so => {
                self.found.push(Exit::Short);
                return Some(());
            }
            ExprKind::Unary(UnaryOp::Not, inner) => return self.cond(inner, !so),
            ExprKind::Binary(op, a, b) => (op, a, b),
            _ => return None,
        };
        let relation = match (op, so) {
            (BinaryOp::And, false) | (BinaryOp::Or, true) => {
                self.cond(a, so)?;
                return self.cond(b, so);
            }
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => Relation::Eq,
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => Relation::Lt,
            (BinaryOp::Le, true) | (BinaryOp::Gt, false) => Relation::Le,
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) => Relation::Gt,
            (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => Relation::Ge,
            _ => return None,
        };
        if relation == Relation::Eq {
            for (of, with) in [(a, b), (b, a)] {
                if let Some((window, mask)) = self.walk.masked_window(of)
                    && let Some(Value::Bits(value)) = eval::constant(self.walk.program, with)
                {
                    let all = Bits::ones(value.width());
                    let wanted = wanted(window, mask, &value, &all)?;
                    return self.push(vec![wanted]);
                }
            }
        }
        match (self.slope(a), self.slope(b)) {
            (Some(up), None) if self.walk.stays(b) => self.relation(a, up, relation, b),
            (None, Some(up)) if self.walk.stays(a) => {
                let mirrored = match relation {
                    Relation::Eq => Relation::Eq,
                    Relation::Lt => Relation::Gt,
                    Relation::Le => Relation::Ge,
                    Relation::Gt => Relation::Lt,
                    Relation::Ge => Relation::Le,
                };
                self.relation(b, up, mirrored, a)
            }
            _ => None,
        }
    }

    /// Returns true if an expression increases by one in each iteration, and false if it decreases by one. Returns
    /// `None` if it does neither.
    fn slope(&self, expr: Expr) -> Option<bool> {
        let Type::Bits {
            width: width @ 2..=32,
            signed: false,
        } = self.walk.program.ty(expr)
        else {
            return None;
        };
        let step = self.step(expr)?;
        let down = Bits::ones(width);
        match step == Bits::new(width, 1u32) {
            true => Some(true),
            false => (step == down).then_some(false),
        }
    }

    /// Returns the constant by which an expression increases in each iteration.
    fn step(&self, expr: Expr) -> Option<Bits> {
        let data = &self.walk.program.exprs[expr];
        if self.walk.stays(expr) {
            return Some(Bits::zero(data.ty.width()));
        }
        match data.kind {
            ExprKind::Var(var) => self.walk.step(var),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
                let (a, b) = (self.step(a)?.to_signed(), self.step(b)?.to_signed());
                let sum = if op == BinaryOp::Add { a + b } else { a - b };
                Some(Bits::from_int(data.ty.width(), &sum))
            }
            _ => None,
        }
    }

    /// Adds the exit that is taken if a counter with step 1 or -1 is in an interval, which may wrap around from the
    /// highest number to the lowest.
    fn interval(&mut self, of: Expr, lo: &Bits, hi: &Bits) -> Option<()> {
        let up = self.slope(of)?;
        let is_one = lo == hi;
        // The end that is reached first, and the last number before the counter wraps around.
        let (met, end, last) = match up {
            true => (lo, hi, Bits::ones(lo.width())),
            false => (hi, lo, Bits::zero(lo.width())),
        };
        let is_last = *end == last;
        let mut of = Number::of(self.walk.program, of);
        let [lo, hi, met] = [lo, hi, met].map(|bits| of.constant(bits.clone()));
        let (a, b) = if up {
            (met, of.number)
        } else {
            (of.number, met)
        };
        let iterations = if is_one {
            of.sub(a, b)
        } else if is_last {
            of.saturating_sub(a, b)
        } else {
            let (behind, length) = (of.sub(of.number, lo), of.sub(hi, lo));
            let inside = of.compare(BinaryOp::Le, behind, length);
            let zero = of.constant(Bits::zero(of.ty.width()));
            let left = of.sub(a, b);
            of.choose(inside, zero, left)
        };
        let iterations = of.widened(iterations);
        self.found.push(Exit::After(iterations));
        Some(())
    }

    /// Adds the exit that is taken if a counter with step 1 or -1 is in a relation to a loop invariant.
    fn relation(&mut self, of: Expr, up: bool, relation: Relation, to: Expr) -> Option<()> {
        let mut of = Number::of(self.walk.program, of);
        let iterations = match (relation, up) {
            (Relation::Eq, true) => of.sub(to, of.number),
            (Relation::Eq, false) => of.sub(of.number, to),
            (Relation::Ge, true) => of.saturating_sub(to, of.number),
            (Relation::Le, false) => of.saturating_sub(of.number, to),
            (Relation::Gt, true) => of.one_beyond(BinaryOp::Gt, to),
            (Relation::Lt, false) => of.one_beyond(BinaryOp::Lt, to),
            // It holds from the start, or not before the counter wraps around.
            _ => return None,
        };
        let iterations = of.widened(iterations);
        self.found.push(Exit::After(iterations));
        Some(())
    }
}

/// Returns the comparison of a masked key with a value; `None` if they can never be equal.
fn wanted(window: super::turn::Window, own: Bits, value: &Bits, mask: &Bits) -> Option<Wanted> {
    let asked = value.value() & mask.value();
    let possible = &asked & own.value() == asked;
    let mask = Bits::new(mask.width(), mask.value() & own.value());
    possible.then(|| (window, value.clone(), mask))
}

/// Arithmetic on a number's value at the start of the iteration.
struct Number<'a> {
    program: &'a mut Program,
    number: Expr,
    ty: Type,
    span: Span,
}

impl Number<'_> {
    fn of(program: &mut Program, number: Expr) -> Number<'_> {
        let (ty, span) = (program.ty(number), program.exprs[number].span);
        Number {
            program,
            number,
            ty,
            span,
        }
    }

    fn make(&mut self, kind: ExprKind, ty: Type) -> Expr {
        build::make(self.program, kind, ty, self.span)
    }

    fn constant(&mut self, bits: Bits) -> Expr {
        self.make(ExprKind::Const(bits), self.ty)
    }

    fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        self.make(ExprKind::Binary(BinaryOp::Sub, a, b), self.ty)
    }

    fn saturating_sub(&mut self, a: Expr, b: Expr) -> Expr {
        self.make(ExprKind::Binary(BinaryOp::SatSub, a, b), self.ty)
    }

    fn compare(&mut self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        self.make(ExprKind::Binary(op, a, b), Type::Bool)
    }

    fn choose(&mut self, cond: Expr, yes: Expr, no: Expr) -> Expr {
        let ty = self.program.ty(yes);
        self.make(ExprKind::Mux(cond, yes, no), ty)
    }

    /// Widens a number of iterations to 32 bits.
    fn widened(&mut self, iterations: Expr) -> Expr {
        match self.program.ty(iterations) == Type::bit(32) {
            true => iterations,
            false => self.make(ExprKind::Cast(iterations), Type::bit(32)),
        }
    }

    /// Returns the number of iterations until the number is greater, or less, than another one, in 32 bits. If it never
    /// is, returns the greatest number: no packet has as many bytes.
    fn one_beyond(&mut self, than: BinaryOp, other: Expr) -> Expr {
        let beyond = self.compare(than, self.number, other);
        let (last, left) = match than {
            BinaryOp::Gt => (Bits::ones(self.ty.width()), self.sub(other, self.number)),
            _ => (Bits::zero(self.ty.width()), self.sub(self.number, other)),
        };
        let last = self.constant(last);
        let never = self.compare(BinaryOp::Eq, other, last);
        let left = self.widened(left);
        let [zero, one, most] = [0, 1, u32::MAX].map(|n| build::u32(self.program, n, self.span));
        let left = self.make(ExprKind::Binary(BinaryOp::Add, left, one), Type::bit(32));
        let left = self.choose(never, most, left);
        self.choose(beyond, zero, left)
    }
}
