//! Values of up to 64 bits.

use super::*;
use crate::tree::UnOp;
use ir::{BinaryOp, ExprKind, Type as IrType, UnaryOp};
use num_bigint::BigUint;

/// A value of up to 64 bits as a number in its register; a `bool` is 0 or 1.
pub fn scalar(l: &mut impl Leaves, e: Expr) -> C {
    let data = l.program().exprs[e].clone();
    let width = data.ty.width();
    if width == 0 {
        return C::int(0);
    }
    if data.ty == IrType::Bool {
        return cond(l, e);
    }
    match data.kind {
        ExprKind::Const(value) => C::int(value.to_u64().unwrap_or(0)),
        ExprKind::Bool(value) => C::int(value.into()),
        ExprKind::Member(index) => C::int(index.into()),
        ExprKind::Var(var) => l.var(var),
        ExprKind::Field(header, field) => l.field(header, field, width - 1, 0),
        ExprKind::IsValid(header) => l.is_valid(header),
        ExprKind::Slice { base, hi, lo } => bits(l, base, hi, lo),
        ExprKind::Cast(inner) => cast(l, inner, width),
        ExprKind::Mux(c, a, b) => {
            let chosen = cond(l, c);
            let yes = under(l, c, true, a, |l| scalar(l, a));
            let no = under(l, c, false, b, |l| scalar(l, b));
            C::choose(chosen, yes, no)
        }
        ExprKind::Unary(op, a) => {
            let a = with_type(scalar(l, a), width);
            let op = match op {
                UnaryOp::Neg => UnOp::Neg,
                UnaryOp::BitNot => UnOp::BitNot,
                UnaryOp::Not => UnOp::Not,
            };
            masked(C::Unary(op, Box::new(a)), width)
        }
        ExprKind::Binary(op, a, b) => binary(l, op, a, b, data.ty),
    }
}

/// Returns the value of an expression that is a constant.
pub(super) fn constant(l: &impl Leaves, e: Expr) -> Option<BigUint> {
    match &l.program().exprs[e].kind {
        ExprKind::Const(value) => Some(value.value().clone()),
        _ => None,
    }
}

pub(super) fn bitwise(op: BinaryOp) -> BinOp {
    match op {
        BinaryOp::And => BinOp::And,
        BinaryOp::Xor => BinOp::Xor,
        _ => BinOp::Or,
    }
}

fn binary(l: &mut impl Leaves, op: BinaryOp, a: Expr, b: Expr, ty: IrType) -> C {
    let width = ty.width();
    let is_signed = matches!(ty, IrType::Bits { signed: true, .. });
    let reg = Type::register(width);
    let literal = |n: u32| C::int(n.into());
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            let (a, b) = (scalar(l, a), scalar(l, b));
            C::bin(bitwise(op), a, b)
        }
        BinaryOp::Concat => {
            let (wa, wb) = (l.program().ty(a).width(), l.program().ty(b).width());
            let (a, b) = (scalar(l, a), scalar(l, b));
            match (wa, wb) {
                (0, _) => b,
                (_, 0) => a,
                _ => bits::join(a, wa, b, wb),
            }
        }
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let op = match op {
                BinaryOp::Add => BinOp::Add,
                BinaryOp::Sub => BinOp::Sub,
                _ => BinOp::Mul,
            };
            let (a, b) = (scalar(l, a), scalar(l, b));
            masked(C::bin(op, with_type(a, width), with_type(b, width)), width)
        }
        BinaryOp::Div | BinaryOp::Mod => {
            let name = if op == BinaryOp::Div {
                "divide"
            } else {
                "modulo"
            };
            let (a, b) = (scalar(l, a), scalar(l, b));
            C::pure(name, vec![a, b]).cast(reg)
        }
        BinaryOp::SatAdd | BinaryOp::SatSub => {
            let name = match (op, is_signed) {
                (BinaryOp::SatAdd, false) => "sat_add",
                (BinaryOp::SatAdd, true) => "sat_add_signed",
                (_, false) => "sat_sub",
                (_, true) => "sat_sub_signed",
            };
            let (a, b) = (scalar(l, a), scalar(l, b));
            C::pure(name, vec![a, b, literal(width)]).cast(reg)
        }
        BinaryOp::Shl | BinaryOp::Shr => shift(l, op, a, b, width, is_signed),
        // Comparisons are of type `bool` and handled by `cond`.
        _ => C::int(0),
    }
}

fn shift(l: &mut impl Leaves, op: BinaryOp, a: Expr, by: Expr, width: u32, is_signed: bool) -> C {
    let reg = Type::register(width);
    let value = with_type(scalar(l, a), width);
    let literal = |n: u64| C::int(n);
    if let Some(by) = constant(l, by) {
        let by = u64::try_from(&by).unwrap_or(u64::MAX);
        let past = by >= u64::from(width);
        return match op {
            BinaryOp::Shl if past => C::int(0),
            BinaryOp::Shl => masked(C::bin(BinOp::Shl, value, literal(by)), width),
            _ if is_signed => {
                let by = by.min(u64::from(width) - 1);
                let shifted = C::bin(BinOp::Shr, signed(value, width), literal(by));
                masked(shifted.cast(reg), width)
            }
            _ if past => C::int(0),
            _ => C::bin(BinOp::Shr, value, literal(by)),
        };
    }
    let by = wide::amount(l, by);
    let name = match (op, is_signed) {
        (BinaryOp::Shl, _) => "shift_left",
        (_, false) => "shift_right",
        (_, true) => "shift_right_signed",
    };
    let shifted = C::pure(name, vec![value, by, literal(width.into())]).cast(reg);
    if op == BinaryOp::Shl || is_signed {
        masked(shifted, width)
    } else {
        shifted
    }
}

