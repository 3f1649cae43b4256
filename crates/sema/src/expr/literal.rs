//! Literals, and values that take their type from the context: `...` and `{#}`.

use crate::checker::{Checker, constant};
use crate::constant;
use crate::errors::{types, warnings};
use crate::types::MAX_WIDTH;
use diag::Span;
use hir::*;
use num_bigint::BigInt;
use syntax::ast;

impl Checker<'_> {
    /// Checks `5`, `8w5`, `4s7`.
    pub(super) fn int_literal(
        &mut self,
        value: &BigInt,
        width: Option<ast::IntWidth>,
        span: Span,
    ) -> Expr {
        let Some(width) = width else {
            return constant(ConstValue::Int(value.clone()), Ty::Int, span);
        };
        let least = u32::from(width.signed);
        if width.bits < least || width.bits > MAX_WIDTH {
            return self.poison(types::width(
                span,
                &BigInt::from(width.bits),
                least,
                MAX_WIDTH,
            ));
        }
        let ty = Ty::Bits {
            width: width.bits,
            signed: width.signed,
        };
        let wrapped = constant::wrap(value, width.bits, width.signed);
        if wrapped != *value {
            let shown = self.show(&ty);
            self.report(warnings::truncated(span, value, &shown, &wrapped));
        }
        constant(ConstValue::Int(wrapped), ty, span)
    }

    /// Checks `...` in place of one value.
    pub(super) fn default_value(&mut self, want: Option<&Ty>, span: Span) -> Expr {
        match want.map(|ty| self.zonk(ty)) {
            Some(ty) if !crate::infer::has_infer(&ty) => self.default_of(&ty, span),
            _ => self.poison(types::cannot_infer_type(span, "`...`")),
        }
    }

    /// Returns the default value of a type: a constant if the type has one.
    pub(crate) fn default_of(&mut self, ty: &Ty, span: Span) -> Expr {
        if crate::infer::has_poison(ty) {
            return crate::checker::poison_expr(span);
        }
        if !self.has_default(ty) {
            let shown = self.show(ty);
            return self.poison(types::no_default(span, &shown));
        }
        let small = self.measure(ty).leaves <= 256;
        match small.then(|| self.default_const(ty)).flatten() {
            Some(value) => constant(value, ty.clone(), span),
            None => Expr {
                kind: ExprKind::Default,
                ty: ty.clone(),
                span,
            },
        }
    }

    /// Returns true if a type has a default value (specification section "Default values").
    fn has_default(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Int | Ty::String => true,
            Ty::Stack(elem, _) => self.has_default(elem),
            Ty::Tuple(elems) => elems.iter().all(|e| self.has_default(e)),
            _ => self.is_storable(ty),
        }
    }

    /// Expands a `...` for a large value, as constants require.
    pub(crate) fn written_out(&mut self, value: Expr) -> Expr {
        if !matches!(value.kind, ExprKind::Default) {
            return value;
        }
        match self.default_const(&value.ty) {
            Some(known) => constant(known, value.ty, value.span),
            None => value,
        }
    }

    /// Returns zero, false, the first member or an invalid header; `None` if it depends on a type argument.
    fn default_const(&mut self, ty: &Ty) -> Option<ConstValue> {
        Some(match ty {
            Ty::Bool => ConstValue::Bool(false),
            Ty::Bits { .. } | Ty::Int => ConstValue::Int(BigInt::ZERO),
            Ty::String => ConstValue::String(String::new()),
            Ty::Error => ConstValue::Error(0),
            Ty::Enum(id) if self.module.enums[*id].underlying.is_some() => {
                ConstValue::Int(BigInt::ZERO)
            }
            Ty::Enum(_) => ConstValue::Enum(0),
            Ty::NewType(id) => {
                let inner = self.module.new_types[*id].ty.clone();
                return self.default_const(&inner);
            }
            Ty::Stack(elem, n) => ConstValue::List(vec![self.default_const(elem)?; *n as usize]),
            Ty::Tuple(elems) => ConstValue::List(
                elems
                    .iter()
                    .map(|e| self.default_const(e))
                    .collect::<Option<_>>()?,
            ),
            Ty::Composite(id, args) => match self.module.composites[*id].kind {
                CompositeKind::Header | CompositeKind::Union => ConstValue::InvalidHeader,
                CompositeKind::Struct => {
                    let fields = self.field_types(*id, args);
                    ConstValue::List(
                        fields
                            .iter()
                            .map(|(_, f)| self.default_const(f))
                            .collect::<Option<_>>()?,
                    )
                }
            },
            _ => return None,
        })
    }

    /// Checks `{#}`.
    pub(super) fn invalid_header(&mut self, want: Option<&Ty>, span: Span) -> Expr {
        let Some(want) = want.map(|ty| self.zonk(ty)) else {
            return self.poison(types::cannot_infer_type(span, "`{#}`"));
        };
        match self.composite_kind(&want) {
            Some(CompositeKind::Header | CompositeKind::Union) => {
                constant(ConstValue::InvalidHeader, want, span)
            }
            _ if matches!(want, Ty::Infer(_)) => {
                self.poison(types::cannot_infer_type(span, "`{#}`"))
            }
            _ if want == Ty::Poison => crate::checker::poison_expr(span),
            _ => {
                let shown = self.show(&want);
                self.poison(types::mismatch(
                    span,
                    &format!("`{shown}`"),
                    "an invalid header",
                ))
            }
        }
    }
}
