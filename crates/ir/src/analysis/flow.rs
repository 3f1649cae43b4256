//! Facts at every point of a pipeline.
//!
//! Runs [`Facts`] forward through the parser's graph to its end states, through the controls in
//! order, and through the actions of applied tables. Guarantees what [`Facts`] does, provided that
//! every packet starts with all variables zero and all headers invalid, but for what the
//! architecture sets: variables of intrinsic slots, of which nothing is assumed when a block begins
//! or an extern with an effect was called.

use super::facts::Facts;
use super::mentions::{Mentions, Storage};
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Facts by program point.
#[derive(Default)]
pub struct Flow {
    before: SecondaryMap<StmtId, Reached>,
    transitions: HashMap<(Parser, State), Rc<Facts>>,
    keys: HashMap<Table, Rc<Facts>>,
}

impl Flow {
    /// Computes the facts of all that the pipeline reaches.
    pub fn new(program: &Program) -> Flow {
        let mut walker = Walker::new(program);
        walker.pipeline();
        walker.flow
    }

    /// Before a statement; `None` if it is never reached.
    pub fn before(&self, stmt: &Stmt) -> Option<&Facts> {
        self.before[stmt.id].as_deref()
    }

    /// Where a state's transition is taken; `None` if never.
    pub fn at_transition(&self, parser: Parser, state: State) -> Option<&Facts> {
        self.transitions.get(&(parser, state)).map(|f| &**f)
    }

    /// Where a table's key is computed, wherever the table is applied; `None` if never.
    pub fn at_key(&self, table: Table) -> Option<&Facts> {
        self.keys.get(&table).map(|f| &**f)
    }
}

/// What is known, or that the point is never reached.
type Reached = Option<Rc<Facts>>;

fn join(into: &mut Reached, other: Reached) -> bool {
    match (into.as_mut(), other) {
        (_, None) => false,
        (None, other) => {
            *into = other;
            true
        }
        (Some(into), Some(other)) => {
            if Rc::ptr_eq(into, &other) || **into == *other {
                return false;
            }
            let mut joined = (**into).clone();
            joined.join(&other);
            let changed = joined != **into;
            *into = Rc::new(joined);
            changed
        }
    }
}

/// The states that the start leads to, in reverse postorder.
fn ranks(parser: &ParserData) -> HashMap<State, usize> {
    let next = |state: State| -> Vec<State> {
        let target = |target: &Target| match target {
            Target::State(next) => Some(*next),
            _ => None,
        };
        match &parser.states[state].transition {
            Transition::To(to) => target(to).into_iter().collect(),
            Transition::Select { cases, .. } => cases
                .iter()
                .filter_map(|case| target(&case.target))
                .collect(),
        }
    };
    let mut seen = HashSet::from([parser.start]);
    let mut path = vec![(parser.start, next(parser.start))];
    let mut finished = Vec::new();
    while let Some((state, rest)) = path.last_mut() {
        match rest.pop() {
            Some(to) if seen.insert(to) => path.push((to, next(to))),
            Some(_) => {}
            None => {
                finished.push(*state);
                path.pop();
            }
        }
    }
    let last = finished.len();
    let rank = |(i, state)| (state, last - i);
    finished.into_iter().enumerate().map(rank).collect()
}

struct Walker<'a> {
    program: &'a Program,
    flow: Flow,
    record: bool,
    /// What leaves each label.
    labels: HashMap<Label, Reached>,
    /// What returns from the body.
    ended: Reached,
    /// What ends the pipeline block.
    exited: Reached,
    /// What ends the parser with an error.
    rejected: Reached,
    intrinsic: HashSet<Var>,
    /// What loops write, by label.
    written: HashMap<Label, Rc<Vec<Storage>>>,
}

/// What is known after a parser state's body; `None` if that is never reached.
pub fn after_state(program: &Program, body: &Block, before: Facts) -> Option<Facts> {
    let mut walker = Walker::new(program);
    walker.record = false;
    let after = walker.block(body, Some(Rc::new(before)))?;
    Some((*after).clone())
}

