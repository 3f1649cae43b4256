//! Data-flow analysis of statements and expressions.

use super::state::{Init, InitFacts, Validity, join};
use super::writes::{self, Writes};
use crate::checker::Checker;
use crate::errors::warnings;
use diag::Diagnostic;
use hir::*;
use std::collections::BTreeMap;

/// Facts after a condition, if it holds and if it fails.
struct Split {
    holds: Option<InitFacts>,
    fails: Option<InitFacts>,
}

/// Walk through one body.
pub(super) struct Walk<'c, 'm> {
    checker: &'c Checker<'m>,
    /// Facts at the current point; `None` if it is unreachable.
    state: Option<InitFacts>,
    /// Facts at the `return`s, joined.
    returns: Option<InitFacts>,
    /// Facts at the `break`s of the innermost loop, joined.
    breaks: Option<InitFacts>,
    /// True to report diagnostics.
    report: bool,
    /// Facts at the entry of actions that were called, or that an applied table may run.
    pub(super) entered: BTreeMap<ActionId, InitFacts>,
    /// Diagnostics found so far.
    pub(super) found: Vec<Diagnostic>,
}

impl<'c, 'm> Walk<'c, 'm> {
    pub(super) fn new(checker: &'c Checker<'m>, report: bool) -> Walk<'c, 'm> {
        Walk {
            checker,
            state: None,
            returns: None,
            breaks: None,
            report,
            entered: BTreeMap::new(),
            found: Vec::new(),
        }
    }

    pub(super) fn set(&mut self, state: Option<InitFacts>) {
        self.state = state;
    }

    /// Returns the facts at the end of the body, all paths joined.
    pub(super) fn end(&mut self) -> Option<InitFacts> {
        join(self.state.take(), self.returns.take())
    }

