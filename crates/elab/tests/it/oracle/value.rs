//! Values, and the results of operators (P4-16, sections 8.5 to 8.7 and 8.16 to 8.19).

use hir::{BinaryOp, UnaryOp};
use num_bigint::BigInt;

/// A value of any type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A number of a fixed width.
    Bits(Bits),
    /// A member of `error`, or of an enum without representation, by its index.
    Member(u32),
    /// A struct or tuple.
    Tuple(Vec<Value>),
    /// A header: its validity and its fields.
    Header(bool, Vec<Value>),
    /// A header union: its headers.
    Union(Vec<Value>),
    /// A header stack or another array.
    Array(Vec<Value>),
}

/// A number of a fixed width, always in the range of its type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bits {
    pub(super) value: BigInt,
    pub(super) width: u32,
    pub(super) signed: bool,
}

impl Bits {
    /// A number as a type holds it: its low bits, in two's complement if signed.
    pub(super) fn new(value: BigInt, width: u32, signed: bool) -> Bits {
        let range = BigInt::from(1) << width;
        let mut value = ((value % &range) + &range) % &range;
        if signed && width > 0 && value >= BigInt::from(1) << (width - 1) {
            value -= range;
        }
        Bits {
            value,
            width,
            signed,
        }
    }

    /// The same bits as a number without sign.
    pub(super) fn unsigned(&self) -> BigInt {
        Bits::new(self.value.clone(), self.width, false).value
    }

    /// The nearest number that a type holds.
    fn saturated(value: BigInt, width: u32, signed: bool) -> Bits {
        let half = BigInt::from(1) << (width - u32::from(signed));
        let least = if signed { -half.clone() } else { 0.into() };
        Bits::new(value.clamp(least, half - 1), width, signed)
    }
}

impl Value {
    pub(super) fn number(value: impl Into<BigInt>, width: u32, signed: bool) -> Value {
        Value::Bits(Bits::new(value.into(), width, signed))
    }

    pub(super) fn bool(&self) -> bool {
        match self {
            Value::Bool(value) => *value,
            other => panic!("{other:?} is not a bool"),
        }
    }

    pub(super) fn bits(&self) -> &Bits {
        match self {
            Value::Bits(bits) => bits,
            other => panic!("{other:?} is not a number"),
        }
    }

    /// Returns the elements of a value that has some.
    pub(super) fn parts(&self) -> &[Value] {
        match self {
            Value::Tuple(parts)
            | Value::Header(_, parts)
            | Value::Union(parts)
            | Value::Array(parts) => parts,
            other => panic!("{other:?} has no parts"),
        }
    }

    pub(super) fn parts_mut(&mut self) -> &mut Vec<Value> {
        match self {
            Value::Tuple(parts)
            | Value::Header(_, parts)
            | Value::Union(parts)
            | Value::Array(parts) => parts,
            other => panic!("{other:?} has no parts"),
        }
    }

    /// Returns an unset value of this value's form: zero, false, the first member, an invalid header.
    pub(super) fn nothing(&self) -> Value {
        let all = |parts: &[Value]| parts.iter().map(Value::nothing).collect();
        match self {
            Value::Bool(_) => Value::Bool(false),
            Value::Bits(bits) => Value::number(0, bits.width, bits.signed),
            Value::Member(_) => Value::Member(0),
            Value::Tuple(parts) => Value::Tuple(all(parts)),
            Value::Header(_, parts) => Value::Header(false, all(parts)),
            Value::Union(parts) => Value::Union(all(parts)),
            Value::Array(parts) => Value::Array(all(parts)),
        }
    }

    /// Returns the validity of a header, or of any header of a union.
    pub(super) fn is_valid(&self) -> bool {
        match self {
            Value::Header(valid, _) => *valid,
            Value::Union(headers) => headers.iter().any(Value::is_valid),
            other => panic!("{other:?} is no header"),
        }
    }

    /// Equality: invalid headers are equal whatever their fields hold.
    pub(super) fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Header(false, _), Value::Header(false, _)) => true,
            (Value::Header(a, _), Value::Header(b, _)) if a != b => false,
            (Value::Bool(_) | Value::Bits(_) | Value::Member(_), _) => self == other,
            _ => {
                let pairs = self.parts().iter().zip(other.parts());
                pairs.into_iter().all(|(a, b)| a.equals(b))
            }
        }
    }
}

/// A prefix operator.
pub(super) fn unary(op: UnaryOp, value: &Value) -> Value {
    if op == UnaryOp::Not {
        return Value::Bool(!value.bool());
    }
    let bits = value.bits();
    let negated = match op {
        UnaryOp::Neg => -&bits.value,
        _ => -&bits.value - 1,
    };
    Value::number(negated, bits.width, bits.signed)
}

/// An infix operator that evaluates both of its operands.
pub(super) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Value {
    match op {
        BinaryOp::Eq => return Value::Bool(left.equals(right)),
        BinaryOp::Ne => return Value::Bool(!left.equals(right)),
        _ => {}
    }
    let (left, right) = (left.bits(), right.bits());
    let (a, b) = (&left.value, &right.value);
    let value = match op {
        BinaryOp::Le => return Value::Bool(a <= b),
        BinaryOp::Ge => return Value::Bool(a >= b),
        BinaryOp::Lt => return Value::Bool(a < b),
        BinaryOp::Gt => return Value::Bool(a > b),
        BinaryOp::SatAdd => return Value::Bits(Bits::saturated(a + b, left.width, left.signed)),
        BinaryOp::SatSub => return Value::Bits(Bits::saturated(a - b, left.width, left.signed)),
        BinaryOp::Concat => {
            let both = (left.unsigned() << right.width) + right.unsigned();
            return Value::number(both, left.width + right.width, left.signed);
        }
        BinaryOp::Mul => a * b,
        // The specification has no such divisor; Onpath's results are 0.
        BinaryOp::Div | BinaryOp::Mod if *b == 0.into() => 0.into(),
        BinaryOp::Div => a / b,
        BinaryOp::Mod => a % b,
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
        // Shifted by its width or more, a number has lost all of its bits, and has become its sign.
        BinaryOp::Shl => a << distance(b, left.width),
        BinaryOp::Shr => a >> distance(b, left.width),
        other => panic!("{other:?} decides whether its right operand is evaluated"),
    };
    Value::number(value, left.width, left.signed)
}

fn distance(by: &BigInt, width: u32) -> u32 {
    u32::try_from(by).unwrap_or(width).min(width)
}