impl<'a> Walker<'a> {
    fn new(program: &'a Program) -> Walker<'a> {
        Walker {
            program,
            flow: Flow::default(),
            record: true,
            labels: HashMap::new(),
            ended: None,
            exited: None,
            rejected: None,
            intrinsic: program.intrinsic_vars(),
            written: HashMap::new(),
        }
    }
}

impl Walker<'_> {
    fn pipeline(&mut self) {
        let p = self.program;
        let mut facts = Facts::default();
        for (var, data) in &p.vars {
            if !self.intrinsic.contains(&var) {
                facts.set(var, Value::zero(data.ty));
            }
        }
        for header in p.headers.keys() {
            facts.insert_valid(header, false);
        }
        let mut now: Reached = Some(Rc::new(facts));
        for block in &p.blocks {
            if let Some(facts) = &mut now {
                let facts = Rc::make_mut(facts);
                self.intrinsic.iter().for_each(|&var| facts.forget(var));
            }
            now = match block.body {
                BlockBody::Parser(parser) => self.parser(parser, now),
                BlockBody::Control(routine) | BlockBody::Deparser(routine) => {
                    self.exited = None;
                    let mut end = self.body(&p.routines[routine].body, now);
                    join(&mut end, self.exited.take());
                    end
                }
            };
        }
    }

    fn parser(&mut self, id: Parser, start: Reached) -> Reached {
        let data = &self.program.parsers[id];
        let mut entries: HashMap<State, Reached> = HashMap::new();
        entries.insert(data.start, start);
        // In this order a state without cycles is looked at when all that leads to it is settled.
        let rank = ranks(data);
        let mut todo = BTreeSet::from([(rank[&data.start], data.start)]);
        self.record = false;
        while let Some((_, state)) = todo.pop_first() {
            let now = entries[&state].clone();
            let now = self.block(&data.states[state].body, now);
            for (target, facts) in self.successors(&data.states[state].transition, now) {
                if let Target::State(next) = target
                    && join(entries.entry(next).or_default(), facts)
                {
                    todo.insert((rank[&next], next));
                }
            }
        }
        // Once more, now that what each state begins with is settled.
        self.record = true;
        self.rejected = None;
        let mut accepted = None;
        for (state, state_data) in &data.states {
            let Some(now) = entries.get(&state).cloned() else {
                continue;
            };
            let now = self.block(&state_data.body, now);
            if let Some(facts) = &now {
                self.flow.transitions.insert((id, state), facts.clone());
            }
            for (target, facts) in self.successors(&state_data.transition, now) {
                match target {
                    Target::State(_) | Target::Rare => {}
                    Target::Accept => {
                        join(&mut accepted, facts);
                    }
                    Target::Reject => {
                        join(&mut self.rejected, facts);
                    }
                }
            }
        }
        let rejected = self.rejected.take();
        if self.program.on_reject == OnReject::Continue {
            join(&mut accepted, rejected);
        }
        accepted
    }

    /// Where a state leads, with what is known there.
    fn successors(&self, transition: &Transition, now: Reached) -> Vec<(Target, Reached)> {
        let Some(facts) = now else {
            return Vec::new();
        };
        let (keys, cases) = match transition {
            Transition::To(target) => return vec![(*target, Some(facts))],
            Transition::Select { keys, cases } => (keys, cases),
        };
        let mut out: Vec<_> = Vec::new();
        for case in cases {
            let mut here = facts.clone();
            if case.keysets.len() == keys.len() {
                for (&key, keyset) in keys.iter().zip(&case.keysets) {
                    if let (ExprKind::Var(var), Keyset::Value(bits)) =
                        (&self.program.exprs[key].kind, keyset)
                    {
                        let value = Value::from_bits(bits, self.program.ty(key));
                        Rc::make_mut(&mut here).learn(*var, value);
                    } else if let (ExprKind::IsValid(_), Keyset::Value(bits)) =
                        (&self.program.exprs[key].kind, keyset)
                    {
                        Rc::make_mut(&mut here).assume(self.program, key, !bits.is_zero());
                    }
                }
            }
            out.push((case.target, Some(here)));
        }
        // No case.
        out.push((Target::Reject, Some(facts)));
        out
    }

    /// A routine's or action's body: returns come out at its end.
    fn body(&mut self, block: &Block, now: Reached) -> Reached {
        let outer = self.ended.take();
        let mut end = self.block(block, now);
        let returned = std::mem::replace(&mut self.ended, outer);
        join(&mut end, returned);
        end
    }

