//! `transition select` statements.

use super::parser::States;
use crate::checker::Checker;
use crate::errors::{statements, types, warnings};
use diag::Span;
use hir::*;
use syntax::ast;

/// Most scalars that a key may be split into.
const MAX_KEY: u64 = 1024;

impl Checker<'_> {
    pub(super) fn select(
        &mut self,
        keys: &[ast::Expr],
        cases: &[ast::SelectCase],
        span: Span,
        names: &States,
    ) -> Transition {
        let errors = self.diagnostics.len();
        let whole: Vec<Expr> = keys.iter().map(|k| self.select_key(k)).collect();
        let keys_are_right = errors == self.diagnostics.len();
        let mut flat = Vec::new();
        for key in &whole {
            self.flatten(key.clone(), &mut flat);
        }
        let types: Vec<Ty> = whole.iter().map(|k| k.ty.clone()).collect();
        let mut done = Vec::with_capacity(cases.len());
        let mut all: Option<Span> = None;
        for case in cases {
            if let Some(first) = all {
                self.report(warnings::unreachable_case(case.span, first));
            }
            let errors = self.diagnostics.len();
            let outer = std::mem::replace(&mut self.run_time_sets, true);
            let keysets = self.case_keysets(case, &types, flat.len());
            self.run_time_sets = outer;
            // After an error in a keyset or its key, the keyset is treated as one that matches everything. Do not warn
            // about that.
            if keys_are_right
                && errors == self.diagnostics.len()
                && keysets.iter().all(|k| matches!(k, Keyset::Any))
                && all.is_none()
            {
                all = Some(case.span);
            }
            let target = self.target(&case.target, names);
            done.push((keysets, target, case.span));
        }
        Transition::Select {
            keys: flat,
            cases: done,
            span,
        }
    }

    fn select_key(&mut self, key: &ast::Expr) -> Expr {
        let value = self.expr(key, None);
        if self.measure(&value.ty).leaves > MAX_KEY {
            let most = format!("{} values", diag::grouped(MAX_KEY));
            return self.poison(types::too_large(value.span, "a key of `select`", &most));
        }
        // A number needs a width to be matched.
        if value.ty == Ty::Int {
            return self.poison(statements::key_without_width(value.span));
        }
        if let Some(help) = self.not_selectable(&value.ty) {
            let shown = self.show(&value.ty);
            return self.poison(types::key_type(value.span, &shown, "`select`", help));
        }
        value
    }

    /// Returns advice if values of a type cannot be selected on. The specification allows numbers, `bool`, enums, and
    /// tuples of these (section "Select expressions"). `None` if the type is allowed.
    fn not_selectable(&self, ty: &Ty) -> Option<&'static str> {
        match ty {
            Ty::Poison | Ty::Bool | Ty::Bits { .. } | Ty::Enum(_) | Ty::NewType(_) => None,
            Ty::Tuple(elems) => elems.iter().find_map(|elem| self.not_selectable(elem)),
            Ty::Error => Some("select on what it is compared with: `select(e == error.NoError)`"),
            Ty::Int => Some("give the number a width, as in `8w5`"),
            Ty::Varbit(_) => Some("extract what decides into a field of its own, of bit<N>"),
            _ => Some(
                "select on its fields one by one: `select(x.a, x.b)`; a case may still be a struct",
            ),
        }
    }

    fn case_keysets(
        &mut self,
        case: &ast::SelectCase,
        types: &[Ty],
        scalars: usize,
    ) -> Vec<Keyset> {
        let mut out = Vec::with_capacity(scalars);
        match &case.keyset[..] {
            [one] if matches!(one.kind, ast::ExprKind::Default | ast::ExprKind::DontCare) => {
                out.resize(scalars, Keyset::Any);
            }
            // Several keys for one element: a value set, or a tuple for all of them.
            [one] if types.len() > 1 => {
                let tuple = Ty::Tuple(types.into());
                self.keyset(one, &tuple, &mut out);
            }
            elems if elems.len() == types.len() => {
                for (elem, ty) in elems.iter().zip(types) {
                    self.keyset(elem, ty, &mut out);
                }
            }
            elems => {
                let at = elems
                    .first()
                    .zip(elems.last())
                    .map_or(case.span, |(a, b)| a.span.to(b.span));
                self.report(statements::keyset_arity(at, types.len(), elems.len()));
            }
        }
        out.resize(scalars, Keyset::Any);
        out
    }
}
