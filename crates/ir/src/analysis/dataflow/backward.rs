//! Backward analyses, from the packet's departure back.

use super::{Domain, goes_on_after_timeout, reverse_postorder, targets};
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// Backward analysis: a fact at each point about the paths that start there. The default fact is that of a point from
/// which no path leads on.
pub trait Backward {
    /// Fact at a point.
    type Fact: Domain + Default;

    /// Transfer function of a simple statement: one that has no blocks, is not a jump and applies no table. The solver
    /// adds the edges on which the statement rejects or exits.
    fn transfer(&mut self, stmt: &Stmt, fact: &mut Self::Fact);

    /// Transfer function of the evaluation of an expression.
    fn computed(&mut self, _expr: Expr, _fact: &mut Self::Fact) {}

    /// Adjusts the fact at the end of a pipeline block.
    fn block_ends(&mut self, _fact: &mut Self::Fact) {}

    /// Visits each block of the pipeline with the final fact at its start.
    fn block_begins(&mut self, _block: BlockBody, _fact: &Self::Fact) {}

    /// Transfer function of the stores of a table's results.
    fn applied(&mut self, _hit: Option<Var>, _action: Option<Var>, _fact: &mut Self::Fact) {}

    /// Visits each statement that the pipeline reaches with the final fact after it. A statement that runs from several
    /// call sites (an action's) is visited once per site; the join of these facts holds.
    fn after(&mut self, _stmt: &Stmt, _fact: &Self::Fact) {}

    /// Visits each loop with the final fact at the start of its iterations. A loop that runs from several call sites is
    /// visited once per site.
    fn round_begins(&mut self, _label: Label, _fact: &Self::Fact) {}

    /// Visits each parser state with the final fact at its start.
    fn state_begins(&mut self, _state: State, _fact: &Self::Fact) {}
}

/// Runs an analysis over the pipeline. Returns the fact at the packet's arrival.
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
    /// True once facts are final: they are then passed to the analysis.
    settled: bool,
    /// Facts after a break from each label.
    breaks: HashMap<Label, A::Fact>,
    /// Facts at the start of each loop's iterations, as far as they are known. They only grow while the facts of an
    /// outer loop are computed, so an inner loop continues from its last fact. The number of iterations over nested
    /// loops is thus linear in the number of changes, not exponential.
    heads: HashMap<Label, A::Fact>,
    /// Facts at each entry point of the control after the parser.
    entered: HashMap<EntryPoint, A::Fact>,
    returned: A::Fact,
    exited: A::Fact,
    rejected: A::Fact,
    /// True if any statement of the parser may be the one at which it times out.
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
        // One more pass, now that the facts at all states' starts are settled.
        self.settled = true;
        for &state in order.iter().rev() {
            self.state(&data.states[state], &begins, &accepted);
            self.analysis.state_begins(state, &begins[state]);
        }
        self.times_out = false;
        begins[data.start].clone()
    }

    /// Returns the fact at a state's start.
    fn state(
        &mut self,
        state: &StateData,
        begins: &SecondaryMap<State, A::Fact>,
        accepted: &A::Fact,
    ) -> A::Fact {
        let mut fact = A::Fact::default();
        for target in targets(&state.transition) {
            match target {
                TransitionTarget::State(next) => fact.join(&begins[next]),
                TransitionTarget::Accept => fact.join(accepted),
                TransitionTarget::AcceptAt(entry) => match self.entered.get(&entry) {
                    Some(entered) => fact.join(entered),
                    None => false,
                },
                TransitionTarget::Reject => fact.join(&self.rejected),
                // No path leads on: the full program restarts.
                TransitionTarget::Rare => false,
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

    /// Returns the fact at a loop's head, a fixpoint.
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
            // An action's loops have other facts at each call site.
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
