//! Static properties of HIR expressions and statements, determined before elaboration builds IR for them.

use hir::{Arg, Args, Call, Callee, Expr, ExprKind, LocalId, StackProperty, StmtKind};
use std::collections::{HashMap, HashSet};

/// Returns true if evaluating an expression may change what another one reads.
pub(crate) fn has_effects(expr: &Expr) -> bool {
    any(expr, &|e| {
        matches!(e.kind, ExprKind::Call(_) | ExprKind::TableHit(..))
    })
}

/// Returns true if elaboration emits statements to evaluate an expression. They must only run on paths that evaluate
/// the expression.
pub(crate) fn takes_statements(expr: &Expr) -> bool {
    any(expr, &|e| match &e.kind {
        ExprKind::Call(_)
        | ExprKind::TableHit(..)
        | ExprKind::StackProperty(_, StackProperty::Next | StackProperty::Last) => true,
        ExprKind::Chain(first, steps) => chain_heights(first, steps).any(|h| h > MAX_HEIGHT),
        _ => false,
    })
}

/// Maximum height of the tree of a chain of operators. The value of a higher tree is saved in a variable, so that
/// recursion over the IR does not overflow the stack, however long the chain is.
pub(crate) const MAX_HEIGHT: u32 = 100;

/// Returns the height of an expression's tree.
pub(crate) fn height(expr: &Expr) -> u32 {
    match &expr.kind {
        ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::Instance(_)
        | ExprKind::This
        | ExprKind::Default
        | ExprKind::Target
        | ExprKind::Call(_)
        | ExprKind::TableHit(..) => 0,
        ExprKind::Field(a, _)
        | ExprKind::TupleField(a, _)
        | ExprKind::StackProperty(a, _)
        | ExprKind::Slice { base: a, .. }
        | ExprKind::IsValid(a)
        | ExprKind::Unary(_, a)
        | ExprKind::Cast(a) => 1 + height(a),
        ExprKind::StackIndex(a, b) => 1 + height(a).max(height(b)),
        // It is shifted, then sliced.
        ExprKind::PartSelect { base, lo, .. } => 2 + height(base).max(height(lo)),
        ExprKind::Mux(a, b, c) => 1 + height(a).max(height(b)).max(height(c)),
        ExprKind::List(elems) => 1 + elems.iter().map(height).max().unwrap_or(0),
        ExprKind::Chain(first, steps) => match chain_heights(first, steps).last() {
            Some(last) if last <= MAX_HEIGHT => last,
            _ => 0,
        },
    }
}

/// Returns the height of the tree after each operator of a chain. A tree above [`MAX_HEIGHT`] is saved in a variable,
/// and counts as 0 for the next operator.
fn chain_heights(first: &Expr, steps: &[hir::InfixOperation]) -> impl Iterator<Item = u32> {
    steps.iter().scan(height(first), |left, step| {
        let height = 1 + height(&step.right).max(*left);
        *left = if height > MAX_HEIGHT { 0 } else { height };
        Some(height)
    })
}

/// Returns the arguments that the source gives, from left to right, each with its index. The flag is true if evaluating
/// a later argument may change what this one reads.
pub(crate) fn with_effects_after(args: &Args) -> Vec<(usize, &Arg, bool)> {
    let mut after = false;
    let mut all = Vec::new();
    for (i, arg) in args.as_written().rev() {
        all.push((i, arg, after));
        after |= match arg {
            Arg::In(e) | Arg::Out(e) | Arg::InOut(e) => has_effects(e),
            Arg::Discard(_) | Arg::Absent => false,
        };
    }
    all.reverse();
    all
}

