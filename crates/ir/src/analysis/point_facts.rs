//! Facts at every point of a pipeline.
//!
//! Runs [`Facts`] forward through the pipeline. Its guarantee is that of [`Facts`], if every packet starts with all
//! variables zero and all headers invalid, except for variables of intrinsic slots, which the architecture sets. About
//! these nothing is assumed at the start of a block, or after a call of an extern with an effect. If copies of a packet
//! enter blocks ([`Program::copies`]), nothing at all is known at the start of a block.

use super::dataflow::{self, After, Forward};
use super::facts::{Facts, KnownVar};
use super::known::Members;
use super::liveness::Liveness;
use super::mentions::{Mentions, Storage};
use crate::visit::Access;
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Facts by program point.
#[derive(Default)]
pub struct PointFacts {
    before: SecondaryMap<StmtId, Option<Rc<Facts>>>,
    transitions: HashMap<(Parser, State), Rc<Facts>>,
    keys: HashMap<Table, Option<Rc<Facts>>>,
}

impl PointFacts {
    /// Computes the facts for all code that the pipeline reaches.
    pub fn new(program: &Program) -> PointFacts {
        let mut knowing = Knowing::new(program);
        knowing.live = live_in_states(program);
        let mut facts = Facts::unknown(program);
        for (var, data) in &program.vars {
            if !knowing.intrinsic.contains(&var) {
                facts.set(var, Value::zero(data.ty));
            }
        }
        for header in program.headers.keys() {
            facts.insert_valid(header, false);
        }
        dataflow::forward(program, &mut knowing, Rc::new(facts));
        knowing.facts
    }

    /// Returns the facts before a statement; `None` if it is unreachable.
    pub fn before(&self, stmt: &Stmt) -> Option<&Facts> {
        self.before[stmt.id].as_deref()
    }

    /// Returns the facts at a state's transition; `None` if it is unreachable.
    pub fn at_transition(&self, parser: Parser, state: State) -> Option<&Facts> {
        self.transitions.get(&(parser, state)).map(|f| &**f)
    }

    /// Returns the facts that hold at all evaluations of a table's key; `None` if the table is never applied.
    pub fn at_key(&self, table: Table) -> Option<&Facts> {
        self.keys.get(&table)?.as_deref()
    }
}

/// Returns the facts after a parser state's body; `None` if its end is unreachable.
pub fn after_state(program: &Program, body: &Block, before: Facts) -> Option<Facts> {
    let mut knowing = Knowing::new(program);
    let after = dataflow::forward_region(program, &mut knowing, body, Rc::new(before))?;
    Some((*after).clone())
}

/// Number of states from which on a parser's facts are restricted to live storage. In smaller parsers facts about dead
/// storage do no harm.
const MANY_STATES: usize = 64;

/// Live storage at the start of a state.
struct LiveThere {
    vars: Vec<Var>,
    headers: Members,
}

/// Returns the live storage at the start of large parsers' states, to which facts are restricted there. Otherwise each
/// state's facts about its own variables would travel through all other states of a long loop.
fn live_in_states(program: &Program) -> HashMap<State, LiveThere> {
    let mut found = HashMap::new();
    let parsers = program.parsers.values();
    let mut large = parsers
        .filter(|parser| parser.states.len() >= MANY_STATES)
        .peekable();
    if large.peek().is_none() {
        return found;
    }
    let live = Liveness::new(program);
    for state in large.flat_map(|parser| parser.states.keys()) {
        let headers = program.headers.keys();
        let there = LiveThere {
            vars: live.vars_in_state(state).collect(),
            headers: headers.map(|h| live.valid_in_state(state, h)).collect(),
        };
        found.insert(state, there);
    }
    found
}

struct Knowing<'a> {
    program: &'a Program,
    facts: PointFacts,
    intrinsic: HashSet<Var>,
    /// Storage that loops write, by label.
    written: HashMap<Label, Rc<Vec<Storage>>>,
    /// See [`live_in_states`].
    live: HashMap<State, LiveThere>,
}

impl<'a> Knowing<'a> {
    fn new(program: &'a Program) -> Knowing<'a> {
        Knowing {
            program,
            facts: PointFacts::default(),
            intrinsic: program.intrinsic_vars(),
            written: HashMap::new(),
            live: HashMap::new(),
        }
    }
}

impl Forward for Knowing<'_> {
    type Fact = Rc<Facts>;

    fn before(&mut self, stmt: &Stmt, fact: &Rc<Facts>) {
        debug_assert!(stmt.id.as_u32() < self.program.stmts);
        dataflow::join(&mut self.facts.before[stmt.id], Some(fact.clone()));
        if let StmtKind::Apply { table, .. } = stmt.kind {
            let known = self.facts.keys.entry(table).or_default();
            dataflow::join(known, Some(fact.clone()));
        }
    }

