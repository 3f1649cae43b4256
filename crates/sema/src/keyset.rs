//! Keysets, which `select` cases and table entries match with.

use crate::checker::{Checker, Context};
use crate::errors::{statements, types, warnings};
use crate::scope::Entity;
use diag::Span;
use hir::*;
use syntax::ast;

impl Checker<'_> {
    /// Splits a key into scalars: structs and tuples are flattened.
    pub(crate) fn flatten(&mut self, key: Expr, out: &mut Vec<Expr>) {
        let span = key.span;
        match self.parts(&key.ty) {
            Some(parts) => {
                let is_tuple = matches!(key.ty, Ty::Tuple(_));
                for (i, ty) in parts.into_iter().enumerate() {
                    let part = if is_tuple {
                        match key.kind.clone() {
                            ExprKind::List(elems) if i < elems.len() => elems[i].clone(),
                            _ => self.tuple_field(key.clone(), i, ty, span),
                        }
                    } else {
                        self.field(key.clone(), i, ty, span)
                    };
                    self.flatten(part, out);
                }
            }
            None => out.push(key),
        }
    }

    /// Returns the types of the parts of a key's type; `None` for a scalar.
    fn parts(&self, ty: &Ty) -> Option<Vec<Ty>> {
        match ty {
            Ty::Tuple(elems) => Some(elems.to_vec()),
            Ty::Composite(id, args)
                if self.module.composites[*id].kind == CompositeKind::Struct =>
            {
                Some(
                    self.field_types(*id, args)
                        .into_iter()
                        .map(|(_, ty)| ty)
                        .collect(),
                )
            }
            _ => None,
        }
    }

    /// Checks one keyset element for a key of type `ty`. It adds one [`Keyset`] for each scalar of the key.
    pub(crate) fn keyset(&mut self, elem: &ast::Expr, ty: &Ty, out: &mut Vec<Keyset>) {
        if self
            .deeper(elem.span, |c| c.keyset_at(elem, ty, out))
            .is_none()
        {
            out.push(Keyset::Any);
        }
    }

    fn keyset_at(&mut self, elem: &ast::Expr, ty: &Ty, out: &mut Vec<Keyset>) {
        if let Some(Entity::ValueSet(id)) = self.named_entity(elem) {
            let id = *id;
            return self.value_set(elem, id, ty, out);
        }
        let Some(parts) = self.parts(ty) else {
            let set = self.scalar_keyset(elem, ty);
            return out.push(set);
        };
        match &elem.kind {
            ast::ExprKind::DontCare | ast::ExprKind::Default => {
                for part in &parts {
                    self.keyset(elem, part, out);
                }
            }
            ast::ExprKind::List(elems) | ast::ExprKind::Tuple(elems)
                if elems.len() == parts.len() =>
            {
                for (elem, part) in elems.iter().zip(&parts) {
                    self.keyset(elem, part, out);
                }
            }
            ast::ExprKind::Tuple(elems) => {
                self.report(statements::keyset_arity(
                    elem.span,
                    parts.len(),
                    elems.len(),
                ));
            }
            ast::ExprKind::Int { .. } | ast::ExprKind::Bool(_) => {
                self.report(statements::keyset_arity(elem.span, parts.len(), 1));
            }
            _ => {
                let mut value = self.expr(elem, Some(ty));
                // A struct stands for the tuple of its fields.
                let (mut given, mut wanted) = (Vec::new(), Vec::new());
                self.leaf_types(&value.ty, &mut given);
                self.leaf_types(ty, &mut wanted);
                if self.parts(&value.ty).is_none() || given != wanted {
                    value = self.coerce(value, ty);
                }
                if value.ty != Ty::Poison && self.require_set_value(&value) {
                    let mut scalars = Vec::new();
                    self.flatten(value, &mut scalars);
                    out.extend(scalars.into_iter().map(Keyset::Value));
                }
            }
        }
    }

    fn value_set(&mut self, elem: &ast::Expr, id: ValueSetId, ty: &Ty, out: &mut Vec<Keyset>) {
        if let ast::ExprKind::Name { global, name } = &elem.kind {
            self.resolve(*global, name, "value set", |_| true);
        }
        let set = self.module.value_sets[id].elem.clone();
        let (mut given, mut wanted) = (Vec::new(), Vec::new());
        self.leaf_types(&set, &mut given);
        self.leaf_types(ty, &mut wanted);
        if given == wanted {
            out.extend((0..given.len()).map(|i| Keyset::ValueSet(id, i as u32)));
        } else if set != Ty::Poison {
            let (want, got) = (self.show(ty), self.show(&set));
            self.report(types::mismatch_types(elem.span, &want, &got, None));
        }
    }

    /// Adds the types of the scalars that a key of this type is split into.
    pub(crate) fn leaf_types(&self, ty: &Ty, out: &mut Vec<Ty>) {
        match self.parts(ty) {
            Some(parts) => parts.iter().for_each(|p| self.leaf_types(p, out)),
            None => out.push(ty.clone()),
        }
    }

    fn scalar_keyset(&mut self, elem: &ast::Expr, ty: &Ty) -> Keyset {
        match &elem.kind {
            ast::ExprKind::DontCare | ast::ExprKind::Default => Keyset::Any,
            ast::ExprKind::Mask(value, mask) => {
                match self.set_pair(value, mask, ty, elem.span, "&&&") {
                    Some((value, mask)) => Keyset::Mask(value, mask),
                    None => Keyset::Any,
                }
            }
            ast::ExprKind::Range(lo, hi) => match self.set_pair(lo, hi, ty, elem.span, "..") {
                Some((lo, hi)) => {
                    if let (
                        ExprKind::Const(ConstValue::Int(a)),
                        ExprKind::Const(ConstValue::Int(b)),
                    ) = (&lo.kind, &hi.kind)
                        && a > b
                        // An empty range in an entry is reported when the table is checked.
                        && self.context != Context::Table
                    {
                        self.report(warnings::empty_range(elem.span, a, b));
                    }
                    Keyset::Range(lo, hi)
                }
                None => Keyset::Any,
            },
            ast::ExprKind::Tuple(elems) if elems.len() == 1 => self.scalar_keyset(&elems[0], ty),
            ast::ExprKind::Tuple(elems) => {
                self.report(statements::keyset_arity(elem.span, 1, elems.len()));
                Keyset::Any
            }
            _ => {
                let value = self.expr_as(elem, ty);
                if value.ty == Ty::Poison || !self.require_set_value(&value) {
                    return Keyset::Any;
                }
                Keyset::Value(value)
            }
        }
    }

    fn require_set_value(&mut self, value: &Expr) -> bool {
        self.run_time_sets || self.require_compile_time(value, "a value in a keyset")
    }

    fn set_pair(
        &mut self,
        a: &ast::Expr,
        b: &ast::Expr,
        ty: &Ty,
        span: Span,
        operator: &str,
    ) -> Option<(Expr, Expr)> {
        if *ty == Ty::Poison {
            return None;
        }
        let numbers = self.representation(ty);
        if !matches!(numbers, Ty::Bits { .. }) {
            let shown = self.show(ty);
            self.report(types::set_operator(span, operator, &shown));
            return None;
        }
        let (a, b) = (
            self.set_bound(a, ty, &numbers),
            self.set_bound(b, ty, &numbers),
        );
        let known = self.require_set_value(&a) && self.require_set_value(&b);
        (known && a.ty != Ty::Poison && b.ty != Ty::Poison).then_some((a, b))
    }

    /// Checks a bound of a mask or range: of the key's type, or of the number type that represents it.
    fn set_bound(&mut self, expr: &ast::Expr, ty: &Ty, numbers: &Ty) -> Expr {
        let value = self.expr(expr, Some(ty));
        if value.ty == *ty || ty == numbers || value.ty == Ty::Poison {
            return self.coerce(value, ty);
        }
        let span = value.span;
        let value = self.coerce(value, numbers);
        if value.ty == Ty::Poison {
            value
        } else {
            self.cast_to(value, ty, span)
        }
    }
}
