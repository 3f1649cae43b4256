//! Minimises atomic blocks, and gives each its own key variables.
//!
//! Guarantees: an atomic block whose statements need no protection is dissolved, and atomic blocks are not nested.
//! Calls without an effect whose results do not depend on their position move before the first keyed call, with
//! variables for their results. If [`crate::atomic::region`] accepts a block, the block begins with the statement that
//! first calls a flow state or register. All calls of one cell then have the same variables as key. These are written
//! just before the block and nowhere else, so that no pass can make the keys of its calls differ. Cells with equal keys
//! share them.

use super::for_each_body;
use crate::atomic::{self, Cell, FLOW_STATE};
use crate::*;

/// Runs the pass.
pub fn run(program: &mut Program) {
    for_each_body(program, |program, body, _| {
        let mut block = std::mem::take(body);
        stay_inside(program, &StmtKind::Return, &mut block);
        *body = outer(program, block);
    });
}

/// Rewrites statements outside of atomic blocks.
fn outer(program: &mut Program, block: Block) -> Block {
    let mut out = Vec::with_capacity(block.len());
    for mut stmt in block {
        if let StmtKind::Atomic(inner) = stmt.kind {
            let inner = flattened(inner);
            if needs_none(&inner) {
                out.extend(inner);
            } else {
                shrink(program, inner, stmt.span, &mut out);
            }
            continue;
        }
        if let StmtKind::Labeled(label, inner) = &mut stmt.kind {
            stay_inside(program, &StmtKind::Break(*label), inner);
        }
        for inner in visit::blocks_mut(&mut stmt.kind) {
            *inner = outer(program, std::mem::take(inner));
        }
        out.push(stmt);
    }
    out
}

/// Keeps jumps inside an atomic block that ends `block`. A jump to the end of `block` becomes a break to the end of the
/// atomic block. Early returns in functions and actions are such jumps.
fn stay_inside(program: &mut Program, jump: &StmtKind, block: &mut Block) {
    let Some(last) = block.last_mut() else {
        return;
    };
    let inner = match &mut last.kind {
        StmtKind::Atomic(inner) => inner,
        kind @ (StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::Labeled(..)) => {
            for inner in visit::blocks_mut(kind) {
                stay_inside(program, jump, inner);
            }
            return;
        }
        _ => return,
    };
    let jumps = |stmt: &Stmt| {
        let mut found = false;
        visit::walk_block(std::slice::from_ref(stmt), &mut |stmt| {
            found |= stmt.kind == *jump;
        });
        found
    };
    let Some(first) = inner.iter().position(jumps) else {
        return;
    };
    let mut rest = inner.split_off(first);
    let own = program.make_label();
    visit::walk_block_mut(&mut rest, &mut |stmt| {
        if stmt.kind == *jump {
            stmt.kind = StmtKind::Break(own);
        }
    });
    let kind = StmtKind::Labeled(own, rest);
    let span = last.span;
    inner.push(Stmt::new(kind, span));
}

/// Flattens nested atomic blocks into the outer one.
fn flattened(block: Block) -> Block {
    let mut out = Vec::with_capacity(block.len());
    for mut stmt in block {
        if let StmtKind::Atomic(inner) = stmt.kind {
            out.extend(flattened(inner));
            continue;
        }
        for inner in visit::blocks_mut(&mut stmt.kind) {
            *inner = flattened(std::mem::take(inner));
        }
        out.push(stmt);
    }
    out
}

/// Takes the statements out of an atomic block that needs no protection.
pub(super) fn without(kind: &mut StmtKind) -> Option<Block> {
    match kind {
        StmtKind::Atomic(block) if needs_none(block) => Some(std::mem::take(block)),
        _ => None,
    }
}

/// Returns true if a block accesses nothing except the packet's own storage.
fn needs_none(block: &Block) -> bool {
    let mut plain = true;
    visit::walk_block(block, &mut |stmt| {
        plain &= match &stmt.kind {
            StmtKind::Extern(call) => call.effect == Effect::None,
            StmtKind::Call(..) | StmtKind::Apply { .. } => false,
            _ => true,
        };
    });
    plain
}

