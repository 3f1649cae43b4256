//! Overload resolution: by the number and the names of the arguments
//! (specification section "Function overloading"), and then by their types.

use super::Signature;
use crate::checker::Checker;
use crate::errors::calls;
use diag::Span;
use hir::{Direction, LocalKind, Ty};
use syntax::ast;

impl Checker<'_> {
    /// The one signature that the arguments' number and names fit. A lone candidate is always taken, so
    /// that its own errors are reported.
    pub(crate) fn pick(
        &mut self,
        name: &ast::Ident,
        all: &[Signature],
        args: &[ast::Arg],
        span: Span,
    ) -> Option<usize> {
        if all.len() == 1 {
            return Some(0);
        }
        let fitting: Vec<usize> = (0..all.len())
            .filter(|&i| self.fits(&all[i], args))
            .collect();
        match fitting[..] {
            [one] => Some(one),
            [] => {
                let counts: Vec<usize> = all.iter().map(|s| s.params.len()).collect();
                let locations: Vec<Span> = all.iter().map(|s| s.span).collect();
                self.report(calls::no_overload(
                    span,
                    &name.name,
                    args.len(),
                    &counts,
                    &locations,
                ));
                None
            }
            _ => {
                if let Some(one) = self.closest(all, &fitting, args) {
                    return Some(one);
                }
                let locations: Vec<Span> = fitting.iter().map(|&i| all[i].span).collect();
                self.report(calls::ambiguous(span, &name.name, &locations));
                None
            }
        }
    }

    /// The one of `fitting` whose parameters' types those of the arguments fit best.
    fn closest(
        &mut self,
        all: &[Signature],
        fitting: &[usize],
        args: &[ast::Arg],
    ) -> Option<usize> {
        let types: Vec<Option<Ty>> = args.iter().map(|a| self.type_alone(&a.value)).collect();
        let mut scored: Vec<(u32, usize)> = fitting
            .iter()
            .filter_map(|&i| Some((self.closeness(&all[i], args, &types)?, i)))
            .collect();
        scored.sort_unstable_by(|a, b| b.cmp(a));
        match scored[..] {
            [(_, one)] => Some(one),
            [(best, one), (second, _), ..] if best > second => Some(one),
            _ => None,
        }
    }

    /// An argument's type without regard to its parameter; `None` if it has none by itself.
    fn type_alone(&mut self, value: &ast::Expr) -> Option<Ty> {
        use ast::ExprKind::*;
        if matches!(
            value.kind,
            DontCare | List(_) | Struct { .. } | Invalid | Default
        ) {
            return None;
        }
        let place = (std::ptr::from_ref(value).addr(), value.span);
        if let Some(known) = self.alone.get(&place) {
            return known.clone();
        }
        // What is wrong with it is reported when it is bound.
        let reported = std::mem::take(&mut self.diagnostics);
        let allowed = std::mem::replace(&mut self.constructors_allowed, true);
        let ty = self.expr(value, None).ty;
        self.constructors_allowed = allowed;
        self.diagnostics = reported;
        let ty = (ty != Ty::Poison).then_some(ty);
        self.alone.insert(place, ty.clone());
        ty
    }

    /// How many arguments have just their parameters' types; `None` if one cannot be converted.
    fn closeness(
        &self,
        signature: &Signature,
        args: &[ast::Arg],
        types: &[Option<Ty>],
    ) -> Option<u32> {
        let mut exact = 0;
        for (i, (arg, ty)) in args.iter().zip(types).enumerate() {
            let Some(ty) = ty else { continue };
            let slot = match &arg.name {
                Some(name) => signature
                    .params
                    .iter()
                    .position(|p| self.module.locals[*p].name == name.name)?,
                None => i,
            };
            let local = &self.module.locals[*signature.params.get(slot)?];
            let wanted = crate::infer::subst(&local.ty, &signature.outer.0, &signature.outer.1);
            let reads = !matches!(
                local.kind,
                LocalKind::Param(Direction::Out | Direction::InOut)
            );
            let generic = crate::infer::any(&wanted, &mut |t| matches!(t, Ty::Param(_)));
            let converts = reads
                && (matches!((ty, &wanted), (Ty::Int, Ty::Bits { .. }))
                    || self.underlying(ty).is_some_and(|inner| inner == wanted));
            if *ty == wanted {
                exact += 1;
            } else if !generic && !converts {
                return None;
            }
        }
        Some(exact)
    }

    /// Whether every argument has a parameter and every parameter an argument or none needed.
    fn fits(&self, signature: &Signature, args: &[ast::Arg]) -> bool {
        let params = &signature.params;
        if args.len() > params.len() {
            return false;
        }
        let mut filled = vec![false; params.len()];
        for (i, arg) in args.iter().enumerate() {
            let slot = match &arg.name {
                Some(name) => params
                    .iter()
                    .position(|p| self.module.locals[*p].name == name.name),
                None => Some(i),
            };
            match slot {
                Some(slot) => filled[slot] = true,
                None => return false,
            }
        }
        params
            .iter()
            .zip(filled)
            .all(|(p, filled)| filled || self.may_be_absent(*p))
    }

    /// Whether a parameter can do without an argument.
    pub(crate) fn may_be_absent(&self, param: hir::LocalId) -> bool {
        self.defaults.contains_key(&param) || self.is_optional(param)
    }

    /// Whether a parameter is `@optional`.
    pub(crate) fn is_optional(&self, param: hir::LocalId) -> bool {
        self.module.locals[param]
            .annotations
            .iter()
            .any(|a| a.name == "optional")
    }
}
