//! The data-flow through statements and expressions.

use super::state::{Init, State, Validity, join};
use super::writes::{self, Writes};
use crate::checker::Checker;
use crate::errors::warnings;
use diag::Diagnostic;
use hir::*;

/// A walk through one body.
pub(super) struct Walk<'c, 'm> {
    checker: &'c Checker<'m>,
    /// What is known here; `None` where nothing ever gets.
    state: Option<State>,
    /// What was known at the `return`s.
    returns: Option<State>,
    /// What was known at the `break`s of the innermost loop.
    breaks: Option<State>,
    /// Whether to tell.
    tell: bool,
    /// What was found.
    pub(super) found: Vec<Diagnostic>,
}

impl<'c, 'm> Walk<'c, 'm> {
    pub(super) fn new(checker: &'c Checker<'m>, tell: bool) -> Walk<'c, 'm> {
        Walk {
            checker,
            state: None,
            returns: None,
            breaks: None,
            tell,
            found: Vec::new(),
        }
    }

    pub(super) fn set(&mut self, state: Option<State>) {
        self.state = state;
    }

    /// What is known at the end of the body, all ways taken together.
    pub(super) fn end(&mut self) -> Option<State> {
        join(self.state.take(), self.returns.take())
    }

    pub(super) fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|s| self.stmt(s));
    }

    /// A variable comes to be.
    pub(super) fn declare(&mut self, id: LocalId, init: Option<&Expr>) {
        if let Some(init) = init {
            self.read(init);
        }
        let ty = &self.checker.module.locals[id].ty;
        let fresh = match init {
            Some(value) => self.value(value),
            None => Init::fresh(&self.checker.module, ty),
        };
        if let Some(state) = &mut self.state {
            state.set(id, fresh);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Local { local, init } => self.declare(*local, init.as_ref()),
            StmtKind::Instance(_) => {}
            StmtKind::Assign { target, value } => {
                self.read(value);
                self.read_inside(target);
                let value = self.value(value);
                self.write(target, value);
            }
            StmtKind::Call(call) => self.call(call),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.read(cond);
                let before = self.state.clone();
                self.assume(cond, true);
                self.block(then);
                let after = std::mem::replace(&mut self.state, before);
                self.assume(cond, false);
                self.block(otherwise);
                self.state = join(after, self.state.take());
            }
            StmtKind::Block(block) | StmtKind::Atomic(block) => self.block(block),
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    self.read(value);
                }
                self.returns = join(self.returns.take(), self.state.take());
            }
            StmtKind::Exit => self.state = None,
            StmtKind::Break => self.breaks = join(self.breaks.take(), self.state.take()),
            StmtKind::Continue => self.state = None,
            StmtKind::Switch { scrutinee, cases } => {
                self.read(scrutinee);
                self.cases(cases.iter().map(|c| (&c.body, c.is_default)));
            }
            StmtKind::SwitchTable { table, cases } => {
                self.apply(*table);
                self.cases(cases.iter().map(|c| (&c.body, c.is_default)));
            }
            StmtKind::For {
                init,
                cond,
                update,
                body,
            } => {
                self.block(init);
                self.repeat(&[update, body], |w| {
                    w.read(cond);
                    w.assume(cond, true);
                    w.block(body);
                    w.block(update);
                });
            }
            StmtKind::ForIn {
                local,
                collection,
                body,
            } => {
                match collection {
                    Collection::Range(lo, hi) => {
                        self.read(lo);
                        self.read(hi);
                    }
                    Collection::Elements(of) => self.read(of),
                }
                let known =
                    Init::unknown(&self.checker.module, &self.checker.module.locals[*local].ty);
                self.repeat(&[body], |w| {
                    if let Some(state) = &mut w.state {
                        state.set(*local, known);
                    }
                    w.block(body);
                });
            }
        }
    }

    /// A loop: nothing certain is known of headers that it may change, and it may run not at all.
    fn repeat(&mut self, blocks: &[&Block], body: impl FnOnce(&mut Self)) {
        let mut changed = Writes::default();
        blocks
            .iter()
            .for_each(|b| writes::of_block(&self.checker.module, b, &mut changed));
        if let Some(state) = &mut self.state {
            for id in &changed.locals {
                if let Some(init) = state.get_mut(*id) {
                    init.forget_headers();
                }
            }
        }
        let before = self.state.clone();
        let outer = self.breaks.take();
        body(self);
        // What the body writes counts only if it runs: the state in front holds behind it too.
        self.breaks = outer;
        self.state = before;
    }

    fn cases<'b>(&mut self, cases: impl Iterator<Item = (&'b Block, bool)>) {
        let before = self.state.clone();
        let mut after = None;
        let mut has_default = false;
        for (body, is_default) in cases {
            has_default |= is_default;
            self.state = before.clone();
            self.block(body);
            after = join(after, self.state.take());
        }
        self.state = if has_default {
            after
        } else {
            join(after, before)
        };
    }

    /// What `cond` being `holds` says of headers.
    fn assume(&mut self, cond: &Expr, holds: bool) {
        match &cond.kind {
            ExprKind::IsValid(header) => {
                let validity = if holds {
                    Validity::Valid
                } else {
                    Validity::Invalid
                };
                if let Some(state) = &mut self.state
                    && let Some(Init::Header(known)) = state.place_mut(header)
                {
                    *known = validity;
                }
            }
            ExprKind::Unary(UnaryOp::Not, inner) => self.assume(inner, !holds),
            ExprKind::Binary(BinaryOp::And, a, b) if holds => {
                self.assume(a, true);
                self.assume(b, true);
            }
            ExprKind::Binary(BinaryOp::Or, a, b) if !holds => {
                self.assume(a, false);
                self.assume(b, false);
            }
            _ => {}
        }
    }

    /// What is known of a value once it is stored.
    fn value(&self, value: &Expr) -> Init {
        let module = &self.checker.module;
        match &value.kind {
            ExprKind::Const(ConstValue::InvalidHeader) if self.is_header(&value.ty) => {
                Init::Header(Validity::Invalid)
            }
            ExprKind::Default if self.is_header(&value.ty) => Init::Header(Validity::Invalid),
            ExprKind::Const(ConstValue::List(_)) | ExprKind::List(_)
                if self.is_header(&value.ty) =>
            {
                Init::Header(Validity::Valid)
            }
            _ => match self.state.as_ref().and_then(|s| s.place(value)) {
                Some(Init::Header(validity)) => Init::Header(*validity),
                _ => Init::unknown(module, &value.ty),
            },
        }
    }

    fn is_header(&self, ty: &Ty) -> bool {
        self.checker.composite_kind(ty) == Some(CompositeKind::Header)
    }

    fn write(&mut self, target: &Expr, value: Init) {
        // A write to some bits or one element is taken for a write of all.
        let mut at = target;
        while let ExprKind::Slice { base, .. } = &at.kind {
            at = base;
        }
        let whole = std::ptr::eq(at, target);
        if let Some(state) = &mut self.state
            && let Some(place) = state.place_mut(at)
        {
            match (whole, &mut *place, value) {
                (true, Init::Header(known), Init::Header(new)) => *known = new,
                (_, place, _) => place.written(),
            }
        }
    }

    /// Reads in the indices of an l-value.
    fn read_inside(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::StackIndex(base, index) => {
                self.read_inside(base);
                self.read(index);
            }
            ExprKind::Field(base, _)
            | ExprKind::TupleField(base, _)
            | ExprKind::StackProperty(base, _)
            | ExprKind::Slice { base, .. } => self.read_inside(base),
            _ => {}
        }
    }

    /// Reads an expression.
    pub(super) fn read(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(_) | ExprKind::Field(..) => self.read_place(expr),
            ExprKind::TupleField(e, _)
            | ExprKind::StackProperty(e, _)
            | ExprKind::Slice { base: e, .. }
            | ExprKind::Unary(_, e)
            | ExprKind::Cast(e) => self.read(e),
            ExprKind::IsValid(e) => self.read_inside(e),
            ExprKind::StackIndex(base, index) => {
                self.read(base);
                self.read(index);
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                self.read(a);
                let before = self.state.clone();
                self.assume(a, *op == BinaryOp::And);
                self.read(b);
                self.state = before;
            }
            ExprKind::Binary(_, a, b) => {
                self.read(a);
                self.read(b);
            }
            ExprKind::Mux(c, a, b) => {
                self.read(c);
                let before = self.state.clone();
                self.assume(c, true);
                self.read(a);
                self.state = before.clone();
                self.assume(c, false);
                self.read(b);
                self.state = before;
            }
            ExprKind::List(elems) => elems.iter().for_each(|e| self.read(e)),
            ExprKind::Call(call) => self.call(call),
            ExprKind::TableHit(table, _) => self.apply(*table),
            ExprKind::Const(_) | ExprKind::Instance(_) | ExprKind::This | ExprKind::Default => {}
        }
    }

    fn read_place(&mut self, expr: &Expr) {
        let Some(state) = &self.state else { return };
        if let Some(init) = state.place(expr) {
            if init.is_unwritten() && self.tell {
                let what = super::text(self.checker, expr.span, "this");
                self.found.push(warnings::uninitialized(expr.span, &what));
                self.settle(expr);
            }
            return;
        }
        let ExprKind::Field(base, _) = &expr.kind else {
            return;
        };
        match state.place(base) {
            Some(Init::Header(Validity::Invalid)) => {
                if self.tell {
                    let what = super::text(self.checker, base.span, "this");
                    self.found.push(warnings::invalid_header(expr.span, &what));
                    self.settle(base);
                }
            }
            Some(_) => {}
            None => self.read(base),
        }
    }

    /// After it was told of, a value is not told of again on the same way.
    fn settle(&mut self, expr: &Expr) {
        if let Some(place) = self.state.as_mut().and_then(|s| s.place_mut(expr)) {
            place.written();
        }
    }

    fn call(&mut self, call: &Call) {
        for arg in &call.args {
            match arg {
                Arg::In(e) => self.read(e),
                Arg::InOut(e) => self.read(e),
                Arg::Out(e) => self.read_inside(e),
                Arg::Discard(_) | Arg::Absent => {}
            }
        }
        match &call.callee {
            Callee::Table(id) => self.apply(*id),
            Callee::Action(id) => {
                let mut changed = Writes::default();
                writes::of_action(&self.checker.module, *id, &mut changed);
                self.changed(&changed);
            }
            Callee::SetValid(e) => self.set_validity(e, Validity::Valid),
            Callee::SetInvalid(e) => self.set_validity(e, Validity::Invalid),
            _ => {}
        }
        let extracts = self.is_extract(call);
        for arg in &call.args {
            if let Arg::Out(e) | Arg::InOut(e) = arg {
                let written = if extracts {
                    Init::Header(Validity::Valid)
                } else {
                    Init::unknown(&self.checker.module, &e.ty)
                };
                self.write(e, written);
            }
        }
    }

    fn is_extract(&self, call: &Call) -> bool {
        match &call.callee {
            Callee::Method {
                object:
                    Expr {
                        ty: Ty::Extern(id, _),
                        ..
                    },
                method,
                ..
            } => {
                let decl = &self.checker.module.externs[*id];
                decl.name == "packet_in"
                    && decl
                        .methods
                        .get(*method as usize)
                        .is_some_and(|m| m.proto.name == "extract")
            }
            _ => false,
        }
    }

    fn set_validity(&mut self, header: &Expr, validity: Validity) {
        self.read_inside(header);
        if let Some(state) = &mut self.state
            && let Some(Init::Header(known)) = state.place_mut(header)
        {
            *known = validity;
        }
    }

    /// A table is applied: its key is read, and any of its actions may run.
    fn apply(&mut self, id: TableId) {
        let table = &self.checker.module.tables[id];
        for key in &table.keys {
            self.read(&key.expr);
        }
        let mut changed = Writes::default();
        writes::of_table(&self.checker.module, id, &mut changed);
        self.changed(&changed);
    }

    fn changed(&mut self, changed: &Writes) {
        if let Some(state) = &mut self.state {
            for id in &changed.locals {
                if let Some(init) = state.get_mut(*id) {
                    init.written();
                }
            }
        }
    }
}
