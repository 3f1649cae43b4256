//! The operators on constants.

use super::wrap;
use hir::{BinaryOp, Ty, UnaryOp};
use num_bigint::{BigInt, Sign};
use num_traits::{One, ToPrimitive};
use std::cmp::Ordering;

/// Most bits of an `int` constant.
const MAX_BITS: u64 = 1 << 17;

/// Reason why an operation on constants has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Division or modulo by zero.
    DivisionByZero,
    /// Division or modulo with a negative operand.
    Negative,
    /// A shift by a negative number.
    NegativeShift,
    /// A result that exceeds the limit on bits.
    TooLarge,
}

/// Computes `op a` in the type `ty`, which is `int`, `bit<w>` or `int<w>`.
pub(crate) fn unary(op: UnaryOp, a: &BigInt, ty: &Ty) -> BigInt {
    let value = match op {
        UnaryOp::Neg => -a,
        UnaryOp::BitNot => -a - 1,
        UnaryOp::Not => a.clone(),
    };
    in_type(value, ty)
}

/// Computes `a op b` in the type `ty` of `a`, except concatenation and comparisons.
pub(crate) fn binary(op: BinaryOp, a: &BigInt, b: &BigInt, ty: &Ty) -> Result<BigInt, Fault> {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul if a.bits() + b.bits() > MAX_BITS => return Err(Fault::TooLarge),
        BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::Mod => {
            if b.sign() == Sign::NoSign {
                return Err(Fault::DivisionByZero);
            }
            if a.sign() == Sign::Minus || b.sign() == Sign::Minus {
                return Err(Fault::Negative);
            }
            if op == BinaryOp::Div { a / b } else { a % b }
        }
        BinaryOp::SatAdd => return Ok(saturate(a + b, ty)),
        BinaryOp::SatSub => return Ok(saturate(a - b, ty)),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Shl => shl(a, b, ty)?,
        BinaryOp::Shr => shr(a, b)?,
        _ => a.clone(),
    };
    Ok(in_type(value, ty))
}

/// Returns the result of a comparison of two values in this order.
pub(crate) fn compare(op: BinaryOp, order: Ordering) -> bool {
    match op {
        BinaryOp::Lt => order.is_lt(),
        BinaryOp::Le => order.is_le(),
        BinaryOp::Gt => order.is_gt(),
        BinaryOp::Ge => order.is_ge(),
        BinaryOp::Ne => order.is_ne(),
        _ => order.is_eq(),
    }
}

fn in_type(value: BigInt, ty: &Ty) -> BigInt {
    match ty {
        Ty::Bits { width, signed } => wrap(&value, *width, *signed),
        _ => value,
    }
}

fn saturate(value: BigInt, ty: &Ty) -> BigInt {
    let Ty::Bits { width, signed } = ty else {
        return value;
    };
    let (lo, hi) = if *signed && *width > 0 {
        let half = BigInt::one() << (width - 1);
        (-half.clone(), half - 1)
    } else {
        (BigInt::ZERO, (BigInt::one() << *width) - 1)
    };
    value.clamp(lo, hi)
}

fn shl(a: &BigInt, b: &BigInt, ty: &Ty) -> Result<BigInt, Fault> {
    if b.sign() == Sign::Minus {
        return Err(Fault::NegativeShift);
    }
    if let Ty::Bits { width, .. } = ty {
        return Ok(b
            .to_u32()
            .filter(|n| n < width)
            .map_or(BigInt::ZERO, |n| a << n));
    }
    match b.to_u64() {
        Some(n) if a.bits().saturating_add(n) <= MAX_BITS => Ok(a << n),
        _ if a.sign() == Sign::NoSign => Ok(BigInt::ZERO),
        _ => Err(Fault::TooLarge),
    }
}

fn shr(a: &BigInt, b: &BigInt) -> Result<BigInt, Fault> {
    if b.sign() == Sign::Minus {
        return Err(Fault::NegativeShift);
    }
    let all = if a.sign() == Sign::Minus {
        BigInt::from(-1)
    } else {
        BigInt::ZERO
    };
    Ok(b.to_u64()
        .filter(|&n| n <= MAX_BITS)
        .map_or(all, |n| a >> n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(op: BinaryOp, a: i64, b: i64, ty: &Ty) -> Result<BigInt, Fault> {
        binary(op, &BigInt::from(a), &BigInt::from(b), ty)
    }

    #[test]
    fn widths_wrap_and_saturation_does_not() {
        assert_eq!(run(BinaryOp::Add, 255, 1, &Ty::bit(8)), Ok(BigInt::ZERO));
        assert_eq!(
            run(BinaryOp::SatAdd, 255, 1, &Ty::bit(8)),
            Ok(BigInt::from(255))
        );
        assert_eq!(run(BinaryOp::SatSub, 3, 9, &Ty::bit(8)), Ok(BigInt::ZERO));
        assert_eq!(
            run(BinaryOp::SatSub, -100, 100, &Ty::int(8)),
            Ok(BigInt::from(-128))
        );
    }

    #[test]
    fn faults_have_names() {
        assert_eq!(
            run(BinaryOp::Div, 1, 0, &Ty::Int),
            Err(Fault::DivisionByZero)
        );
        assert_eq!(run(BinaryOp::Mod, -1, 2, &Ty::Int), Err(Fault::Negative));
        assert_eq!(
            run(BinaryOp::Shl, 1, -1, &Ty::Int),
            Err(Fault::NegativeShift)
        );
        assert_eq!(
            run(BinaryOp::Shl, 1, i64::MAX, &Ty::Int),
            Err(Fault::TooLarge)
        );
        assert_eq!(
            run(BinaryOp::Shl, 1, i64::MAX, &Ty::bit(8)),
            Ok(BigInt::ZERO)
        );
        assert_eq!(
            run(BinaryOp::Shr, -5, i64::MAX, &Ty::Int),
            Ok(BigInt::from(-1))
        );
    }
}
