//! How large a program becomes when its calls are expanded.
//!
//! Targets expand every call. Functions that call the next one twice, thirty levels deep, are a short
//! program and a small IR, but no target could hold what comes of it; so that is refused here.

use diag::Span;
use ir::visit::walk_block;
use ir::{Block, Program, Routine, StmtKind};
use std::collections::HashMap;

/// The most statements that a program may have with all calls expanded.
pub(crate) const MAX_EXPANDED: u64 = 100_000;

/// Where the first routine is applied that makes the program larger than [`MAX_EXPANDED`].
pub(crate) fn too_large(program: &Program) -> Option<Span> {
    let mut sizes = HashMap::new();
    let mut total = 0u64;
    for block in ir::visit::bodies(program) {
        total = total.saturating_add(expanded(program, block, &mut sizes));
    }
    if total <= MAX_EXPANDED {
        return None;
    }
    // The smallest that is too large by itself is nearest to the cause.
    let cause = sizes
        .iter()
        .filter(|&(_, &size)| size > MAX_EXPANDED / 4)
        .min_by_key(|&(_, &s)| s);
    Some(cause.map_or(Span::NONE, |(&routine, _)| program.routines[routine].span))
}

/// Statements of a block with calls expanded. The IR has no recursion and elaboration bounds how deep
/// calls go, so this ends.
fn expanded(program: &Program, block: &Block, sizes: &mut HashMap<Routine, u64>) -> u64 {
    let mut size = 0u64;
    walk_block(block, &mut |stmt| {
        let called = match &stmt.kind {
            StmtKind::Call(routine, _) => match sizes.get(routine) {
                Some(&known) => known,
                None => {
                    let found = expanded(program, &program.routines[*routine].body, sizes);
                    sizes.insert(*routine, found);
                    found
                }
            },
            StmtKind::Apply { table, .. } => {
                let actions = &program.tables[*table].actions;
                actions
                    .iter()
                    .map(|a| program.actions[a.action].body.len() as u64)
                    .sum()
            }
            _ => 0,
        };
        size = size.saturating_add(1).saturating_add(called);
    });
    size
}
