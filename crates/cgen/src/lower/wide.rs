//! Values of more than 64 bits: arrays of limbs. Operations that cannot be done limb by limb call the helpers of
//! `onpath/wide.h`.

use super::*;
use ir::{BinaryOp, ExprKind, Type as IrType, UnaryOp};

/// Returns the number of limbs of a value of this width.
pub fn limb_count(width: u32) -> u32 {
    width.div_ceil(64)
}

/// Each limb of a value of any width, the least significant first.
pub fn limbs(l: &mut impl Leaves, e: Expr) -> Vec<C> {
    let width = l.program().ty(e).width();
    (0..limb_count(width))
        .map(|i| bits(l, e, (i * 64 + 63).min(width - 1), i * 64))
        .collect()
}

/// A value of any width in an array: the variable's own array if it is a variable. The array may only be read, and
/// only before the next statement of the program.
pub fn wide(l: &mut impl Leaves, e: Expr) -> C {
    if let Some(array) = l.computed().get(&e) {
        return array.clone();
    }
    let array = compute(l, e);
    l.computed().insert(e, array.clone());
    array
}

fn compute(l: &mut impl Leaves, e: Expr) -> C {
    let data = l.program().exprs[e].clone();
    let width = data.ty.width();
    let count = limb_count(width).max(1);
    let is_signed = matches!(data.ty, IrType::Bits { signed: true, .. });
    let number = |n: u32| C::int(n.into());
    match data.kind {
        ExprKind::Var(var) if width > 64 => l.var_limbs(var),
        ExprKind::Unary(UnaryOp::Neg, a) if width > 64 => {
            let a = wide(l, a);
            let t = l.temp(count);
            call(l, "wide_negate", vec![t.clone(), a, number(count)]);
            trim(l, &t, width);
            t
        }
        ExprKind::Binary(op, a, b) if width > 64 && !limbwise(l, op, b) => {
            let t;
            match op {
                BinaryOp::Shl | BinaryOp::Shr => {
                    let a = wide(l, a);
                    let by = amount(l, b);
                    t = l.temp(count);
                    let name = match (op, is_signed) {
                        (BinaryOp::Shl, _) => "wide_shift_left",
                        (_, false) => "wide_shift_right",
                        (_, true) => "wide_shift_right_signed",
                    };
                    call(
                        l,
                        name,
                        vec![t.clone(), a, by, number(count), number(width)],
                    );
                }
                _ => {
                    let (a, b) = (wide(l, a), wide(l, b));
                    t = l.temp(count);
                    let (name, with_width) = match (op, is_signed) {
                        (BinaryOp::Add, _) => ("wide_add", false),
                        (BinaryOp::Sub, _) => ("wide_sub", false),
                        (BinaryOp::Mul, _) => ("wide_multiply", false),
                        (BinaryOp::Div, _) => ("wide_divide", true),
                        (BinaryOp::Mod, _) => ("wide_modulo", true),
                        (BinaryOp::SatAdd, false) => ("wide_sat_add", true),
                        (BinaryOp::SatAdd, true) => ("wide_sat_add_signed", true),
                        (_, false) => ("wide_sat_sub", true),
                        (_, true) => ("wide_sat_sub_signed", true),
                    };
                    let mut args = vec![t.clone(), a, b, number(count)];
                    if with_width {
                        args.push(number(width));
                    }
                    call(l, name, args);
                }
            }
            trim(l, &t, width);
            t
        }
        _ => {
            let values = limbs(l, e);
            let t = l.temp(count);
            for (i, value) in values.into_iter().enumerate() {
                l.emit(Stmt::Assign(t.clone().index(number(i as u32)), value));
            }
            t
        }
    }
}

/// Returns true if each limb of the result can be computed from limbs of the operands, without helpers.
fn limbwise(l: &impl Leaves, op: BinaryOp, b: Expr) -> bool {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Concat => true,
        BinaryOp::Shl | BinaryOp::Shr => scalar::constant(l, b).is_some(),
        _ => false,
    }
}

fn call(l: &mut impl Leaves, name: &str, args: Vec<C>) {
    l.emit(Stmt::Expr(C::call(name, args)));
}

/// Drops the bits of the last limb above the width.
fn trim(l: &mut impl Leaves, array: &C, width: u32) {
    if !width.is_multiple_of(64) {
        let last = array.clone().index(C::int((limb_count(width) - 1).into()));
        l.emit(Stmt::Update(BinOp::And, last, C::int(mask(width % 64))));
    }
}

/// A shift's amount as `u64`; larger ones than any width are all alike.
pub(super) fn amount(l: &mut impl Leaves, by: Expr) -> C {
    let width = l.program().ty(by).width();
    if width <= 64 {
        return scalar(l, by);
    }
    let all = limbs(l, by);
    let mut parts = all.into_iter();
    let low = parts.next().unwrap_or(C::int(0));
    let high = parts
        .reduce(|a, b| C::bin(BinOp::Or, a, b))
        .unwrap_or(C::int(0));
    let most = C::Int {
        value: u64::MAX,
        typed: true,
        wide: true,
    };
    C::Cond(Box::new(high), Box::new(most), Box::new(low))
}

/// A comparison of two values of more than 64 bits, from the top limb down.
pub(super) fn compare(l: &mut impl Leaves, op: BinaryOp, a: Expr, b: Expr) -> C {
    let ty = l.program().ty(a);
    let (xs, ys) = (limbs(l, a), limbs(l, b));
    if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
        let join = if op == BinaryOp::Eq {
            BinOp::LogicalAnd
        } else {
            BinOp::LogicalOr
        };
        return xs
            .into_iter()
            .zip(ys)
            .map(|(x, y)| C::bin(scalar::comparison(op), x, y))
            .reduce(|a, b| C::bin(join, a, b))
            .unwrap_or(C::int(0));
    }
    let strict = match op {
        BinaryOp::Lt | BinaryOp::Le => BinOp::Lt,
        _ => BinOp::Gt,
    };
    let last = xs.len() - 1;
    let top_width = ty.width() - 64 * last as u32;
    let is_signed = matches!(ty, IrType::Bits { signed: true, .. });
    let mut result = None;
    for (i, (x, y)) in xs.into_iter().zip(ys).enumerate() {
        let order = |op, x: C, y: C| {
            if i == last && is_signed {
                C::bin(op, signed(x, top_width), signed(y, top_width))
            } else {
                C::bin(op, x, y)
            }
        };
        result = Some(match result {
            None => order(scalar::comparison(op), x, y),
            Some(below) => C::Cond(
                Box::new(C::bin(BinOp::Ne, x.clone(), y.clone())),
                Box::new(order(strict, x, y)),
                Box::new(below),
            ),
        });
    }
    result.unwrap_or(C::int(0))
}