    fn at_transition(&mut self, parser: Parser, state: State, fact: &Rc<Facts>) {
        self.facts.transitions.insert((parser, state), fact.clone());
    }

    fn leads_to(&mut self, state: State, mut fact: Rc<Facts>) -> Rc<Facts> {
        if let Some(live) = self.live.get(&state) {
            Rc::make_mut(&mut fact).keep(&live.vars, &live.headers);
        }
        fact
    }

    fn block_begins(&mut self, fact: &mut Rc<Facts>) {
        let facts = Rc::make_mut(fact);
        if self.program.copies {
            *facts = Facts::unknown(self.program);
        }
        self.intrinsic.iter().for_each(|&var| facts.kill(var));
    }

    fn stage_begins(&mut self, fact: &mut Rc<Facts>) {
        // Facts about copies must not survive: the original need not be in a slot.
        *Rc::make_mut(fact) = Facts::unknown(self.program);
    }

    fn loop_head(&mut self, label: Label, body: &Block, mut fact: Rc<Facts>) -> Rc<Facts> {
        let written = self.written.entry(label).or_insert_with(|| {
            let mentions = Mentions::of_block(self.program, body);
            Rc::new(mentions.written.into_iter().collect())
        });
        kill_all(Rc::make_mut(&mut fact), written);
        fact
    }

    fn branch(&mut self, cond: Expr, truth: bool, fact: &Rc<Facts>) -> Option<Rc<Facts>> {
        if fact.eval(self.program, cond) == Some(Value::Bool(!truth)) {
            return None;
        }
        let mut fact = fact.clone();
        Rc::make_mut(&mut fact).assume(self.program, cond, truth);
        Some(fact)
    }

    fn switch(
        &mut self,
        on: Expr,
        cases: &[(Vec<Bits>, Block)],
        taken: Option<usize>,
        fact: &Rc<Facts>,
    ) -> Option<Rc<Facts>> {
        let known = fact.eval(self.program, on).map(|value| value.to_bits());
        let holds = |values: &[Bits]| known.as_ref().map(|value| values.contains(value));
        let Some((values, _)) = taken.map(|case| &cases[case]) else {
            let elsewhere = cases.iter().any(|(values, _)| holds(values) == Some(true));
            return (!elsewhere).then(|| fact.clone());
        };
        if holds(values) == Some(false) {
            return None;
        }
        let mut fact = fact.clone();
        if let ([value], ExprKind::Var(var)) = (&values[..], &self.program.exprs[on].kind) {
            let value = Value::from_bits(value, self.program.ty(on));
            Rc::make_mut(&mut fact).refine(*var, value);
        }
        Some(fact)
    }

    fn select(&mut self, keys: &[Expr], case: &SelectCase, fact: &Rc<Facts>) -> Rc<Facts> {
        let mut fact = fact.clone();
        if case.keysets.len() != keys.len() {
            return fact;
        }
        for (&key, keyset) in keys.iter().zip(&case.keysets) {
            let Keyset::Value(bits) = keyset else {
                continue;
            };
            match self.program.exprs[key].kind {
                ExprKind::Var(var) => {
                    let value = Value::from_bits(bits, self.program.ty(key));
                    Rc::make_mut(&mut fact).refine(var, value);
                }
                ExprKind::IsValid(_) => {
                    Rc::make_mut(&mut fact).assume(self.program, key, !bits.is_zero());
                }
                _ => {}
            }
        }
        fact
    }

    fn action_begins(&mut self, action: Action, fact: &mut Rc<Facts>) {
        let params = &self.program.actions[action].params;
        if !params.is_empty() {
            let facts = Rc::make_mut(fact);
            params.iter().for_each(|&param| facts.kill(param));
        }
    }

    fn applied(&mut self, hit: Option<Var>, action: Option<Var>, fact: &mut Rc<Facts>) {
        for var in [hit, action].into_iter().flatten() {
            Rc::make_mut(fact).kill(var);
        }
    }

