//! Checks that span several bodies: routines do not recurse, and headers are emitted in deparsers only.

use super::Errors;
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::HashSet;

pub(super) fn check(program: &Program, errors: &mut Errors) {
    let mut callees: SecondaryMap<Routine, Vec<Routine>> = SecondaryMap::new();
    for (id, routine) in &program.routines {
        callees[id] = called_by(program, &routine.body);
    }
    recursion(program, &callees, errors);
    emits(program, &callees, errors);
}

/// Returns the routines that a block calls, including calls in tables' actions.
fn called_by(program: &Program, block: &Block) -> Vec<Routine> {
    let mut found = Vec::new();
    visit::walk_block(block, &mut |stmt| match stmt.kind {
        StmtKind::Call(routine, _) => found.push(routine),
        StmtKind::Apply { table, .. } => {
            for action in &program.tables[table].actions {
                let body = &program.actions[action.action].body;
                visit::walk_block(body, &mut |stmt| {
                    if let StmtKind::Call(routine, _) = stmt.kind {
                        found.push(routine);
                    }
                });
            }
        }
        _ => {}
    });
    found
}

fn recursion(
    program: &Program,
    callees: &SecondaryMap<Routine, Vec<Routine>>,
    errors: &mut Errors,
) {
    // Routines whose callees are all done are done; the rest are recursive.
    let mut done = HashSet::new();
    loop {
        let before = done.len();
        for id in program.routines.keys() {
            if callees[id].iter().all(|callee| done.contains(callee)) {
                done.insert(id);
            }
        }
        if done.len() == before {
            break;
        }
    }
    for (id, data) in &program.routines {
        if !done.contains(&id) {
            errors.enter(format!("routine {}", data.name), data.span);
            errors.add("calls itself, or calls a routine that does");
        }
    }
}

fn emits(program: &Program, callees: &SecondaryMap<Routine, Vec<Routine>>, errors: &mut Errors) {
    let mut deparsers = HashSet::new();
    let mut todo: Vec<_> = program
        .blocks
        .iter()
        .filter_map(|block| match block.body {
            BlockBody::Deparser(routine) => Some(routine),
            BlockBody::Parser(_) | BlockBody::Control(_) => None,
        })
        .collect();
    while let Some(routine) = todo.pop() {
        if deparsers.insert(routine) {
            todo.extend(&callees[routine]);
        }
    }
    for (id, data) in &program.routines {
        if !deparsers.contains(&id) {
            errors.enter(format!("routine {}", data.name), data.span);
            visit::walk_block(&data.body, &mut |stmt| {
                if let StmtKind::Emit(_) = stmt.kind {
                    errors.add("emits outside a deparser");
                }
            });
        }
    }
}
