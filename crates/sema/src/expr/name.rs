//! Names, and `this`.

use crate::checker::{Checker, constant, poison_expr};
use crate::errors::{names, warnings};
use crate::scope::Entity;
use diag::Span;
use diag::nearest;
use hir::*;
use syntax::ast;

impl Checker<'_> {
    /// Resolves a name and notes its use. If nothing has the name, reports that and returns `None`. `want` filters
    /// suggestions.
    pub(crate) fn resolve(
        &mut self,
        global: bool,
        name: &ast::Ident,
        what: &str,
        want: impl Fn(&Entity) -> bool,
    ) -> Option<Entity> {
        if let Some(binding) = self.scopes.lookup(&name.name, global) {
            let binding = binding.clone();
            self.used.insert(binding.span);
            // One overload of a function may be deprecated and another not: the call decides.
            let overloaded = matches!(binding.entity, Entity::Functions(_));
            if let Some(why) = self.deprecated.get(&binding.span).filter(|_| !overloaded) {
                let diagnostic = warnings::deprecated(name, why);
                self.report(diagnostic);
            }
            if let Entity::InProgress(kind) = binding.entity {
                let mut found = names::recursion(name, kind, binding.span);
                if kind == "a table"
                    && let Some(hidden) = self.scopes.hidden(&name.name, binding.span)
                {
                    found = names::hidden_by(name, kind, hidden, found);
                }
                self.report(found);
                return None;
            }
            return Some(binding.entity);
        }
        let diagnostic = match self.scopes.declared_later(&name.name) {
            Some(span) => names::used_before(name, span),
            None => {
                let known = |e: &Entity| !matches!(e, Entity::InProgress(_)) && want(e);
                let words = ["true", "false"].into_iter().filter(|_| what == "name");
                let near = nearest(&name.name, self.scopes.names(known).chain(words));
                names::unknown(name, what, self.unknown_instead(name, near))
            }
        };
        self.report(diagnostic);
        None
    }

    /// Checks a name used as a value.
    pub(super) fn name_expr(&mut self, global: bool, name: &ast::Ident, span: Span) -> Expr {
        // Match kinds are constants at the top level, hidden by any declaration of the same name.
        if self.scopes.lookup(&name.name, global).is_none()
            && let Some(i) = self.module.match_kinds.iter().position(|k| *k == name.name)
        {
            return constant(ConstValue::MatchKind(i as u32), Ty::MatchKind, span);
        }
        let Some(entity) = self.resolve(global, name, "name", |e| !e.is_type()) else {
            return poison_expr(span);
        };
        match entity {
            Entity::Const(value, ty) => constant((*value).clone(), ty, span),
            Entity::Local(id) => Expr {
                kind: ExprKind::Local(id),
                ty: self.module.locals[id].ty.clone(),
                span,
            },
            Entity::Instance(id) => Expr {
                kind: ExprKind::Instance(id),
                ty: self.instance_type(id),
                span,
            },
            Entity::Poison => poison_expr(span),
            other if other.is_type() => {
                self.poison(names::type_as_value(span, &name.name, other.describe()))
            }
            other => self.poison(names::not_a_value(span, &name.name, other.describe())),
        }
    }

    /// Checks `this`.
    pub(super) fn this_expr(&mut self, span: Span) -> Expr {
        match self.this.clone() {
            Some((ty, _)) => Expr {
                kind: ExprKind::This,
                ty,
                span,
            },
            None => self.poison(names::this_elsewhere(span)),
        }
    }

    /// Returns the entity that an expression names, if it is a bare name.
    pub(crate) fn named_entity(&self, expr: &ast::Expr) -> Option<&Entity> {
        match &expr.kind {
            ast::ExprKind::Name { global, name } => {
                self.scopes.lookup(&name.name, *global).map(|b| &b.entity)
            }
            _ => None,
        }
    }
}
