//! Overload resolution: by the number and the names of the arguments
//! (specification section "Function overloading").

use super::Signature;
use crate::checker::Checker;
use crate::errors::calls;
use diag::Span;
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
                let locations: Vec<Span> = fitting.iter().map(|&i| all[i].span).collect();
                self.report(calls::ambiguous(span, &name.name, &locations));
                None
            }
        }
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