/// Returns true if a loop's body may change the elements that the loop iterates over.
pub(crate) fn may_change(body: &[hir::Stmt], elems: &Expr) -> bool {
    let mut changes = false;
    stmts_in(body, &mut |stmt| {
        changes |= match &stmt.kind {
            StmtKind::Call(_) | StmtKind::SwitchTable { .. } => true,
            StmtKind::Assign { target, value } | StmtKind::Update { target, value } => {
                may_overlap(target, elems) || has_effects(target) || has_effects(value)
            }
            StmtKind::Local { init, .. } => init.as_ref().is_some_and(has_effects),
            StmtKind::If { arms, .. } => arms.iter().any(|arm| has_effects(&arm.cond)),
            StmtKind::Return(value) => value.as_ref().is_some_and(has_effects),
            StmtKind::Switch { scrutinee, .. } => has_effects(scrutinee),
            StmtKind::For { cond, .. } => has_effects(cond),
            // Its loop variable may be part of the elements.
            StmtKind::ForIn { .. } => true,
            StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::Instance(_)
            | StmtKind::Exit
            | StmtKind::Break
            | StmtKind::Continue => false,
        };
    });
    changes
}

/// Returns true if a written l-value may overlap the storage that an expression reads.
fn may_overlap(written: &Expr, read: &Expr) -> bool {
    match (&read.kind, path(written), path(read)) {
        (ExprKind::Const(_), ..) => false,
        (ExprKind::List(elems), ..) => elems.iter().any(|e| may_overlap(written, e)),
        (ExprKind::Cast(inner), ..) => may_overlap(written, inner),
        (_, Some((a, to)), Some((b, from))) => {
            let mut steps = to.iter().zip(&from);
            a == b && steps.all(|(to, from)| to.is_none() || from.is_none() || to == from)
        }
        _ => true,
    }
}

/// Returns the variable that an l-value is part of, and the path of fields from the variable to the l-value. `None` in
/// the path is an index.
fn path(place: &Expr) -> Option<(LocalId, Vec<Option<u32>>)> {
    let (base, step) = match &place.kind {
        ExprKind::Local(id) => return Some((*id, Vec::new())),
        ExprKind::Slice { base, .. } | ExprKind::PartSelect { base, .. } => return path(base),
        ExprKind::Field(base, index) | ExprKind::TupleField(base, index) => (base, Some(*index)),
        ExprKind::StackIndex(base, _) => (base, None),
        _ => return None,
    };
    let (id, mut steps) = path(base)?;
    steps.push(step);
    Some((id, steps))
}

fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    test(expr)
        || match &expr.kind {
            ExprKind::Const(_)
            | ExprKind::Local(_)
            | ExprKind::Instance(_)
            | ExprKind::This
            | ExprKind::Default
            | ExprKind::Target
            | ExprKind::Call(_)
            | ExprKind::TableHit(..) => false,
            ExprKind::Field(a, _)
            | ExprKind::TupleField(a, _)
            | ExprKind::StackProperty(a, _)
            | ExprKind::Slice { base: a, .. }
            | ExprKind::IsValid(a)
            | ExprKind::Unary(_, a)
            | ExprKind::Cast(a) => any(a, test),
            ExprKind::StackIndex(a, b) | ExprKind::PartSelect { base: a, lo: b, .. } => {
                any(a, test) || any(b, test)
            }
            ExprKind::Chain(first, steps) => {
                any(first, test) || steps.iter().any(|s| any(&s.right, test))
            }
            ExprKind::Mux(a, b, c) => any(a, test) || any(b, test) || any(c, test),
            ExprKind::List(elems) => elems.iter().any(|e| any(e, test)),
        }
}

/// Counts how often each control instance is applied by name in the source. An instance that is a constructor argument
/// counts as applied twice each time.
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

/// Returns the actions that belong to a control.
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

/// Returns true if a block applies a parser at any depth.
pub(crate) fn applies_parser(block: &[hir::Stmt]) -> bool {
    let mut found = false;
    calls_in(block, &mut |call| {
        found |= matches!(call.callee, Callee::Parser(_));
    });
    found
}

