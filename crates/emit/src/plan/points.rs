//! Facts about headers at every point of a stage.

use super::header_facts::HeaderFacts;
use ir::analysis::dataflow::{self, After, Forward};
use ir::analysis::known::Members;
use ir::{
    Block, BlockBody, Expr, Label, Parser, Program, Routine, RoutineKind, Stage, State, Stmt,
    StmtId, StmtKind, TransitionTarget, visit,
};
use std::collections::{HashMap, HashSet};

/// A statement, and the application of a table that runs it if it is in an action.
type Site = (Option<StmtId>, StmtId);

/// Facts by point; a point that is not reached has none.
#[derive(Debug, Default)]
pub struct Points {
    before: HashMap<Site, HeaderFacts>,
    after: HashMap<Site, HeaderFacts>,
    states: HashMap<State, HeaderFacts>,
    transitions: HashMap<State, HeaderFacts>,
    /// Facts joined over all points at which the parser accepts.
    pub accepted: Option<HeaderFacts>,
    /// Facts at the end of the last control.
    pub control_end: Option<HeaderFacts>,
    /// Facts at the end of the deparser.
    pub deparser_end: Option<HeaderFacts>,
}

impl Points {
    /// Computes the facts.
    pub fn new(
        program: &Program,
        stage: &Stage,
        repeats_from: Option<Routine>,
        only_extracted: &Members,
    ) -> Points {
        let mut in_actions = HashSet::new();
        for action in program.actions.values() {
            visit::walk_block(&action.body, &mut |stmt| {
                in_actions.insert(stmt.id);
            });
        }
        let mut finding = Finding {
            program,
            only_extracted,
            in_actions,
            site: None,
            points: Points::default(),
        };
        let start = HeaderFacts::start(program);
        for (routine, data) in &program.routines {
            if data.kind == RoutineKind::Function {
                let body = [BlockBody::Control(routine)];
                dataflow::forward_blocks(program, &mut finding, &body, Some(start.clone()));
            }
        }
        let blocks = stage.until_verdict();
        let first = repeats_from.map(BlockBody::Control);
        let repeated = blocks.iter().position(|&block| Some(block) == first);
        let (once, repeated) = blocks.split_at(repeated.unwrap_or(blocks.len()));
        let mut end = dataflow::forward_blocks(program, &mut finding, once, Some(start));
        if !repeated.is_empty() {
            // Copies that were made anywhere begin there.
            let unknown = Some(HeaderFacts::unknown(program));
            end = dataflow::forward_blocks(program, &mut finding, repeated, unknown);
        }
        finding.points.control_end.clone_from(&end);
        if let Some(deparser) = stage.deparser {
            let blocks = [BlockBody::Deparser(deparser)];
            let end = dataflow::forward_blocks(program, &mut finding, &blocks, end);
            finding.points.deparser_end = end;
        }
        finding.points
    }

    /// Returns the facts before a statement, in an action run by the application `site`.
    pub fn before(&self, site: Option<StmtId>, stmt: StmtId) -> Option<&HeaderFacts> {
        self.before.get(&(site, stmt))
    }

    /// Returns the facts after a statement, in an action run by the application `site`.
    pub fn after(&self, site: Option<StmtId>, stmt: StmtId) -> Option<&HeaderFacts> {
        self.after.get(&(site, stmt))
    }

    /// Returns the facts at the start of a parser's state.
    pub fn at_state(&self, state: State) -> Option<&HeaderFacts> {
        self.states.get(&state)
    }

    /// Returns the facts at the transition of a parser's state.
    pub fn at_transition(&self, state: State) -> Option<&HeaderFacts> {
        self.transitions.get(&state)
    }
}

struct Finding<'a> {
    program: &'a Program,
    only_extracted: &'a Members,
    /// Statements of actions.
    in_actions: HashSet<StmtId>,
    /// Application of a table that was visited last.
    site: Option<StmtId>,
    points: Points,
}

impl Finding<'_> {
    fn site_of(&self, stmt: &Stmt) -> Site {
        let site = self.site.filter(|_| self.in_actions.contains(&stmt.id));
        (site, stmt.id)
    }
}

impl Forward for Finding<'_> {
    type Fact = HeaderFacts;

    fn before(&mut self, stmt: &Stmt, fact: &HeaderFacts) {
        let site = self.site_of(stmt);
        self.points.before.insert(site, fact.clone());
        if let StmtKind::Apply { .. } = stmt.kind {
            self.site = Some(stmt.id);
        }
    }

    fn after(&mut self, stmt: &Stmt, fact: &HeaderFacts) {
        let site = self.site_of(stmt);
        self.points.after.insert(site, fact.clone());
    }

    fn state_begins(&mut self, _: Parser, state: State, fact: &HeaderFacts) {
        self.points.states.insert(state, fact.clone());
    }

    fn state_ends(&mut self, fact: &mut HeaderFacts) {
        fact.valid_means_extracted(self.only_extracted);
    }

    fn at_transition(&mut self, parser: Parser, state: State, fact: &HeaderFacts) {
        self.points.transitions.insert(state, fact.clone());
        let transition = &self.program.parsers[parser].states[state].transition;
        let accepts = dataflow::targets(transition).iter().any(|target| {
            matches!(
                target,
                TransitionTarget::Accept | TransitionTarget::AcceptAt(_)
            )
        });
        if accepts {
            dataflow::join(&mut self.points.accepted, Some(fact.clone()));
        }
    }

    fn branch(&mut self, cond: Expr, truth: bool, fact: &HeaderFacts) -> Option<HeaderFacts> {
        if fact.decide(self.program, cond) == Some(!truth) {
            return None;
        }
        let mut fact = fact.clone();
        fact.refine(self.program, cond, truth);
        fact.valid_means_extracted(self.only_extracted);
        Some(fact)
    }

    fn loop_head(&mut self, _: Label, body: &Block, mut fact: HeaderFacts) -> HeaderFacts {
        fact.kill(self.program, body);
        fact
    }

    fn transfer(&mut self, stmt: &Stmt, mut fact: HeaderFacts) -> After<HeaderFacts> {
        if let StmtKind::Verify { cond, .. } = stmt.kind {
            return After {
                next: self.branch(cond, true, &fact),
                rejected: None,
                exited: None,
            };
        }
        fact.step(self.program, stmt);
        After::next(fact)
    }
}
