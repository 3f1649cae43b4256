//! Preparation of a routine's body to be inserted into another.

use crate::*;
use diag::Span;
use std::collections::HashMap;

/// Gives every label of a body a new number.
pub(in crate::passes) fn fresh_labels(program: &mut Program, block: &mut Block) {
    let mut new: HashMap<Label, Label> = HashMap::new();
    visit::walk_block_mut(block, &mut |stmt| match &mut stmt.kind {
        StmtKind::Labeled(label, _) | StmtKind::Loop(label, _) => {
            let old = *label;
            *label = program.make_label();
            new.insert(old, *label);
        }
        // Always inside a block whose label was just renamed.
        StmtKind::Break(label) | StmtKind::Continue(label) => {
            if let Some(&renamed) = new.get(label) {
                *label = renamed;
            }
        }
        _ => {}
    });
}

/// Removes returns at the end; replaces others by breaks from a block around the body.
pub(in crate::passes) fn returns(program: &mut Program, mut block: Block, span: Span) -> Block {
    while matches!(
        block.last(),
        Some(Stmt {
            kind: StmtKind::Return,
            ..
        })
    ) {
        block.pop();
    }
    let mut any = false;
    visit::walk_block(&block, &mut |stmt| any |= stmt.kind == StmtKind::Return);
    if !any {
        return block;
    }
    let label = program.make_label();
    visit::walk_block_mut(&mut block, &mut |stmt| {
        if stmt.kind == StmtKind::Return {
            stmt.kind = StmtKind::Break(label);
        }
    });
    vec![Stmt::new(StmtKind::Labeled(label, block), span)]
}

/// Inserts statements before every exit.
pub(super) fn before_exits(block: Block, what: &[Stmt]) -> Block {
    if what.is_empty() {
        return block;
    }
    let mut out = Vec::with_capacity(block.len());
    for mut stmt in block {
        if stmt.kind == StmtKind::Exit {
            out.extend_from_slice(what);
        }
        for inner in visit::blocks_mut(&mut stmt.kind) {
            *inner = before_exits(std::mem::take(inner), what);
        }
        out.push(stmt);
    }
    out
}