/// Returns true if a function's block has a `return` before its end, and each `return` is at the top level or in
/// branches of `if`.
pub(crate) fn returns_early(block: &[hir::Stmt]) -> bool {
    let early = match block.split_last() {
        Some((last, rest)) => {
            rest.iter().any(returns) || !matches!(last.kind, StmtKind::Return(_)) && returns(last)
        }
        None => false,
    };
    early && block.iter().all(returns_in_branches)
}

/// Returns true if a function's statement contains a `return`.
pub(crate) fn returns(stmt: &hir::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::If { arms, otherwise } => branches(arms, otherwise).any(returns),
        StmtKind::Block(inner) | StmtKind::Atomic(inner) => inner.iter().any(returns),
        StmtKind::Switch { cases, .. } => cases.iter().any(|c| c.body.iter().any(returns)),
        StmtKind::For { body, .. } | StmtKind::ForIn { body, .. } => body.iter().any(returns),
        _ => false,
    }
}

/// Returns the statements of all branches.
fn branches<'a>(
    arms: &'a [hir::IfArm],
    otherwise: &'a [hir::Stmt],
) -> impl Iterator<Item = &'a hir::Stmt> {
    arms.iter().flat_map(|arm| &arm.then).chain(otherwise)
}

fn returns_in_branches(stmt: &hir::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::If { arms, otherwise } => branches(arms, otherwise).all(returns_in_branches),
        StmtKind::Block(inner) | StmtKind::Atomic(inner) => inner.iter().all(returns_in_branches),
        StmtKind::Switch { .. } | StmtKind::For { .. } | StmtKind::ForIn { .. } => !returns(stmt),
        _ => true,
    }
}

/// Returns true if an action's body calls, directly or indirectly, an action with an `exit`.
pub(crate) fn calls_exiting(module: &hir::Module, body: &[hir::Stmt]) -> bool {
    let (mut seen, mut exits) = (HashSet::new(), false);
    let mut left = vec![body];
    while let Some(body) = left.pop() {
        calls_in(body, &mut |call| {
            if let Callee::Action(id) = call.callee
                && seen.insert(id)
            {
                let body = &module.actions[id].body;
                stmts_in(body, &mut |stmt| {
                    exits |= matches!(stmt.kind, StmtKind::Exit)
                });
                left.push(body);
            }
        });
    }
    exits
}

/// Visits the statements that are calls, at any depth of blocks.
fn calls_in(block: &[hir::Stmt], visit: &mut dyn FnMut(&Call)) {
    stmts_in(block, &mut |stmt| {
        if let StmtKind::Call(call) = &stmt.kind {
            visit(call);
        }
    });
}

/// Visits all statements, at any depth of blocks.
fn stmts_in(block: &[hir::Stmt], visit: &mut dyn FnMut(&hir::Stmt)) {
    for stmt in block {
        visit(stmt);
        match &stmt.kind {
            StmtKind::If { arms, otherwise } => {
                arms.iter().for_each(|arm| stmts_in(&arm.then, visit));
                stmts_in(otherwise, visit);
            }
            StmtKind::Block(inner) | StmtKind::Atomic(inner) => stmts_in(inner, visit),
            StmtKind::Switch { cases, .. } => {
                cases.iter().for_each(|c| stmts_in(&c.body, visit));
            }
            StmtKind::SwitchTable { cases, .. } => {
                cases.iter().for_each(|c| stmts_in(&c.body, visit));
            }
            StmtKind::For {
                init, update, body, ..
            } => {
                stmts_in(init, visit);
                stmts_in(update, visit);
                stmts_in(body, visit);
            }
            StmtKind::ForIn { body, .. } => stmts_in(body, visit),
            StmtKind::Local { .. }
            | StmtKind::Instance(_)
            | StmtKind::Assign { .. }
            | StmtKind::Update { .. }
            | StmtKind::Call(_)
            | StmtKind::Return(_)
            | StmtKind::Exit
            | StmtKind::Break
            | StmtKind::Continue => {}
        }
    }
}