    fn block(&mut self, block: &Block, mut now: Reached) -> Reached {
        for stmt in block {
            let facts = now.clone()?;
            if self.record {
                debug_assert!(stmt.id.as_u32() < self.program.stmts);
                join(&mut self.flow.before[stmt.id], Some(facts));
            }
            now = self.stmt(&stmt.kind, now);
        }
        now
    }

    fn stmt(&mut self, kind: &StmtKind, now: Reached) -> Reached {
        let p = self.program;
        let mut now = now?;
        match kind {
            StmtKind::Assign {
                dst: Place::Var(var),
                value,
            } => Rc::make_mut(&mut now).assign(p, *var, *value),
            StmtKind::Assign { .. } | StmtKind::Emit(_) | StmtKind::Advance(_) => {
                if let StmtKind::Advance(_) = kind {
                    join(&mut self.rejected, Some(now.clone()));
                }
            }
            StmtKind::CopyHeader { dst, src } => {
                let valid = now.is_valid(p, *src);
                Rc::make_mut(&mut now).set_valid(p, *dst, valid);
            }
            StmtKind::SetValid(h) => Rc::make_mut(&mut now).set_valid(p, *h, Some(true)),
            StmtKind::SetInvalid(h) => Rc::make_mut(&mut now).set_valid(p, *h, Some(false)),
            StmtKind::PushFront(stacks, by) => self.shift(&mut now, stacks, *by, true),
            StmtKind::PopFront(stacks, by) => self.shift(&mut now, stacks, *by, false),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => return self.branch(now, *cond, then, otherwise),
            StmtKind::Switch { on, cases, default } => {
                return self.switch(now, *on, cases, default);
            }
            StmtKind::Atomic(block) => return self.block(block, Some(now)),
            StmtKind::Labeled(label, block) => {
                let mut end = self.block(block, Some(now));
                let left = self.labels.remove(label).flatten();
                join(&mut end, left);
                return end;
            }
            StmtKind::Loop(label, block) => {
                let written = self.written.entry(*label).or_insert_with(|| {
                    let mentions = Mentions::of_block(p, block);
                    Rc::new(mentions.written.into_iter().collect())
                });
                forget_all(Rc::make_mut(&mut now), &written.clone());
                // The end of the round is its beginning, of which nothing more is assumed.
                self.block(block, Some(now));
                return self.labels.remove(label).flatten();
            }
            StmtKind::Break(label) => {
                join(self.labels.entry(*label).or_default(), Some(now));
                return None;
            }
            StmtKind::Continue(_) => return None,
            StmtKind::Return => {
                join(&mut self.ended, Some(now));
                return None;
            }
            StmtKind::Exit => {
                join(&mut self.exited, Some(now));
                return None;
            }
            StmtKind::Apply { table, hit, action } => {
                return self.apply(now, *table, *hit, *action);
            }
            StmtKind::Call(..) => {
                let mentions = Mentions::of_stmt(p, kind);
                let written: Vec<_> = mentions.written.into_iter().collect();
                let facts = Rc::make_mut(&mut now);
                forget_all(facts, &written);
                if mentions.exits {
                    join(&mut self.exited, Some(now.clone()));
                }
            }
            StmtKind::Extern(call) => self.extern_call(Rc::make_mut(&mut now), kind, call),
            StmtKind::Extract { header, .. } => {
                join(&mut self.rejected, Some(now.clone()));
                if now.is_out_of_bounds(p, *header) {
                    return None;
                }
                Rc::make_mut(&mut now).set_valid(p, *header, Some(true));
            }
            StmtKind::Lookahead(place) | StmtKind::PacketLength(place) => {
                if let StmtKind::Lookahead(_) = kind {
                    join(&mut self.rejected, Some(now.clone()));
                }
                if let Place::Var(var) = place {
                    Rc::make_mut(&mut now).forget(*var);
                }
            }
            StmtKind::Verify { cond, .. } => {
                let known = now.eval(p, *cond);
                if known != Some(Value::Bool(true)) {
                    let mut failed = now.clone();
                    Rc::make_mut(&mut failed).assume(p, *cond, false);
                    join(&mut self.rejected, Some(failed));
                }
                if known == Some(Value::Bool(false)) {
                    return None;
                }
                Rc::make_mut(&mut now).assume(p, *cond, true);
            }
        }
        Some(now)
    }

