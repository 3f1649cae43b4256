//! Forward analyses, from the packet's arrival on.

use super::{Domain, goes_on_after_timeout, join, reverse_postorder};
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::{BTreeSet, HashMap};

/// Forward analysis: a fact for each point, derived from those on the paths that lead there.
pub trait Forward {
    /// Fact at a point.
    type Fact: Domain;

    /// Transfer function of a simple statement: one that has no blocks, is not a jump and applies no table.
    fn transfer(&mut self, stmt: &Stmt, fact: Self::Fact) -> After<Self::Fact>;

    /// Returns the fact at a loop's head that holds in every iteration, from the fact before the loop.
    fn loop_head(&mut self, label: Label, body: &Block, fact: Self::Fact) -> Self::Fact;

    /// Refines a fact on the edge where a condition has the value `truth`; `None` if the edge cannot be taken.
    fn branch(&mut self, _cond: Expr, _truth: bool, fact: &Self::Fact) -> Option<Self::Fact> {
        Some(fact.clone())
    }

    /// Refines a fact on the edge where a switch takes a case, given by its index, or the default; `None` if the edge
    /// cannot be taken.
    fn switch(
        &mut self,
        _on: Expr,
        _cases: &[(Vec<Bits>, Block)],
        _taken: Option<usize>,
        fact: &Self::Fact,
    ) -> Option<Self::Fact> {
        Some(fact.clone())
    }

    /// Refines a fact on the edge where a select takes a case.
    fn select(&mut self, _keys: &[Expr], _case: &SelectCase, fact: &Self::Fact) -> Self::Fact {
        fact.clone()
    }

    /// Adjusts the fact after a statement with blocks, which is the join of the paths through them.
    fn paths_met(&mut self, _stmt: &Stmt, _fact: &mut Self::Fact) {}

    /// Adjusts the fact at the start of a pipeline block.
    fn block_begins(&mut self, _fact: &mut Self::Fact) {}

    /// Adjusts the fact at the start of a later stage's parser. Only variables of slots pass from the stage before.
    fn stage_begins(&mut self, _fact: &mut Self::Fact) {}

    /// Adjusts the fact at the start of a table's action.
    fn action_begins(&mut self, _action: Action, _fact: &mut Self::Fact) {}

    /// Adjusts the fact after the application of a table, once its action has run.
    fn applied(&mut self, _hit: Option<Var>, _action: Option<Var>, _fact: &mut Self::Fact) {}

    /// Visits each reachable statement with the final fact before it. A statement that runs from several call sites (an
    /// action's) is visited once per site.
    fn before(&mut self, _stmt: &Stmt, _fact: &Self::Fact) {}

    /// Visits each reachable statement with the final fact after it, if the next statement can follow; as often as
    /// [`Forward::before`].
    fn after(&mut self, _stmt: &Stmt, _fact: &Self::Fact) {}

    /// Edge transfer function of a parser: predecessor's exit fact to this state's entry fact.
    fn leads_to(&mut self, _state: State, fact: Self::Fact) -> Self::Fact {
        fact
    }

    /// Visits each reachable state with the final fact at its start.
    fn state_begins(&mut self, _parser: Parser, _state: State, _fact: &Self::Fact) {}

    /// Adjusts the fact at a state's end, before its transition.
    fn state_ends(&mut self, _fact: &mut Self::Fact) {}

    /// Visits each reachable state with the final fact at its transition.
    fn at_transition(&mut self, _parser: Parser, _state: State, _fact: &Self::Fact) {}
}

/// Facts after a statement, on each edge that leaves it.
pub struct After<F> {
    /// Edge to the next statement.
    pub next: Option<F>,
    /// Edge on which the parser rejects.
    pub rejected: Option<F>,
    /// Edge to the end of the pipeline block, because a called routine exits.
    pub exited: Option<F>,
}

impl<F> After<F> {
    /// Returns the facts after a statement whose only edge leads to the next statement.
    pub fn next(fact: F) -> After<F> {
        After {
            next: Some(fact),
            rejected: None,
            exited: None,
        }
    }
}

/// Runs an analysis over the pipeline. Returns the fact at its end.
pub fn pipeline<A: Forward>(
    program: &Program,
    analysis: &mut A,
    start: A::Fact,
) -> Option<A::Fact> {
    let bodies: Vec<_> = program.blocks.iter().map(|block| block.body).collect();
    blocks(program, analysis, &bodies, Some(start))
}

/// Runs an analysis over consecutive blocks. Returns the fact at their end.
pub fn blocks<A: Forward>(
    program: &Program,
    analysis: &mut A,
    blocks: &[BlockBody],
    start: Option<A::Fact>,
) -> Option<A::Fact> {
    let mut solver = Solver::new(program, analysis);
    let mut now = start;
    for (i, &block) in blocks.iter().enumerate() {
        if let Some(fact) = &mut now {
            solver.analysis.block_begins(fact);
            if i > 0 && matches!(block, BlockBody::Parser(_)) {
                solver.analysis.stage_begins(fact);
            }
        }
        now = match block {
            BlockBody::Parser(parser) => {
                let mut accepted = solver.parser(parser, now);
                if program.on_reject == OnReject::Continue {
                    join(&mut accepted, solver.rejected.take());
                }
                accepted
            }
            BlockBody::Control(routine) | BlockBody::Deparser(routine) => {
                for fact in solver.entered.values_mut() {
                    solver.analysis.block_begins(fact);
                }
                let mut end = solver.body(&program.routines[routine].body, now);
                join(&mut end, solver.exited.take());
                end
            }
        };
    }
    now
}

