//! Liveness: which variables, header fields and validity bits may still be read.
//!
//! Runs backwards through controls, actions of applied tables and the parser's graph, across the
//! blocks of the pipeline. Guarantee: what is not live after a statement is not read on any path
//! from there before it is written again; its value is unobservable. At the end of every
//! block the architecture reads its own variables ([`Program::intrinsic_vars`]), and all there is where copies of a packet
//! may enter another block with it ([`Program::copies`]); deparsers read the validity
//! of what they emit, and all fields if it is valid, so that a header's fields die where it becomes
//! invalid. A dead assignment reads nothing.

use super::dataflow::{self, Backward, Domain};
use super::mentions::{Mentions, Storage};
use crate::visit::{self, Access};
use crate::*;
use cranelift_entity::{EntityRef, SecondaryMap};
use std::collections::{HashMap, HashSet};

/// A set of variables, fields and validity bits.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Live(Vec<u64>);

impl Live {
    fn contains(&self, bit: usize) -> bool {
        self.0
            .get(bit / 64)
            .is_some_and(|w| w >> (bit % 64) & 1 == 1)
    }

    fn insert(&mut self, bit: usize) {
        if self.0.len() <= bit / 64 {
            self.0.resize(bit / 64 + 1, 0);
        }
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn remove(&mut self, bit: usize) {
        if let Some(word) = self.0.get_mut(bit / 64) {
            *word &= !(1 << (bit % 64));
        }
    }
}

impl Domain for Live {
    fn join(&mut self, other: &Live) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut new = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            new |= more & !*word != 0;
            *word |= more;
        }
        new
    }
}

/// Which bit is what.
#[derive(Default, Debug)]
struct Numbering {
    vars: usize,
    /// The validity bit of each header; its fields follow, two bits each.
    headers: SecondaryMap<Header, usize>,
}

impl Numbering {
    fn new(program: &Program) -> Numbering {
        let vars = program.vars.len();
        let mut at = vars;
        let mut headers = SecondaryMap::new();
        for (id, data) in &program.headers {
            headers[id] = at;
            at += 1 + 2 * program.header_types[data.ty].fields.len();
        }
        Numbering { vars, headers }
    }

    fn var(&self, var: Var) -> usize {
        debug_assert!(var.index() < self.vars);
        var.index()
    }

    fn valid(&self, header: Header) -> usize {
        self.headers[header]
    }

    /// A field whose value matters.
    fn field(&self, header: Header, field: u32) -> usize {
        self.headers[header] + 1 + 2 * field as usize
    }

    /// A field whose value matters if the header is valid then.
    fn shown(&self, header: Header, field: u32) -> usize {
        self.headers[header] + 2 + 2 * field as usize
    }
}

/// What is live after each statement, and where loops and the parser's states begin.
#[derive(Debug)]
pub struct Liveness {
    bits: Numbering,
    after: SecondaryMap<StmtId, Option<Live>>,
    rounds: HashMap<Label, Live>,
    states: HashMap<State, Live>,
}

impl Liveness {
    /// Computes what is live in all that the pipeline reaches.
    pub fn new(program: &Program) -> Liveness {
        let mut asking = Asking {
            p: program,
            out: Liveness {
                bits: Numbering::new(program),
                after: SecondaryMap::new(),
                rounds: HashMap::new(),
                states: HashMap::new(),
            },
            intrinsic: program.intrinsic_vars(),
        };
        dataflow::backward(program, &mut asking);
        asking.out
    }

    /// Whether a variable is live after a statement; statements that are never reached keep all.
    pub fn var(&self, stmt: &Stmt, var: Var) -> bool {
        self.asks(stmt, self.bits.var(var))
    }

    /// Whether a variable is live where a loop's rounds begin.
    pub fn var_in_round(&self, label: Label, var: Var) -> bool {
        let live = self.rounds.get(&label);
        live.is_some_and(|live| live.contains(self.bits.var(var)))
    }

    /// Whether a variable is live where a parser's state begins.
    pub fn var_in_state(&self, state: State, var: Var) -> bool {
        let live = self.states.get(&state);
        live.is_some_and(|live| live.contains(self.bits.var(var)))
    }

