//! IR for operators whose operands are elaborated already.

use crate::effects::MAX_HEIGHT;
use crate::storage::Storage;
use crate::value::{HeaderValue, Value};
use crate::{Elab, Result};
use diag::Span;
use hir::ConstValue;
use ir::{BinaryOp, Bits, Expr, ExprKind, Type, UnaryOp};
use num_bigint::BigInt;
use num_traits::Signed;

impl Elab<'_> {
    /// Builds a prefix operation.
    pub(crate) fn unary(&mut self, op: hir::UnaryOp, operand: Expr, span: Span) -> Expr {
        let op = match op {
            hir::UnaryOp::Neg => UnaryOp::Neg,
            hir::UnaryOp::BitNot => UnaryOp::BitNot,
            hir::UnaryOp::Not => return self.not(operand, span),
        };
        let ty = self.type_of(operand);
        self.expr(ExprKind::Unary(op, operand), ty, span)
    }

    /// Builds an infix operation on scalars. The operand `b` of a shift comes from [`Elab::shift_distance`]. The caller
    /// handles `&&` and `||`, whose right operand may have effects.
    pub(crate) fn arithmetic(&mut self, op: hir::BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        let ty = self.type_of(a);
        let (op, ty) = match op {
            hir::BinaryOp::Mul => (BinaryOp::Mul, ty),
            hir::BinaryOp::Div => (BinaryOp::Div, ty),
            hir::BinaryOp::Mod => (BinaryOp::Mod, ty),
            hir::BinaryOp::Add => (BinaryOp::Add, ty),
            hir::BinaryOp::Sub => (BinaryOp::Sub, ty),
            hir::BinaryOp::SatAdd => (BinaryOp::SatAdd, ty),
            hir::BinaryOp::SatSub => (BinaryOp::SatSub, ty),
            hir::BinaryOp::Shl => (BinaryOp::Shl, ty),
            hir::BinaryOp::Shr => (BinaryOp::Shr, ty),
            hir::BinaryOp::BitAnd | hir::BinaryOp::And => (BinaryOp::And, ty),
            hir::BinaryOp::BitOr | hir::BinaryOp::Or => (BinaryOp::Or, ty),
            hir::BinaryOp::BitXor if ty == Type::Bool => (BinaryOp::Ne, Type::Bool),
            hir::BinaryOp::BitXor => (BinaryOp::Xor, ty),
            hir::BinaryOp::Le => (BinaryOp::Le, Type::Bool),
            hir::BinaryOp::Ge => (BinaryOp::Ge, Type::Bool),
            hir::BinaryOp::Lt => (BinaryOp::Lt, Type::Bool),
            hir::BinaryOp::Gt => (BinaryOp::Gt, Type::Bool),
            hir::BinaryOp::Eq => (BinaryOp::Eq, Type::Bool),
            hir::BinaryOp::Ne => (BinaryOp::Ne, Type::Bool),
            hir::BinaryOp::Concat => {
                let width = ty.width() + self.type_of(b).width();
                let signed = matches!(ty, Type::Bits { signed: true, .. });
                (BinaryOp::Concat, Type::Bits { width, signed })
            }
        };
        self.binary(op, a, b, ty, span)
    }

    /// Returns the distance of a shift, which may be a compile-time `int`.
    pub(crate) fn shift_distance(&mut self, by: &hir::Expr) -> Result<Expr> {
        match self.evaluate(by) {
            Some(ConstValue::Int(value)) => Ok(self.distance(&value, by.span)),
            _ => self.scalar(by),
        }
    }

    fn distance(&mut self, value: &BigInt, span: Span) -> Expr {
        // All distances of at least the width have the same effect.
        let by = u64::try_from(value).unwrap_or(u64::from(u32::MAX));
        let by = if value.is_negative() { 0 } else { by };
        let bits = Bits::new(32, by.min(u64::from(u32::MAX)));
        self.expr(ExprKind::Const(bits), Type::bit(32), span)
    }

    /// Builds `a == b` for operands of the same type: structs field by field, headers by validity and then fields.
    pub(crate) fn equal(&mut self, a: &Value, b: &Value, span: Span) -> Result<Expr> {
        if is_header(a) || is_header(b) {
            return self.equal_headers(a, b, span);
        }
        if let (
            Value::Scalar(_) | Value::Stored(Storage::Scalar(_)),
            Value::Scalar(_) | Value::Stored(Storage::Scalar(_)),
        ) = (a, b)
        {
            let a = self.as_scalar(a, span)?;
            let b = self.as_scalar(b, span)?;
            return Ok(self.binary(BinaryOp::Eq, a, b, Type::Bool, span));
        }
        let (left, right) = (self.elements_of(a, span), self.elements_of(b, span));
        let mut equal = Vec::new();
        for (a, b) in left.into_iter().zip(right) {
            equal.push(self.equal(&a, &b, span)?);
        }
        Ok(self.all_of(&equal, span))
    }

    /// Builds the conjunction of any number of conditions. Lists of more than [`MAX_HEIGHT`] are halved, so that the
    /// tree stays shallow.
    fn all_of(&mut self, conditions: &[Expr], span: Span) -> Expr {
        if conditions.len() > MAX_HEIGHT as usize {
            let (left, right) = conditions.split_at(conditions.len() / 2);
            let (left, right) = (self.all_of(left, span), self.all_of(right, span));
            return self.and(left, right, span);
        }
        let all = self.bool(true, span);
        conditions
            .iter()
            .fold(all, |all, &condition| self.and(all, condition, span))
    }

    fn equal_headers(&mut self, a: &Value, b: &Value, span: Span) -> Result<Expr> {
        let valid_a = self.validity(a, span)?;
        let valid_b = self.validity(b, span)?;
        let invalid = {
            let a = self.not(valid_a, span);
            let b = self.not(valid_b, span);
            self.and(a, b, span)
        };
        let is_invalid = |elab: &mut Self, v: &Value| {
            Ok(matches!(elab.as_header(v, span)?, HeaderValue::Invalid))
        };
        if is_invalid(self, a)? || is_invalid(self, b)? {
            return Ok(invalid);
        }
        let (mut left, mut right) = (Vec::new(), Vec::new());
        self.scalars(a, span, &mut left)?;
        self.scalars(b, span, &mut right)?;
        let mut equal = vec![valid_a, valid_b];
        for (a, b) in left.into_iter().zip(right) {
            equal.push(self.binary(BinaryOp::Eq, a, b, Type::Bool, span));
        }
        let equal = self.all_of(&equal, span);
        Ok(self.or(invalid, equal, span))
    }

    /// Builds `a != b`, given the expression for `a == b`.
    pub(crate) fn negate_equality(&mut self, equal: Expr, span: Span) -> Expr {
        match self.program.exprs[equal].kind {
            ExprKind::Binary(BinaryOp::Eq, a, b) => {
                self.expr(ExprKind::Binary(BinaryOp::Ne, a, b), Type::Bool, span)
            }
            _ => self.not(equal, span),
        }
    }
}

fn is_header(value: &Value) -> bool {
    matches!(
        value,
        Value::Header(..) | Value::Invalid(_) | Value::Stored(Storage::Header(_))
    )
}
