//! The parser: a labelled block a state, one bounds check a straight stretch.

use super::access::Bytes;
use super::locals::Role;
use super::values::{Resolved, Value, load_value};
use crate::emitter::Gen;
use crate::errors;
use crate::plan::graph::{Cursor, const_bits, header_bytes};
use crate::plan::{Rep, facts};
use crate::target::Target;
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use ir::{
    Expr, Header, HeaderRef, State, StateData, StmtId, StmtKind, Target as Next, Transition, Type,
};
use smol_str::SmolStr;
use std::collections::HashMap;

/// Where the cursor is while a state is emitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// It counts from the variable `cur`, which is `off` bytes into the packet, not from its start.
    variable: bool,
    /// Bytes from there.
    delta: u32,
    /// Bytes from there that the packet is known to have.
    avail: u32,
}

impl Place {
    /// At the variables.
    pub(crate) fn variable() -> Place {
        Place {
            variable: true,
            ..Place::default()
        }
    }

    fn base(&self) -> C {
        C::id(if self.variable { "cur" } else { "data" })
    }
}

/// What emitting a parser needs to know of its states.
pub(crate) struct States {
    labels: HashMap<State, SmolStr>,
    /// Bytes known to be there on entry, of states with one way in.
    avail: HashMap<State, u32>,
    /// The state at hand is in a loop.
    in_loop: bool,
}