    fn branch(&mut self, now: Rc<Facts>, cond: Expr, then: &Block, otherwise: &Block) -> Reached {
        let known = now.eval(self.program, cond);
        let arm = |truth: bool| {
            if known == Some(Value::Bool(!truth)) {
                return None;
            }
            let mut facts = now.clone();
            Rc::make_mut(&mut facts).assume(self.program, cond, truth);
            Some(facts)
        };
        let (yes, no) = (arm(true), arm(false));
        let mut end = self.block(then, yes);
        let other = self.block(otherwise, no);
        join(&mut end, other);
        end
    }

    fn switch(
        &mut self,
        now: Rc<Facts>,
        on: Expr,
        cases: &[(Vec<Bits>, Block)],
        default: &Block,
    ) -> Reached {
        let known = now.eval(self.program, on).map(|value| value.to_bits());
        let mut end = None;
        let mut taken = false;
        for (values, block) in cases {
            let may = known.as_ref().is_none_or(|value| values.contains(value));
            if !may {
                continue;
            }
            taken |= known.is_some();
            let mut facts = now.clone();
            if let ([value], ExprKind::Var(var)) = (&values[..], &self.program.exprs[on].kind) {
                let value = Value::from_bits(value, self.program.ty(on));
                Rc::make_mut(&mut facts).learn(*var, value);
            }
            let out = self.block(block, Some(facts));
            join(&mut end, out);
        }
        if !taken {
            let out = self.block(default, Some(now));
            join(&mut end, out);
        }
        end
    }

    fn apply(
        &mut self,
        mut now: Rc<Facts>,
        table: Table,
        hit: Option<Var>,
        action: Option<Var>,
    ) -> Reached {
        let p = self.program;
        if self.record {
            let mut known = self.flow.keys.remove(&table);
            join(&mut known, Some(now.clone()));
            self.flow.keys.extend(known.map(|known| (table, known)));
        }
        let mut end = None;
        for listed in &p.tables[table].actions {
            let data = &p.actions[listed.action];
            let mut facts = now.clone();
            if !data.params.is_empty() {
                let facts = Rc::make_mut(&mut facts);
                data.params.iter().for_each(|&param| facts.forget(param));
            }
            let labels = std::mem::take(&mut self.labels);
            let out = self.body(&data.body, Some(facts));
            self.labels = labels;
            join(&mut end, out);
        }
        if p.tables[table].actions.is_empty() {
            end = Some(now.clone());
        }
        now = end?;
        for var in [hit, action].into_iter().flatten() {
            Rc::make_mut(&mut now).forget(var);
        }
        Some(now)
    }

    fn extern_call(&mut self, facts: &mut Facts, kind: &StmtKind, call: &ExternCall) {
        let p = self.program;
        visit::accesses(p, kind, |access| match access {
            visit::Access::Write(Place::Var(var)) => facts.forget(var),
            visit::Access::WriteHeader(header) => facts.set_valid(p, header, None),
            _ => {}
        });
        if call.effect == Effect::None {
            return;
        }
        self.intrinsic.iter().for_each(|&var| facts.forget(var));
        // Its methods run when it pleases.
        if let Some(object) = call.object {
            for (_, routine) in &p.externs[object].implementations {
                let body = Mentions::of_block(p, &p.routines[*routine].body);
                forget_all(facts, &body.written.into_iter().collect::<Vec<_>>());
            }
        }
    }

    fn shift(&mut self, now: &mut Rc<Facts>, stacks: &[Stack], by: u32, up: bool) {
        let p = self.program;
        let facts = Rc::make_mut(now);
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
                Some(super::facts::Known::Value(Value::Bits(bits))) => bits.to_u64(),
                _ => None,
            };
            facts.forget(*next);
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
}

fn forget_all(facts: &mut Facts, written: &[Storage]) {
    for storage in written {
        match *storage {
            Storage::Var(var) => facts.forget(var),
            Storage::Header(header) => facts.forget_valid(header),
        }
    }
}
