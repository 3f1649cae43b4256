//! What can be told of source expressions before they are built.

use hir::{Arg, Call, Callee, Expr, ExprKind, StackProperty, StmtKind};
use std::collections::{HashMap, HashSet};

/// Whether evaluating an expression may change what another one reads.
pub(crate) fn has_effects(expr: &Expr) -> bool {
    any(expr, &|e| {
        matches!(e.kind, ExprKind::Call(_) | ExprKind::TableHit(..))
    })
}

/// Whether evaluating an expression takes statements: they must not run where it isn't evaluated.
pub(crate) fn takes_statements(expr: &Expr) -> bool {
    any(expr, &|e| {
        matches!(
            e.kind,
            ExprKind::Call(_)
                | ExprKind::TableHit(..)
                | ExprKind::StackProperty(_, StackProperty::Next | StackProperty::Last)
        )
    })
}

/// Whether an argument's evaluation may change what another one reads.
pub(crate) fn arg_has_effects(arg: &Arg) -> bool {
    match arg {
        Arg::In(e) | Arg::Out(e) | Arg::InOut(e) => has_effects(e),
        Arg::Discard(_) | Arg::Absent => false,
    }
}

fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    test(expr)
        || match &expr.kind {
            ExprKind::Const(_)
            | ExprKind::Local(_)
            | ExprKind::Instance(_)
            | ExprKind::This
            | ExprKind::Default
            | ExprKind::Call(_)
            | ExprKind::TableHit(..) => false,
            ExprKind::Field(a, _)
            | ExprKind::TupleField(a, _)
            | ExprKind::StackProperty(a, _)
            | ExprKind::Slice { base: a, .. }
            | ExprKind::IsValid(a)
            | ExprKind::Unary(_, a)
            | ExprKind::Cast(a) => any(a, test),
            ExprKind::StackIndex(a, b) | ExprKind::Binary(_, a, b) => any(a, test) || any(b, test),
            ExprKind::Mux(a, b, c) => any(a, test) || any(b, test) || any(c, test),
            ExprKind::List(elems) => elems.iter().any(|e| any(e, test)),
        }
}

/// How often each control instance is applied by name in the source. An instance that is mentioned
/// in any other way (given to a constructor) counts as applied often.
pub(crate) fn apply_sites(module: &hir::Module) -> HashMap<hir::InstanceId, u32> {
    let mut sites = HashMap::new();
    for control in module.controls.values() {
        let Some(body) = &control.body else { continue };
        calls_in(&body.apply, &mut |call| {
            if let Callee::Control(Expr {
                kind: ExprKind::Instance(id),
                ..
            }) = &call.callee
            {
                *sites.entry(*id).or_insert(0) += 1;
            }
        });
    }
    for instance in module.instances.values() {
        for arg in &instance.args {
            if let Arg::In(Expr {
                kind: ExprKind::Instance(id),
                ..
            }) = arg
            {
                *sites.entry(*id).or_insert(0) += 2;
            }
        }
    }
    sites
}

/// The actions that belong to a control.
pub(crate) fn local_actions(module: &hir::Module) -> HashSet<hir::ActionId> {
    module
        .controls
        .values()
        .filter_map(|c| c.body.as_ref())
        .flat_map(|body| &body.locals)
        .filter_map(|local| match local {
            hir::BodyDecl::Action(id) => Some(*id),
            _ => None,
        })
        .collect()
}

/// Whether a block applies a parser at any depth.
pub(crate) fn applies_parser(block: &[hir::Stmt]) -> bool {
    let mut found = false;
    calls_in(block, &mut |call| {
        found |= matches!(call.callee, Callee::Parser(_));
    });
    found
}

/// Whether a block returns before its end, and nowhere but there and in branches.
pub(crate) fn returns_early(block: &[hir::Stmt]) -> bool {
    let early = match block.split_last() {
        Some((last, rest)) => {
            rest.iter().any(returns) || !matches!(last.kind, StmtKind::Return(_)) && returns(last)
        }
        None => false,
    };
    early && block.iter().all(returns_in_branches)
}

/// Whether a statement contains a `return`.
pub(crate) fn returns(stmt: &hir::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::If {
            then, otherwise, ..
        } => then.iter().chain(otherwise).any(returns),
        StmtKind::Block(inner) | StmtKind::Atomic(inner) => inner.iter().any(returns),
        StmtKind::Switch { cases, .. } => cases.iter().any(|c| c.body.iter().any(returns)),
        StmtKind::For { body, .. } | StmtKind::ForIn { body, .. } => body.iter().any(returns),
        _ => false,
    }
}

fn returns_in_branches(stmt: &hir::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::If {
            then, otherwise, ..
        } => then.iter().chain(otherwise).all(returns_in_branches),
        StmtKind::Block(inner) | StmtKind::Atomic(inner) => inner.iter().all(returns_in_branches),
        StmtKind::Switch { .. } | StmtKind::For { .. } | StmtKind::ForIn { .. } => !returns(stmt),
        _ => true,
    }
}

/// Visits the calls that stand as statements of their own, at any depth of blocks.
fn calls_in(block: &[hir::Stmt], visit: &mut dyn FnMut(&Call)) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Call(call) => visit(call),
            StmtKind::If {
                then, otherwise, ..
            } => {
                calls_in(then, visit);
                calls_in(otherwise, visit);
            }
            StmtKind::Block(inner) | StmtKind::Atomic(inner) => calls_in(inner, visit),
            StmtKind::Switch { cases, .. } => {
                cases.iter().for_each(|c| calls_in(&c.body, visit));
            }
            StmtKind::SwitchTable { cases, .. } => {
                cases.iter().for_each(|c| calls_in(&c.body, visit));
            }
            StmtKind::For {
                init, update, body, ..
            } => {
                calls_in(init, visit);
                calls_in(update, visit);
                calls_in(body, visit);
            }
            StmtKind::ForIn { body, .. } => calls_in(body, visit),
            StmtKind::Local { .. }
            | StmtKind::Instance(_)
            | StmtKind::Assign { .. }
            | StmtKind::Return(_)
            | StmtKind::Exit
            | StmtKind::Break
            | StmtKind::Continue => {}
        }
    }
}
