//! Lowers exits in actions to a flag, if an enclosing control has results to copy out.
//!
//! An action that exits ends the pipeline block, but each enclosing control first copies out its results. An inlined
//! control could not do this. So the action sets a flag and returns; the control that applied the table tests the flag
//! and exits, which inlining handles.

use crate::analysis::mentions::Mentions;
use crate::*;
use diag::Span;
use std::collections::HashSet;

/// Runs the lowering. Calls in actions must be inlined already, those in routines not yet.
pub(super) fn run(program: &mut Program) {
    let tables = exiting_tables(program);
    // An action does not know which control applied its table, so if one needs the flag, all use it.
    let needed = program.routines.values().any(|data| {
        let copies_out = data
            .params
            .iter()
            .any(|p| !matches!(p, Param::In(_) | Param::HeaderIn(_)));
        copies_out && reaches(program, &data.body, &tables)
    });
    if !needed {
        return;
    }
    let flag = program.vars.push(VarData {
        name: "exited".into(),
        ty: Type::Bool,
        span: Span::NONE,
    });
    let actions: HashSet<Action> = tables
        .iter()
        .flat_map(|&t| program.tables[t].actions.iter().map(|a| a.action))
        .collect();
    for action in actions {
        let mut body = std::mem::take(&mut program.actions[action].body);
        body = set_flag(program, body, flag);
        program.actions[action].body = body;
    }
    for id in program.routines.keys().collect::<Vec<_>>() {
        let body = std::mem::take(&mut program.routines[id].body);
        let body = test_flag(program, body, flag, &tables);
        program.routines[id].body = body;
    }
}

/// Returns the tables with an action that may exit.
fn exiting_tables(program: &Program) -> HashSet<Table> {
    let exits = |action: Action| Mentions::of_block(program, &program.actions[action].body).exits;
    program
        .tables
        .iter()
        .filter(|(_, data)| data.actions.iter().any(|a| exits(a.action)))
        .map(|(id, _)| id)
        .collect()
}

/// Returns true if a block, or a routine that it calls, applies one of the tables.
fn reaches(program: &Program, block: &Block, tables: &HashSet<Table>) -> bool {
    let mentions = Mentions::of_block(program, block);
    mentions.tables.iter().any(|t| tables.contains(t))
}

/// Replaces `exit` by `flag = true; return`.
fn set_flag(program: &mut Program, block: Block, flag: Var) -> Block {
    let mut out = Vec::new();
    for mut stmt in block {
        let span = stmt.span;
        if let StmtKind::Exit = stmt.kind {
            let value = program.exprs.push(ExprData {
                kind: ExprKind::Bool(true),
                ty: Type::Bool,
                span,
            });
            let dst = Place::Var(flag);
            let kind = StmtKind::Assign { dst, value };
            out.push(Stmt::new(kind, span));
            stmt.kind = StmtKind::Return;
        }
        for inner in visit::blocks_mut(&mut stmt.kind) {
            let taken = std::mem::take(inner);
            *inner = set_flag(program, taken, flag);
        }
        out.push(stmt);
    }
    out
}

fn test_flag(program: &mut Program, block: Block, flag: Var, tables: &HashSet<Table>) -> Block {
    let mut out = Vec::new();
    for mut stmt in block {
        let span = stmt.span;
        if let StmtKind::Apply { table, .. } = stmt.kind
            && tables.contains(&table)
        {
            let value = program.exprs.push(ExprData {
                kind: ExprKind::Bool(false),
                ty: Type::Bool,
                span,
            });
            let dst = Place::Var(flag);
            let kind = StmtKind::Assign { dst, value };
            out.push(Stmt::new(kind, span));
            out.push(stmt);
            let kind = StmtKind::If {
                cond: build::var(program, flag, span),
                then: vec![Stmt::new(StmtKind::Exit, span)],
                otherwise: Vec::new(),
            };
            out.push(Stmt::new(kind, span));
            continue;
        }
        for inner in visit::blocks_mut(&mut stmt.kind) {
            let taken = std::mem::take(inner);
            *inner = test_flag(program, taken, flag, tables);
        }
        out.push(stmt);
    }
    out
}