    /// The variables that are live where a parser's state begins.
    pub fn vars_in_state(&self, state: State) -> impl Iterator<Item = Var> {
        let live = self.states.get(&state);
        let is_live = move |bit: &usize| live.is_some_and(|live| live.contains(*bit));
        (0..self.bits.vars).filter(is_live).map(Var::new)
    }

    /// Whether a header's field is live where a parser's state begins.
    pub fn field_in_state(&self, state: State, header: Header, field: u32) -> bool {
        let bits = [
            self.bits.field(header, field),
            self.bits.shown(header, field),
        ];
        let live = self.states.get(&state);
        live.is_some_and(|live| bits.iter().any(|&bit| live.contains(bit)))
    }

    /// Whether a header's validity is live where a parser's state begins.
    pub fn valid_in_state(&self, state: State, header: Header) -> bool {
        let live = self.states.get(&state);
        live.is_some_and(|live| live.contains(self.bits.valid(header)))
    }

    /// Whether a header's field is live after a statement.
    pub fn field(&self, stmt: &Stmt, header: Header, field: u32) -> bool {
        self.asks(stmt, self.bits.field(header, field))
            || self.asks(stmt, self.bits.shown(header, field))
    }

    /// Whether a header's validity is live after a statement.
    pub fn valid(&self, stmt: &Stmt, header: Header) -> bool {
        self.asks(stmt, self.bits.valid(header))
    }

    fn asks(&self, stmt: &Stmt, bit: usize) -> bool {
        self.after[stmt.id]
            .as_ref()
            .is_none_or(|live| live.contains(bit))
    }
}

struct Asking<'a> {
    p: &'a Program,
    out: Liveness,
    intrinsic: HashSet<Var>,
}

impl Backward for Asking<'_> {
    type Fact = Live;

    fn after(&mut self, stmt: &Stmt, live: &Live) {
        debug_assert!(stmt.id.as_u32() < self.p.stmts);
        self.out.after[stmt.id].get_or_insert_default().join(live);
    }

    fn round_begins(&mut self, label: Label, live: &Live) {
        self.out.rounds.entry(label).or_default().join(live);
    }

    fn state_begins(&mut self, state: State, live: &Live) {
        self.out.states.entry(state).or_default().join(live);
    }

    fn block_ends(&mut self, live: &mut Live) {
        if self.p.copies {
            let bits = &self.out.bits;
            self.p
                .vars
                .keys()
                .for_each(|var| live.insert(bits.var(var)));
            for header in self.p.headers.keys() {
                self.gen_header(HeaderRef::Header(header), live);
            }
        }
        for var in &self.intrinsic {
            live.insert(self.out.bits.var(*var));
        }
    }

    fn computed(&mut self, expr: Expr, live: &mut Live) {
        self.uses(expr, live);
    }

    fn applied(&mut self, hit: Option<Var>, action: Option<Var>, live: &mut Live) {
        for var in [hit, action].into_iter().flatten() {
            live.remove(self.out.bits.var(var));
        }
    }

    fn transfer(&mut self, stmt: &Stmt, live: &mut Live) {
        match &stmt.kind {
            StmtKind::Assign { dst, value } if self.is_live(*dst, live) => {
                self.kill(*dst, live);
                self.uses(*value, live);
            }
            StmtKind::CopyHeader { dst, src } => self.copy(*dst, *src, live),
            StmtKind::SetValid(header) => self.set_valid(*header, live),
            StmtKind::SetInvalid(header) => self.set_invalid(*header, live),
            StmtKind::PushFront(stacks, by) => {
                stacks.iter().for_each(|&s| self.shift(s, *by, true, live));
            }
            StmtKind::PopFront(stacks, by) => {
                stacks.iter().for_each(|&s| self.shift(s, *by, false, live));
            }
            StmtKind::Call(..) => self.all(&Mentions::of_stmt(self.p, &stmt.kind), live),
            StmtKind::Extern(call) => self.extern_call(&stmt.kind, call, live),
            StmtKind::Extract { header, varbit } => {
                self.kill_header(*header, live);
                self.index_uses(*header, live);
                if let Some(size) = varbit {
                    self.uses(*size, live);
                }
            }
            // What is not read later is not computed.
            StmtKind::Assign { .. } => {}
            StmtKind::Emit(header) => self.show(*header, live),
            // The engine does what has blocks or jumps.
            kind => self.scalars(kind, live),
        }
    }
}

