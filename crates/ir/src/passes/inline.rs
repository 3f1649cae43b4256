//! Calls become the called routine's body.
//!
//! Guarantees: afterwards nothing is called. A parameter bound to a variable or header that the
//! routine does not touch by another name becomes that variable or header itself, in the routine's
//! tables and their actions too where they belong to this call alone; others are copied as the call
//! would have done. Returns become breaks, and an exit first copies out what calls on the way have
//! yet to copy.
//!
//! A routine's variables are the program's: two copies of its body share them, as two calls did.
//! Labels are new in each copy.

mod bind;
mod body;
mod exits;

pub(super) use body::fresh_labels;

use crate::*;
use std::collections::{HashMap, HashSet};

/// Runs the pass.
pub fn run(program: &mut Program) {
    let mut inliner = Inliner {
        done: HashSet::new(),
        sites: call_sites(program),
    };
    for id in program.actions.keys().collect::<Vec<_>>() {
        let block = std::mem::take(&mut program.actions[id].body);
        let block = inliner.block(program, block);
        program.actions[id].body = block;
    }
    exits::run(program);
    for id in program.routines.keys().collect::<Vec<_>>() {
        inliner.routine(program, id);
    }
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        for state in program.parsers[parser].states.keys().collect::<Vec<_>>() {
            let block = std::mem::take(&mut program.parsers[parser].states[state].body);
            let block = inliner.block(program, block);
            program.parsers[parser].states[state].body = block;
        }
    }
    forget(program, inliner.sites.keys().copied());
}

/// How often each routine is called in the source; a routine in a table's action counts like any.
fn call_sites(program: &Program) -> HashMap<Routine, u32> {
    let mut sites = HashMap::new();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Call(routine, _) = stmt.kind {
                *sites.entry(routine).or_insert(0) += 1;
            }
        });
    }
    sites
}

/// Empties the routines that were called: nobody can run them any more. Methods of extern objects
/// stay.
fn forget(program: &mut Program, called: impl Iterator<Item = Routine>) {
    let kept: HashSet<Routine> = program
        .externs
        .values()
        .flat_map(|object| object.implementations.iter().map(|(_, routine)| *routine))
        .collect();
    for id in called.filter(|id| !kept.contains(id)) {
        program.routines[id].body.clear();
    }
}

struct Inliner {
    /// Routines whose bodies call nothing any more.
    done: HashSet<Routine>,
    sites: HashMap<Routine, u32>,
}

impl Inliner {
    /// Takes the calls out of a routine. Routines do not call themselves, so this ends.
    fn routine(&mut self, program: &mut Program, id: Routine) {
        if !self.done.insert(id) {
            return;
        }
        let block = std::mem::take(&mut program.routines[id].body);
        let block = self.block(program, block);
        program.routines[id].body = block;
    }

    fn block(&mut self, program: &mut Program, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.len());
        for mut stmt in block {
            if let StmtKind::Call(routine, args) = &stmt.kind {
                self.routine(program, *routine);
                let once = self.sites.get(routine) == Some(&1);
                bind::call(program, *routine, args, once, stmt.span, &mut out);
                continue;
            }
            for inner in visit::blocks_mut(&mut stmt.kind) {
                let taken = std::mem::take(inner);
                *inner = self.block(program, taken);
            }
            out.push(stmt);
        }
        out
    }
}
