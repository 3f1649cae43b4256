//! Variables that a piece of code may write, also through calls of actions and tables.

use hir::*;
use std::collections::HashSet;

/// Collects the variables that statements may write.
pub(super) fn of_block(module: &Module, block: &[Stmt], out: &mut Writes) {
    block.iter().for_each(|s| of_stmt(module, s, out));
}

/// Set of written variables, with the actions that were visited.
#[derive(Default)]
pub(super) struct Writes {
    pub(super) locals: HashSet<LocalId>,
    actions: HashSet<ActionId>,
}

fn of_stmt(module: &Module, stmt: &Stmt, out: &mut Writes) {
    match &stmt.kind {
        StmtKind::Assign { target, .. } | StmtKind::Update { target, .. } => root(target, out),
        StmtKind::Call(call) => of_call(module, call, out),
        StmtKind::If { arms, otherwise } => {
            arms.iter().for_each(|arm| of_block(module, &arm.then, out));
            of_block(module, otherwise, out);
        }
        StmtKind::Block(block) | StmtKind::Atomic(block) => of_block(module, block, out),
        StmtKind::Switch { cases, .. } => cases.iter().for_each(|c| of_block(module, &c.body, out)),
        StmtKind::SwitchTable { table, cases } => {
            of_table(module, *table, out);
            cases.iter().for_each(|c| of_block(module, &c.body, out));
        }
        StmtKind::For {
            init, update, body, ..
        } => {
            of_block(module, init, out);
            of_block(module, update, out);
            of_block(module, body, out);
        }
        StmtKind::ForIn { local, body, .. } => {
            out.locals.insert(*local);
            of_block(module, body, out);
        }
        StmtKind::Local { .. }
        | StmtKind::Instance(_)
        | StmtKind::Return(_)
        | StmtKind::Exit
        | StmtKind::Break
        | StmtKind::Continue => {}
    }
}

fn of_call(module: &Module, call: &Call, out: &mut Writes) {
    for arg in call.args.iter() {
        if let Arg::Out(target) | Arg::InOut(target) = arg {
            root(target, out);
        }
    }
    match &call.callee {
        Callee::Action(id) => of_action(module, *id, out),
        Callee::Table(id) => of_table(module, *id, out),
        Callee::SetValid(e)
        | Callee::SetInvalid(e)
        | Callee::PushFront(e, _)
        | Callee::PopFront(e, _) => root(e, out),
        _ => {}
    }
}

/// Collects the variables that an action may write, its own parameters aside.
pub(super) fn of_action(module: &Module, id: ActionId, out: &mut Writes) {
    if out.actions.insert(id) {
        of_block(module, &module.actions[id].body, out);
    }
}

/// Collects the variables that a table's actions may write.
pub(super) fn of_table(module: &Module, id: TableId, out: &mut Writes) {
    for action in &module.tables[id].actions {
        of_action(module, action.action, out);
        for arg in action.args.iter() {
            if let Arg::Out(target) | Arg::InOut(target) = arg {
                root(target, out);
            }
        }
    }
}

fn root(mut expr: &Expr, out: &mut Writes) {
    loop {
        match &expr.kind {
            ExprKind::Local(id) => {
                out.locals.insert(*id);
                return;
            }
            ExprKind::Field(base, _)
            | ExprKind::TupleField(base, _)
            | ExprKind::StackIndex(base, _)
            | ExprKind::StackProperty(base, _)
            | ExprKind::Slice { base, .. }
            | ExprKind::PartSelect { base, .. } => expr = base,
            _ => return,
        }
    }
}
