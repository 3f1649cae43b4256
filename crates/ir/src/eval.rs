//! Evaluation of operators on values. Constant folding and the interpreter share it, so they cannot differ.
//!
//! The operands of a verified program have the right types; other operands are a compiler bug and cause a panic.

use crate::{BinaryOp, Bits, ExprKind, Program, Type, UnaryOp};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed, Zero};

/// A scalar at run time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// Of [`Type::Bits`], in two's complement if signed.
    Bits(Bits),
    /// Of [`Type::Bool`].
    Bool(bool),
    /// Of [`Type::Error`] or [`Type::Enum`], by index.
    Member(u32),
    /// Of [`Type::Varbit`].
    Varbit {
        /// The maximum in bits.
        max: u32,
        /// The bits it has now, and so its current width.
        bits: Bits,
    },
}

impl Value {
    /// Returns the value of undefined storage of a type: zero, false, the first member, no bits.
    pub fn zero(ty: Type) -> Value {
        match ty {
            Type::Bool => Value::Bool(false),
            Type::Bits { width, .. } => Value::Bits(Bits::zero(width)),
            Type::Varbit(max) => Value::Varbit {
                max,
                bits: Bits::zero(0),
            },
            Type::Error | Type::Enum(_) => Value::Member(0),
        }
    }

    /// Returns the value as the control plane, keysets and switch cases represent it: bools 1 bit wide, members 32, a
    /// varbit its current bits.
    pub fn to_bits(&self) -> Bits {
        match self {
            Value::Bits(bits) | Value::Varbit { bits, .. } => bits.clone(),
            Value::Bool(value) => Bits::from_bool(*value),
            Value::Member(index) => Bits::new(32, *index),
        }
    }

    /// Inverse of [`Value::to_bits`] for a type; bits are truncated or zero-extended to its width.
    pub fn from_bits(bits: &Bits, ty: Type) -> Value {
        match ty {
            Type::Bool => Value::Bool(!bits.is_zero()),
            Type::Bits { width, .. } => Value::Bits(Bits::new(width, bits.value().clone())),
            Type::Varbit(max) => Value::Varbit {
                max,
                bits: bits.clone(),
            },
            Type::Error | Type::Enum(_) => Value::Member(low_u32(bits)),
        }
    }

    /// Returns the bits of a value of [`Type::Bits`].
    ///
    /// # Panics
    /// On other values.
    pub fn bits(&self) -> &Bits {
        match self {
            Value::Bits(bits) => bits,
            other => panic!("{other:?} is not bits"),
        }
    }

    /// Returns a value of [`Type::Bool`].
    ///
    /// # Panics
    /// On other values.
    pub fn bool(&self) -> bool {
        match self {
            Value::Bool(value) => *value,
            other => panic!("{other:?} is not a bool"),
        }
    }

    /// Returns the constant expression with this value; `None` for varbits, for which there is none.
    pub fn to_const(&self) -> Option<ExprKind> {
        match self {
            Value::Bits(bits) => Some(ExprKind::Const(bits.clone())),
            Value::Bool(value) => Some(ExprKind::Bool(*value)),
            Value::Member(index) => Some(ExprKind::Member(*index)),
            Value::Varbit { .. } => None,
        }
    }
}

/// Returns the value of a constant expression; `None` for other expressions.
pub fn constant(program: &Program, expr: crate::Expr) -> Option<Value> {
    match &program.exprs[expr].kind {
        ExprKind::Const(bits) => Some(Value::Bits(bits.clone())),
        ExprKind::Bool(value) => Some(Value::Bool(*value)),
        ExprKind::Member(index) => Some(Value::Member(*index)),
        _ => None,
    }
}

/// Evaluates a prefix operator.
///
/// # Panics
/// If the operator has no meaning on the value's type.
pub fn unary(op: UnaryOp, value: &Value) -> Value {
    match (op, value) {
        (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
        (UnaryOp::BitNot, Value::Bits(bits)) => Value::Bits(not(bits)),
        (UnaryOp::Neg, Value::Bits(bits)) => Value::Bits(Bits::from_int(
            bits.width(),
            &-BigInt::from(bits.value().clone()),
        )),
        _ => panic!("{op:?} on {value:?}"),
    }
}

/// Evaluates an infix operator; `signed` is the signedness of the first operand's type.
///
/// # Panics
/// If the operator has no meaning on the values' types.
pub fn binary(op: BinaryOp, a: &Value, b: &Value, signed: bool) -> Value {
    match op {
        BinaryOp::Eq => return Value::Bool(a == b),
        BinaryOp::Ne => return Value::Bool(a != b),
        _ => {}
    }
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Value::Bool(match op {
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            _ => panic!("{op:?} on bools"),
        }),
        (Value::Bits(a), Value::Bits(b)) => bits_binary(op, a, b, signed),
        _ => panic!("{op:?} on {a:?} and {b:?}"),
    }
}

