//! Compile-time values, which are known once constructor arguments are.

use crate::instances::Binding;
use crate::{Elab, Result, errors};
use diag::{Diagnostic, Span};
use hir::{BinaryOp, ConstValue, Expr, ExprKind, InfixOperation, Ty, UnaryOp};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Greatest distance by which a compile-time value is shifted.
const MAX_SHIFT: u64 = 65_536;

impl Elab<'_> {
    /// Returns the value of a compile-time constant expression, `None` for others.
    pub(crate) fn evaluate(&self, expr: &Expr) -> Option<ConstValue> {
        match &expr.kind {
            ExprKind::Const(value) => Some(value.clone()),
            ExprKind::Local(id) => match self.env.locals.get(id)? {
                Binding::Const(value) => Some(value.clone()),
                _ => None,
            },
            ExprKind::Field(base, index) => {
                // Fields of storage are never constant, and most fields are of storage.
                match self.evaluate(base)? {
                    ConstValue::List(mut elems) if (*index as usize) < elems.len() => {
                        Some(elems.swap_remove(*index as usize))
                    }
                    _ => None,
                }
            }
            ExprKind::TupleField(base, index) => match self.evaluate(base)? {
                ConstValue::List(mut elems) if (*index as usize) < elems.len() => {
                    Some(elems.swap_remove(*index as usize))
                }
                _ => None,
            },
            ExprKind::List(elems) => elems
                .iter()
                .map(|e| self.evaluate(e))
                .collect::<Option<Vec<_>>>()
                .map(ConstValue::List),
            ExprKind::Slice { base, hi, lo } => {
                let ConstValue::Int(value) = self.evaluate(base)? else {
                    return None;
                };
                Some(ConstValue::Int(unsigned(value >> *lo, hi - lo + 1)))
            }
            ExprKind::Unary(op, a) => self.evaluate_unary(*op, self.evaluate(a)?, &expr.ty),
            ExprKind::Chain(first, steps) => {
                let (mut value, mut ty) = (self.evaluate(first)?, &first.ty);
                for step in steps {
                    value = self.evaluate_step(&value, ty, step)?;
                    ty = &step.ty;
                }
                Some(value)
            }
            ExprKind::Mux(c, a, b) => match self.evaluate(c)? {
                ConstValue::Bool(true) => self.evaluate(a),
                ConstValue::Bool(false) => self.evaluate(b),
                _ => None,
            },
            ExprKind::Cast(inner) => {
                let value = self.evaluate(inner)?;
                match (self.resolve(&expr.ty), value) {
                    (Ty::Bool, ConstValue::Int(v)) => Some(ConstValue::Bool(!v.is_zero())),
                    (_, ConstValue::Bool(v)) if self.int_type(&expr.ty).is_some() => {
                        Some(ConstValue::Int(u32::from(v).into()))
                    }
                    (_, ConstValue::Int(v)) => Some(self.wrap(v, &expr.ty)),
                    (_, value) => Some(value),
                }
            }
            _ => None,
        }
    }

    /// Evaluates an operator whose left operand, of this type, is known.
    pub(crate) fn evaluate_step(
        &self,
        left: &ConstValue,
        ty: &Ty,
        step: &InfixOperation,
    ) -> Option<ConstValue> {
        let right = self.evaluate(&step.right)?;
        let operands = (ty, &step.right.ty);
        self.evaluate_binary(step.op, left.clone(), right, operands, &step.ty)
    }

    fn evaluate_unary(&self, op: UnaryOp, value: ConstValue, ty: &Ty) -> Option<ConstValue> {
        Some(match (op, value) {
            (UnaryOp::Not, ConstValue::Bool(v)) => ConstValue::Bool(!v),
            (UnaryOp::Neg, ConstValue::Int(v)) => self.wrap(-v, ty),
            (UnaryOp::BitNot, ConstValue::Int(v)) => self.wrap(-v - BigInt::one(), ty),
            _ => return None,
        })
    }

    fn evaluate_binary(
        &self,
        op: BinaryOp,
        left: ConstValue,
        right: ConstValue,
        operands: (&Ty, &Ty),
        ty: &Ty,
    ) -> Option<ConstValue> {
        match op {
            BinaryOp::Eq => return Some(ConstValue::Bool(left == right)),
            BinaryOp::Ne => return Some(ConstValue::Bool(left != right)),
            _ => {}
        }
        let (a, b) = match (left, right) {
            (ConstValue::Bool(a), ConstValue::Bool(b)) => {
                return match op {
                    BinaryOp::And | BinaryOp::BitAnd => Some(ConstValue::Bool(a && b)),
                    BinaryOp::Or | BinaryOp::BitOr => Some(ConstValue::Bool(a || b)),
                    _ => None,
                };
            }
            (ConstValue::Int(a), ConstValue::Int(b)) => (a, b),
            _ => return None,
        };
        let compared = match op {
            BinaryOp::Le => Some(a <= b),
            BinaryOp::Ge => Some(a >= b),
            BinaryOp::Lt => Some(a < b),
            BinaryOp::Gt => Some(a > b),
            _ => None,
        };
        if let Some(result) = compared {
            return Some(ConstValue::Bool(result));
        }
        let value = match op {
            BinaryOp::Mul => a * b,
            BinaryOp::Div if b.is_positive() && !a.is_negative() => a / b,
            BinaryOp::Mod if b.is_positive() && !a.is_negative() => a % b,
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::SatAdd => return self.saturate(a + b, ty),
            BinaryOp::SatSub => return self.saturate(a - b, ty),
            BinaryOp::Shl => {
                let by = b.to_u64().filter(|by| *by <= MAX_SHIFT);
                match (by, self.int_type(ty)) {
                    (Some(by), _) => a << by,
                    (None, Some(_)) if b.is_positive() => BigInt::zero(),
                    _ => return None,
                }
            }
            BinaryOp::Shr => match b.to_u64() {
                Some(by) => a >> by.min(MAX_SHIFT),
                None => return None,
            },
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::BitOr => a | b,
            BinaryOp::Concat => {
                let (low, _) = self.int_type(operands.1)?;
                (a << low) | unsigned(b, low)
            }
            _ => return None,
        };
        Some(self.wrap(value, ty))
    }

    /// Returns the width and signedness of a fixed-width type.
    fn int_type(&self, ty: &Ty) -> Option<(u32, bool)> {
        match self.resolve(ty) {
            Ty::Bits { width, signed } => Some((width, signed)),
            Ty::Enum(id) => self.int_type(self.module.enums[id].underlying.as_ref()?),
            _ => None,
        }
    }

    fn wrap(&self, value: BigInt, ty: &Ty) -> ConstValue {
        ConstValue::Int(match self.int_type(ty) {
            None => value,
            Some((width, signed)) => ir::Bits::from_int(width, &value).to_int(signed),
        })
    }

    fn saturate(&self, value: BigInt, ty: &Ty) -> Option<ConstValue> {
        let (width, signed) = self.int_type(ty)?;
        let (low, high) = if signed {
            let half = BigInt::one() << width.saturating_sub(1);
            (-half.clone(), half - 1)
        } else {
            (BigInt::zero(), (BigInt::one() << width) - 1)
        };
        Some(ConstValue::Int(value.clamp(low, high)))
    }

    /// Returns the value of an expression that must be a compile-time constant.
    pub(crate) fn must_evaluate(&mut self, expr: &Expr) -> Result<ConstValue> {
        match self.evaluate(expr) {
            Some(value) => Ok(value),
            None => {
                let fault = self.fault(expr);
                self.fail(fault.unwrap_or_else(|| errors::not_constant(expr.span)))
            }
        }
    }

    /// Returns the reason why a constant expression has no value with the constructor arguments of this instance.
    fn fault(&self, expr: &Expr) -> Option<Diagnostic> {
        match &expr.kind {
            ExprKind::Field(inner, _)
            | ExprKind::TupleField(inner, _)
            | ExprKind::Slice { base: inner, .. }
            | ExprKind::Unary(_, inner)
            | ExprKind::Cast(inner) => self.fault(inner),
            ExprKind::List(elems) => elems.iter().find_map(|elem| self.fault(elem)),
            ExprKind::Mux(cond, yes, no) => match self.evaluate(cond) {
                Some(ConstValue::Bool(true)) => self.fault(yes),
                Some(ConstValue::Bool(false)) => self.fault(no),
                _ => self.fault(cond),
            },
            ExprKind::Chain(first, steps) => {
                if let Some(fault) = self.fault(first) {
                    return Some(fault);
                }
                let (mut value, mut ty) = (self.evaluate(first)?, &first.ty);
                for step in steps {
                    if let Some(fault) = self.fault(&step.right) {
                        return Some(fault);
                    }
                    value = match self.evaluate_step(&value, ty, step) {
                        Some(value) => value,
                        None => return self.step_fault(step),
                    };
                    ty = &step.ty;
                }
                None
            }
            _ => None,
        }
    }

    /// Returns the fault of an operator's right operand that makes the operation impossible, whatever the left one
    /// is.
    pub(crate) fn step_fault(&self, step: &InfixOperation) -> Option<Diagnostic> {
        let ConstValue::Int(right) = self.evaluate(&step.right)? else {
            return None;
        };
        let (at, instance) = (step.right.span, &self.env.path);
        match step.op {
            BinaryOp::Div | BinaryOp::Mod if right.is_zero() => {
                Some(errors::division_by_zero(at, instance))
            }
            BinaryOp::Shl | BinaryOp::Shr if right.is_negative() => {
                Some(errors::negative_shift(at, &right, instance))
            }
            _ => None,
        }
    }

    /// Returns an integer that must be a compile-time constant.
    pub(crate) fn must_be_int(&mut self, expr: &Expr) -> Result<BigInt> {
        match self.must_evaluate(expr)? {
            ConstValue::Int(value) => Ok(value),
            _ => self.fail(errors::not_constant(expr.span)),
        }
    }

    /// Returns a size of at least 1 that must be a compile-time constant.
    pub(crate) fn must_be_size(&mut self, expr: &Expr, what: &str) -> Result<u64> {
        let value = self.must_be_int(expr)?;
        match value
            .to_u64()
            .filter(|v| (1..=u64::from(u32::MAX)).contains(v))
        {
            Some(size) => Ok(size),
            None => self.fail(errors::bad_size(expr.span, what, &value)),
        }
    }

    /// Returns the bits of a compile-time scalar with a width: 1 for a bool, 32 for a member of an enum or error.
    pub(crate) fn const_bits(
        &mut self,
        value: &ConstValue,
        width: u32,
        span: Span,
    ) -> Result<ir::Bits> {
        Ok(match value {
            ConstValue::Bool(v) => ir::Bits::new(width, u32::from(*v)),
            ConstValue::Int(v) => ir::Bits::from_int(width, v),
            ConstValue::Error(v) | ConstValue::Enum(v) => ir::Bits::new(width, *v),
            _ => return self.fail(errors::not_constant(span)),
        })
    }
}

/// Returns the low bits of a value in two's complement, as an unsigned number.
fn unsigned(value: BigInt, width: u32) -> BigInt {
    ir::Bits::from_int(width, &value).to_int(false)
}