    fn transfer(&mut self, stmt: &Stmt, mut now: Rc<Facts>) -> After<Rc<Facts>> {
        let p = self.program;
        let mut rejected = None;
        let mut exited = None;
        let mut stops = false;
        match &stmt.kind {
            StmtKind::Assign {
                dst: Place::Var(var),
                value,
            } => Rc::make_mut(&mut now).assign(p, *var, *value),
            StmtKind::Advance(_) => rejected = Some(now.clone()),
            StmtKind::CopyHeader { dst, src } => {
                let valid = now.is_valid(p, *src);
                Rc::make_mut(&mut now).set_valid(p, *dst, valid);
            }
            StmtKind::SetValid(h) => Rc::make_mut(&mut now).set_valid(p, *h, Some(true)),
            StmtKind::SetInvalid(h) => Rc::make_mut(&mut now).set_valid(p, *h, Some(false)),
            StmtKind::PushFront(stacks, by) => {
                shift(p, Rc::make_mut(&mut now), stacks, *by, true);
            }
            StmtKind::PopFront(stacks, by) => {
                shift(p, Rc::make_mut(&mut now), stacks, *by, false);
            }
            StmtKind::Call(..) => {
                let mentions = Mentions::of_stmt(p, &stmt.kind);
                let written: Vec<_> = mentions.written.into_iter().collect();
                kill_all(Rc::make_mut(&mut now), &written);
                exited = mentions.exits.then(|| now.clone());
            }
            StmtKind::Extern(call) => {
                self.extern_call(Rc::make_mut(&mut now), &stmt.kind, call);
            }
            StmtKind::Extract { header, .. } => {
                rejected = Some(now.clone());
                stops = now.is_out_of_bounds(p, *header);
                Rc::make_mut(&mut now).set_valid(p, *header, Some(true));
            }
            StmtKind::Verify { cond, .. } => {
                let known = now.eval(p, *cond);
                if known != Some(Value::Bool(true)) {
                    let mut failed = now.clone();
                    Rc::make_mut(&mut failed).assume(p, *cond, false);
                    rejected = Some(failed);
                }
                stops = known == Some(Value::Bool(false));
                Rc::make_mut(&mut now).assume(p, *cond, true);
            }
            // The analysis ignores fields, and the solver handles statements with blocks, and jumps.
            kind => {
                if let StmtKind::Lookahead { .. } = kind {
                    rejected = Some(now.clone());
                }
                visit::accesses(p, kind, |access| {
                    if let Access::Write(Place::Var(var)) = access {
                        Rc::make_mut(&mut now).kill(var);
                    }
                });
            }
        }
        After {
            next: (!stops).then_some(now),
            rejected,
            exited,
        }
    }
}

impl Knowing<'_> {
    fn extern_call(&self, facts: &mut Facts, kind: &StmtKind, call: &ExternCall) {
        let p = self.program;
        visit::accesses(p, kind, |access| match access {
            visit::Access::Write(Place::Var(var)) => facts.kill(var),
            visit::Access::WriteHeader(header) => facts.set_valid(p, header, None),
            _ => {}
        });
        if call.effect == Effect::None {
            return;
        }
        if call.effect == Effect::Any {
            self.intrinsic.iter().for_each(|&var| facts.kill(var));
        }
        // The extern may call its abstract methods' implementations at any time.
        if let Some(object) = call.object {
            for (_, routine) in &p.externs[object].implementations {
                let body = Mentions::of_block(p, &p.routines[*routine].body);
                kill_all(facts, &body.written.into_iter().collect::<Vec<_>>());
            }
        }
    }
}

fn shift(p: &Program, facts: &mut Facts, stacks: &[Stack], by: u32, up: bool) {
    for &stack in stacks {
        let elems = &p.stacks[stack].elems;
        let old: Vec<_> = elems.iter().map(|&h| facts.valid(h)).collect();
        for (i, &elem) in elems.iter().enumerate() {
            let from = if up {
                i.checked_sub(by as usize)
            } else {
                i.checked_add(by as usize).filter(|&i| i < old.len())
            };
            let valid = from.map_or(Some(false), |from| old[from]);
            facts.set_valid(p, HeaderRef::Header(elem), valid);
        }
    }
    // The next index is shared.
    if let Some(&stack) = stacks.first() {
        let StackData { elems, next, .. } = &p.stacks[stack];
        let value = match facts.var(*next) {
            Some(KnownVar::Value(Value::Bits(bits))) => bits.to_u64(),
            _ => None,
        };
        facts.kill(*next);
        if let Some(value) = value {
            let size = elems.len() as u64;
            let moved = if up {
                value.saturating_add(by.into()).min(size)
            } else {
                value.saturating_sub(by.into())
            };
            facts.set(*next, Value::Bits(Bits::new(32, moved)));
        }
    }
}

fn kill_all(facts: &mut Facts, written: &[Storage]) {
    for storage in written {
        match *storage {
            Storage::Var(var) => facts.kill(var),
            Storage::Header(header) => facts.kill_valid(header),
        }
    }
}