/// Runs an analysis over a parser alone.
pub fn parser<A: Forward>(program: &Program, analysis: &mut A, parser: Parser, start: A::Fact) {
    Solver::new(program, analysis).parser(parser, Some(start));
}

/// Runs an analysis over consecutive statements of a body. Returns the fact at their end.
pub fn region<A: Forward>(
    program: &Program,
    analysis: &mut A,
    stmts: &[Stmt],
    start: A::Fact,
) -> Option<A::Fact> {
    Solver::new(program, analysis).block(stmts, Some(start))
}

struct Solver<'a, A: Forward> {
    program: &'a Program,
    analysis: &'a mut A,
    /// True once facts are final: they are then passed to the analysis.
    settled: bool,
    /// Facts on the breaks from each label.
    labels: HashMap<Label, Option<A::Fact>>,
    /// Fact on the returns from the body.
    returned: Option<A::Fact>,
    /// Fact on the exits from the pipeline block.
    exited: Option<A::Fact>,
    /// Fact on the parser's rejections.
    rejected: Option<A::Fact>,
    /// True if any statement of the parser may be the one at which it times out.
    times_out: bool,
    /// Facts on the edges into the next control, by entry point.
    entered: HashMap<EntryPoint, A::Fact>,
}

impl<'a, A: Forward> Solver<'a, A> {
    fn new(program: &'a Program, analysis: &'a mut A) -> Solver<'a, A> {
        Solver {
            program,
            analysis,
            settled: true,
            labels: HashMap::new(),
            returned: None,
            exited: None,
            rejected: None,
            times_out: false,
            entered: HashMap::new(),
        }
    }

    fn parser(&mut self, id: Parser, start: Option<A::Fact>) -> Option<A::Fact> {
        let data = &self.program.parsers[id];
        let order = reverse_postorder(data);
        let mut rank: SecondaryMap<State, usize> = SecondaryMap::new();
        for (i, &state) in order.iter().enumerate() {
            rank[state] = i;
        }
        let mut entries: Vec<Option<A::Fact>> = vec![None; order.len()];
        if let Some(entry) = entries.first_mut() {
            *entry = start;
        }
        self.times_out = goes_on_after_timeout(self.program, data, &order);
        // In this order, the predecessors of a state outside of cycles are settled before it is visited.
        let mut todo = BTreeSet::from([0]);
        self.settled = false;
        while let Some(at) = todo.pop_first() {
            let state = &data.states[order[at]];
            let now = self.state(&state.body, entries[at].clone());
            for (target, fact) in self.successors(&state.transition, now) {
                let TransitionTarget::State(next) = target else {
                    continue;
                };
                let fact = self.analysis.leads_to(next, fact);
                if join(&mut entries[rank[next]], Some(fact)) {
                    todo.insert(rank[next]);
                }
            }
        }
        // One more pass, now that all entry facts are settled.
        self.settled = true;
        self.rejected = None;
        let mut accepted = None;
        for (&state, entry) in order.iter().zip(entries) {
            let data = &data.states[state];
            if let Some(fact) = &entry {
                self.analysis.state_begins(id, state, fact);
            }
            let now = self.state(&data.body, entry);
            if let Some(fact) = &now {
                self.analysis.at_transition(id, state, fact);
            }
            for (target, fact) in self.successors(&data.transition, now) {
                match target {
                    TransitionTarget::State(_) | TransitionTarget::Rare => {}
                    TransitionTarget::Accept => {
                        join(&mut accepted, Some(fact));
                    }
                    TransitionTarget::AcceptAt(entry) => match self.entered.get_mut(&entry) {
                        Some(entered) => {
                            entered.join(&fact);
                        }
                        None => {
                            self.entered.insert(entry, fact);
                        }
                    },
                    TransitionTarget::Reject => {
                        join(&mut self.rejected, Some(fact));
                    }
                }
            }
        }
        self.times_out = false;
        accepted
    }

    fn state(&mut self, body: &[Stmt], entry: Option<A::Fact>) -> Option<A::Fact> {
        self.may_time_out(&entry);
        let mut end = self.block(body, entry);
        if let Some(fact) = &mut end {
            self.analysis.state_ends(fact);
        }
        end
    }

    /// Returns a state's successors, with the fact on each edge.
    fn successors(
        &mut self,
        transition: &Transition,
        now: Option<A::Fact>,
    ) -> Vec<(TransitionTarget, A::Fact)> {
        let Some(fact) = now else {
            return Vec::new();
        };
        match transition {
            Transition::To(target) => vec![(*target, fact)],
            Transition::Select { keys, cases } => {
                let taken =
                    |case: &SelectCase| (case.target, self.analysis.select(keys, case, &fact));
                let mut out: Vec<_> = cases.iter().map(taken).collect();
                // No case.
                out.push((TransitionTarget::Reject, fact));
                out
            }
        }
    }

    fn may_time_out(&mut self, now: &Option<A::Fact>) {
        if self.times_out {
            join(&mut self.rejected, now.clone());
        }
    }

    /// Analyses the body of a routine or action. Its returns join at its end.
    fn body(&mut self, block: &[Stmt], now: Option<A::Fact>) -> Option<A::Fact> {
        let outer = self.returned.take();
        let mut end = self.block(block, now);
        let returned = std::mem::replace(&mut self.returned, outer);
        join(&mut end, returned);
        end
    }

    fn block(&mut self, block: &[Stmt], mut now: Option<A::Fact>) -> Option<A::Fact> {
        for stmt in block {
            if let StmtKind::Entry(entry) = stmt.kind {
                join(&mut now, self.entered.remove(&entry));
            }
            let Some(fact) = now else {
                now = self.unreached(stmt);
                continue;
            };
            if self.settled {
                self.analysis.before(stmt, &fact);
            }
            now = self.stmt(stmt, fact);
            if let Some(fact) = &mut now
                && !visit::blocks(&stmt.kind).is_empty()
            {
                self.analysis.paths_met(stmt, fact);
            }
            self.report_after(stmt, &now);
            self.may_time_out(&now);
        }
        now
    }

    fn report_after(&mut self, stmt: &Stmt, now: &Option<A::Fact>) {
        if let (true, Some(fact)) = (self.settled, now) {
            self.analysis.after(stmt, fact);
        }
    }

    /// Analyses a statement that control flow reaches only through entry points inside it. Returns the fact after it.
    fn unreached(&mut self, stmt: &Stmt) -> Option<A::Fact> {
        let StmtKind::If {
            then, otherwise, ..
        } = &stmt.kind
        else {
            return None;
        };
        if self.entered.is_empty() {
            return None;
        }
        let mut end = self.block(then, None);
        join(&mut end, self.block(otherwise, None));
        if let Some(fact) = &mut end {
            self.analysis.paths_met(stmt, fact);
        }
        self.report_after(stmt, &end);
        end
    }

    fn stmt(&mut self, stmt: &Stmt, fact: A::Fact) -> Option<A::Fact> {
        match &stmt.kind {
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                let yes = self.analysis.branch(*cond, true, &fact);
                let no = self.analysis.branch(*cond, false, &fact);
                let mut end = self.block(then, yes);
                let other = self.block(otherwise, no);
                join(&mut end, other);
                end
            }
            StmtKind::Switch { on, cases, default } => {
                let mut end = None;
                for (i, (_, block)) in cases.iter().enumerate() {
                    let here = self.analysis.switch(*on, cases, Some(i), &fact);
                    let out = self.block(block, here);
                    join(&mut end, out);
                }
                let here = self.analysis.switch(*on, cases, None, &fact);
                let out = self.block(default, here);
                join(&mut end, out);
                end
            }
            StmtKind::Labeled(label, block) => {
                let mut end = self.block(block, Some(fact));
                join(&mut end, self.labels.remove(label).flatten());
                end
            }
            StmtKind::Loop(label, block) => {
                let head = self.analysis.loop_head(*label, block, fact);
                // The head's fact holds in every iteration, so the fact at the end of the body adds nothing to it.
                self.block(block, Some(head));
                self.labels.remove(label).flatten()
            }
            StmtKind::Break(label) => {
                join(self.labels.entry(*label).or_default(), Some(fact));
                None
            }
            StmtKind::Continue(_) => None,
            StmtKind::Return => {
                join(&mut self.returned, Some(fact));
                None
            }
            StmtKind::Exit => {
                join(&mut self.exited, Some(fact));
                None
            }
            StmtKind::Apply { table, hit, action } => self.apply(*table, *hit, *action, fact),
            kind => {
                if let Some(block) = visit::in_place(kind) {
                    return self.block(block, Some(fact));
                }
                let after = self.analysis.transfer(stmt, fact);
                join(&mut self.rejected, after.rejected);
                join(&mut self.exited, after.exited);
                after.next
            }
        }
    }

    fn apply(
        &mut self,
        table: Table,
        hit: Option<Var>,
        action: Option<Var>,
        fact: A::Fact,
    ) -> Option<A::Fact> {
        let program = self.program;
        let mut end = None;
        for listed in &program.tables[table].actions {
            let mut here = fact.clone();
            self.analysis.action_begins(listed.action, &mut here);
            let labels = std::mem::take(&mut self.labels);
            let out = self.body(&program.actions[listed.action].body, Some(here));
            self.labels = labels;
            join(&mut end, out);
        }
        if program.tables[table].actions.is_empty() {
            end = Some(fact);
        }
        let mut end = end?;
        self.analysis.applied(hit, action, &mut end);
        Some(end)
    }
}