    pub(super) fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|s| self.stmt(s));
    }

    /// Declares a variable.
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
                self.write_field(target);
                self.write(target, value);
            }
            StmtKind::Update { target, value } => {
                self.read(target);
                self.read(value);
                let value = self.value(value);
                self.write(target, value);
            }
            StmtKind::Call(call) => self.call(call),
            StmtKind::If { arms, otherwise } => {
                let mut after = None;
                for arm in arms {
                    let split = self.condition(&arm.cond);
                    self.state = split.holds;
                    self.block(&arm.then);
                    after = join(after, self.state.take());
                    self.state = split.fails;
                }
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
                    let split = w.condition(cond);
                    w.state = split.holds;
                    w.block(body);
                    w.block(update);
                    split.fails
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
                    let before = w.state.clone();
                    if let Some(state) = &mut w.state {
                        state.set(*local, known);
                    }
                    w.block(body);
                    before
                });
            }
        }
    }

    /// Walks a loop. It kills the facts about headers that the loop may change, since the loop may not run at all.
    /// `body` returns the facts for a loop that ends without having run.
    fn repeat(&mut self, blocks: &[&Block], body: impl FnOnce(&mut Self) -> Option<InitFacts>) {
        let mut changed = Writes::default();
        blocks
            .iter()
            .for_each(|b| writes::of_block(&self.checker.module, b, &mut changed));
        if let Some(state) = &mut self.state {
            for id in &changed.locals {
                if let Some(init) = state.get_mut(*id) {
                    init.kill_headers();
                }
            }
        }
        let outer = self.breaks.take();
        // Writes of the body count only if it runs.
        let done = body(self);
        self.state = join(done, std::mem::replace(&mut self.breaks, outer));
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

    /// Reads a condition, and splits the facts by its outcome.
    fn condition(&mut self, cond: &Expr) -> Split {
        match &cond.kind {
            ExprKind::IsValid(header) => {
                self.read_inside(header);
                let mut split = self.split();
                for (state, validity) in [
                    (&mut split.holds, Validity::Valid),
                    (&mut split.fails, Validity::Invalid),
                ] {
                    if let Some(state) = state
                        && let Some(Init::Header(known)) = state.lookup_mut(header)
                    {
                        *known = validity;
                    }
                }
                split
            }
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let Split { holds, fails } = self.condition(inner);
                Split {
                    holds: fails,
                    fails: holds,
                }
            }
            ExprKind::Const(ConstValue::Bool(value)) => {
                let here = self.state.take();
                let (holds, fails) = if *value { (here, None) } else { (None, here) };
                Split { holds, fails }
            }
            ExprKind::Chain(first, steps) => self.chain(first, steps),
            ExprKind::Mux(cond, yes, no) => {
                let chosen = self.condition(cond);
                self.state = chosen.holds;
                let yes = self.condition(yes);
                self.state = chosen.fails;
                let no = self.condition(no);
                Split {
                    holds: join(yes.holds, no.holds),
                    fails: join(yes.fails, no.fails),
                }
            }
            _ => {
                self.read(cond);
                self.split()
            }
        }
    }

    /// Splits the facts after a condition that tells nothing: the same hold on both paths.
    fn split(&mut self) -> Split {
        Split {
            holds: self.state.clone(),
            fails: self.state.take(),
        }
    }

    /// Reads operands from left to right. The right one of `&&` or `||` is read only if the left one does not decide.
    fn chain(&mut self, first: &Expr, steps: &[InfixOperation]) -> Split {
        let is_logical = |step: &InfixOperation| matches!(step.op, BinaryOp::And | BinaryOp::Or);
        let mut left = None;
        if steps.first().is_some_and(is_logical) {
            left = Some(self.condition(first));
        } else {
            self.read(first);
        }
        for step in steps {
            if !is_logical(step) {
                if let Some(split) = left.take() {
                    self.state = join(split.holds, split.fails);
                }
                self.read(&step.right);
                continue;
            }
            let Split { holds, fails } = left.take().unwrap_or_else(|| self.split());
            let is_and = step.op == BinaryOp::And;
            let (goes_on, decided) = if is_and {
                (holds, fails)
            } else {
                (fails, holds)
            };
            self.state = goes_on;
            let right = self.condition(&step.right);
            left = Some(if is_and {
                Split {
                    holds: right.holds,
                    fails: join(decided, right.fails),
                }
            } else {
                Split {
                    holds: join(decided, right.holds),
                    fails: right.fails,
                }
            });
        }
        left.unwrap_or_else(|| self.split())
    }

    /// Returns the facts about a value once it is stored.
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
            _ => match self.state.as_ref().and_then(|s| s.lookup(value)) {
                Some(Init::Header(validity)) => Init::Header(*validity),
                _ => Init::unknown(module, &value.ty),
            },
        }
    }

    fn is_header(&self, ty: &Ty) -> bool {
        self.checker.composite_kind(ty) == Some(CompositeKind::Header)
    }

    fn write(&mut self, target: &Expr, value: Init) {
        // A write to some bits or one element counts as a write of all.
        let mut at = target;
        while let ExprKind::Slice { base, .. } | ExprKind::PartSelect { base, .. } = &at.kind {
            at = base;
        }
        let whole = std::ptr::eq(at, target);
        if let Some(state) = &mut self.state
            && let Some(init) = state.lookup_mut(at)
        {
            match (whole, &mut *init, value) {
                (true, Init::Header(known), Init::Header(new)) => *known = new,
                (_, init, _) => init.written(),
            }
        }
    }

    /// Reports a write to a field, or a part of one, of a header that is certainly invalid.
    fn write_field(&mut self, target: &Expr) {
        let Some(state) = &self.state else { return };
        let mut at = target;
        loop {
            match &at.kind {
                ExprKind::Field(base, _) => {
                    if let Some(Init::Header(Validity::Invalid)) = state.lookup(base) {
                        if self.report {
                            let what = super::text(self.checker, base.span, "this");
                            self.found
                                .push(warnings::invalid_written(target.span, &what));
                            self.settle(base);
                        }
                        return;
                    }
                    at = base;
                }
                ExprKind::TupleField(base, _)
                | ExprKind::StackIndex(base, _)
                | ExprKind::Slice { base, .. }
                | ExprKind::PartSelect { base, .. } => at = base,
                _ => return,
            }
        }
    }

    /// Reads the indices in an l-value.
    fn read_inside(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::StackIndex(base, index)
            | ExprKind::PartSelect {
                base, lo: index, ..
            } => {
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
            ExprKind::Local(_) | ExprKind::Field(..) => self.read_lvalue(expr),
            ExprKind::TupleField(e, _)
            | ExprKind::StackProperty(e, _)
            | ExprKind::Slice { base: e, .. }
            | ExprKind::Unary(_, e)
            | ExprKind::Cast(e) => self.read(e),
            ExprKind::IsValid(e) => self.read_inside(e),
            ExprKind::StackIndex(base, index)
            | ExprKind::PartSelect {
                base, lo: index, ..
            } => {
                self.read(base);
                self.read(index);
            }
            ExprKind::Chain(first, steps) => {
                let split = self.chain(first, steps);
                self.state = join(split.holds, split.fails);
            }
            ExprKind::Mux(cond, yes, no) => {
                let chosen = self.condition(cond);
                self.state = chosen.holds;
                self.read(yes);
                let after = std::mem::replace(&mut self.state, chosen.fails);
                self.read(no);
                self.state = join(after, self.state.take());
            }
            ExprKind::List(elems) => elems.iter().for_each(|e| self.read(e)),
            ExprKind::Call(call) => self.call(call),
            ExprKind::TableHit(table, _) => self.apply(*table),
            ExprKind::Const(_)
            | ExprKind::Instance(_)
            | ExprKind::This
            | ExprKind::Target
            | ExprKind::Default => {}
        }
    }

    fn read_lvalue(&mut self, expr: &Expr) {
        let Some(state) = &self.state else { return };
        if let Some(init) = state.lookup(expr) {
            if init.is_unwritten() && self.report {
                let what = super::text(self.checker, expr.span, "this");
                self.found.push(warnings::uninitialized(expr.span, &what));
                self.settle(expr);
            }
            return;
        }
        let ExprKind::Field(base, _) = &expr.kind else {
            return;
        };
        match state.lookup(base) {
            Some(Init::Header(Validity::Invalid)) => {
                if self.report {
                    let what = super::text(self.checker, base.span, "this");
                    self.found.push(warnings::invalid_header(expr.span, &what));
                    self.settle(base);
                }
            }
            Some(_) => {}
            None => self.read(base),
        }
    }

    /// Marks a reported value as written, so that it is not reported again on the same path.
    fn settle(&mut self, expr: &Expr) {
        if let Some(init) = self.state.as_mut().and_then(|s| s.lookup_mut(expr)) {
            init.written();
        }
    }

    fn call(&mut self, call: &Call) {
        for (_, arg) in call.args.as_written() {
            match arg {
                Arg::In(e) => self.read(e),
                Arg::InOut(e) => self.read(e),
                Arg::Out(e) => {
                    self.read_inside(e);
                    self.write_field(e);
                }
                Arg::Discard(_) | Arg::Absent => {}
            }
        }
        match &call.callee {
            Callee::Table(id) => self.apply(*id),
            Callee::Action(id) => {
                self.enter(*id);
                let mut changed = Writes::default();
                writes::of_action(&self.checker.module, *id, &mut changed);
                self.changed(&changed);
            }
            Callee::SetValid(e) => self.set_validity(e, Validity::Valid),
            Callee::SetInvalid(e) => self.set_validity(e, Validity::Invalid),
            _ => {}
        }
        let extracts = self.is_extract(call);
        for arg in call.args.iter() {
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
            && let Some(Init::Header(known)) = state.lookup_mut(header)
        {
            *known = validity;
        }
    }

    /// Applies a table: its key is read, and any of its actions may run.
    fn apply(&mut self, id: TableId) {
        let table = &self.checker.module.tables[id];
        for key in &table.keys {
            self.read(&key.expr);
        }
        for action in &table.actions {
            self.enter(action.action);
        }
        let mut changed = Writes::default();
        writes::of_table(&self.checker.module, id, &mut changed);
        self.changed(&changed);
    }

    /// Adds the current facts to those at the entry of an action.
    fn enter(&mut self, id: ActionId) {
        if let Some(state) = &self.state {
            let known = self.entered.entry(id);
            known
                .and_modify(|known| *known = known.join(state))
                .or_insert_with(|| state.clone());
        }
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
