//! Warnings about reads of values that nothing wrote, and of headers that are certainly invalid.
//!
//! A forward data-flow analysis of each body. A scalar counts as written only if every path to that point writes it. A
//! header counts as invalid only if it certainly is. Everything that actions and sub-blocks may write counts as
//! written: the analysis avoids false warnings.

mod parser;
mod state;
mod walk;
mod writes;

use crate::checker::Checker;
use crate::errors::warnings;
use diag::{Diagnostic, Span};
use hir::*;
use state::{Init, InitFacts};
use std::collections::BTreeMap;
use walk::Walk;

pub(super) fn run(checker: &mut Checker<'_>) {
    let mut found = Vec::new();
    let module = &checker.module;
    for function in module.functions.values() {
        body(
            checker,
            &function.proto.params,
            &[],
            &function.body,
            &function.proto.name,
            &mut found,
        );
    }
    for action in module.actions.values() {
        body(
            checker,
            &action.params,
            &[],
            &action.body,
            &action.name,
            &mut found,
        );
    }
    for control in module.controls.values() {
        if let Some(inner) = &control.body {
            let entered = body(
                checker,
                &control.params,
                &inner.locals,
                &inner.apply,
                &control.name,
                &mut found,
            );
            actions(checker, entered, &mut found);
        }
    }
    for parser in module.parsers.values() {
        if let Some(inner) = &parser.body {
            parser::check(checker, parser, inner, &mut found);
        }
    }
    // A diagnostic without a location cannot be shown.
    found.retain(|d: &Diagnostic| !d.primary.span.is_none());
    for diagnostic in found {
        checker.report(diagnostic);
    }
}

/// Analyses one body with its parameters and the declarations before it.
fn body(
    checker: &Checker<'_>,
    params: &[LocalId],
    decls: &[BodyDecl],
    stmts: &[Stmt],
    name: &str,
    found: &mut Vec<Diagnostic>,
) -> Entered {
    let mut walk = Walk::new(checker, true);
    let state = entry(checker, params, InitFacts::default());
    walk.set(Some(state));
    declare(&mut walk, decls);
    walk.block(stmts);
    let end = walk.end();
    if let Some(end) = &end {
        unset_outs(checker, params, end, name, &mut walk.found);
    }
    found.append(&mut walk.found);
    walk.entered
}

/// Facts at the entry of actions.
type Entered = BTreeMap<ActionId, InitFacts>;

/// Analyses the actions that a control's `apply` leads to, directly, through tables or through one another, with the
/// facts about the control's variables at their entry. An action calls only actions that are declared before it. So all
/// calls of the last one are known when it is visited.
fn actions(checker: &Checker<'_>, mut entered: Entered, found: &mut Vec<Diagnostic>) {
    while let Some((id, state)) = entered.pop_last() {
        let action = &checker.module.actions[id];
        let mut walk = Walk::new(checker, true);
        walk.set(Some(entry(checker, &action.params, state)));
        walk.block(&action.body);
        found.append(&mut walk.found);
        for (id, state) in walk.entered {
            let known = entered.remove(&id);
            entered.insert(
                id,
                known.map_or_else(|| state.clone(), |known| known.join(&state)),
            );
        }
    }
}

/// Returns the state at the start of a body, if `state` holds the facts around it.
fn entry(checker: &Checker<'_>, params: &[LocalId], mut state: InitFacts) -> InitFacts {
    for param in params {
        let local = &checker.module.locals[*param];
        let init = match local.kind {
            LocalKind::Param(Direction::Out) => Init::fresh(&checker.module, &local.ty),
            _ => Init::unknown(&checker.module, &local.ty),
        };
        state.set(*param, init);
    }
    state
}

/// Declares the local variables of a parser or control.
fn declare(walk: &mut Walk<'_, '_>, decls: &[BodyDecl]) {
    for decl in decls {
        if let BodyDecl::Local(id, init) = decl {
            walk.declare(*id, init.as_ref());
        }
    }
}

/// Reports `out` parameters that are not written when a body ends.
fn unset_outs(
    checker: &Checker<'_>,
    params: &[LocalId],
    end: &InitFacts,
    name: &str,
    found: &mut Vec<Diagnostic>,
) {
    for param in params {
        let local = &checker.module.locals[*param];
        if local.kind == LocalKind::Param(Direction::Out)
            && end.get(*param).is_some_and(Init::is_unwritten)
        {
            found.push(warnings::out_unset(local.span, &local.name, name));
        }
    }
}

/// Returns the source text at `span`, or `fallback`.
fn text(checker: &Checker<'_>, span: Span, fallback: &str) -> String {
    let text = checker.map.text(span);
    if text.is_empty() || text.len() > 60 || text.contains('\n') {
        fallback.to_owned()
    } else {
        text.to_owned()
    }
}
