//! Numbers that a loop carries from one iteration to the next: it changes them, and reads the value of the
//! iteration before.
//!
//! A counter's initial value determines all later values. For an analysis that follows values, every iteration is
//! then a separate path. If these numbers are unknown when the loop begins, all iterations are alike.

use super::graph::Graph;
use super::parse_record::ParseRecord;
use ir::analysis::liveness::Liveness;
use ir::visit::{self, Access};
use ir::{Block, Label, Place, Program, Stage, State, Stmt, StmtKind, Type, Var};
use std::collections::{HashMap, HashSet};

/// Variables that loops carry.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    loops: HashMap<Label, Vec<Var>>,
    states: HashMap<State, Vec<Var>>,
}

impl Carried {
    /// Finds the numbers that the loops of a stage carry in variables of the function.
    pub fn new(
        program: &Program,
        graph: &Graph,
        stage: &Stage,
        record: Option<&ParseRecord>,
    ) -> Carried {
        let mut found = Carried::default();
        let parser = &program.parsers[stage.parser];
        let states: Vec<&Block> = parser.states.values().map(|state| &state.body).collect();
        let actions = program.actions.values().map(|action| &action.body);
        let routines = program.routines.values().map(|routine| &routine.body);
        let loops: Vec<(Label, &Block)> = states
            .into_iter()
            .chain(actions)
            .chain(routines)
            .flat_map(|block| loops(block))
            .collect();
        if loops.is_empty() && !graph.states.iter().any(|info| info.cyclic) {
            return found;
        }
        let live = Liveness::new(program);
        let numbers = Numbers::new(program, record);
        for (label, block) in loops {
            let read = |&var: &Var| live.var_in_round(label, var);
            let vars = numbers.set_in(program, block).filter(read).collect();
            found.loops.insert(label, vars);
        }
        for (i, info) in graph.states.iter().enumerate() {
            if !info.cyclic {
                continue;
            }
            let mut vars: Vec<Var> = graph
                .states
                .iter()
                .enumerate()
                .filter(|&(j, _)| graph.reach.contains(i, j) && graph.reach.contains(j, i))
                .flat_map(|(_, other)| numbers.set_in(program, &parser.states[other.state].body))
                .filter(|&var| live.var_in_state(info.state, var))
                .collect();
            vars.sort_unstable();
            vars.dedup();
            found.states.insert(info.state, vars);
        }
        found
    }

    /// Returns the variables that a loop carries.
    pub fn by_loop(&self, label: Label) -> &[Var] {
        self.loops.get(&label).map_or(&[], Vec::as_slice)
    }

    /// Returns the variables that the loop around a parser's state carries.
    pub fn by_state(&self, state: State) -> &[Var] {
        self.states.get(&state).map_or(&[], Vec::as_slice)
    }
}

/// Returns all loops of a block.
fn loops(block: &Block) -> Vec<(Label, &Block)> {
    let mut found = Vec::new();
    let mut next: Vec<&Block> = vec![block];
    while let Some(block) = next.pop() {
        for stmt in block {
            if let StmtKind::Loop(label, body) = &stmt.kind {
                found.push((*label, body));
            }
            next.extend(visit::blocks(&stmt.kind));
        }
    }
    found
}

/// Variables that may hold any number when a loop begins.
struct Numbers {
    /// Variables whose value must be known, or that are in memory.
    not: HashSet<Var>,
}

impl Numbers {
    fn new(program: &Program, record: Option<&ParseRecord>) -> Numbers {
        // An element is found by its known index.
        let mut not: HashSet<Var> = program.stacks.values().map(|stack| stack.next).collect();
        if let Some(record) = record {
            not.extend(program.vars.keys().filter(|&var| record.holds(var)));
        }
        Numbers { not }
    }

    fn is_one(&self, program: &Program, var: Var) -> bool {
        let number = matches!(program.vars[var].ty, Type::Bits { width: 2..=64, .. });
        number && !self.not.contains(&var)
    }

    /// Returns the numbers that a block, or an action of a table that it applies, sets, in order.
    fn set_in(&self, program: &Program, block: &Block) -> impl Iterator<Item = Var> {
        let mut vars = Vec::new();
        let mut note = |stmt: &Stmt| {
            visit::accesses(program, &stmt.kind, |access| {
                if let Access::Write(Place::Var(var)) = access
                    && self.is_one(program, var)
                {
                    vars.push(var);
                }
            });
        };
        visit::walk_block(block, &mut |stmt| {
            note(stmt);
            if let StmtKind::Apply { table, .. } = stmt.kind {
                for action in &program.tables[table].actions {
                    visit::walk_block(&program.actions[action.action].body, &mut note);
                }
            }
        });
        vars.sort_unstable();
        vars.dedup();
        vars.into_iter()
    }
}
