//! From the packet's departure back.

use super::{Domain, goes_on_after_timeout, reverse_postorder, targets};
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

    /// Called with the final fact where a block of the pipeline begins.
    fn block_begins(&mut self, _block: BlockBody, _fact: &Self::Fact) {}

    /// What may follow before a table's results are stored.
    fn applied(&mut self, _hit: Option<Var>, _action: Option<Var>, _fact: &mut Self::Fact) {}

    /// Called with the final fact after each statement that the pipeline reaches. For a statement that is run from several
    /// call sites (an action's), once per site: what holds is the join.
    fn after(&mut self, _stmt: &Stmt, _fact: &Self::Fact) {}

    /// Called with the final fact where a loop's rounds begin; for a loop that is run from several call sites, once per site.
    fn round_begins(&mut self, _label: Label, _fact: &Self::Fact) {}

    /// Called with the final fact where a parser's state begins.
    fn state_begins(&mut self, _state: State, _fact: &Self::Fact) {}
}

/// Runs an analysis over the pipeline; what may follow where a packet arrives.
pub fn pipeline<A: Backward>(program: &Program, analysis: &mut A) -> A::Fact {
    let mut solver = Solver {
        program,
        analysis,
        settled: true,
        breaks: HashMap::new(),
        heads: HashMap::new(),
        entered: HashMap::new(),
        returned: A::Fact::default(),
        exited: A::Fact::default(),
        rejected: A::Fact::default(),
        times_out: false,
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
        solver.analysis.block_begins(block.body, &fact);
    }
    fact
}

struct Solver<'a, A: Backward> {
    program: &'a Program,
    analysis: &'a mut A,
    /// Facts are final: they are passed to the analysis.
    settled: bool,
    /// What follows a break from each label.
    breaks: HashMap<Label, A::Fact>,
    /// What follows where each loop begins a round, as far as it is found. Facts only grow while those around them are
    /// searched for, so a loop inside another goes on from where it was: nested loops take as many rounds as their facts
    /// change, not a power of it.
    heads: HashMap<Label, A::Fact>,
    /// What follows each entry of the control after the parser.
    entered: HashMap<EntryPoint, A::Fact>,
    returned: A::Fact,
    exited: A::Fact,
    rejected: A::Fact,
    /// Any statement of the parser may be where its time ends.
    times_out: bool,
}

impl<A: Backward> Solver<'_, A> {
    fn parser(&mut self, id: Parser, accepted: A::Fact) -> A::Fact {
        let data = &self.program.parsers[id];
        self.rejected = match self.program.on_reject {
            OnReject::Continue => accepted.clone(),
            OnReject::Stop => A::Fact::default(),
        };
        for fact in self.entered.values_mut() {
            self.analysis.block_ends(fact);
        }
        let order = reverse_postorder(data);
        self.times_out = goes_on_after_timeout(self.program, data, &order);
        let mut begins: SecondaryMap<State, A::Fact> = SecondaryMap::new();
        self.settled = false;
        loop {
            let mut changed = false;
            for &state in order.iter().rev() {
                let fact = self.state(&data.states[state], &begins, &accepted);
                changed |= begins[state].join(&fact);
            }
            if !changed {
                break;
            }
        }
        // Once more, now that what follows each state is settled.
        self.settled = true;
        for &state in order.iter().rev() {
            self.state(&data.states[state], &begins, &accepted);
            self.analysis.state_begins(state, &begins[state]);
        }
        self.times_out = false;
        begins[data.start].clone()
    }

    /// What may follow where a state begins.
    fn state(
        &mut self,
        state: &StateData,
        begins: &SecondaryMap<State, A::Fact>,
        accepted: &A::Fact,
    ) -> A::Fact {
        let mut fact = A::Fact::default();
        for target in targets(&state.transition) {
            match target {
                Target::State(next) => fact.join(&begins[next]),
                Target::Accept => fact.join(accepted),
                Target::AcceptAt(entry) => match self.entered.get(&entry) {
                    Some(entered) => fact.join(entered),
                    None => false,
                },
                Target::Reject => fact.join(&self.rejected),
                // Nothing: the full program restarts.
                Target::Rare => false,
            };
        }
        if let Transition::Select { keys, .. } = &state.transition {
            // No case.
            fact.join(&self.rejected);
            for &key in keys {
                self.analysis.computed(key, &mut fact);
            }
        }
        self.may_time_out(&mut fact);
        self.block(&state.body, &mut fact);
        fact
    }

    fn may_time_out(&self, fact: &mut A::Fact) {
        if self.times_out {
            fact.join(&self.rejected);
        }
    }

    fn block(&mut self, block: &[Stmt], fact: &mut A::Fact) {
        for stmt in block.iter().rev() {
            if self.settled {
                self.analysis.after(stmt, fact);
            }
            self.stmt(stmt, fact);
            self.may_time_out(fact);
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
            StmtKind::Labeled(label, block) => {
                self.breaks.insert(*label, fact.clone());
                self.block(block, fact);
            }
            StmtKind::Loop(label, block) => {
                self.breaks.insert(*label, fact.clone());
                *fact = self.repeat(*label, block);
            }
            StmtKind::Break(label) => *fact = self.breaks.get(label).cloned().unwrap_or_default(),
            StmtKind::Continue(label) => {
                *fact = self.heads.get(label).cloned().unwrap_or_default();
            }
            StmtKind::Return => *fact = self.returned.clone(),
            StmtKind::Exit => *fact = self.exited.clone(),
            StmtKind::Apply { table, hit, action } => self.apply(*table, *hit, *action, fact),
            StmtKind::Entry(entry) => {
                self.entered.insert(*entry, fact.clone());
            }
            kind => {
                if let Some(block) = visit::in_place(kind) {
                    return self.block(block, fact);
                }
                self.analysis.transfer(stmt, fact);
                match kind {
                    StmtKind::Extract { .. }
                    | StmtKind::Lookahead { .. }
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

    /// What may follow where a loop begins.
    fn repeat(&mut self, label: Label, block: &Block) -> A::Fact {
        let settled = std::mem::replace(&mut self.settled, false);
        loop {
            let mut round = self.heads.entry(label).or_default().clone();
            self.block(block, &mut round);
            if !self.heads.entry(label).or_default().join(&round) {
                break;
            }
        }
        self.settled = settled;
        let mut head = self.heads[&label].clone();
        if settled {
            self.analysis.round_begins(label, &head);
            self.block(block, &mut head);
        }
        head
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
            // An action's loops begin anew: elsewhere something else follows.
            let heads = std::mem::take(&mut self.heads);
            self.block(&self.program.actions[listed.action].body, &mut here);
            self.heads = heads;
            self.returned = outer;
            fact.join(&here);
        }
        for key in &data.keys {
            self.analysis.computed(key.expr, fact);
        }
    }
}
