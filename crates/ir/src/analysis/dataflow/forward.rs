//! From the packet's arrival on.

use super::{Domain, goes_on_after_timeout, join, reverse_postorder};
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::{BTreeSet, HashMap};

/// An analysis that follows a packet.
pub trait Forward {
    /// What is known at a point.
    type Fact: Domain;

    /// What is known after a statement that has no blocks, is no jump and applies no table.
    fn transfer(&mut self, stmt: &Stmt, fact: Self::Fact) -> After<Self::Fact>;

    /// What is known whenever a loop's block begins, in whatever round, if `fact` is known before the loop.
    fn loop_head(&mut self, label: Label, body: &Block, fact: Self::Fact) -> Self::Fact;

    /// What is known where a condition turned out as `truth`; nothing if it cannot.
    fn branch(&mut self, _cond: Expr, _truth: bool, fact: &Self::Fact) -> Option<Self::Fact> {
        Some(fact.clone())
    }

    /// What is known where a switch takes a case, by its index, or the default; nothing if it cannot.
    fn switch(
        &mut self,
        _on: Expr,
        _cases: &[(Vec<Bits>, Block)],
        _taken: Option<usize>,
        fact: &Self::Fact,
    ) -> Option<Self::Fact> {
        Some(fact.clone())
    }

    /// What is known where a select takes a case.
    fn select(&mut self, _keys: &[Expr], _case: &SelectCase, fact: &Self::Fact) -> Self::Fact {
        fact.clone()
    }

    /// What is known after a statement with blocks, once the paths through them have met.
    fn paths_met(&mut self, _stmt: &Stmt, _fact: &mut Self::Fact) {}

    /// What is known where a block of the pipeline begins.
    fn block_begins(&mut self, _fact: &mut Self::Fact) {}

    /// What is known where the parser of another stage begins: variables of slots are all that comes from the one before.
    fn stage_begins(&mut self, _fact: &mut Self::Fact) {}

    /// What is known where a table's action begins.
    fn action_begins(&mut self, _action: Action, _fact: &mut Self::Fact) {}

    /// What is known after the application of a table, once its action has run.
    fn applied(&mut self, _hit: Option<Var>, _action: Option<Var>, _fact: &mut Self::Fact) {}

    /// Called with the final fact before each reachable statement. For a statement that is run from several call
    /// sites (an action's), once per site.
    fn before(&mut self, _stmt: &Stmt, _fact: &Self::Fact) {}

    /// Called with the final fact after each reachable statement that the next one can follow, as often as
    /// [`Forward::before`].
    fn after(&mut self, _stmt: &Stmt, _fact: &Self::Fact) {}

    /// What is known where a state begins, of what is known where one ends that leads to it.
    fn leads_to(&mut self, _state: State, fact: Self::Fact) -> Self::Fact {
        fact
    }

    /// Called with the final fact at the start of each reachable state.
    fn state_begins(&mut self, _parser: Parser, _state: State, _fact: &Self::Fact) {}

    /// What is known where a state ends, before its transition.
    fn state_ends(&mut self, _fact: &mut Self::Fact) {}

    /// Called with the final fact where a state's transition is taken.
    fn at_transition(&mut self, _parser: Parser, _state: State, _fact: &Self::Fact) {}
}

/// What is known after a statement, on each edge that leaves it.
pub struct After<F> {
    /// Where the next statement begins.
    pub next: Option<F>,
    /// Where the parser rejects.
    pub rejected: Option<F>,
    /// Where the pipeline's block ends, because a routine that is called exits.
    pub exited: Option<F>,
}

impl<F> After<F> {
    /// The next statement always follows.
    pub fn next(fact: F) -> After<F> {
        After {
            next: Some(fact),
            rejected: None,
            exited: None,
        }
    }
}

/// Runs an analysis over the pipeline; what is known at its end.
pub fn pipeline<A: Forward>(
    program: &Program,
    analysis: &mut A,
    start: A::Fact,
) -> Option<A::Fact> {
    let bodies: Vec<_> = program.blocks.iter().map(|block| block.body).collect();
    blocks(program, analysis, &bodies, Some(start))
}

/// Runs an analysis over blocks that follow each other; what is known at their end.
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

/// Runs an analysis over a parser, without what follows.
pub fn parser<A: Forward>(program: &Program, analysis: &mut A, parser: Parser, start: A::Fact) {
    Solver::new(program, analysis).parser(parser, Some(start));
}

/// Runs an analysis over statements of a body; what is known at their end.
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
    /// Facts are final: they are passed to the analysis.
    settled: bool,
    /// What leaves each label.
    labels: HashMap<Label, Option<A::Fact>>,
    /// What returns from the body.
    returned: Option<A::Fact>,
    /// What ends the pipeline block.
    exited: Option<A::Fact>,
    /// What ends the parser with an error.
    rejected: Option<A::Fact>,
    /// Any statement of the parser may be where its time ends.
    times_out: bool,
    /// What enters the next control, by where.
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
        // In this order a state without cycles is looked at when all that leads to it is settled.
        let mut todo = BTreeSet::from([0]);
        self.settled = false;
        while let Some(at) = todo.pop_first() {
            let state = &data.states[order[at]];
            let now = self.state(&state.body, entries[at].clone());
            for (target, fact) in self.successors(&state.transition, now) {
                let Target::State(next) = target else {
                    continue;
                };
                let fact = self.analysis.leads_to(next, fact);
                if join(&mut entries[rank[next]], Some(fact)) {
                    todo.insert(rank[next]);
                }
            }
        }
        // Once more, now that what each state begins with is settled.
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
                    Target::State(_) | Target::Rare => {}
                    Target::Accept => {
                        join(&mut accepted, Some(fact));
                    }
                    Target::AcceptAt(entry) => match self.entered.get_mut(&entry) {
                        Some(entered) => {
                            entered.join(&fact);
                        }
                        None => {
                            self.entered.insert(entry, fact);
                        }
                    },
                    Target::Reject => {
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

    /// Where a state leads, with what is known there.
    fn successors(
        &mut self,
        transition: &Transition,
        now: Option<A::Fact>,
    ) -> Vec<(Target, A::Fact)> {
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
                out.push((Target::Reject, fact));
                out
            }
        }
    }

    fn may_time_out(&mut self, now: &Option<A::Fact>) {
        if self.times_out {
            join(&mut self.rejected, now.clone());
        }
    }

    /// A routine's or action's body: returns come out at its end.
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

    /// What is known after a statement that only entries in it can reach.
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
                // The end of a round is the beginning of the next, of which nothing more is assumed.
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
