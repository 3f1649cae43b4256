//! Liveness: which variables, header fields and validity bits may still be read.
//!
//! A backward analysis through controls, actions of applied tables and the parser's graph, across the pipeline's
//! blocks. Guarantee: storage that is not live after a statement is not read on any path from there before it is
//! written again. Its value is unobservable.
//!
//! At the end of every block the architecture reads its own variables ([`Program::intrinsic_vars`]). Where copies of a
//! packet may enter another block ([`Program::copies`]), all storage is read there. Deparsers read the validity of
//! emitted headers, and the fields of those that are valid: a header's fields die where it becomes invalid. A dead
//! assignment reads nothing.

use super::dataflow::{self, Backward, Domain};
use crate::*;
use cranelift_entity::{EntityRef, SecondaryMap};
use std::collections::HashMap;

pub(super) use transfer::Transfer;

mod transfer;

/// Set of live variables, fields and validity bits.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Live(Vec<u64>);

impl Live {
    pub(super) fn contains(&self, bit: usize) -> bool {
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

    pub(super) fn remove(&mut self, bit: usize) {
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

/// Assignment of bits to variables, fields and validity bits.
#[derive(Clone, Default, Debug)]
pub(super) struct Numbering {
    vars: usize,
    /// Index of each header's validity bit. Two bits for each of its fields follow.
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

    pub(super) fn var(&self, var: Var) -> usize {
        debug_assert!(var.index() < self.vars);
        var.index()
    }

    pub(super) fn valid(&self, header: Header) -> usize {
        self.headers[header]
    }

    /// Returns the bit of a field that is live in any case.
    pub(super) fn field(&self, header: Header, field: u32) -> usize {
        self.headers[header] + 1 + 2 * field as usize
    }

    /// Returns the bit of a field that is live if the header is valid when it is emitted.
    pub(super) fn shown(&self, header: Header, field: u32) -> usize {
        self.headers[header] + 2 + 2 * field as usize
    }
}

/// Live storage after each statement, and at the start of loops' iterations and of parser states.
#[derive(Debug)]
pub struct Liveness {
    bits: Numbering,
    after: SecondaryMap<StmtId, Option<Live>>,
    rounds: HashMap<Label, Live>,
    states: HashMap<State, Live>,
}

impl Liveness {
    /// Computes the liveness of all code that the pipeline reaches.
    pub fn new(program: &Program) -> Liveness {
        let mut asking = Asking {
            p: program,
            by: Transfer::new(program),
            out: Liveness {
                bits: Numbering::new(program),
                after: SecondaryMap::new(),
                rounds: HashMap::new(),
                states: HashMap::new(),
            },
        };
        dataflow::backward(program, &mut asking);
        asking.out
    }

    /// Returns true if a variable is live after a statement. After an unreachable statement all are.
    pub fn var(&self, stmt: &Stmt, var: Var) -> bool {
        self.asks(stmt, self.bits.var(var))
    }

    /// Returns true if a variable is live at the start of a loop's iterations.
    pub fn var_in_round(&self, label: Label, var: Var) -> bool {
        let live = self.rounds.get(&label);
        live.is_some_and(|live| live.contains(self.bits.var(var)))
    }

    /// Returns true if a variable is live at the start of a parser state.
    pub fn var_in_state(&self, state: State, var: Var) -> bool {
        let live = self.states.get(&state);
        live.is_some_and(|live| live.contains(self.bits.var(var)))
    }

    /// Returns the variables that are live at the start of a parser state.
    pub fn vars_in_state(&self, state: State) -> impl Iterator<Item = Var> {
        let live = self.states.get(&state);
        let is_live = move |bit: &usize| live.is_some_and(|live| live.contains(*bit));
        (0..self.bits.vars).filter(is_live).map(Var::new)
    }

    /// Returns true if a header's field is live at the start of a parser state.
    pub fn field_in_state(&self, state: State, header: Header, field: u32) -> bool {
        let bits = [
            self.bits.field(header, field),
            self.bits.shown(header, field),
        ];
        let live = self.states.get(&state);
        live.is_some_and(|live| bits.iter().any(|&bit| live.contains(bit)))
    }

    /// Returns true if a header's validity is live at the start of a parser state.
    pub fn valid_in_state(&self, state: State, header: Header) -> bool {
        let live = self.states.get(&state);
        live.is_some_and(|live| live.contains(self.bits.valid(header)))
    }

    /// Returns true if a header's field is live after a statement.
    pub fn field(&self, stmt: &Stmt, header: Header, field: u32) -> bool {
        self.asks(stmt, self.bits.field(header, field))
            || self.asks(stmt, self.bits.shown(header, field))
    }

    /// Returns true if a header's validity is live after a statement.
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
    by: Transfer<'a>,
    out: Liveness,
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
            self.by.everything(live);
        }
        self.by.intrinsic(live);
    }

    fn computed(&mut self, expr: Expr, live: &mut Live) {
        self.by.uses(expr, live);
    }

    fn applied(&mut self, hit: Option<Var>, action: Option<Var>, live: &mut Live) {
        self.by.applied(hit, action, live);
    }

    fn transfer(&mut self, stmt: &Stmt, live: &mut Live) {
        self.by.stmt(stmt, live);
    }
}
