//! Bit ranges of values: up to 64 bits at any position of an expression of any width. The rest of the value is not
//! computed where the operator allows that.

use super::*;
use crate::tree::UnOp;
use ir::{BinaryOp, ExprKind, Type as IrType, UnaryOp};
use num_bigint::BigUint;

/// Bits `hi` down to `lo` (at most 64) of an expression, as a number.
pub fn bits(l: &mut impl Leaves, e: Expr, hi: u32, lo: u32) -> C {
    let data = l.program().exprs[e].clone();
    let width = data.ty.width();
    let len = hi - lo + 1;
    if width <= 64 && len == width {
        return scalar(l, e);
    }
    match data.kind {
        ExprKind::Const(value) => C::int(part(value.value(), hi, lo)),
        ExprKind::Var(var) if width > 64 => {
            let array = l.var_limbs(var);
            part_of_limbs(&array, hi, lo)
        }
        ExprKind::Field(header, field) => l.field(header, field, hi, lo),
        ExprKind::Slice { base, lo: from, .. } => bits(l, base, hi + from, lo + from),
        ExprKind::Cast(inner) => {
            let from = l.program().ty(inner);
            let sign = matches!(from, IrType::Bits { signed: true, .. });
            padded_bits(l, inner, i64::from(hi), i64::from(lo), sign)
        }
        ExprKind::Binary(BinaryOp::Concat, high, low) => {
            let below = l.program().ty(low).width();
            if hi < below {
                bits(l, low, hi, lo)
            } else if lo >= below {
                bits(l, high, hi - below, lo - below)
            } else {
                let a = bits(l, high, hi - below, 0);
                let b = bits(l, low, below - 1, lo);
                join(a, hi - below + 1, b, below - lo)
            }
        }
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor), a, b)
            if data.ty != IrType::Bool =>
        {
            let (a, b) = (bits(l, a, hi, lo), bits(l, b, hi, lo));
            C::bin(scalar::bitwise(op), a, b)
        }
        ExprKind::Unary(UnaryOp::BitNot, a) => {
            let a = with_type(bits(l, a, hi, lo), len);
            masked(C::Unary(UnOp::BitNot, Box::new(a)), len)
        }
        ExprKind::Mux(c, a, b) => {
            let c = cond(l, c);
            let (a, b) = (bits(l, a, hi, lo), bits(l, b, hi, lo));
            C::choose(c, a, b)
        }
        ExprKind::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr), a, by)
            if scalar::constant(l, by).is_some() =>
        {
            let by = i64::from(
                scalar::constant(l, by)
                    .map_or(0, |n| u32::try_from(&n).unwrap_or(u32::MAX).min(width)),
            );
            let sign = matches!(data.ty, IrType::Bits { signed: true, .. });
            let (hi, lo) = (i64::from(hi), i64::from(lo));
            if op == BinaryOp::Shl {
                padded_bits(l, a, hi - by, lo - by, false)
            } else {
                padded_bits(l, a, hi + by, lo + by, sign)
            }
        }
        _ if width <= 64 => {
            let whole = with_type(scalar(l, e), width);
            part_of_register(whole, width, hi, lo)
        }
        _ => {
            let array = wide(l, e);
            part_of_limbs(&array, hi, lo)
        }
    }
}

/// Bits `hi` down to `lo` (at most 64) of an expression, extended by zeros below bit 0 and by zeros, or copies of
/// its sign, above its width.
pub fn padded_bits(l: &mut impl Leaves, e: Expr, hi: i64, lo: i64, sign: bool) -> C {
    let width = i64::from(l.program().ty(e).width());
    let len = (hi - lo + 1) as u32;
    if hi < 0 || width == 0 || (lo >= width && !sign) {
        return C::int(0);
    }
    let (top, bottom) = (hi.min(width - 1), lo.max(0).min(width - 1));
    let have = (top - bottom + 1) as u32;
    let mut value = bits(l, e, top as u32, bottom as u32);
    if sign && hi >= width {
        // The value's own top bit is in `value`, so its sign can be taken from there.
        value = signed(value, have);
        if lo > bottom {
            // Above bit 63 there are only copies of the sign, and C shifts no further.
            let by = (lo - bottom).min(63) as u64;
            value = C::bin(BinOp::Shr, value, C::int(by));
        }
        value = value.cast(Type::register(len));
        let below = (bottom - lo).max(0) as u64;
        if below > 0 {
            value = C::bin(BinOp::Shl, value, C::int(below));
        }
        return masked(value, len);
    }
    value = in_register(value, have, len);
    let below = (bottom - lo) as u64;
    if below > 0 {
        value = C::bin(BinOp::Shl, with_type(value, len), C::int(below));
    }
    value
}

/// Bits of a number.
fn part(value: &BigUint, hi: u32, lo: u32) -> u64 {
    let shifted: BigUint = value >> lo;
    shifted.iter_u64_digits().next().unwrap_or(0) & mask(hi - lo + 1)
}

/// Bits of a register of `width` bits.
pub fn part_of_register(whole: C, width: u32, hi: u32, lo: u32) -> C {
    let len = hi - lo + 1;
    let mut value = whole;
    if lo > 0 {
        value = C::bin(BinOp::Shr, value, C::int(lo.into()));
    }
    value = in_register(value, width, len);
    if hi + 1 < width {
        masked(value, len)
    } else {
        value
    }
}

/// `high` (of `high_len` bits) above `low` (of `low_len`).
pub(super) fn join(high: C, high_len: u32, low: C, low_len: u32) -> C {
    let len = high_len + low_len;
    let high = with_type(in_register(high, high_len, len), len);
    let high = C::bin(BinOp::Shl, high, C::int(low_len.into()));
    C::bin(BinOp::Or, high, in_register(low, low_len, len))
}

/// Bits of an array of limbs.
pub fn part_of_limbs(array: &C, hi: u32, lo: u32) -> C {
    let limb = |i: u32| array.clone().index(C::int(i.into()));
    let (first, last) = (lo / 64, hi / 64);
    if first == last {
        return part_of_register(limb(first), 64, hi % 64, lo % 64);
    }
    let low_len = 64 - lo % 64;
    let low = part_of_register(limb(first), 64, 63, lo % 64);
    let high = part_of_register(limb(last), 64, hi % 64, 0);
    join(high, hi % 64 + 1, low, low_len)
}