impl<T: Target> Gen<'_, T> {
    /// Emits the parser's states; goes on after them when it accepts.
    pub(crate) fn parser(&mut self) {
        let plan = self.plan;
        let data = &self.p.parsers[plan.parser];
        let mut states = States {
            labels: HashMap::new(),
            avail: HashMap::new(),
            in_loop: false,
        };
        for info in &plan.graph.states {
            let name = format!("parse_{}", data.states[info.state].name.replace('.', "_"));
            let label = self.file.names.fresh(&name);
            states.labels.insert(info.state, label);
        }
        for info in &plan.graph.states {
            let Some(flow) = &info.flow else { continue };
            if flow.dead {
                continue;
            }
            self.flow = flow.clone();
            states.in_loop = info.cyclic;
            let state = &data.states[info.state];
            self.line(state.span);
            if let Some(label) = states.labels.get(&info.state) {
                self.push(Stmt::Label(label.clone()));
            }
            self.cursor = match info.cursor {
                Cursor::Const(at) => Place {
                    variable: false,
                    delta: at,
                    avail: states.avail.get(&info.state).copied().unwrap_or(0),
                },
                Cursor::Variable => {
                    self.cursor = Place::variable();
                    if info.forgets {
                        let offset = self.unknown_offset();
                        self.set_offset(offset);
                    }
                    self.follow_offset(info.cyclic || info.forgets);
                    Place::variable()
                }
            };
            self.run(&state.body);
            if !self.flow.dead {
                self.forget_computed();
                self.transition(state, &mut states);
            }
        }
        self.push(Stmt::Label("accept".into()));
        self.flow = match &plan.graph.accepted {
            Some(flow) => flow.clone(),
            None => self.flow.clone(),
        };
    }

    /// Sets `cur` from `off`.
    pub(crate) fn follow_offset(&mut self, check: bool) {
        if check {
            self.barrier(&C::id("off"));
            let most = self.target.limits().offset;
            let past = C::bin(BinOp::Gt, C::id("off"), C::int(most));
            self.goto_reject(past);
        }
        let here = C::bin(BinOp::Add, C::id("data"), C::id("off"));
        self.set(C::id("cur"), here);
        self.barrier(&C::id("cur"));
    }

    /// The cursor as an offset into the packet.
    fn offset(&self) -> C {
        if self.cursor.variable {
            C::id("off").plus(self.cursor.delta.into())
        } else {
            C::int(self.cursor.delta.into())
        }
    }

    /// Makes sure that the packet has `bytes` more at the cursor, and as many as what surely follows
    /// will ask for.
    fn ensure(&mut self, bytes: u32, ahead: u32) {
        let need = self.cursor.delta + bytes;
        if need <= self.cursor.avail {
            return;
        }
        let want = self.cursor.delta + bytes.max(ahead);
        let end = self.cursor.base().plus(want.into());
        self.goto_short(C::bin(BinOp::Gt, end, C::id("data_end")));
        self.cursor.avail = want;
    }

    /// After a branch: where the two sides leave the cursor at different places, it goes to a variable.
    pub(crate) fn meet_cursors(
        &mut self,
        yes: &mut Block,
        cursor_yes: Place,
        yes_dead: bool,
        no: &mut Block,
    ) {
        if self.flow.dead {
            self.cursor = cursor_yes;
            return;
        }
        if yes_dead
            || (cursor_yes.variable, cursor_yes.delta) == (self.cursor.variable, self.cursor.delta)
        {
            self.cursor.avail = self.cursor.avail.min(if yes_dead {
                self.cursor.avail
            } else {
                cursor_yes.avail
            });
            return;
        }
        for (block, place) in [(yes, cursor_yes), (no, self.cursor.clone())] {
            self.cursor = place;
            let mut more = self.block(Self::cursor_to_variable);
            block.append(&mut more);
        }
        self.cursor.avail = 0;
    }

    /// Moves the cursor into the variables.
    pub(crate) fn cursor_to_variable(&mut self) {
        if self.cursor.variable && self.cursor.delta == 0 {
            self.cursor.avail = 0;
            return;
        }
        let offset = self.offset();
        self.set_offset(offset);
        self.follow_offset(false);
        self.cursor = Place::variable();
    }

    /// Before a loop that moves the cursor.
    pub(crate) fn start_loop(&mut self) {
        let offset = self.unknown_offset();
        self.set_offset(offset);
        self.cursor = Place::variable();
    }

    /// The cursor as an offset of which nothing is known: who checks the C would follow a loop turn by turn.
    fn unknown_offset(&self) -> C {
        self.target.unknown(self.offset())
    }

    fn set_offset(&mut self, offset: C) {
        if offset != C::id("off") {
            self.set(C::id("off"), offset);
        }
    }

    /// Bytes from the cursor on that the rest of this state's body and the states that surely follow
    /// touch, from a statement on.
    fn stretch(&self, rest: &[ir::Stmt], state: &StateData) -> u32 {
        let mut furthest = 0;
        let mut at = 0;
        let mut body = rest;
        let mut state = state;
        for _ in 0..64 {
            for stmt in body {
                match &stmt.kind {
                    StmtKind::Extract { header, varbit } => {
                        let bytes = header_bytes(self.p, *header);
                        furthest = furthest.max(at + bytes);
                        if varbit.is_some() {
                            return furthest;
                        }
                        at += bytes;
                    }
                    StmtKind::Lookahead(place) => {
                        let width = self.p.place_type(*place).map_or(0, Type::width);
                        furthest = furthest.max(at + width.div_ceil(8));
                    }
                    StmtKind::Advance(by) => match const_bits(self.p, *by) {
                        Some(bits) if bits % 8 == 0 => {
                            at += bits / 8;
                            furthest = furthest.max(at);
                        }
                        _ => return furthest,
                    },
                    StmtKind::Assign { .. }
                    | StmtKind::Verify { .. }
                    | StmtKind::CopyHeader { .. }
                    | StmtKind::SetValid(_)
                    | StmtKind::SetInvalid(_)
                    | StmtKind::PacketLength(_) => {}
                    _ => return furthest,
                }
            }
            let Transition::To(Next::State(next)) = &state.transition else {
                return furthest;
            };
            let Some(&i) = self.plan.graph.index.get(next) else {
                return furthest;
            };
            let info = &self.plan.graph.states[i];
            if info.preds != 1 || info.cyclic || info.cursor == Cursor::Variable {
                return furthest;
            }
            state = &self.p.parsers[self.plan.parser].states[*next];
            body = &state.body;
        }
        furthest
    }

    /// What surely follows a statement of a state's own body.
    fn ahead(&self, stmt: StmtId) -> u32 {
        let data = &self.p.parsers[self.plan.parser];
        for info in &self.plan.graph.states {
            let state = &data.states[info.state];
            let here = state.body.iter().position(|s| s.id == stmt);
            if let Some(i) = here {
                return self.stretch(&state.body[i..], state);
            }
        }
        0
    }

    pub(crate) fn extract(&mut self, header: HeaderRef, varbit: Option<Expr>, stmt: &ir::Stmt) {
        let span = stmt.span;
        match self.resolve(header) {
            Resolved::One(h) => match varbit {
                None => {
                    let ahead = self.ahead(stmt.id);
                    self.extract_fixed(h, ahead);
                }
                Some(size) => self.extract_varbit(h, size),
            },
            Resolved::Outside => self.push(Stmt::Goto("reject".into())),
            Resolved::Any(..) if varbit.is_some() => {
                self.refuse(errors::dynamic_varbit(self.target.name(), span))
            }
            Resolved::Any(..) => {
                let bytes = header_bytes(self.p, header);
                self.ensure(bytes, bytes);
                let place = self.cursor.clone();
                self.with_header(header, |g, h| {
                    g.cursor = place.clone();
                    g.load_fields(h);
                });
                self.cursor = place;
                self.cursor.delta += bytes;
            }
        }
        self.passed(match self.resolve(header) {
            Resolved::One(h) => facts::Step::Extract(h),
            _ => facts::Step::Skip,
        });
    }

    /// Notes where the part of the packet that the deparser may move ends.
    fn passed(&mut self, step: facts::Step) {
        let moves = match step {
            facts::Step::Extract(h) => self.plan.layout.moves(h),
            facts::Step::Skip => true,
        };
        if moves && !self.plan.layout.is_empty() {
            let offset = self.offset();
            self.set(C::id("keep"), offset);
        }
    }

    fn extract_fixed(&mut self, h: Header, ahead: u32) {
        let bytes = header_bytes(self.p, HeaderRef::Header(h));
        self.ensure(bytes, ahead);
        self.load_fields(h);
        self.cursor.delta += bytes;
    }

    /// A header of fixed size at the cursor becomes valid.
    fn load_fields(&mut self, h: Header) {
        let here = self.cursor.base().plus(self.cursor.delta.into());
        self.arrive(h, &here);
        if self.plan.rep(h) == Rep::Fields {
            let layout = &self.p.header_types[self.p.headers[h].ty];
            let len = layout.fixed_width() / 8;
            self.load_range(h, 0, layout.fields.len(), here, len);
        }
    }

    /// Loads some fields of a header that lives in variables.
    fn load_range(&mut self, h: Header, from: usize, to: usize, base: C, len: u32) {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let mut bit = 0;
        for f in from..to {
            let ty = layout.fields[f].ty;
            if let Type::Varbit(_) = ty {
                continue;
            }
            let width = ty.width();
            if width > 0 {
                let value = self.extracted_field(base.clone(), len, bit, ty);
                let var = self.local(Role::Field(h, f as u32));
                match value {
                    Value::Limbs(limbs) => {
                        for (i, limb) in limbs.into_iter().enumerate() {
                            self.set(var.clone().index(C::int(i as u64)), limb);
                        }
                    }
                    Value::Scalar(value) => self.set(var, value),
                    Value::Slice(..) => {}
                }
            }
            bit += width;
        }
    }

    /// Notes that a header is there.
    fn arrive(&mut self, h: Header, here: &C) {
        if self.plan.rep(h) == Rep::Packet {
            if self.plan.fixed_at[h.as_u32() as usize].is_none() {
                let pointer = self.local(Role::Pointer(h));
                self.set(pointer, here.clone());
            }
            let role = self.presence_role(h);
            if role != Role::Valid(h) {
                let there = self.local(role);
                self.set(there, self.target.flag());
            }
        }
        let valid = self.local(Role::Valid(h));
        if self.plan.rep(h) == Rep::Packet {
            self.set(valid, self.target.flag());
        } else {
            self.set(valid, C::int(1));
        }
        self.flow.extract(h);
    }

    fn extract_varbit(&mut self, h: Header, size: Expr) {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let Some(v) = layout.varbit() else {
            return self.extract_fixed(h, 0);
        };
        let max = layout.fields[v as usize].ty.width();
        let width = |f: &ir::FieldData| match f.ty {
            Type::Varbit(_) => 0,
            _ => f.ty.width(),
        };
        let before: u32 = layout.fields[..v as usize].iter().map(width).sum::<u32>() / 8;
        let after = layout.fixed_width() / 8 - before;
        let bits = lower::scalar(self, size);
        let len = self.own_local("bits", CType::U32, None);
        self.set(len.clone(), bits);
        self.barrier(&len);
        let too_long = C::bin(BinOp::Gt, len.clone(), C::int(max.into()));
        self.goto_reject(too_long);
        let odd = C::bin(
            BinOp::Ne,
            C::bin(BinOp::And, len.clone(), C::int(7)),
            C::int(0),
        );
        self.goto_reject(odd);
        let bytes = C::bin(BinOp::Shr, len, C::int(3));
        self.ensure(before, before);
        let here = self.cursor.base().plus(self.cursor.delta.into());
        self.arrive(h, &here);
        let fields = layout.fields.len();
        if self.plan.rep(h) == Rep::Fields {
            self.load_range(h, 0, v as usize, here, before);
        }
        self.cursor.delta += before;
        let at = self.local(Role::VarbitAt(h));
        let varbit_len = self.local(Role::VarbitLen(h));
        let offset = self.offset();
        self.set(at, offset.clone());
        self.set(varbit_len, bytes.clone());
        self.set_offset(C::bin(BinOp::Add, offset, bytes));
        self.follow_offset(false);
        self.cursor = Place::variable();
        let end = C::id("cur").plus(after.into());
        self.goto_short(C::bin(BinOp::Gt, end, C::id("data_end")));
        self.cursor.avail = after;
        if self.plan.rep(h) == Rep::Packet {
            let rest = self.local(Role::Rest(h));
            self.set(rest, C::id("cur"));
        } else {
            self.load_range(h, v as usize, fields, C::id("cur"), after);
        }
        self.cursor.delta += after;
    }

    pub(crate) fn lookahead(&mut self, place: ir::Place) {
        let width = self.p.place_type(place).map_or(0, Type::width);
        if width == 0 {
            return;
        }
        let bytes = width.div_ceil(8);
        self.ensure(bytes, bytes);
        let run = Bytes {
            base: self.cursor.base().plus(self.cursor.delta.into()),
            len: bytes,
        };
        let value = load_value(&run, 0, width);
        self.store(place, value);
    }

    pub(crate) fn advance(&mut self, by: Expr) {
        match const_bits(self.p, by) {
            Some(bits) if bits % 8 == 0 => {
                self.ensure(bits / 8, bits / 8);
                self.cursor.delta += bits / 8;
            }
            _ => {
                let n = self.own_local("bits", CType::U32, None);
                let bits = lower::scalar(self, by);
                self.set(n.clone(), bits);
                self.barrier(&n);
                let most = self.target.limits().offset * 8;
                self.goto_reject(C::bin(BinOp::Gt, n.clone(), C::int(most)));
                let odd = C::bin(
                    BinOp::Ne,
                    C::bin(BinOp::And, n.clone(), C::int(7)),
                    C::int(0),
                );
                self.goto_reject(odd);
                let bytes = C::bin(BinOp::Shr, n, C::int(3));
                let offset = self.offset();
                self.set_offset(C::bin(BinOp::Add, offset, bytes));
                self.follow_offset(false);
                self.goto_short(C::bin(BinOp::Gt, C::id("cur"), C::id("data_end")));
                self.cursor = Place::variable();
            }
        }
        if const_bits(self.p, by) != Some(0) {
            self.passed(facts::Step::Skip);
        }
    }

    fn transition(&mut self, state: &StateData, states: &mut States) {
        match &state.transition {
            Transition::To(target) => {
                let jump = self.edge(*target, states);
                self.out.extend(jump);
            }
            Transition::Select { keys, cases } => self.select(keys, cases, states),
        }
    }

    /// The jump to a target, with what has to be set on the way.
    pub(crate) fn edge(&mut self, target: Next, states: &mut States) -> Block {
        match target {
            Next::Accept => self.accept(),
            Next::Reject => vec![Stmt::Goto("reject".into())],
            Next::Rare => vec![Stmt::Goto("rare".into())],
            Next::State(next) => {
                let graph = &self.plan.graph;
                let Some(&i) = graph.index.get(&next) else {
                    return vec![Stmt::Goto("reject".into())];
                };
                let info = &graph.states[i];
                let (preds, cyclic, cursor) = (info.preds, info.cyclic, info.cursor);
                let label = states.labels.get(&next).cloned().unwrap_or_default();
                if preds == 1 && matches!(cursor, Cursor::Const(_)) {
                    states.avail.insert(next, self.cursor.avail);
                }
                let was_variable = self.cursor.variable;
                let in_loop = states.in_loop;
                self.block(|g| {
                    if cursor == Cursor::Variable {
                        let mut offset = g.offset();
                        if cyclic && !was_variable {
                            // See `unknown_offset`.
                            offset = g.target.unknown(offset);
                        }
                        g.set_offset(offset);
                    }
                    if cyclic && in_loop {
                        g.back_edge("reject", &label);
                    } else {
                        g.push(Stmt::Goto(label));
                    }
                })
            }
        }
    }
}
