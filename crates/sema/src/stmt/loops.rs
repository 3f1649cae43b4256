//! `for` loops.

use crate::checker::Checker;
use crate::errors::{statements, types};
use crate::scope::Entity;
use hir::*;
use std::rc::Rc;
use syntax::ast;

impl Checker<'_> {
    /// Checks `for (init; cond; update) body`.
    pub(super) fn for_loop(
        &mut self,
        init: &[ast::Stmt],
        cond: &ast::Expr,
        update: &[ast::Stmt],
        body: &ast::Stmt,
    ) -> StmtKind {
        self.scoped(|c| {
            let init = c.stmts(init);
            let cond = c.condition(cond);
            let update = c.stmts(update);
            let body = c.loop_body(body);
            StmtKind::For {
                init,
                cond,
                update,
                body,
            }
        })
    }

    fn loop_body(&mut self, body: &ast::Stmt) -> Block {
        self.loops += 1;
        let body = self.branch(body);
        self.loops -= 1;
        body
    }

    /// Checks `for (T x in collection) body`.
    pub(super) fn for_in(
        &mut self,
        annotations: &[ast::Annotation],
        ty: &ast::Type,
        name: &ast::Ident,
        collection: &ast::Expr,
        body: &ast::Stmt,
    ) -> Option<StmtKind> {
        let ty = self.full_ty(ty);
        let collection = self.collection(collection, &ty);
        let annotations = self.annotations(annotations);
        self.scoped(|c| {
            let local = c.module.locals.push(Local {
                name: name.name.clone(),
                ty,
                kind: LocalKind::Var,
                annotations,
                span: name.span,
            });
            c.declare(name, Entity::Local(local));
            let body = c.loop_body(body);
            Some(StmtKind::ForIn {
                local,
                collection: collection?,
                body,
            })
        })
    }

    fn collection(&mut self, expr: &ast::Expr, elem: &Ty) -> Option<Collection> {
        if let ast::ExprKind::Range(lo, hi) = &expr.kind {
            let (lo, hi) = (self.expr_as(lo, elem), self.expr_as(hi, elem));
            if *elem == Ty::Poison || lo.ty == Ty::Poison || hi.ty == Ty::Poison {
                return None;
            }
            if !matches!(self.representation(elem), Ty::Bits { .. }) {
                let shown = self.show(elem);
                let found = types::set_operator(expr.span, "..", &shown);
                self.report(if *elem == Ty::Int {
                    found.help("give the variable a width, as in `for (bit<8> i in 1 .. 8)`")
                } else {
                    found.help("a loop over a range counts with a number: bit<N> or int<N>")
                });
                return None;
            }
            return Some(Collection::Range(lo, hi));
        }
        let is_list = matches!(expr.kind, ast::ExprKind::List(_));
        let want = Ty::List(Rc::new(elem.clone()));
        let value = self.expr(expr, is_list.then_some(&want));
        match value.ty.clone() {
            Ty::Poison => None,
            Ty::List(of) | Ty::Stack(of, _) => {
                if !self.unify(&of, elem) {
                    let (want, got) = (self.show(elem), self.show(&of));
                    self.report(types::mismatch_types(expr.span, &want, &got, None));
                    return None;
                }
                Some(Collection::Elements(value))
            }
            ty => {
                let shown = self.show(&ty);
                self.report(statements::not_iterable(expr.span, &shown));
                None
            }
        }
    }
}
