//! Variables that loops over the elements of rolled stacks carry from iteration to iteration, or out of the loop.
//!
//! If their values were known, each combination of them would be a separate path through all iterations.

use super::rolled::Rolled;
use ir::visit::{self, Access};
use ir::{Block, Expr, ExprKind, HeaderRef, Place, Program, Stmt, StmtKind, Var};
use std::collections::{HashMap, HashSet};

/// Number of reads of each variable.
type Reads = HashMap<Var, usize>;

/// Returns the variables that are set in loops over elements of rolled stacks, and are read elsewhere or before
/// they are set.
pub(super) fn carried(program: &Program, rolled: &Rolled) -> HashSet<Var> {
    let mut all = Reads::new();
    for body in visit::bodies(program) {
        reads(program, body, &mut all);
    }
    for key in program.tables.values().flat_map(|table| &table.keys) {
        read(program, key.expr, &mut all);
    }
    let mut carried = HashSet::new();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            let StmtKind::Loop(_, body) = &stmt.kind else {
                return;
            };
            if !mentions(program, body, rolled) {
                return;
            }
            let mut inside = Reads::new();
            reads(program, body, &mut inside);
            let mut early = HashSet::new();
            read_early(program, body, &mut HashSet::new(), &mut early);
            visit::walk_block(body, &mut |stmt| {
                visit::accesses(program, &stmt.kind, |access| {
                    if let Access::Write(Place::Var(var)) = access
                        && (early.contains(&var) || all.get(&var) != inside.get(&var))
                    {
                        carried.insert(var);
                    }
                });
            });
        });
    }
    carried
}

fn mentions(program: &Program, body: &Block, rolled: &Rolled) -> bool {
    let mut any = false;
    let element = |header: HeaderRef| rolled.of(header).is_some();
    visit::walk_block(body, &mut |stmt| {
        visit::accesses(program, &stmt.kind, |access| match access {
            Access::Eval(e) => visit::walk_expr(program, e, &mut |data| {
                if let ExprKind::Field(header, _) | ExprKind::IsValid(header) = data.kind {
                    any |= element(header);
                }
            }),
            Access::Write(Place::Field(header, _)) | Access::SetValidity(header, _) => {
                any |= element(header);
            }
            _ => {}
        });
    });
    any
}

fn reads(program: &Program, block: &Block, into: &mut Reads) {
    visit::walk_block(block, &mut |stmt| own_reads(program, stmt, into));
}

fn own_reads(program: &Program, stmt: &Stmt, into: &mut Reads) {
    visit::accesses(program, &stmt.kind, |access| match access {
        Access::Eval(e) => read(program, e, into),
        Access::Read(Place::Var(var)) => *into.entry(var).or_default() += 1,
        _ => {}
    });
}

fn read(program: &Program, e: Expr, into: &mut Reads) {
    visit::walk_expr(program, e, &mut |data| {
        if let ExprKind::Var(var) = data.kind {
            *into.entry(var).or_default() += 1;
        }
    });
}

/// Collects the variables that a block may read before it sets them. Those in `set` were certainly set before it.
fn read_early(program: &Program, block: &Block, set: &mut HashSet<Var>, early: &mut HashSet<Var>) {
    for stmt in block {
        let mut own = Reads::new();
        own_reads(program, stmt, &mut own);
        early.extend(own.into_keys().filter(|var| !set.contains(var)));
        for inner in visit::blocks(&stmt.kind) {
            read_early(program, inner, &mut set.clone(), early);
        }
        visit::accesses(program, &stmt.kind, |access| {
            if let Access::Write(Place::Var(var)) = access {
                set.insert(var);
            }
        });
    }
}