fn bits_binary(op: BinaryOp, a: &Bits, b: &Bits, signed: bool) -> Value {
    let width = a.width();
    let int = |bits: &Bits| bits.to_int(signed);
    let less = |a: &Bits, b: &Bits| {
        if signed {
            a.to_signed() < b.to_signed()
        } else {
            a.value() < b.value()
        }
    };
    let result = match op {
        BinaryOp::Lt => return Value::Bool(less(a, b)),
        BinaryOp::Gt => return Value::Bool(less(b, a)),
        BinaryOp::Le => return Value::Bool(!less(b, a)),
        BinaryOp::Ge => return Value::Bool(!less(a, b)),
        BinaryOp::Eq => return Value::Bool(a == b),
        BinaryOp::Ne => return Value::Bool(a != b),
        BinaryOp::Add => Bits::new(width, a.value() + b.value()),
        BinaryOp::Sub => Bits::from_int(
            width,
            &(BigInt::from(a.value().clone()) - BigInt::from(b.value().clone())),
        ),
        BinaryOp::Mul => Bits::new(width, a.value() * b.value()),
        BinaryOp::Div if b.is_zero() => Bits::zero(width),
        BinaryOp::Mod if b.is_zero() => Bits::zero(width),
        // Towards zero, as in C.
        BinaryOp::Div => Bits::from_int(width, &(int(a) / int(b))),
        BinaryOp::Mod => Bits::from_int(width, &(int(a) % int(b))),
        BinaryOp::SatAdd => saturate(width, int(a) + int(b), signed),
        BinaryOp::SatSub => saturate(width, int(a) - int(b), signed),
        BinaryOp::Shl => match amount(a, b) {
            Some(by) => Bits::new(width, a.value() << by),
            None => Bits::zero(width),
        },
        BinaryOp::Shr => shift_right(a, b, signed),
        BinaryOp::And => Bits::new(width, a.value() & b.value()),
        BinaryOp::Or => Bits::new(width, a.value() | b.value()),
        BinaryOp::Xor => Bits::new(width, a.value() ^ b.value()),
        BinaryOp::Concat => a.concat(b),
    };
    Value::Bits(result)
}

/// Evaluates a conversion between types, as [`ExprKind::Cast`] defines it.
///
/// # Panics
/// If there is no such conversion.
pub fn cast(value: &Value, from: Type, to: Type) -> Value {
    if from == to {
        return value.clone();
    }
    let signed = matches!(from, Type::Bits { signed: true, .. });
    match (value, to) {
        (Value::Bits(bits), Type::Bits { width, .. }) => Value::Bits(if width <= bits.width() {
            Bits::new(width, bits.value().clone())
        } else {
            Bits::from_int(width, &bits.to_int(signed))
        }),
        (Value::Bits(bits), Type::Bool) => Value::Bool(!bits.is_zero()),
        (Value::Bits(bits), Type::Error | Type::Enum(_)) => Value::Member(low_u32(bits)),
        (Value::Bool(value), Type::Bits { width, .. }) => {
            Value::Bits(Bits::new(width, u32::from(*value)))
        }
        (Value::Member(index), Type::Bits { width, .. }) => Value::Bits(Bits::new(width, *index)),
        (Value::Member(index), Type::Error | Type::Enum(_)) => Value::Member(*index),
        _ => panic!("cast of {value:?} from {from:?} to {to:?}"),
    }
}

/// Returns bits `hi` down to `lo`.
///
/// # Panics
/// If the value is not bits, or unless `lo <= hi < width`.
pub fn slice(value: &Value, hi: u32, lo: u32) -> Value {
    Value::Bits(value.bits().slice(hi, lo))
}

/// Evaluates `cond ? then : otherwise`.
///
/// # Panics
/// If `cond` is not a bool.
pub fn mux<'a>(cond: &Value, then: &'a Value, otherwise: &'a Value) -> &'a Value {
    if cond.bool() { then } else { otherwise }
}

fn not(bits: &Bits) -> Bits {
    Bits::new(
        bits.width(),
        bits.value() ^ Bits::ones(bits.width()).value(),
    )
}

/// Returns the shift amount; `None` if it is the width or more.
fn amount(a: &Bits, by: &Bits) -> Option<u32> {
    let by = u32::try_from(by.value()).ok()?;
    (by < a.width()).then_some(by)
}

fn shift_right(a: &Bits, by: &Bits, signed: bool) -> Bits {
    let width = a.width();
    let negative = signed && a.to_signed().is_negative();
    match amount(a, by) {
        Some(by) if negative => Bits::from_int(width, &(a.to_signed() >> by)),
        Some(by) => Bits::new(width, a.value() >> by),
        None if negative => Bits::ones(width),
        None => Bits::zero(width),
    }
}

