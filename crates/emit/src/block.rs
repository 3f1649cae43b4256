//! Statements.

use super::parser::CursorAt;
use super::values::Value;
use crate::emitter::Gen;
use crate::plan::cursor::moves;
use crate::target::Target;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt};
use ir::{Bits, Expr, Place, StmtKind};

impl<T: Target> Gen<'_, T> {
    /// Emits the statements of a block that are reached.
    pub fn run(&mut self, block: &[ir::Stmt]) {
        for (i, stmt) in block.iter().enumerate() {
            if self.is_room_checked(stmt, block.get(i + 1)) {
                continue;
            }
            let points = &self.plan.points;
            let before = points.before(self.site, stmt.id);
            if before.is_none() && !self.entries.lead_to(stmt) {
                continue;
            }
            self.now_at(before);
            self.kill_computed();
            self.may_cut();
            self.line(stmt.span);
            self.stmt(stmt);
            self.now_at(points.after(self.site, stmt.id));
        }
    }

    fn stmt(&mut self, stmt: &ir::Stmt) {
        match &stmt.kind {
            StmtKind::Assign { dst, value } => {
                let value = self.value(*value);
                self.store(*dst, value);
            }
            StmtKind::CopyHeader { dst, src } => {
                let (dst, src) = (*dst, *src);
                self.with_header(dst, |g, d| g.copy_from(d, src));
            }
            StmtKind::SetValid(h) => self.with_header(*h, |g, h| g.set_validity(h, true)),
            StmtKind::SetInvalid(h) if self.plan.rolled.of(*h).is_some() => {
                if let Some(element) = self.rolled(*h) {
                    self.clear_element(&element);
                }
            }
            StmtKind::SetInvalid(h) => self.with_header(*h, |g, h| g.set_validity(h, false)),
            StmtKind::PushFront(stacks, n) => self.move_elements(stacks, *n, true),
            StmtKind::PopFront(stacks, n) => self.move_elements(stacks, *n, false),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => self.conditional(*cond, then, otherwise),
            StmtKind::Switch { on, cases, default } => self.switch(*on, cases, default),
            StmtKind::Atomic(body) => T::atomic(self, body),
            StmtKind::Labeled(label, body) => self.labeled(*label, body),
            StmtKind::Loop(label, body) => self.repeat(*label, body, stmt.span),
            StmtKind::Break(label) => {
                if self.scope.labels.get(label).is_some_and(|t| t.moves_cursor) {
                    self.cursor_to_variable();
                }
                if let Some(target) = self.scope.labels.get(label) {
                    self.out.push(Stmt::Goto(target.end.clone()));
                }
            }
            StmtKind::Continue(label) => self.start_again(*label),
            StmtKind::Return => {
                if let Some(end) = self.scope.returns.last() {
                    self.out.push(Stmt::Goto(end.clone()));
                }
            }
            StmtKind::Exit => {
                if let Some(end) = &self.scope.exit {
                    self.out.push(Stmt::Goto(end.clone()));
                }
            }
            StmtKind::Apply { table, hit, action } => {
                self.site = Some(stmt.id);
                self.apply(*table, *hit, *action, stmt.span);
                self.site = None;
            }
            StmtKind::IsCurrent {
                table,
                generation,
                current,
            } => {
                let answer = T::is_current(self, *table, *generation);
                self.store(Place::Var(*current), Value::Scalar(answer));
            }
            StmtKind::Call(routine, args) => self.function_call(*routine, args, stmt.span),
            StmtKind::Extern(call) => T::call(self, call, stmt),
            StmtKind::Extract { header, varbit } => self.extract(*header, *varbit, stmt),
            StmtKind::Lookahead { place, skip } => self.lookahead(*place, *skip),
            StmtKind::Advance(by) => self.advance(*by),
            StmtKind::Search {
                pattern,
                limit,
                passed,
            } => self.search(pattern, *limit, *passed),
            StmtKind::Automaton {
                automaton,
                start,
                limit,
                end,
                passed,
            } => self.automaton(automaton, (*start, *end), *limit, *passed),
            StmtKind::Fits { bits, fits } => self.fits(*bits, *fits),
            StmtKind::SkipAhead { table, short } => self.skip_ahead(table, *short),
            StmtKind::PacketLength(place) => {
                let length = self.packet_length();
                self.store(*place, Value::Scalar(length));
            }
            StmtKind::Verify { cond, .. } => {
                let c = lower::cond(self, *cond);
                self.goto_reject(C::not(c));
            }
            StmtKind::Emit(_) => self.emitted(stmt),
            StmtKind::Entry(entry) => self.entry(*entry),
        }
    }

    fn conditional(&mut self, cond: Expr, then: &[ir::Stmt], otherwise: &[ir::Stmt]) {
        if self.header_facts.dead {
            return self.decided(then, otherwise);
        }
        let c = lower::cond(self, cond);
        match c.as_int() {
            Some(0) => return self.decided(otherwise, then),
            Some(_) => return self.decided(then, otherwise),
            None => {}
        }
        let before = self.header_facts.clone();
        let cursor = self.cursor.clone();
        let mut yes = self.block(|g| g.run(then));
        let yes_dead = std::mem::replace(&mut self.header_facts, before).dead;
        let cursor_yes = std::mem::replace(&mut self.cursor, cursor);
        let mut no = self.block(|g| g.run(otherwise));
        self.meet_cursors(&mut yes, cursor_yes, yes_dead, &mut no);
        self.push(Stmt::If(c, yes, no));
    }

    /// Emits the code of `f` under a condition. `f` must not move the cursor.
    pub fn where_holds(&mut self, cond: Expr, f: impl FnOnce(&mut Self)) {
        let c = lower::cond(self, cond);
        let before = self.header_facts.clone();
        let (p, plan) = (self.p, self.plan);
        plan.refine(&mut self.header_facts, p, cond, true);
        let block = self.block(f);
        self.header_facts = before;
        self.push(Stmt::If(c, block, Vec::new()));
    }

    fn switch(&mut self, on: Expr, cases: &[(Vec<Bits>, ir::Block)], default: &[ir::Stmt]) {
        let width = self.p.ty(on).width();
        if width > 64 {
            self.wide_switch(on, cases, default);
            return;
        }
        let c = lower::scalar(self, on);
        if let Some(value) = c.as_int() {
            let taken = cases
                .iter()
                .find(|(values, _)| values.iter().any(|v| v.to_u64() == Some(value)));
            return match taken {
                Some((_, block)) => self.run(block),
                None => self.run(default),
            };
        }
        let before = self.header_facts.clone();
        let mut arms = Vec::new();
        let cursor = self.cursor.clone();
        let moves = moves(self.p, default) || cases.iter().any(|(_, b)| moves(self.p, b));
        for (values, block) in cases {
            self.header_facts = before.clone();
            self.cursor = cursor.clone();
            let block = self.block(|g| g.run_arm(block, moves));
            let values = values.iter().filter_map(Bits::to_u64).map(C::int).collect();
            arms.push((values, block));
        }
        self.header_facts = before;
        self.cursor = cursor;
        let default = self.block(|g| g.run_arm(default, moves));
        if moves {
            self.cursor = CursorAt::variable();
        }
        self.push(Stmt::Switch {
            on: c,
            cases: arms,
            default,
        });
    }

    /// Emits a case's statements. If some case moves the cursor, every case leaves it in its variables.
    fn run_arm(&mut self, block: &[ir::Stmt], moves: bool) {
        self.run(block);
        if moves && !self.header_facts.dead {
            self.cursor_to_variable();
        }
    }

    fn wide_switch(&mut self, on: Expr, cases: &[(Vec<Bits>, ir::Block)], default: &[ir::Stmt]) {
        let Some(((values, block), rest)) = cases.split_first() else {
            return self.run(default);
        };
        let array = lower::wide(self, on);
        let equal = values
            .iter()
            .map(|v| wide_equals(&array, v))
            .reduce(|a, b| C::bin(BinOp::LogicalOr, a, b))
            .unwrap_or(C::int(0));
        let before = self.header_facts.clone();
        let cursor = self.cursor.clone();
        let mut yes = self.block(|g| g.run(block));
        let yes_dead = std::mem::replace(&mut self.header_facts, before).dead;
        let cursor_yes = std::mem::replace(&mut self.cursor, cursor);
        let mut no = self.block(|g| g.wide_switch(on, rest, default));
        self.meet_cursors(&mut yes, cursor_yes, yes_dead, &mut no);
        self.push(Stmt::If(equal, yes, no));
    }
}

/// The packet's length in bytes, for code in which the packet's bounds are always known: before a program, and in
/// its parser. Elsewhere, use [`Gen::packet_length`].
pub fn packet_length() -> C {
    let of = ["ctx", "data", "data_end"].map(C::id);
    C::call("packet_length", of.to_vec())
}

/// Condition that an array of limbs has a value.
pub(crate) fn wide_equals(array: &C, value: &Bits) -> C {
    let digits: Vec<u64> = value.value().iter_u64_digits().collect();
    (0..lower::limb_count(value.width()))
        .map(|i| {
            let limb = array.clone().index(C::int(i.into()));
            let digit = digits.get(i as usize).copied().unwrap_or(0);
            C::bin(BinOp::Eq, limb, C::int(digit))
        })
        .reduce(|a, b| C::bin(BinOp::LogicalAnd, a, b))
        .unwrap_or(C::int(1))
}
