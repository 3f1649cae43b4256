//! The cursor: its position, the bytes known to be available there, and its transfer to variables.

use crate::emitter::Gen;
use crate::hints::{Event, Role};
use crate::plan::cursor::{Cursor, const_bits, header_bytes};
use crate::target::Target;
use cgen::tree::{BinOp, Block, Expr as C};
use ir::{StateData, StmtId, StmtKind, Transition, TransitionTarget, Type};

/// Position of the cursor while a state is emitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CursorAt {
    /// True if the position counts from the variable `cur`, which is `off` bytes into the packet; false if from the
    /// packet's start.
    pub(super) variable: bool,
    /// Bytes from that base to the cursor.
    pub(super) delta: u32,
    /// Bytes from that base that the packet is known to have.
    pub(crate) avail: u32,
}

impl CursorAt {
    /// Returns a cursor that is exactly at its variables.
    pub(crate) fn variable() -> CursorAt {
        CursorAt {
            variable: true,
            ..CursorAt::default()
        }
    }

    pub(super) fn base(&self) -> C {
        C::id(if self.variable { "cur" } else { "data" })
    }
}

impl<T: Target> Gen<'_, T> {
    /// Sets `cur` from `off`.
    pub(crate) fn follow_offset(&mut self, check: bool) {
        if check {
            self.at_most(&C::id("off"), self.target.limits().offset);
        }
        let here = C::bin(BinOp::Add, C::id("data"), C::id("off"));
        self.set(C::id("cur"), here);
        self.on(Event::Computed(&C::id("cur")));
    }

    /// Returns the cursor as an offset into the packet.
    pub(super) fn offset(&self) -> C {
        if self.cursor.variable {
            C::id("off").plus(self.cursor.delta.into())
        } else {
            C::int(self.cursor.delta.into())
        }
    }

    /// Checks that the packet has `bytes` more at the cursor, and as many as the following straight-line run needs.
    pub(super) fn ensure(&mut self, bytes: u32, ahead: u32) {
        let need = self.cursor.delta + bytes;
        if need <= self.cursor.avail {
            return;
        }
        let want = self.cursor.delta + bytes.max(ahead);
        let end = self.cursor.base().plus(want.into());
        self.goto_short(C::bin(BinOp::Gt, end, C::id("data_end")));
        self.cursor.avail = want;
    }

    /// Joins the cursors of two branches. If they are at different offsets, both branches move the cursor to its
    /// variables.
    pub(crate) fn meet_cursors(
        &mut self,
        yes: &mut Block,
        cursor_yes: CursorAt,
        yes_dead: bool,
        no: &mut Block,
    ) {
        if self.header_facts.dead {
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

    /// Moves the cursor to its variables.
    pub(crate) fn cursor_to_variable(&mut self) {
        if self.cursor.variable && self.cursor.delta == 0 {
            self.cursor.avail = 0;
            return;
        }
        let offset = self.offset();
        self.set_offset(offset);
        self.follow_offset(false);
        self.cursor = CursorAt::variable();
    }

    /// Moves the cursor to its variables before a loop that moves it.
    pub(crate) fn start_loop(&mut self) {
        let offset = self.unknown_offset();
        self.set_offset(offset);
        self.cursor = CursorAt::variable();
    }

    /// Returns the cursor as an offset with unknown value, so that all iterations of a loop are alike.
    pub(super) fn unknown_offset(&self) -> C {
        self.target.see(Role::Varying, self.offset())
    }

    pub(super) fn set_offset(&mut self, offset: C) {
        if offset != C::id("off") {
            self.set(C::id("off"), offset);
        }
    }

    /// Returns the number of bytes from the cursor on that the straight-line run touches, from a statement on. The
    /// run consists of the rest of this state's body and of the states that always follow.
    fn straight_line_bytes(&self, rest: &[ir::Stmt], state: &StateData) -> u32 {
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
                    StmtKind::Lookahead { place, skip } => {
                        let width = self.p.place_type(*place).map_or(0, Type::width);
                        furthest = furthest.max(at + (skip + width).div_ceil(8));
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
            let Transition::To(TransitionTarget::State(next)) = &state.transition else {
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

    /// Returns the bytes of the straight-line run from a statement of a state's own body.
    pub(super) fn ahead(&self, stmt: StmtId) -> u32 {
        let graph = &self.plan.graph;
        let Some(&(of, at)) = graph.places.get(&stmt) else {
            return 0;
        };
        let data = &self.p.parsers[self.plan.parser];
        let state = &data.states[graph.states[of].state];
        self.straight_line_bytes(&state.body[at..], state)
    }
}