fn saturate(width: u32, value: BigInt, signed: bool) -> Bits {
    let (min, max) = match (signed, width) {
        (_, 0) => return Bits::zero(0),
        (true, _) => {
            let half = BigInt::one() << (width - 1);
            (-half.clone(), half - 1)
        }
        (false, _) => (BigInt::zero(), (BigInt::one() << width) - 1),
    };
    Bits::from_int(width, &value.clamp(min, max))
}

fn low_u32(bits: &Bits) -> u32 {
    let low = bits.value() & BigUint::from(u32::MAX);
    low.iter_u32_digits().next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(width: u32, value: i64) -> Value {
        Value::Bits(Bits::from_int(width, &BigInt::from(value)))
    }

    /// Returns the model's value: an integer, reduced to its width after every exact operation.
    fn reduce(width: u32, value: BigInt) -> Value {
        Value::Bits(Bits::from_int(width, &value))
    }

    prop_compose! {
        fn operand()(width in 0u32..300)(
            width in Just(width),
            a in proptest::collection::vec(any::<u8>(), 40),
            b in proptest::collection::vec(any::<u8>(), 40),
            pick in 0u8..6,
            signed in any::<bool>(),
        ) -> (Bits, Bits, bool) {
            let mut pair = (Bits::from_bytes(width, &a), Bits::from_bytes(width, &b));
            match pick {
                0 => pair.0 = Bits::ones(width),
                1 => pair.1 = Bits::zero(width),
                2 => pair.1 = pair.0.clone(),
                3 => pair.1 = Bits::new(width, u32::from(b[0])),
                _ => {}
            }
            (pair.0, pair.1, signed)
        }
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_integers((a, b, signed) in operand()) {
            let width = a.width();
            let (x, y) = (a.to_int(signed), b.to_int(signed));
            let (va, vb) = (Value::Bits(a), Value::Bits(b));
            let run = |op| binary(op, &va, &vb, signed);
            prop_assert_eq!(run(BinaryOp::Add), reduce(width, &x + &y));
            prop_assert_eq!(run(BinaryOp::Sub), reduce(width, &x - &y));
            prop_assert_eq!(run(BinaryOp::Mul), reduce(width, &x * &y));
            let zero = BigInt::zero();
            let div = if y == zero { zero.clone() } else { &x / &y };
            let rem = if y == zero { zero.clone() } else { &x % &y };
            prop_assert_eq!(run(BinaryOp::Div), reduce(width, div));
            prop_assert_eq!(run(BinaryOp::Mod), reduce(width, rem));
            prop_assert_eq!(run(BinaryOp::Lt), Value::Bool(x < y));
            prop_assert_eq!(run(BinaryOp::Le), Value::Bool(x <= y));
            prop_assert_eq!(run(BinaryOp::Gt), Value::Bool(x > y));
            prop_assert_eq!(run(BinaryOp::Ge), Value::Bool(x >= y));
            prop_assert_eq!(run(BinaryOp::Eq), Value::Bool(x == y));
            prop_assert_eq!(run(BinaryOp::Ne), Value::Bool(x != y));
            prop_assert_eq!(unary(UnaryOp::Neg, &va), reduce(width, -&x));
            prop_assert_eq!(unary(UnaryOp::BitNot, &va), reduce(width, -&x - 1));
        }

        #[test]
        fn saturation_stops_at_the_ends((a, b, signed) in operand()) {
            let width = a.width();
            let (x, y) = (a.to_int(signed), b.to_int(signed));
            let (va, vb) = (Value::Bits(a), Value::Bits(b));
            for (op, exact) in [(BinaryOp::SatAdd, &x + &y), (BinaryOp::SatSub, &x - &y)] {
                let got = binary(op, &va, &vb, signed).bits().to_int(signed);
                let wrapped = Bits::from_int(width, &exact).to_int(signed);
                if wrapped == exact {
                    prop_assert_eq!(got, exact);
                } else if width > 0 {
                    let ends = if signed {
                        let half = BigInt::one() << (width - 1);
                        [-half.clone(), half - 1]
                    } else {
                        [BigInt::zero(), (BigInt::one() << width) - 1]
                    };
                    prop_assert_eq!(&got, &ends[usize::from(exact.is_positive())]);
                }
            }
        }

        #[test]
        fn bitwise_operators_agree_bit_by_bit((a, b, signed) in operand()) {
            let (va, vb) = (Value::Bits(a.clone()), Value::Bits(b.clone()));
            for (op, model) in [
                (BinaryOp::And, (|x, y| x & y) as fn(bool, bool) -> bool),
                (BinaryOp::Or, |x, y| x | y),
                (BinaryOp::Xor, |x, y| x ^ y),
            ] {
                let got = binary(op, &va, &vb, signed);
                for i in 0..u64::from(a.width()) {
                    prop_assert_eq!(
                        got.bits().value().bit(i),
                        model(a.value().bit(i), b.value().bit(i))
                    );
                }
            }
        }

        #[test]
        fn shifts_multiply_and_divide((a, _, signed) in operand(), by in 0u32..400) {
            let width = a.width();
            let x = a.to_int(signed);
            let va = Value::Bits(a);
            let amount = bits(32, i64::from(by));
            prop_assert_eq!(
                binary(BinaryOp::Shl, &va, &amount, signed),
                reduce(width, &x << by)
            );
            // `>>` on integers rounds down, which fills with the sign.
            prop_assert_eq!(
                binary(BinaryOp::Shr, &va, &amount, signed),
                reduce(width, &x >> by)
            );
        }

        #[test]
        fn casts_keep_the_integer_where_it_fits((a, _, signed) in operand(), to in 0u32..300, to_signed in any::<bool>()) {
            let from = Type::Bits { width: a.width(), signed };
            let x = a.to_int(signed);
            let got = cast(&Value::Bits(a), from, Type::Bits { width: to, signed: to_signed });
            prop_assert_eq!(got, reduce(to, x));
        }

        #[test]
        fn slices_and_concatenation_are_shifts_and_masks((a, b, signed) in operand(), cut in any::<prop::sample::Index>()) {
            let width = a.width();
            let whole = binary(BinaryOp::Concat, &Value::Bits(a.clone()), &Value::Bits(b.clone()), signed);
            prop_assert_eq!(whole.bits().width(), 2 * width);
            if width > 0 {
                prop_assert_eq!(slice(&whole, 2 * width - 1, width), Value::Bits(a.clone()));
                prop_assert_eq!(slice(&whole, width - 1, 0), Value::Bits(b));
                let lo = cut.index(width as usize) as u32;
                let got = slice(&Value::Bits(a.clone()), width - 1, lo);
                prop_assert_eq!(got, Value::Bits(Bits::new(width - lo, a.value() >> lo)));
            }
        }
    }

    #[test]
    fn huge_shift_amounts_do_not_wrap() {
        let amount = Value::Bits(Bits::new(100, BigUint::one() << 64));
        let minus = bits(8, -3);
        assert_eq!(
            binary(BinaryOp::Shl, &minus, &amount, false),
            Value::zero(Type::bit(8))
        );
        assert_eq!(
            binary(BinaryOp::Shr, &minus, &amount, true),
            Value::Bits(Bits::ones(8))
        );
    }

    #[test]
    fn bools_and_members_convert_through_bits() {
        let b1 = Type::bit(1);
        assert_eq!(cast(&Value::Bool(true), Type::Bool, b1), bits(1, 1));
        assert_eq!(cast(&bits(1, 0), b1, Type::Bool), Value::Bool(false));
        assert_eq!(
            cast(&Value::Member(300), Type::Error, Type::bit(8)),
            bits(8, 44)
        );
        assert_eq!(
            cast(&bits(8, 7), Type::bit(8), Type::Error),
            Value::Member(7)
        );
        for (value, ty) in [
            (Value::Bool(true), Type::Bool),
            (Value::Member(5), Type::Error),
            (bits(9, 300), Type::bit(9)),
        ] {
            assert_eq!(Value::from_bits(&value.to_bits(), ty), value);
        }
    }

    #[test]
    fn varbits_are_equal_if_their_current_widths_are() {
        let varbit = |width| Value::Varbit {
            max: 32,
            bits: Bits::zero(width),
        };
        assert_eq!(
            binary(BinaryOp::Eq, &varbit(8), &varbit(8), false),
            Value::Bool(true)
        );
        assert_eq!(
            binary(BinaryOp::Ne, &varbit(8), &varbit(16), false),
            Value::Bool(true)
        );
        assert_eq!(Value::zero(Type::Varbit(32)), varbit(0));
    }

    #[test]
    fn logic_and_choice() {
        let (yes, no) = (Value::Bool(true), Value::Bool(false));
        assert_eq!(unary(UnaryOp::Not, &yes), no);
        assert_eq!(binary(BinaryOp::And, &yes, &no, false), no);
        assert_eq!(binary(BinaryOp::Or, &yes, &no, false), yes);
        assert_eq!(mux(&yes, &bits(4, 1), &bits(4, 2)), &bits(4, 1));
        assert_eq!(mux(&no, &bits(4, 1), &bits(4, 2)), &bits(4, 2));
    }
}
