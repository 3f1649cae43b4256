//! From the packet's departure back.

use super::{Domain, targets};
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// A backward analysis: what may follow each point. The default fact is that of a point from which nothing does.
pub trait Backward {
    /// What may follow from a point on.
    type Fact: Domain + Default;

    /// What may follow before a statement that has no blocks, is no jump and applies no table. That parsers may
    /// reject in its course, and routines exit, is added to it.
    fn transfer(&mut self, stmt: &Stmt, fact: &mut Self::Fact);

    /// What may follow before an expression is computed.
    fn computed(&mut self, _expr: Expr, _fact: &mut Self::Fact) {}

    /// What may follow before a block of the pipeline ends.
    fn block_ends(&mut self, _fact: &mut Self::Fact) {}

    /// What may follow before a table's results are stored.
    fn applied(&mut self, _hit: Option<Var>, _action: Option<Var>, _fact: &mut Self::Fact) {}

    /// Called with the final fact after each statement. For a statement that is run from several call sites, or in several
    /// rounds of a search for a fixpoint, more than once: what holds is the join.
    fn after(&mut self, _stmt: &Stmt, _fact: &Self::Fact) {}
}

/// Runs an analysis over the pipeline; what may follow where a packet arrives.
pub fn pipeline<A: Backward>(program: &Program, analysis: &mut A) -> A::Fact {
    let mut solver = Solver {
        program,
        analysis,
        breaks: HashMap::new(),
        continues: HashMap::new(),
        returned: A::Fact::default(),
        exited: A::Fact::default(),
        rejected: A::Fact::default(),
    };
    let mut fact = A::Fact::default();
    for block in program.blocks.iter().rev() {
        solver.analysis.block_ends(&mut fact);
        match block.body {
            BlockBody::Parser(parser) => fact = solver.parser(parser, fact),
            BlockBody::Control(routine) | BlockBody::Deparser(routine) => {
                solver.exited = fact.clone();
                solver.returned = fact.clone();
                solver.block(&program.routines[routine].body, &mut fact);
            }
        }
    }
    fact
}

struct Solver<'a, A: Backward> {
    program: &'a Program,
    analysis: &'a mut A,
    /// What follows a break from each label.
    breaks: HashMap<Label, A::Fact>,
    /// What follows a continue of each loop.
    continues: HashMap<Label, A::Fact>,
    returned: A::Fact,
    exited: A::Fact,
    rejected: A::Fact,
}

impl<A: Backward> Solver<'_, A> {
    fn parser(&mut self, id: Parser, accepted: A::Fact) -> A::Fact {
        let data = &self.program.parsers[id];
        self.rejected = match self.program.on_reject {
            OnReject::Continue => accepted.clone(),
            OnReject::Stop => A::Fact::default(),
        };
        let mut entries: SecondaryMap<State, A::Fact> = SecondaryMap::new();
        loop {
            let mut changed = false;
            for (state, state_data) in data.states.iter().rev() {
                let mut fact = A::Fact::default();
                for target in targets(&state_data.transition) {
                    match target {
                        Target::State(next) => fact.join(&entries[next]),
                        Target::Accept => fact.join(&accepted),
                        Target::Reject => fact.join(&self.rejected),
                        // Nothing: the full program restarts.
                        Target::Rare => false,
                    };
                }
                if let Transition::Select { keys, .. } = &state_data.transition {
                    // No case.
                    fact.join(&self.rejected);
                    for &key in keys {
                        self.analysis.computed(key, &mut fact);
                    }
                }
                self.block(&state_data.body, &mut fact);
                changed |= entries[state].join(&fact);
            }
            if !changed {
                return entries[data.start].clone();
            }
        }
    }

    fn block(&mut self, block: &[Stmt], fact: &mut A::Fact) {
        for stmt in block.iter().rev() {
            self.analysis.after(stmt, fact);
            self.stmt(stmt, fact);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, fact: &mut A::Fact) {
        match &stmt.kind {
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                let mut other = fact.clone();
                self.block(then, fact);
                self.block(otherwise, &mut other);
                fact.join(&other);
                self.analysis.computed(*cond, fact);
            }
            StmtKind::Switch { on, cases, default } => {
                let after = fact.clone();
                self.block(default, fact);
                for (_, block) in cases {
                    let mut case = after.clone();
                    self.block(block, &mut case);
                    fact.join(&case);
                }
                self.analysis.computed(*on, fact);
            }
            StmtKind::Atomic(block) => self.block(block, fact),
            StmtKind::Labeled(label, block) => {
                self.breaks.insert(*label, fact.clone());
                self.block(block, fact);
            }
            StmtKind::Loop(label, block) => {
                self.breaks.insert(*label, fact.clone());
                let mut head = A::Fact::default();
                loop {
                    self.continues.insert(*label, head.clone());
                    let mut round = head.clone();
                    self.block(block, &mut round);
                    if !head.join(&round) {
                        break;
                    }
                }
                *fact = head;
            }
            StmtKind::Break(label) => *fact = self.breaks.get(label).cloned().unwrap_or_default(),
            StmtKind::Continue(label) => {
                *fact = self.continues.get(label).cloned().unwrap_or_default();
            }
            StmtKind::Return => *fact = self.returned.clone(),
            StmtKind::Exit => *fact = self.exited.clone(),
            StmtKind::Apply { table, hit, action } => self.apply(*table, *hit, *action, fact),
            kind => {
                self.analysis.transfer(stmt, fact);
                match kind {
                    StmtKind::Extract { .. }
                    | StmtKind::Lookahead(_)
                    | StmtKind::Advance(_)
                    | StmtKind::Verify { .. } => {
                        fact.join(&self.rejected);
                    }
                    StmtKind::Call(..) => {
                        fact.join(&self.exited);
                    }
                    _ => {}
                }
            }
        }
    }

    fn apply(&mut self, table: Table, hit: Option<Var>, action: Option<Var>, fact: &mut A::Fact) {
        self.analysis.applied(hit, action, fact);
        let data = &self.program.tables[table];
        let after = fact.clone();
        if !data.actions.is_empty() {
            *fact = A::Fact::default();
        }
        for listed in &data.actions {
            let mut here = after.clone();
            let outer = std::mem::replace(&mut self.returned, after.clone());
            self.block(&self.program.actions[listed.action].body, &mut here);
            self.returned = outer;
            fact.join(&here);
        }
        for key in &data.keys {
            self.analysis.computed(key.expr, fact);
        }
    }
}
