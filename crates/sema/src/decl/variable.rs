//! Constants and variables.

use crate::checker::{Checker, Context};
use crate::errors::{constants, types};
use crate::scope::Entity;
use hir::*;
use std::rc::Rc;
use syntax::ast;

impl Checker<'_> {
    /// Checks `const T x = e;`. If the value depends on constructor arguments, the constant becomes a local.
    pub(crate) fn const_decl(
        &mut self,
        decl: &ast::Decl,
        ty: &ast::Type,
        name: &ast::Ident,
        value: &ast::Expr,
    ) -> Option<(LocalId, Expr)> {
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        let mut resolved = self.full_ty(ty);
        if !self.is_storable(&resolved)
            && !matches!(
                resolved,
                Ty::Int | Ty::String | Ty::MatchKind | Ty::List(_) | Ty::Tuple(_) | Ty::Stack(..)
            )
        {
            let shown = self.show(&resolved);
            self.report(types::no_variable(ty.span, &shown, "a constant"));
            resolved = Ty::Poison;
        }
        let value = self.expr_as(value, &resolved);
        let value = self.written_out(value);
        if self.context != Context::TopLevel {
            self.expect_use("constant", name);
        }
        if let ExprKind::Const(known) = value.kind {
            if let (Context::TopLevel, ConstValue::Int(number)) = (self.context, &known) {
                let number = (name.name.clone(), number.clone(), value.span);
                self.module.numbers.push(number);
            }
            self.declare(name, Entity::Const(Rc::new(known), value.ty));
            return None;
        }
        if value.ty == Ty::Poison {
            self.declare(name, Entity::Poison);
            return None;
        }
        let waits = self.context != Context::TopLevel && self.is_compile_time(&value);
        if !waits {
            self.report(constants::not_constant(
                value.span,
                "the value of a constant",
            ));
            self.declare(name, Entity::Poison);
            return None;
        }
        let id = self.local(name, resolved, LocalKind::Const, annotations);
        Some((id, value))
    }

    /// Checks `T x;` or `T x = e;`.
    pub(crate) fn var_decl(
        &mut self,
        decl: &ast::Decl,
        ty: &ast::Type,
        name: &ast::Ident,
        init: Option<&ast::Expr>,
    ) -> Option<(LocalId, Option<Expr>)> {
        let mut resolved = self.full_ty(ty);
        // A tuple with elements without a width exists only at compile time, so the variable becomes a constant.
        if let (Ty::Tuple(_), Some(init)) = (&resolved, init)
            && !self.is_storable(&resolved)
            && self.is_value(&resolved)
        {
            let known = self.const_decl(decl, ty, name, init)?;
            return Some((known.0, Some(known.1)));
        }
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        let annotations = self.with_display(annotations, ty);
        // The result of a factory function is an object like an instance, and cannot be reassigned.
        let is_object = matches!(resolved, Ty::Extern(..)) && init.is_some();
        if !self.is_storable(&resolved) && !is_object {
            let shown = self.show(&resolved);
            self.report(types::no_variable(ty.span, &shown, "a variable"));
            resolved = Ty::Poison;
        }
        // The name is not in scope in its own initial value.
        let init = init.map(|e| self.expr_as(e, &resolved));
        self.expect_use("variable", name);
        if resolved == Ty::Poison {
            self.declare(name, Entity::Poison);
            return None;
        }
        let kind = if is_object {
            LocalKind::Const
        } else {
            LocalKind::Var
        };
        let id = self.local(name, resolved, kind, annotations);
        Some((id, init))
    }

    fn local(
        &mut self,
        name: &ast::Ident,
        ty: Ty,
        kind: LocalKind,
        annotations: Vec<Annotation>,
    ) -> LocalId {
        let id = self.module.locals.push(Local {
            name: name.name.clone(),
            ty,
            kind,
            annotations,
            span: name.span,
        });
        self.declare(name, Entity::Local(id));
        id
    }
}