fn cast(l: &mut impl Leaves, inner: Expr, width: u32) -> C {
    let from = l.program().ty(inner);
    if from == IrType::Bool {
        let value = cond(l, inner);
        return match value {
            C::Binary(..) | C::Unary(..) => value.cast(Type::register(width)),
            _ => value,
        };
    }
    let sign = matches!(from, IrType::Bits { signed: true, .. });
    if from.width() == width {
        return scalar(l, inner);
    }
    padded_bits(l, inner, i64::from(width) - 1, 0, sign)
}

/// A `bool` as a C condition: 0 or 1.
pub fn cond(l: &mut impl Leaves, e: Expr) -> C {
    let data = l.program().exprs[e].clone();
    match data.kind {
        ExprKind::Bool(value) => C::int(value.into()),
        ExprKind::Var(var) => l.var(var),
        ExprKind::Field(header, field) => l.field(header, field, 0, 0),
        ExprKind::IsValid(header) => l.is_valid(header),
        ExprKind::Cast(inner) => scalar(l, inner),
        ExprKind::Unary(_, inner) => C::not(cond(l, inner)),
        ExprKind::Mux(c, a, b) => {
            let chosen = cond(l, c);
            let yes = under(l, c, true, a, |l| cond(l, a));
            let no = under(l, c, false, b, |l| cond(l, b));
            C::choose(chosen, yes, no)
        }
        ExprKind::Binary(op, a, b) => {
            let operand = l.program().ty(a);
            match op {
                BinaryOp::And => {
                    let first = cond(l, a);
                    let second = under(l, a, true, b, |l| cond(l, b));
                    C::and(first, second)
                }
                BinaryOp::Or => {
                    let first = cond(l, a);
                    let second = under(l, a, false, b, |l| cond(l, b));
                    C::or(first, second)
                }
                BinaryOp::Xor => {
                    let (a, b) = (cond(l, a), cond(l, b));
                    C::bin(BinOp::Ne, a, b)
                }
                _ if operand.width() == 0 => C::int(u64::from(matches!(
                    op,
                    BinaryOp::Eq | BinaryOp::Le | BinaryOp::Ge
                ))),
                _ if matches!(operand, IrType::Varbit(_)) => {
                    let differ = l.varbits_differ(a, b);
                    match op {
                        BinaryOp::Ne => differ,
                        _ => C::not(differ),
                    }
                }
                _ if operand.width() > 64 => wide::compare(l, op, a, b),
                _ => compare(l, op, a, b),
            }
        }
        ExprKind::Const(value) => C::int(u64::from(!value.is_zero())),
        ExprKind::Member(_) | ExprKind::Slice { .. } => C::int(0),
    }
}

pub(super) fn comparison(op: BinaryOp) -> BinOp {
    match op {
        BinaryOp::Lt => BinOp::Lt,
        BinaryOp::Le => BinOp::Le,
        BinaryOp::Gt => BinOp::Gt,
        BinaryOp::Ge => BinOp::Ge,
        BinaryOp::Ne => BinOp::Ne,
        _ => BinOp::Eq,
    }
}

fn compare(l: &mut impl Leaves, op: BinaryOp, a: Expr, b: Expr) -> C {
    let ty = l.program().ty(a);
    let width = ty.width();
    let c_op = comparison(op);
    let equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
    if equality && matches!(width, 40 | 48 | 56) && in_pieces(l, a) && in_pieces(l, b) {
        return piecewise(l, op, a, b, width);
    }
    let (x, y) = (scalar(l, a), scalar(l, b));
    if !equality && matches!(ty, IrType::Bits { signed: true, .. }) {
        return C::bin(c_op, signed(x, width), signed(y, width));
    }
    C::bin(c_op, x, y)
}

/// Returns true if loading the value in several pieces costs no more than loading it whole.
fn in_pieces(l: &impl Leaves, e: Expr) -> bool {
    matches!(
        l.program().exprs[e].kind,
        ExprKind::Field(..) | ExprKind::Const(_)
    )
}

/// Compares a field that no single load fetches piece by piece, so that no piece has to be shifted.
fn piecewise(l: &mut impl Leaves, op: BinaryOp, a: Expr, b: Expr, width: u32) -> C {
    let mut result = None;
    let mut hi = width;
    for size in [32, 16, 8] {
        while hi >= size {
            let lo = hi - size;
            let (x, y) = (bits(l, a, hi - 1, lo), bits(l, b, hi - 1, lo));
            let one = C::bin(comparison(op), x, y);
            let join = if op == BinaryOp::Eq {
                BinOp::LogicalAnd
            } else {
                BinOp::LogicalOr
            };
            result = Some(match result {
                None => one,
                Some(before) => C::bin(join, before, one),
            });
            hi = lo;
        }
    }
    result.unwrap_or(C::int(0))
}

/// Compares a value of up to 64 bits with a constant for equality.
pub fn cond_or_equal(l: &mut impl Leaves, e: Expr, value: u64) -> C {
    let width = l.program().ty(e).width();
    if matches!(width, 40 | 48 | 56) && matches!(l.program().exprs[e].kind, ExprKind::Field(..)) {
        let part = |hi: u32, lo: u32| value >> lo & mask(hi - lo + 1);
        let high = bits(l, e, width - 1, width - 32);
        let low = bits(l, e, width - 33, 0);
        return C::and(
            C::bin(BinOp::Eq, high, C::int(part(width - 1, width - 32))),
            C::bin(BinOp::Eq, low, C::int(part(width - 33, 0))),
        );
    }
    C::bin(BinOp::Eq, scalar(l, e), C::int(value))
}
