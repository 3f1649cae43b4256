//! Actions.

use super::ParamOwner;
use crate::checker::{Checker, Context};
use crate::errors::declarations;
use crate::scope::Entity;
use crate::stmt::atomic_if;
use hir::*;
use syntax::ast;

impl Checker<'_> {
    pub(super) fn action_decl(
        &mut self,
        decl: &ast::Decl,
        name: &ast::Ident,
        params: &[ast::Param],
        body: &ast::Block,
    ) -> ActionId {
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        self.declare(name, Entity::InProgress("an action"));
        let (params, body) = self.scoped(|c| {
            let ids = c.params(params, ParamOwner::Action);
            let mut data = None;
            for (id, param) in ids.iter().zip(params) {
                match c.module.locals[*id].kind {
                    LocalKind::Param(Direction::None) => data = Some(param.name.span),
                    _ => {
                        if let Some(first) = data {
                            c.report(declarations::parameter_order(param.name.span, first));
                        }
                    }
                }
            }
            c.refuse_optional(&ids);
            let before = std::mem::replace(&mut c.result, Ty::Void);
            let done = c.in_context(Context::Action, |c| c.block(body));
            let body = atomic_if(&annotations, done, body.span);
            c.result = before;
            c.expect_params(&ids, "action parameter");
            (ids, body)
        });
        let id = self.module.actions.push(Action {
            name: name.name.clone(),
            params,
            body,
            annotations,
            span: name.span,
        });
        self.expect_use("action", name);
        self.settle(name, Entity::Action(id));
        id
    }

    /// Replaces the in-progress entity of a name by its final one, unless the name belongs to an earlier declaration.
    pub(crate) fn settle(&mut self, name: &ast::Ident, entity: Entity) {
        let own = self
            .scopes
            .lookup_here(&name.name)
            .is_none_or(|b| matches!(b.entity, Entity::InProgress(_)));
        if own {
            self.scopes.replace(&name.name, entity, name.span);
        }
    }
}
