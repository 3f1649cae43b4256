//! `{a, b}`, `{x = a, y = b}`, and `...` in them.

use crate::checker::{Checker, constant, poison_expr};
use crate::coerce::part_of;
use crate::errors::{names, types};
use crate::remedy::listed;
use diag::Span;
use diag::nearest;
use hir::*;
use smol_str::SmolStr;
use syntax::ast;

impl Checker<'_> {
    /// Checks `{a, b, ...}`: of the expected type if that has elements, else a tuple.
    pub(super) fn list(&mut self, elems: &[ast::Expr], want: Option<&Ty>, span: Span) -> Expr {
        let rest = matches!(
            elems.last(),
            Some(ast::Expr {
                kind: ast::ExprKind::Default,
                ..
            })
        );
        let given = if rest {
            &elems[..elems.len() - 1]
        } else {
            elems
        };
        let want = want.map(|ty| self.shallow(ty));
        let slots: Option<Vec<Ty>> = match &want {
            Some(Ty::Composite(id, args))
                if self.module.composites[*id].kind != CompositeKind::Union =>
            {
                Some(
                    self.field_types(*id, args)
                        .into_iter()
                        .map(|(_, ty)| ty)
                        .collect(),
                )
            }
            Some(Ty::Tuple(elems)) => Some(elems.to_vec()),
            Some(Ty::Stack(elem, n)) => Some(vec![(**elem).clone(); *n as usize]),
            Some(Ty::List(elem)) => Some(vec![(**elem).clone(); given.len()]),
            _ => None,
        };
        let (Some(ty), Some(slots)) = (want, slots) else {
            if rest {
                return self.poison(types::cannot_infer_type(span, "`...`"));
            }
            let values: Vec<Expr> = given.iter().map(|e| self.free_element(e)).collect();
            let ty = Ty::Tuple(values.iter().map(|v| v.ty.clone()).collect());
            return self.gathered(values, ty, span);
        };
        if given.len() > slots.len() || (given.len() < slots.len() && !rest) {
            let shown = self.show(&ty);
            given.iter().for_each(|e| drop(self.expr(e, None)));
            return self.poison(types::list_length(
                span,
                &shown,
                part_of(&ty),
                slots.len(),
                given.len(),
            ));
        }
        let mut values: Vec<Expr> = given
            .iter()
            .zip(&slots)
            .map(|(e, slot)| self.expr_as(e, slot))
            .collect();
        for slot in &slots[given.len()..] {
            let slot = self.zonk(slot);
            let at = elems.last().map_or(span, |e| e.span);
            values.push(self.default_of(&slot, at));
        }
        self.gathered(values, ty, span)
    }

    /// Checks an element of a list whose type nothing determines.
    fn free_element(&mut self, elem: &ast::Expr) -> Expr {
        let value = self.expr(elem, None);
        if self.is_value(&value.ty) {
            return value;
        }
        let shown = self.show(&value.ty);
        self.poison(types::not_storable(value.span, &shown))
    }

    /// Makes a list expression, folded if all values are constant.
    pub(crate) fn gathered(&mut self, values: Vec<Expr>, ty: Ty, span: Span) -> Expr {
        if values.iter().any(|v| v.ty == Ty::Poison) {
            return poison_expr(span);
        }
        if values.iter().all(|v| matches!(v.kind, ExprKind::Const(_))) {
            let values = values.into_iter().filter_map(|v| match v.kind {
                ExprKind::Const(value) => Some(value),
                _ => None,
            });
            return constant(ConstValue::List(values.collect()), ty, span);
        }
        Expr {
            kind: ExprKind::List(values),
            ty,
            span,
        }
    }

    /// Checks `{x = a, y = b, ...}`.
    pub(super) fn structure(
        &mut self,
        fields: &[(ast::Ident, ast::Expr)],
        rest: bool,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let want = want.map(|ty| self.shallow(ty));
        let ty = match &want {
            Some(Ty::Composite(id, _))
                if self.module.composites[*id].kind != CompositeKind::Union =>
            {
                want.clone()
            }
            _ => None,
        };
        let Some(ty @ Ty::Composite(id, _)) = ty else {
            fields.iter().for_each(|(_, e)| drop(self.expr(e, None)));
            return match want {
                Some(Ty::Poison) => poison_expr(span),
                Some(Ty::Infer(_)) | None => {
                    self.poison(types::cannot_infer_type(span, "this structure"))
                }
                Some(other) => {
                    let shown = self.show(&other);
                    self.poison(types::mismatch(
                        span,
                        &format!("`{shown}`"),
                        "a structure with named fields",
                    ))
                }
            };
        };
        let Ty::Composite(_, args) = &ty else {
            return poison_expr(span);
        };
        let slots = self.field_types(id, args);
        let mut values: Vec<Option<Expr>> = vec![None; slots.len()];
        let mut bad = false;
        for (name, expr) in fields {
            let Some(i) = slots.iter().position(|(n, _)| *n == name.name) else {
                self.expr(expr, None);
                let near =
                    nearest(&name.name, slots.iter().map(|(n, _)| n.as_str())).map(str::to_owned);
                let of = format!("`{}`", self.show(&ty));
                let found = names::no_member(name, &of, "field", near.as_deref());
                let all = listed(&self.few_fields(&ty)).filter(|_| near.is_none());
                self.report(match all {
                    Some(help) => found.help(help),
                    None => found,
                });
                bad = true;
                continue;
            };
            let value = self.expr_as(expr, &slots[i].1);
            if values[i].is_some() {
                self.report(types::field_twice(name));
                bad = true;
            }
            values[i] = Some(value);
        }
        if !rest {
            let missing: Vec<SmolStr> = slots
                .iter()
                .zip(&values)
                .filter(|(_, v)| v.is_none())
                .map(|((n, _), _)| n.clone())
                .collect();
            if !missing.is_empty() {
                let shown = self.show(&ty);
                self.report(types::fields_missing(span, &shown, &missing));
                bad = true;
            }
        }
        if bad {
            return poison_expr(span);
        }
        let mut all = Vec::with_capacity(slots.len());
        for (value, (_, slot)) in values.into_iter().zip(&slots) {
            let slot = self.zonk(slot);
            all.push(match value {
                Some(value) => value,
                None => self.default_of(&slot, span),
            });
        }
        self.gathered(all, ty, span)
    }
}
