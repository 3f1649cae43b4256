//! Casts: `(T) a`.

use crate::checker::{Checker, constant, poison_expr};
use crate::constant;
use crate::errors::types;
use diag::Span;
use hir::*;
use num_bigint::BigInt;
use num_traits::One;
use syntax::ast;

impl Checker<'_> {
    /// Checks an explicit conversion.
    pub(super) fn cast(
        &mut self,
        ty: &ast::Type,
        operand: &ast::Expr,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let to = self.full_ty(ty);
        let value = self.expr(operand, Some(&to));
        if to == Ty::Poison || value.ty == Ty::Poison {
            return poison_expr(span);
        }
        // A run-time number has no value of type `int`. But it can be converted to the type that the context expects of
        // it.
        if to == Ty::Int
            && let Some(want) = want.map(|want| self.shallow(want))
            && let Some(converted) = self.through_int(&value, &want, span)
        {
            return converted;
        }
        self.convert(value, &to, span)
    }

    /// Converts a run-time number to `int` and then to `to`. Its value is preserved as far as `to` has the bits.
    fn through_int(&mut self, value: &Expr, to: &Ty, span: Span) -> Option<Expr> {
        let Ty::Bits { signed, .. } = value.ty else {
            return None;
        };
        let (width, to_signed) = self.bits_behind(to)?;
        if self.is_compile_time(value) {
            return None;
        }
        let mut converted = value.clone();
        let steps = [
            Ty::Bits { width, signed },
            Ty::Bits {
                width,
                signed: to_signed,
            },
            to.clone(),
        ];
        for step in steps {
            if converted.ty != step {
                converted = self.cast_to(converted, &step, span);
            }
        }
        Some(converted)
    }

    /// Converts a value as a cast does (specification section "Explicit casts").
    pub(crate) fn convert(&mut self, value: Expr, to: &Ty, span: Span) -> Expr {
        if value.ty == *to {
            return Expr { span, ..value };
        }
        if matches!(value.ty, Ty::Tuple(_)) {
            let mut value = self.coerce(value, to);
            value.span = span;
            return value;
        }
        // A serializable enum is converted from its representation, unless the target is one as well.
        if let Some(inner) = self.underlying(&value.ty) {
            let value = retyped(value, inner.clone());
            return if inner == *to {
                Expr { span, ..value }
            } else {
                self.convert(value, to, span)
            };
        }
        if !self.may_cast(&value, to) {
            let help = self.conversion(&value, to);
            let (from, to) = (self.show(&value.ty), self.show(to));
            return self.poison(types::bad_cast(span, &from, &to, help));
        }
        self.cast_to(value, to, span)
    }

    fn may_cast(&self, value: &Expr, to: &Ty) -> bool {
        match (&value.ty, to) {
            (
                Ty::Bool,
                Ty::Bits {
                    width: 1,
                    signed: false,
                },
            )
            | (
                Ty::Bits {
                    width: 1,
                    signed: false,
                },
                Ty::Bool,
            ) => true,
            (Ty::Int, Ty::Bool) => match &value.kind {
                ExprKind::Const(ConstValue::Int(n)) => *n == BigInt::ZERO || n.is_one(),
                _ => true,
            },
            (Ty::Int, Ty::Bits { .. }) => true,
            (Ty::Bits { .. }, Ty::Int) => self.is_compile_time(value),
            (
                Ty::Bits {
                    width: a,
                    signed: s,
                },
                Ty::Bits {
                    width: b,
                    signed: t,
                },
            ) => s == t || a == b,
            (from, Ty::Enum(id)) => match &self.module.enums[*id].underlying {
                Some(inner) => inner == from || *from == Ty::Int,
                None => false,
            },
            (Ty::NewType(id), Ty::NewType(other)) => {
                self.module.new_types[*id].ty == *to || self.module.new_types[*other].ty == value.ty
            }
            (from, Ty::NewType(id)) => {
                let inner = &self.module.new_types[*id].ty;
                from == inner || (*from == Ty::Int && self.bits_behind(inner).is_some())
            }
            (Ty::NewType(id), to) => self.module.new_types[*id].ty == *to,
            _ => false,
        }
    }

    /// Converts a value, folded if constant. There are no warnings, since a cast is explicit.
    pub(crate) fn cast_to(&mut self, value: Expr, to: &Ty, span: Span) -> Expr {
        if let ExprKind::Const(known) = &value.kind {
            let folded = match (known, self.representation(to)) {
                (ConstValue::Int(n), Ty::Bits { width, signed }) => {
                    Some(ConstValue::Int(constant::wrap(n, width, signed)))
                }
                (ConstValue::Int(n), Ty::Bool) => Some(ConstValue::Bool(*n != BigInt::ZERO)),
                (ConstValue::Int(n), Ty::Int) => Some(ConstValue::Int(n.clone())),
                (ConstValue::Bool(b), Ty::Bits { .. }) => {
                    Some(ConstValue::Int(BigInt::from(u8::from(*b))))
                }
                (ConstValue::Bool(b), Ty::Bool) => Some(ConstValue::Bool(*b)),
                _ => None,
            };
            if let Some(folded) = folded {
                return constant(folded, to.clone(), span);
            }
        }
        Expr {
            kind: ExprKind::Cast(Box::new(value)),
            ty: to.clone(),
            span,
        }
    }

    /// Returns the representation of a `type` or a serializable enum, down to a type that is neither.
    pub(crate) fn representation(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        loop {
            ty = match &ty {
                Ty::NewType(id) => self.module.new_types[*id].ty.clone(),
                Ty::Enum(id) => match &self.module.enums[*id].underlying {
                    Some(inner) => inner.clone(),
                    None => return ty,
                },
                _ => return ty,
            }
        }
    }
}

/// Gives a serializable enum's value the type of its representation.
pub(crate) fn retyped(value: Expr, ty: Ty) -> Expr {
    let span = value.span;
    match value.kind {
        ExprKind::Const(known) => constant(known, ty, span),
        _ => Expr {
            kind: ExprKind::Cast(Box::new(value)),
            ty,
            span,
        },
    }
}
