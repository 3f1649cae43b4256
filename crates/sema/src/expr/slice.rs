//! `a[hi:lo]`

use crate::checker::{Checker, constant, poison_expr};
use crate::constant;
use crate::errors::types;
use diag::Span;
use hir::*;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use syntax::ast;

impl Checker<'_> {
    /// Bits `hi` down to `lo`, both included, as `bit<hi-lo+1>`.
    pub(super) fn slice(
        &mut self,
        base: &ast::Expr,
        hi: &ast::Expr,
        lo: &ast::Expr,
        span: Span,
    ) -> Expr {
        let mut base = self.expr(base, None);
        let (hi, lo) = (self.const_int(hi), self.const_int(lo));
        if let Some(underlying) = self.underlying(&base.ty) {
            base = self.coerce(base, &underlying);
        }
        let width = match &base.ty {
            Ty::Poison => return poison_expr(span),
            Ty::Bits { width, .. } => Some(*width),
            Ty::Int if matches!(base.kind, ExprKind::Const(_)) => None,
            ty => {
                let shown = self.show(ty);
                return self.poison(types::not_sliceable(base.span, &shown));
            }
        };
        let (Some((hi, hi_at)), Some((lo, lo_at))) = (hi, lo) else {
            return poison_expr(span);
        };
        if hi < lo || lo < BigInt::ZERO {
            return self.poison(types::slice_order(hi_at.to(lo_at), &hi, &lo));
        }
        let limit = width.unwrap_or(crate::types::MAX_WIDTH);
        let (Some(hi), Some(lo)) = (hi.to_u32().filter(|&h| h < limit), lo.to_u32()) else {
            return self.poison(types::slice_range(hi_at, &hi, limit));
        };
        let ty = Ty::bit(hi - lo + 1);
        if let ExprKind::Const(ConstValue::Int(value)) = &base.kind {
            let bits = constant::wrap(&(value >> lo), hi - lo + 1, false);
            return constant(ConstValue::Int(bits), ty, span);
        }
        Expr {
            kind: ExprKind::Slice {
                base: Box::new(base),
                hi,
                lo,
            },
            ty,
            span,
        }
    }
}
