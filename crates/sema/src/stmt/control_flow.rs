//! Statements that never reach the next one.

use hir::*;

/// Returns true if control never reaches the end of a block: each path through it returns or exits.
pub(crate) fn always_leaves(block: &[Stmt]) -> bool {
    block
        .iter()
        .any(|stmt| !matches!(stmt.kind, StmtKind::Break | StmtKind::Continue) && leaves(stmt))
}

/// Returns true if control never continues after a statement.
pub(crate) fn leaves(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Exit | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::If { arms, otherwise } => {
            arms.iter().all(|arm| any_leaves(&arm.then)) && any_leaves(otherwise)
        }
        StmtKind::Block(block) | StmtKind::Atomic(block) => any_leaves(block),
        StmtKind::Switch { cases, .. } => all_cases(cases),
        StmtKind::SwitchTable { cases, .. } => all_cases(cases),
        _ => false,
    }
}

fn any_leaves(block: &[Stmt]) -> bool {
    block.iter().any(leaves)
}

fn all_cases<L>(cases: &[SwitchCase<L>]) -> bool {
    cases.iter().any(|c| c.is_default) && cases.iter().all(|c| any_leaves(&c.body))
}
