//! `switch`, on the action that a table ran or on a value.

use crate::checker::Checker;
use crate::errors::{constants, names, statements, types};
use crate::scope::Entity;
use diag::Span;
use diag::nearest;
use hir::*;
use std::collections::HashMap;
use std::hash::Hash;
use syntax::ast;

impl Checker<'_> {
    pub(super) fn switch(
        &mut self,
        scrutinee: &ast::Expr,
        cases: &[ast::SwitchCase],
    ) -> Option<StmtKind> {
        let value = self.expr(scrutinee, None);
        match value.ty.clone() {
            Ty::ActionRun(table) => {
                let cases = self.cases(cases, |c, label| c.action_label(table, label), |id| *id);
                Some(StmtKind::SwitchTable { table, cases })
            }
            Ty::Poison => {
                self.cases(cases, |_, _| None::<ActionId>, |id| *id);
                None
            }
            ty if self.is_matchable(&ty) && !matches!(ty, Ty::Varbit(_)) => {
                let cases = self.cases(
                    cases,
                    |c, label| c.value_label(label, &ty),
                    |e| format!("{:?}", e.kind),
                );
                Some(StmtKind::Switch {
                    scrutinee: value,
                    cases,
                })
            }
            ty => {
                let shown = self.show(&ty);
                self.report(types::switch_type(value.span, &shown));
                self.cases(cases, |_, _| None::<ActionId>, |id| *id);
                None
            }
        }
    }

    /// Groups cases with the fall-through labels before them; `key` identifies equal labels.
    fn cases<L, K: Hash + Eq>(
        &mut self,
        cases: &[ast::SwitchCase],
        mut label: impl FnMut(&mut Self, &ast::Expr) -> Option<L>,
        key: impl Fn(&L) -> K,
    ) -> Vec<SwitchCase<L>> {
        let mut done = Vec::new();
        let mut seen: HashMap<K, Span> = HashMap::new();
        let mut default: Option<Span> = None;
        let (mut labels, mut is_default) = (Vec::new(), false);
        let mut from = Span::NONE;
        for case in cases {
            from = from.to(case.label.span);
            if matches!(case.label.kind, ast::ExprKind::Default) {
                match default {
                    Some(first) => self.report(statements::label_twice(case.label.span, first)),
                    None => default = Some(case.label.span),
                }
                is_default = true;
            } else {
                if let Some(first) = default {
                    self.report(statements::after_default(case.label.span, first));
                }
                if let Some(value) = label(self, &case.label) {
                    match seen.get(&key(&value)) {
                        Some(first) => {
                            self.report(statements::label_twice(case.label.span, *first))
                        }
                        None => {
                            seen.insert(key(&value), case.label.span);
                        }
                    }
                    labels.push(value);
                }
            }
            if let Some(body) = &case.body {
                let body = self.block(body);
                let labels = std::mem::take(&mut labels);
                done.push(SwitchCase {
                    labels,
                    is_default,
                    body,
                    span: from.to(case.span),
                });
                is_default = false;
                from = Span::NONE;
            }
        }
        // Labels at the end with nothing after them fall through to nothing.
        if is_default || !labels.is_empty() {
            done.push(SwitchCase {
                labels,
                is_default,
                body: Vec::new(),
                span: from,
            });
        }
        done
    }

    fn action_label(&mut self, table: TableId, label: &ast::Expr) -> Option<ActionId> {
        let ast::ExprKind::Name { global, name } = &label.kind else {
            self.report(statements::action_label(
                label.span,
                &self.module.tables[table].name,
            ));
            return None;
        };
        let entity = self.resolve(*global, name, "action", |e| matches!(e, Entity::Action(_)))?;
        let of = &self.module.tables[table];
        match entity {
            Entity::Action(id) if of.actions.iter().any(|a| a.action == id) => Some(id),
            Entity::Poison => None,
            _ => {
                let all: Vec<_> = of
                    .actions
                    .iter()
                    .map(|a| self.module.actions[a.action].name.clone())
                    .collect();
                let near = nearest(&name.name, all.iter().map(|n| n.as_str()));
                let diagnostic =
                    names::no_member(name, &format!("the table `{}`", of.name), "action", near);
                self.report(diagnostic);
                None
            }
        }
    }

    fn value_label(&mut self, label: &ast::Expr, ty: &Ty) -> Option<Expr> {
        let value = self.expr_as(label, ty);
        if value.ty == Ty::Poison {
            return None;
        }
        if !self.is_compile_time(&value) {
            self.report(constants::not_constant(value.span, "a `switch` label"));
            return None;
        }
        Some(value)
    }
}
