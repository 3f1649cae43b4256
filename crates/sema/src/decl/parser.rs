//! Parsers, parser types and their states.

use super::ParamOwner;
use crate::checker::{Checker, Context};
use crate::errors::{constants, declarations, names, tables, types};
use crate::scope::Entity;
use cranelift_entity::{EntityRef, PrimaryMap};
use diag::nearest;
use hir::*;
use smol_str::SmolStr;
use std::collections::HashMap;
use syntax::ast;

/// States of the parser being checked, by name.
pub(super) type States = HashMap<SmolStr, StateId>;

impl Checker<'_> {
    pub(super) fn parser_decl(
        &mut self,
        decl: &ast::Decl,
        head: &ast::Head,
        body: Option<&ast::ParserBody>,
    ) {
        let annotations = self.annotations_of(&decl.annotations, decl.span, head.name.span);
        let first = self.begin_block(&head.name, "a parser");
        let parser = self.scoped(|c| {
            let mut type_params = c.type_params(&head.type_params);
            let params = c.params(&head.params, ParamOwner::Block);
            let ctor_params = c.params(&head.ctor_params, ParamOwner::Constructor);
            type_params.append(&mut c.implicit_params);
            c.head_fits(head, body.is_some(), &params, &ctor_params);
            let body = body.map(|b| c.parser_body(b, &head.name));
            if body.is_some() {
                c.expect_params(&ctor_params, "constructor parameter");
            }
            Parser {
                name: head.name.name.clone(),
                type_params,
                params,
                ctor_params,
                body,
                annotations,
                span: head.name.span,
            }
        });
        let id = self.module.parsers.push(parser);
        self.end_block(&head.name, first, Entity::Parser(id));
    }

    fn parser_body(&mut self, body: &ast::ParserBody, parser: &ast::Ident) -> ParserBody {
        self.scoped(|c| {
            let locals = c.in_context(Context::ParserLocals, |c| c.body_decls(&body.locals));
            let names = c.state_names(body);
            let mut states: PrimaryMap<StateId, State> = PrimaryMap::new();
            for state in &body.states {
                // Duplicates keep their slot, so that the assigned ids stay valid.
                let checked = c.state(state, &names);
                states.push(checked);
            }
            let start = names.get("start").copied();
            if start.is_none() {
                let near = body
                    .states
                    .iter()
                    .find(|s| s.name.name.eq_ignore_ascii_case("start"));
                c.report(names::no_start(parser, near.map(|s| &s.name)));
            }
            c.require_end(parser, &states, start);
            ParserBody {
                locals,
                states,
                start: start.unwrap_or_else(|| StateId::new(0)),
            }
        })
    }

    /// Reports a parser in which no reachable state leads to an end.
    fn require_end(
        &mut self,
        parser: &ast::Ident,
        states: &PrimaryMap<StateId, State>,
        start: Option<StateId>,
    ) {
        let mut seen = vec![false; states.len()];
        let mut pending: Vec<StateId> = start.into_iter().collect();
        // After an error, the faulty state may be the one that leads to an end.
        if pending.is_empty() || self.diagnostics.has_errors() {
            return;
        }
        while let Some(id) = pending.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            let targets: Vec<TransitionTarget> = match &states[id].transition {
                Transition::To(target, _) => vec![*target],
                Transition::Select { cases, .. } => {
                    let matches_all = |keysets: &[Keyset]| {
                        let any = |k: &Keyset| matches!(k, Keyset::Any);
                        keysets.iter().all(any)
                    };
                    // A value that matches no case is rejected, which is an end.
                    if !cases.iter().any(|(keysets, ..)| matches_all(keysets)) {
                        return;
                    }
                    cases.iter().map(|(_, target, _)| *target).collect()
                }
            };
            for target in targets {
                match target {
                    TransitionTarget::State(next) => pending.push(next),
                    TransitionTarget::Accept | TransitionTarget::Reject => return,
                }
            }
        }
        self.report(declarations::never_ends(parser));
    }

    fn state_names(&mut self, body: &ast::ParserBody) -> States {
        let mut known = States::new();
        for (i, state) in body.states.iter().enumerate() {
            let name = &state.name;
            if name.name == "accept" || name.name == "reject" {
                self.report(names::reserved_state(name));
            } else if let Some(first) = known.get(&name.name) {
                let first = body.states[first.index()].name.span;
                self.report(names::duplicate(name, first));
            } else {
                known.insert(name.name.clone(), StateId::new(i));
            }
        }
        known
    }

    fn state(&mut self, state: &ast::ParserState, names: &States) -> State {
        let annotations = self.annotations_of(&state.annotations, state.span, state.name.span);
        self.scoped(|c| {
            let body = c.in_context(Context::ParserState, |c| c.stmts(&state.body));
            let transition = match &state.transition {
                None => Transition::To(TransitionTarget::Reject, state.span),
                Some(ast::Transition::To(target)) => {
                    Transition::To(c.target(target, names), target.span)
                }
                Some(ast::Transition::Select { keys, cases, span }) => c
                    .in_context(Context::ParserState, |c| {
                        c.select(keys, cases, *span, names)
                    }),
            };
            State {
                name: state.name.name.clone(),
                body,
                transition,
                annotations,
                span: state.name.span,
            }
        })
    }

    /// Reports `@match` annotations of a value set, or of the fields of its type, without a match kind.
    fn match_annotations(&mut self, elem: &Ty, own: &[Annotation]) {
        let mut all: Vec<Annotation> = own.to_vec();
        if let Ty::Composite(id, _) = elem {
            let fields = &self.module.composites[*id].fields;
            all.extend(fields.iter().flat_map(|f| f.annotations.iter().cloned()));
        }
        for annotation in all.iter().filter(|a| a.name == "match") {
            let known = match &annotation.body {
                AnnotationBody::Tokens(tokens) => match &tokens[..] {
                    [kind] => self.module.match_kinds.contains(kind),
                    _ => false,
                },
                AnnotationBody::Values(values) => {
                    matches!(values[..], [ConstValue::MatchKind(_)])
                }
                _ => false,
            };
            if !known {
                let given = match &annotation.body {
                    AnnotationBody::Tokens(tokens) => match &tokens[..] {
                        [kind] => Some(kind.clone()),
                        _ => None,
                    },
                    _ => None,
                };
                let kinds = self.module.match_kinds.iter().map(SmolStr::as_str);
                let near = given.as_ref().and_then(|given| nearest(given, kinds));
                let found = tables::match_without_kind(annotation.span, given.as_deref(), near);
                self.report(found);
            }
        }
    }

    /// Returns the state that a transition names.
    pub(super) fn target(&mut self, name: &ast::Ident, names: &States) -> TransitionTarget {
        match name.name.as_str() {
            "accept" => TransitionTarget::Accept,
            "reject" => TransitionTarget::Reject,
            other => match names.get(other) {
                Some(id) => TransitionTarget::State(*id),
                None => {
                    let mut all: Vec<&str> = names
                        .keys()
                        .map(SmolStr::as_str)
                        .chain(["accept", "reject"])
                        .collect();
                    all.sort_unstable();
                    let near = nearest(other, all.into_iter());
                    self.report(names::unknown_state(name, near));
                    TransitionTarget::Reject
                }
            },
        }
    }

    pub(super) fn value_set_decl(
        &mut self,
        decl: &ast::Decl,
        ty: &ast::Type,
        size: &ast::Expr,
        name: &ast::Ident,
    ) -> ValueSetId {
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        let elem = self.full_ty(ty);
        let mut leaves = Vec::new();
        self.leaf_types(&elem, &mut leaves);
        if let Some(bad) = leaves.iter().find(|t| !self.is_matchable(t)) {
            let shown = self.show(bad);
            let help = "hold its fields: `value_set<tuple<...>>`, or a struct of them";
            self.report(types::key_type(ty.span, &shown, "a value set", help));
        }
        self.match_annotations(&elem, &annotations);
        let size = self.expr(size, None);
        if size.ty != Ty::Poison {
            if !matches!(size.ty, Ty::Int | Ty::Bits { .. }) {
                let shown = self.show(&size.ty);
                self.report(types::mismatch(size.span, "a number", &shown));
            } else if !self.is_compile_time(&size) {
                self.report(constants::not_constant(
                    size.span,
                    "the size of a value set",
                ));
            } else if let ExprKind::Const(ConstValue::Int(n)) = &size.kind
                && n.sign() != num_bigint::Sign::Plus
            {
                self.report(declarations::bad_size(size.span, "a value set", n));
            }
        }
        let id = self.module.value_sets.push(ValueSet {
            name: name.name.clone(),
            elem,
            size,
            annotations,
            span: name.span,
        });
        if self.context != Context::TopLevel {
            self.expect_use("value set", name);
        }
        self.declare(name, Entity::ValueSet(id));
        id
    }
}
