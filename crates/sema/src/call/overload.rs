//! Overload resolution: by the number and the names of the arguments
//! (specification section "Function overloading"), and then by their types.

use super::Signature;
use crate::checker::Checker;
use crate::errors::calls;
use diag::{Span, counted};
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
        let fitting = self.fitting(all, args);
        if let [one] = fitting[..] {
            return Some(one);
        }
        let closest = self.closest(all, &fitting, args);
        match closest[..] {
            [one] => return Some(one),
            [] => {
                let types: Vec<Option<Ty>> =
                    args.iter().map(|a| self.type_alone(&a.value)).collect();
                let reasons = (all.iter())
                    .map(|s| (s.span, self.why_not(s, args, &types)))
                    .collect();
                self.report(calls::no_overload(span, &name.name, args.len(), reasons));
            }
            _ => {
                let locations: Vec<Span> = closest.iter().map(|&i| all[i].span).collect();
                self.report(calls::ambiguous(span, &name.name, &locations));
            }
        }
        None
    }

    /// Those that the number and the names of the arguments fit.
    pub(super) fn fitting(&self, all: &[Signature], args: &[ast::Arg]) -> Vec<usize> {
        (0..all.len())
            .filter(|&i| self.misfit(&all[i], args).is_none())
            .collect()
    }

    /// Those of `fitting` whose parameters' types those of the arguments fit best: one, unless none fits or several fit
    /// alike.
    fn closest(&mut self, all: &[Signature], fitting: &[usize], args: &[ast::Arg]) -> Vec<usize> {
        if fitting.is_empty() {
            return Vec::new();
        }
        let types: Vec<Option<Ty>> = args.iter().map(|a| self.type_alone(&a.value)).collect();
        let scored: Vec<(u32, usize)> = fitting
            .iter()
            .filter_map(|&i| Some((self.closeness(&all[i], args, &types).ok()?, i)))
            .collect();
        let best = scored.iter().map(|(score, _)| *score).max();
        let are_best = scored.into_iter().filter(|(score, _)| Some(*score) == best);
        are_best.map(|(_, i)| i).collect()
    }

    /// Why a signature does not fit.
    fn why_not(&self, signature: &Signature, args: &[ast::Arg], types: &[Option<Ty>]) -> String {
        self.misfit(signature, args)
            .or_else(|| self.closeness(signature, args, types).err())
            .unwrap_or_default()
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

    /// How many arguments have just their parameters' types; the reason if one cannot be converted.
    fn closeness(
        &self,
        signature: &Signature,
        args: &[ast::Arg],
        types: &[Option<Ty>],
    ) -> Result<u32, String> {
        let mut exact = 0;
        for (i, (arg, ty)) in args.iter().zip(types).enumerate() {
            let Some(ty) = ty else { continue };
            let named = |p: &hir::LocalId| match &arg.name {
                Some(name) => self.module.locals[*p].name == name.name,
                None => signature.params.get(i) == Some(p),
            };
            let Some(param) = signature.params.iter().find(|p| named(p)) else {
                continue;
            };
            let local = &self.module.locals[*param];
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
                let (wanted, given) = (self.show(&wanted), self.show(ty));
                return Err(format!(
                    "here `{}` is a `{wanted}`, not a `{given}`",
                    local.name
                ));
            }
        }
        Ok(exact)
    }

    /// Why arguments do not fit by their number and names: each needs a parameter, and each parameter an argument, or none.
    fn misfit(&self, signature: &Signature, args: &[ast::Arg]) -> Option<String> {
        let params = &signature.params;
        if args.len() > params.len() {
            return Some(format!(
                "this one has {}",
                counted(params.len(), "parameter")
            ));
        }
        let mut filled = vec![false; params.len()];
        for (i, arg) in args.iter().enumerate() {
            let slot = match &arg.name {
                Some(name) => {
                    let mut names = params.iter().map(|p| &self.module.locals[*p].name);
                    let Some(slot) = names.position(|known| *known == name.name) else {
                        return Some(format!("this one has no parameter `{}`", name.name));
                    };
                    slot
                }
                None => i,
            };
            filled[slot] = true;
        }
        let mut missing = params.iter().zip(filled);
        let (missing, _) = missing.find(|(p, filled)| !filled && !self.may_be_absent(**p))?;
        let name = &self.module.locals[*missing].name;
        Some(format!("this one needs an argument for `{name}`"))
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
