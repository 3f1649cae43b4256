//! Inlines calls.
//!
//! Guarantees: the only remaining calls are those of long scalar [`functions`] with several call sites, outside of
//! parsers and atomic blocks. A parameter bound to a variable or header that the routine does not access by another
//! name is replaced by that variable or header. This includes the routine's tables and their actions, if they belong to
//! this call alone. Other parameters are copied as by the call. Returns become breaks. An exit is preceded by the
//! copies that enclosing calls still have to make.
//!
//! A routine's variables are the program's: two copies of its body share them, as two calls did. Each copy has new
//! labels.

mod bind;
pub(super) mod body;
mod exits;
pub mod functions;

pub(super) use body::fresh_labels;

use crate::*;
use std::collections::{HashMap, HashSet};

/// Runs the pass. Functions of up to `params` parameters may remain.
pub fn run(program: &mut Program, params: usize) {
    let mut inliner = Inliner {
        params,
        done: HashSet::new(),
        sites: call_sites(program),
        kept: HashSet::new(),
    };
    for id in program.actions.keys().collect::<Vec<_>>() {
        let block = std::mem::take(&mut program.actions[id].body);
        let block = inliner.block(program, block, Calls::Stay);
        program.actions[id].body = block;
    }
    exits::run(program);
    for id in program.routines.keys().collect::<Vec<_>>() {
        inliner.routine(program, id);
    }
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        for state in program.parsers[parser].states.keys().collect::<Vec<_>>() {
            let block = std::mem::take(&mut program.parsers[parser].states[state].body);
            let block = inliner.block(program, block, Calls::Go);
            program.parsers[parser].states[state].body = block;
        }
    }
    let Inliner { sites, kept, .. } = inliner;
    remove_inlined(program, sites.into_keys().filter(|id| !kept.contains(id)));
}

/// Counts the call sites of each routine; a call in a table's action counts once.
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

/// Empties the routines that were called, which are now unreachable. Methods of extern objects remain.
fn remove_inlined(program: &mut Program, called: impl Iterator<Item = Routine>) {
    let kept: HashSet<Routine> = program
        .externs
        .values()
        .flat_map(|object| object.implementations.iter().map(|(_, routine)| *routine))
        .collect();
    for id in called.filter(|id| !kept.contains(id)) {
        program.routines[id].body.clear();
    }
}

/// Treatment of calls that could remain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    Stay,
    Go,
}

struct Inliner {
    /// Greatest number of parameters of a function that remains.
    params: usize,
    /// Routines in whose bodies all calls are inlined.
    done: HashSet<Routine>,
    sites: HashMap<Routine, u32>,
    /// Functions that are still called.
    kept: HashSet<Routine>,
}

impl Inliner {
    /// Inlines the calls in a routine. Routines are not recursive, so this terminates.
    fn routine(&mut self, program: &mut Program, id: Routine) {
        if !self.done.insert(id) {
            return;
        }
        let block = std::mem::take(&mut program.routines[id].body);
        let block = self.block(program, block, Calls::Stay);
        program.routines[id].body = block;
    }

    fn block(&mut self, program: &mut Program, block: Block, calls: Calls) -> Block {
        let mut out = Vec::with_capacity(block.len());
        for mut stmt in block {
            if let StmtKind::Call(routine, args) = &stmt.kind {
                self.routine(program, *routine);
                let sites = self.sites.get(routine).copied().unwrap_or(0);
                if calls == Calls::Stay && functions::stays(program, *routine, sites, self.params) {
                    self.kept.insert(*routine);
                    out.push(stmt);
                    continue;
                }
                let mut body = Block::new();
                bind::call(program, *routine, args, sites == 1, stmt.span, &mut body);
                if calls == Calls::Go {
                    body = self.block(program, body, calls);
                }
                out.append(&mut body);
                continue;
            }
            let calls = match stmt.kind {
                StmtKind::Atomic(_) => Calls::Go,
                _ => calls,
            };
            for inner in visit::blocks_mut(&mut stmt.kind) {
                let taken = std::mem::take(inner);
                *inner = self.block(program, taken, calls);
            }
            out.push(stmt);
        }
        out
    }
}
