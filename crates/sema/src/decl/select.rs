//! `transition select`

use super::parser::States;
use crate::checker::Checker;
use crate::errors::{statements, types, warnings};
use diag::Span;
use hir::*;
use syntax::ast;

/// How many scalars a key may be split into.
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
        for key in &flat {
            if !self.is_matchable(&key.ty) {
                let shown = self.show(&key.ty);
                self.report(types::key_type(key.span, &shown, "`select`"));
            }
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
            // A keyset with an error, or for a key with one, is treated as one that matches everything, but was not
            // meant so.
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
        match value.ty {
            // A number needs a width to be matched.
            Ty::Int => self.poison(statements::key_without_width(value.span)),
            _ => value,
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
            // Several keys against one element: a value set or a tuple of all of them.
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
