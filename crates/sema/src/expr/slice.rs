//! Slices: `a[hi:lo]` and `a[lo +: width]`.

use crate::checker::{Checker, constant, poison_expr};
use crate::constant;
use crate::errors::types;
use diag::Span;
use hir::*;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use syntax::ast;

impl Checker<'_> {
    /// Checks the slice of bits `hi` down to `lo`, both included, of type `bit<hi-lo+1>`.
    pub(super) fn slice(
        &mut self,
        base: &ast::Expr,
        hi: &ast::Expr,
        lo: &ast::Expr,
        span: Span,
    ) -> Expr {
        let base = self.sliced(base);
        let (hi, lo) = (self.const_int(hi), self.const_int(lo));
        match (base, hi, lo) {
            (Some(base), Some(hi), Some(lo)) => self.slice_between(base, hi, lo, span),
            _ => poison_expr(span),
        }
    }

    /// Checks the slice of `width` bits from `lo` upwards.
    pub(super) fn part_select(
        &mut self,
        base: &ast::Expr,
        lo: &ast::Expr,
        width: &ast::Expr,
        span: Span,
    ) -> Expr {
        let base = self.sliced(base);
        let mut lo = self.expr(lo, None);
        let width = self.const_int(width);
        let (Some(base), Some((width, width_at))) = (base, width) else {
            return poison_expr(span);
        };
        if let Some(underlying) = self.underlying(&lo.ty) {
            lo = self.coerce(lo, &underlying);
        }
        let limit = self.sliced_width(&base);
        let Some(bits) = width.to_u32().filter(|w| (1..=limit).contains(w)) else {
            return self.poison(types::width(width_at, &width, 1, limit));
        };
        let lo = match (&lo.ty, &lo.kind) {
            (Ty::Poison, _) => return poison_expr(span),
            (Ty::Int | Ty::Bits { .. }, ExprKind::Const(ConstValue::Int(n))) => {
                let hi = n + width - 1;
                let n = n.clone();
                return self.slice_between(base, (hi, lo.span.to(width_at)), (n, lo.span), span);
            }
            // The value depends on a constructor's argument.
            (Ty::Int, _) if self.is_compile_time(&lo) => lo,
            (Ty::Bits { width, .. }, _) => {
                let unsigned = Ty::bit(*width);
                self.convert(lo, &unsigned, span)
            }
            (ty, _) => {
                let shown = self.show(ty);
                return self.poison(types::mismatch(lo.span, "the number of a bit", &shown));
            }
        };
        Expr {
            kind: ExprKind::PartSelect {
                base: Box::new(base),
                lo: Box::new(lo),
                width: bits,
            },
            ty: Ty::bit(bits),
            span,
        }
    }

    /// Checks the operand of a slice: an integer. `None` after an error.
    fn sliced(&mut self, base: &ast::Expr) -> Option<Expr> {
        let mut base = self.expr(base, None);
        if let Some(underlying) = self.underlying(&base.ty) {
            base = self.coerce(base, &underlying);
        }
        match &base.ty {
            Ty::Poison => None,
            Ty::Bits { .. } => Some(base),
            Ty::Int if matches!(base.kind, ExprKind::Const(_)) => Some(base),
            ty => {
                let shown = self.show(ty);
                self.report(types::not_sliceable(base.span, &shown));
                None
            }
        }
    }

    fn sliced_width(&self, base: &Expr) -> u32 {
        match base.ty {
            Ty::Bits { width, .. } => width,
            _ => crate::types::MAX_WIDTH,
        }
    }

    fn slice_between(
        &mut self,
        base: Expr,
        (hi, hi_at): (BigInt, Span),
        (lo, lo_at): (BigInt, Span),
        span: Span,
    ) -> Expr {
        if hi < lo || lo < BigInt::ZERO {
            return self.poison(types::slice_order(hi_at.to(lo_at), &hi, &lo));
        }
        let limit = self.sliced_width(&base);
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
