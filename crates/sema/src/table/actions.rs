//! A table's actions and its default action.

use crate::call::{Mode, Signature, surplus};
use crate::checker::Checker;
use crate::errors::{calls, names, tables};
use crate::scope::Entity;
use diag::Span;
use diag::nearest;
use hir::*;
use syntax::ast;

impl Checker<'_> {
    pub(super) fn action_list(&mut self, refs: &[ast::ActionRef]) -> Vec<ActionRef> {
        let mut done: Vec<ActionRef> = Vec::with_capacity(refs.len());
        for action in refs {
            let annotations = self.annotations(&action.annotations);
            let Some(id) = self.action_named(action.global, &action.name) else {
                self.give_up(&action.args);
                continue;
            };
            if let Some(first) = done.iter().find(|a| a.action == id) {
                let diagnostic = tables::action_twice(&action.name, first.span);
                self.report(diagnostic);
                continue;
            }
            let (directed, data) = self.split(id);
            let mut given = &action.args[..];
            if given.len() > directed.len()
                && !data.is_empty()
                && given.iter().all(|a| a.name.is_none())
            {
                let at = surplus(&given[directed.len()..]);
                let found = calls::too_many(at, &action.name.name, directed.len(), given.len());
                let found = calls::given_in_list(&action.name, found);
                self.report(found.also(self.module.actions[id].span, "declared here"));
                given = &given[..directed.len()];
            }
            let signature = Signature::plain(
                &action.name.name,
                &directed,
                Mode::Action,
                self.module.actions[id].span,
            );
            let args = match self.bind(&signature, &[], given, None, action.span) {
                Some(bound) => bound.args,
                None => Args::default(),
            };
            done.push(ActionRef {
                action: id,
                args,
                annotations,
                span: action.span,
            });
        }
        done
    }

    fn action_named(&mut self, global: bool, name: &ast::Ident) -> Option<ActionId> {
        match self.resolve(global, name, "action", |e| matches!(e, Entity::Action(_)))? {
            Entity::Action(id) => Some(id),
            Entity::Poison => None,
            other => {
                let what = self.describe(&other);
                self.report(names::not_an_action(name, what));
                None
            }
        }
    }

    /// Splits an action's parameters into those with a direction, and the control plane's.
    pub(super) fn split(&self, id: ActionId) -> (Vec<LocalId>, Vec<LocalId>) {
        self.module.actions[id]
            .params
            .iter()
            .partition(|p| !self.action_data.contains(p))
    }

    /// Finds an action in a table's list and binds the control plane's arguments. The call may repeat arguments for
    /// directed parameters from the list.
    pub(super) fn listed_call(
        &mut self,
        table: &Table,
        global: bool,
        name: &ast::Ident,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<ActionCall> {
        let Some(id) = self.action_named(global, name) else {
            self.give_up(args);
            return None;
        };
        let Some(index) = table.actions.iter().position(|a| a.action == id) else {
            let all: Vec<_> = table
                .actions
                .iter()
                .map(|a| self.module.actions[a.action].name.clone())
                .collect();
            let near = nearest(&name.name, all.iter().map(|n| n.as_str()));
            self.report(tables::action_not_listed(name, &table.name, near));
            self.give_up(args);
            return None;
        };
        let (directed, data) = self.split(id);
        let repeated = !directed.is_empty()
            && args.len() == directed.len() + data.len()
            && args.iter().all(|a| a.name.is_none());
        let given = if repeated {
            let listed = &table.actions[index];
            for (arg, bound) in args.iter().zip(listed.args.iter()) {
                self.expr(&arg.value, None);
                if !self.same_text(arg.value.span, bound) {
                    self.report(tables::bound_otherwise(
                        arg.value.span,
                        &name.name,
                        listed.span,
                    ));
                }
            }
            &args[directed.len()..]
        } else {
            args
        };
        let signature = Signature::plain(
            &name.name,
            &data,
            Mode::Function,
            self.module.actions[id].span,
        );
        let bound = self.bind(&signature, &[], given, None, span)?;
        let args = bound
            .args
            .into_vec()
            .into_iter()
            .filter_map(|arg| match arg {
                Arg::In(value) => Some(value),
                _ => None,
            })
            .collect();
        Some(ActionCall {
            action: index as u32,
            args,
            span,
        })
    }

    /// Returns true if an argument has the same text as the one in the table's list, spaces aside.
    fn same_text(&self, given: Span, bound: &Arg) -> bool {
        let (Arg::In(listed) | Arg::Out(listed) | Arg::InOut(listed)) = bound else {
            return true;
        };
        let words = |span| self.map.text(span).chars().filter(|c| !c.is_whitespace());
        listed.ty == Ty::Poison || words(given).eq(words(listed.span))
    }

    pub(super) fn default_action(
        &mut self,
        table: &Table,
        value: &ast::Expr,
    ) -> Option<ActionCall> {
        let (callee, args): (&ast::Expr, &[ast::Arg]) = match &value.kind {
            ast::ExprKind::Call { callee, args, .. } => (callee, args),
            _ => (value, &[]),
        };
        let ast::ExprKind::Name { global, name } = &callee.kind else {
            self.report(tables::not_an_action_call(value.span));
            return None;
        };
        let call = self.listed_call(table, *global, name, args, value.span)?;
        let action = &table.actions[call.action as usize];
        if action.annotations.iter().any(|a| a.name == "tableonly") {
            self.report(tables::table_only(value.span, &name.name, action.span));
        }
        Some(call)
    }

    /// Reports parameters of actions that the control plane cannot send. It sends numbers and bools, one for each field
    /// of a struct or header.
    pub(super) fn refuse_uncarried(&mut self, table: &Table) {
        for listed in &table.actions {
            let marked = |name: &str| listed.annotations.iter().any(|a| a.name == name);
            let in_entries = !table.const_entries && !marked("defaultonly");
            // If the program gives all entries, the control plane does not fill the table.
            let as_default = !table.const_default && !table.const_entries && !marked("tableonly");
            if !in_entries && !as_default {
                continue;
            }
            let (_, data) = self.split(listed.action);
            for param in data {
                let local = &self.module.locals[param];
                if !self.is_carried(&local.ty) {
                    let shown = self.show(&local.ty);
                    let diagnostic =
                        tables::not_carried(listed.span, &local.name, &shown, local.span);
                    self.report(diagnostic);
                }
            }
        }
    }

    /// Returns true if the control plane can send values of a type.
    fn is_carried(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Poison | Ty::Param(_) | Ty::Bool | Ty::Bits { .. } => true,
            Ty::NewType(id) => self.is_carried(&self.module.new_types[*id].ty),
            Ty::Enum(_) => self.underlying(ty).is_some(),
            Ty::Composite(id, args) => {
                self.module.composites[*id].kind != CompositeKind::Union
                    && (self.field_types(*id, args).iter()).all(|(_, field)| self.is_carried(field))
            }
            Ty::Tuple(elems) => elems.iter().all(|elem| self.is_carried(elem)),
            Ty::Stack(elem, _) => self.is_carried(elem),
            _ => false,
        }
    }

    /// Gives a table without a default action `NoAction`, if core.p4 declares it.
    pub(super) fn implicit_default(&mut self, table: &mut Table) {
        let Some(Entity::Action(id)) = self
            .scopes
            .lookup("NoAction", true)
            .map(|b| b.entity.clone())
        else {
            return;
        };
        if !self.module.actions[id].params.is_empty() {
            return;
        }
        let index = match table.actions.iter().position(|a| a.action == id) {
            Some(index) => index,
            None => {
                let annotation = Annotation {
                    name: "defaultonly".into(),
                    body: AnnotationBody::None,
                    span: Span::NONE,
                };
                table.actions.push(ActionRef {
                    action: id,
                    args: Args::default(),
                    annotations: vec![annotation],
                    span: Span::NONE,
                });
                table.actions.len() - 1
            }
        };
        table.default_action = Some(ActionCall {
            action: index as u32,
            args: Vec::new(),
            span: table.span,
        });
    }
}