/// Moves calls whose results do not depend on their position in the block before its first keyed call.
fn hoist(program: &mut Program, block: &mut Block) {
    let is_first = |stmt: &Stmt| {
        let mut found = false;
        visit::walk_block(std::slice::from_ref(stmt), &mut |inner| {
            found |= atomic::keyed_call(program, &inner.kind).is_some();
        });
        found
    };
    let Some(first) = block.iter().position(is_first) else {
        return;
    };
    // The writes of tables and routines are unknown.
    let mut is_known = true;
    visit::walk_block(&block[first..], &mut |stmt| {
        is_known &= !matches!(stmt.kind, StmtKind::Call(..) | StmtKind::Apply { .. });
    });
    if !is_known {
        return;
    }
    let region = block.split_off(first);
    let rest = without_fixed(program, region.clone(), &region, block);
    block.extend(rest);
}

/// Moves the calls whose inputs `region` does not change to `before`. Returns the part of `region` with reads of their
/// result variables in their place.
fn without_fixed(program: &mut Program, part: Block, region: &[Stmt], before: &mut Block) -> Block {
    let mut out = Vec::with_capacity(part.len());
    for mut stmt in part {
        if let StmtKind::Extern(call) = &mut stmt.kind
            && atomic::is_the_same_anywhere(program, call, region)
        {
            let written = call.args.iter_mut().filter_map(|arg| match arg {
                ExternArg::Out(places) => Some(places),
                _ => None,
            });
            let mut results = Vec::new();
            for place in written.chain([&mut call.result]).flatten() {
                let Some(ty) = program.place_type(*place) else {
                    continue;
                };
                let var = program.vars.push(VarData {
                    name: call.name.clone(),
                    ty,
                    span: stmt.span,
                });
                results.push((std::mem::replace(place, Place::Var(var)), var));
            }
            let span = stmt.span;
            before.push(stmt);
            for (dst, var) in results {
                let value = build::var(program, var, span);
                out.push(Stmt::new(StmtKind::Assign { dst, value }, span));
            }
            continue;
        }
        for inner in visit::blocks_mut(&mut stmt.kind) {
            *inner = without_fixed(program, std::mem::take(inner), region, before);
        }
        out.push(stmt);
    }
    out
}

fn shrink(program: &mut Program, mut block: Block, span: diag::Span, out: &mut Block) {
    hoist(program, &mut block);
    // A refused block remains unchanged, so that the target reports the reason.
    if let Ok(Some(region)) = atomic::region(program, &block) {
        let rest = block.split_off(region.first);
        out.append(&mut block);
        block = rest;
        let mut keys: Vec<Vec<Expr>> = Vec::new();
        for (i, cell) in region.cells.iter().enumerate() {
            let before = region.cells[..i]
                .iter()
                .position(|other| atomic::are_equal(program, &other.key, &cell.key));
            let key = match before {
                Some(other) => keys[other].clone(),
                None => key_variables(program, cell, span, out),
            };
            keys.push(key);
        }
        visit::walk_block_mut(&mut block, &mut |stmt| {
            if let Some((object, at)) = atomic::keyed_call(program, &stmt.kind)
                && let StmtKind::Extern(call) = &mut stmt.kind
                && let Some(ExternArg::In(given)) = call.args.get_mut(at)
            {
                let is_its = |cell: &Cell| cell.is(program, object, given);
                if let Some(i) = region.cells.iter().position(is_its) {
                    given.clone_from(&keys[i]);
                }
            }
        });
    }
    let kind = StmtKind::Atomic(block);
    out.push(Stmt::new(kind, span));
}

/// Creates variables for a cell's key, and appends their assignments.
fn key_variables(
    program: &mut Program,
    cell: &Cell,
    span: diag::Span,
    out: &mut Block,
) -> Vec<Expr> {
    let object = &program.externs[cell.object];
    let path = object.name.clone();
    let names = object
        .type_arg_names
        .first()
        .filter(|_| object.ty == FLOW_STATE);
    let names = names.cloned().unwrap_or_default();
    let mut key = Vec::with_capacity(cell.key.len());
    for (i, &value) in cell.key.iter().enumerate() {
        let name = names.get(i).map_or("key", |name| name.as_str());
        let var = program.vars.push(VarData {
            name: format!("{path}.key.{name}").into(),
            ty: program.ty(value),
            span,
        });
        let dst = Place::Var(var);
        let kind = StmtKind::Assign { dst, value };
        out.push(Stmt::new(kind, span));
        key.push(build::var(program, var, span));
    }
    key
}
