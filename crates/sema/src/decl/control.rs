//! Controls and control types.

use super::{ParamOwner, declared_name, kind_name};
use crate::checker::{Checker, Context};
use crate::errors::declarations;
use crate::scope::Entity;
use crate::stmt::atomic_if;
use hir::*;
use syntax::ast;

impl Checker<'_> {
    pub(super) fn control_decl(
        &mut self,
        decl: &ast::Decl,
        head: &ast::Head,
        body: Option<&ast::ControlBody>,
    ) {
        let annotations = self.annotations_of(&decl.annotations, decl.span, head.name.span);
        let first = self.begin_block(&head.name, "a control");
        let control = self.scoped(|c| {
            let mut type_params = c.type_params(&head.type_params);
            let params = c.params(&head.params, ParamOwner::Block);
            let ctor_params = c.params(&head.ctor_params, ParamOwner::Constructor);
            type_params.append(&mut c.implicit_params);
            c.head_fits(head, body.is_some(), &params, &ctor_params);
            let body = body.map(|b| {
                let done = c.control_body(b);
                let apply = atomic_if(&annotations, done.apply, b.apply.span);
                ControlBody { apply, ..done }
            });
            if body.is_some() {
                c.expect_params(&ctor_params, "constructor parameter");
            }
            Control {
                name: head.name.name.clone(),
                type_params,
                params,
                ctor_params,
                body,
                annotations,
                span: head.name.span,
            }
        });
        let id = self.module.controls.push(control);
        self.end_block(&head.name, first, Entity::Control(id));
    }

    fn control_body(&mut self, body: &ast::ControlBody) -> ControlBody {
        self.scoped(|c| {
            let locals = c.in_context(Context::ControlLocals, |c| c.body_decls(&body.locals));
            let before = std::mem::replace(&mut c.result, Ty::Void);
            let apply = c.in_context(Context::ControlApply, |c| c.block(&body.apply));
            c.result = before;
            ControlBody { locals, apply }
        })
    }

    /// Checks the local declarations of a parser or control.
    pub(super) fn body_decls(&mut self, decls: &[ast::Decl]) -> Vec<BodyDecl> {
        for decl in decls {
            if let Some(name) = declared_name(decl) {
                self.scopes.announce(&name.name, name.span);
            }
        }
        let mut out = Vec::with_capacity(decls.len());
        for decl in decls {
            self.body_decl(decl, &mut out);
        }
        out
    }

    fn body_decl(&mut self, decl: &ast::Decl, out: &mut Vec<BodyDecl>) {
        let in_control = self.context == Context::ControlLocals;
        match &decl.kind {
            ast::DeclKind::Const { ty, name, value } => {
                out.extend(
                    self.const_decl(decl, ty, name, value)
                        .map(|(id, value)| BodyDecl::Local(id, Some(value))),
                );
            }
            ast::DeclKind::Var { ty, name, init } => {
                out.extend(
                    self.var_decl(decl, ty, name, init.as_ref())
                        .map(|(id, init)| BodyDecl::Local(id, init)),
                );
            }
            ast::DeclKind::Instance { .. } => {
                out.extend(self.instance_decl(decl).map(BodyDecl::Instance))
            }
            ast::DeclKind::Action { name, params, body } if in_control => {
                out.push(BodyDecl::Action(self.action_decl(decl, name, params, body)));
            }
            ast::DeclKind::Table { name, properties } if in_control => {
                out.push(BodyDecl::Table(self.table_decl(decl, name, properties)));
            }
            ast::DeclKind::ValueSet { ty, size, name } if !in_control => {
                out.push(BodyDecl::ValueSet(
                    self.value_set_decl(decl, ty, size, name),
                ));
            }
            kind => {
                self.report(declarations::not_here(
                    decl.span,
                    kind_name(kind),
                    self.context.describe(),
                ));
                if let Some(name) = declared_name(decl) {
                    self.declare(name, Entity::Poison);
                }
            }
        }
    }
}