impl Asking<'_> {
    /// Of a statement that does nothing to storage but read and write scalars.
    fn scalars(&self, kind: &StmtKind, live: &mut Live) {
        let mut read = Vec::new();
        visit::accesses(self.p, kind, |access| match access {
            Access::Write(place) => self.kill(place, live),
            Access::Eval(expr) => read.push(expr),
            _ => {}
        });
        read.into_iter().for_each(|expr| self.uses(expr, live));
    }

    fn uses(&self, expr: Expr, live: &mut Live) {
        let bits = &self.out.bits;
        visit::walk_expr(self.p, expr, &mut |data| match data.kind {
            ExprKind::Var(var) => live.insert(bits.var(var)),
            ExprKind::Field(header, field) => {
                self.each(header, |h| live.insert(bits.field(h, field)));
            }
            ExprKind::IsValid(header) => self.each(header, |h| live.insert(bits.valid(h))),
            _ => {}
        });
    }

    fn each(&self, header: HeaderRef, mut f: impl FnMut(Header)) {
        match header {
            HeaderRef::Header(header) => f(header),
            HeaderRef::Element(stack, _) => {
                self.p.stacks[stack].elems.iter().for_each(|&h| f(h));
            }
        }
    }

    fn index_uses(&self, header: HeaderRef, live: &mut Live) {
        if let Some(index) = visit::header_index(header) {
            self.uses(index, live);
        }
    }

    fn fields(&self, header: Header) -> u32 {
        let ty = self.p.headers[header].ty;
        self.p.header_types[ty].fields.len() as u32
    }

    fn is_live(&self, place: Place, live: &Live) -> bool {
        match place {
            Place::Var(var) => live.contains(self.out.bits.var(var)),
            Place::Field(header, field) => {
                let bits = &self.out.bits;
                let mut any = false;
                self.each(header, |h| {
                    any |= live.contains(bits.field(h, field));
                    any |= live.contains(bits.shown(h, field));
                });
                any
            }
        }
    }

    /// A place is certainly overwritten if it is known which it is.
    fn kill(&self, place: Place, live: &mut Live) {
        match place {
            Place::Var(var) => live.remove(self.out.bits.var(var)),
            Place::Field(HeaderRef::Header(header), field) => {
                live.remove(self.out.bits.field(header, field));
                live.remove(self.out.bits.shown(header, field));
            }
            Place::Field(HeaderRef::Element(_, index), _) => self.uses(index, live),
        }
    }

    fn kill_header(&self, header: HeaderRef, live: &mut Live) {
        if let HeaderRef::Header(h) = header {
            live.remove(self.out.bits.valid(h));
            for field in 0..self.fields(h) {
                live.remove(self.out.bits.field(h, field));
                live.remove(self.out.bits.shown(h, field));
            }
        }
    }

    /// A header is emitted: its fields matter if it is valid.
    fn show(&self, header: HeaderRef, live: &mut Live) {
        self.each(header, |h| {
            live.insert(self.out.bits.valid(h));
            for field in 0..self.fields(h) {
                live.insert(self.out.bits.shown(h, field));
            }
        });
        self.index_uses(header, live);
    }

    fn set_valid(&self, header: HeaderRef, live: &mut Live) {
        // Its earlier validity no longer decides whether its fields are live.
        self.each(header, |h| {
            for field in 0..self.fields(h) {
                if live.contains(self.out.bits.shown(h, field)) {
                    live.insert(self.out.bits.field(h, field));
                }
            }
        });
        match header {
            HeaderRef::Header(h) => live.remove(self.out.bits.valid(h)),
            HeaderRef::Element(..) => self.index_uses(header, live),
        }
    }

    fn set_invalid(&self, header: HeaderRef, live: &mut Live) {
        match header {
            HeaderRef::Header(h) => {
                live.remove(self.out.bits.valid(h));
                for field in 0..self.fields(h) {
                    live.remove(self.out.bits.shown(h, field));
                }
            }
            HeaderRef::Element(..) => self.index_uses(header, live),
        }
    }

    fn gen_header(&self, header: HeaderRef, live: &mut Live) {
        self.each(header, |h| {
            live.insert(self.out.bits.valid(h));
            for field in 0..self.fields(h) {
                live.insert(self.out.bits.field(h, field));
            }
        });
        self.index_uses(header, live);
    }

    fn copy(&self, dst: HeaderRef, src: HeaderRef, live: &mut Live) {
        let bits = &self.out.bits;
        let mut fields = 0;
        self.each(dst, |h| fields = self.fields(h));
        let (mut valid, mut wanted) = (false, vec![(false, false); fields as usize]);
        self.each(dst, |h| {
            valid |= live.contains(bits.valid(h));
            for (field, wanted) in wanted.iter_mut().enumerate() {
                wanted.0 |= live.contains(bits.field(h, field as u32));
                wanted.1 |= live.contains(bits.shown(h, field as u32));
            }
        });
        if !valid && wanted.iter().all(|&w| w == (false, false)) {
            return;
        }
        self.kill_header(dst, live);
        self.index_uses(dst, live);
        self.index_uses(src, live);
        self.each(src, |h| {
            if valid {
                live.insert(bits.valid(h));
            }
            for (field, &(always, shown)) in wanted.iter().enumerate() {
                if always {
                    live.insert(bits.field(h, field as u32));
                }
                if shown {
                    live.insert(bits.shown(h, field as u32));
                }
            }
        });
    }

    /// Elements that move away are read as where they go; none is taken for overwritten.
    fn shift(&self, stack: Stack, by: u32, up: bool, live: &mut Live) {
        let bits = &self.out.bits;
        let elems = &self.p.stacks[stack].elems;
        let after = live.clone();
        for (i, &from) in elems.iter().enumerate() {
            let to = if up {
                i.checked_add(by as usize).filter(|&to| to < elems.len())
            } else {
                i.checked_sub(by as usize)
            };
            let Some(to) = to.map(|to| elems[to]) else {
                continue;
            };
            if after.contains(bits.valid(to)) {
                live.insert(bits.valid(from));
            }
            for field in 0..self.fields(from) {
                if after.contains(bits.field(to, field)) {
                    live.insert(bits.field(from, field));
                }
                if after.contains(bits.shown(to, field)) {
                    live.insert(bits.shown(from, field));
                }
            }
        }
    }

    fn extern_call(&self, kind: &StmtKind, call: &ExternCall, live: &mut Live) {
        // Calls of a flow state write all their results, whatever comes of them. What another extern writes is
        // not counted on to be written.
        if atomic::flow_call(self.p, kind).is_some() {
            visit::accesses(self.p, kind, |access| {
                if let Access::Write(place) = access {
                    self.kill(place, live);
                }
            });
        }
        visit::accesses(self.p, kind, |access| match access {
            Access::Eval(expr) => self.uses(expr, live),
            Access::Read(place) => match place {
                Place::Var(var) => live.insert(self.out.bits.var(var)),
                Place::Field(header, field) => {
                    self.each(header, |h| live.insert(self.out.bits.field(h, field)));
                }
            },
            Access::ReadHeader(header) => self.gen_header(header, live),
            Access::Write(_) | Access::WriteHeader(_) | Access::SetValidity(..) => {}
        });
        if call.effect == Effect::None {
            return;
        }
        if call.effect == Effect::Any {
            for var in &self.intrinsic {
                live.insert(self.out.bits.var(*var));
            }
        }
        if let Some(object) = call.object {
            for (_, routine) in &self.p.externs[object].implementations {
                let body = &self.p.routines[*routine].body;
                self.all(&Mentions::of_block(self.p, body), live);
            }
        }
    }

    fn all(&self, mentions: &Mentions, live: &mut Live) {
        for &storage in &mentions.read {
            match storage {
                Storage::Var(var) => live.insert(self.out.bits.var(var)),
                Storage::Header(header) => self.gen_header(HeaderRef::Header(header), live),
            }
        }
    }
}
