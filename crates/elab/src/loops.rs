//! Loops and switches.

use crate::assign::LValue;
use crate::body::LoopFrame;
use crate::effects::may_change;
use crate::instances::Binding;
use crate::storage::Storage;
use crate::value::Value;
use crate::{Elab, Result, errors};
use diag::Span;
use hir::{Block, Collection, Expr, ExprKind, LocalId, SwitchCase, TableId};
use ir::{BinaryOp, Bits, Label, Place, StmtKind, Type};

impl Elab<'_> {
    /// `break`
    pub(crate) fn break_stmt(&mut self, span: Span) -> Result<()> {
        match self.body.loops.last_mut() {
            Some(frame) => {
                frame.broken = true;
                let label = frame.outer;
                self.emit(StmtKind::Break(label), span)
            }
            None => self.fail(errors::not_storable(span)),
        }
    }

    /// `continue`: leaves the body. The code that leads to the next iteration follows it.
    pub(crate) fn continue_stmt(&mut self, span: Span) -> Result<()> {
        match self.body.loops.last_mut() {
            Some(frame) => {
                frame.continued = true;
                let label = frame.inner;
                self.emit(StmtKind::Break(label), span)
            }
            None => self.fail(errors::not_storable(span)),
        }
    }

    /// Builds a loop's body, labelled if there is a `continue`. Returns true if there is a `break`.
    fn loop_body(&mut self, outer: Label, body: &Block, span: Span) -> Result<bool> {
        let inner = self.program.make_label();
        self.body.loops.push(LoopFrame {
            outer,
            inner,
            continued: false,
            broken: false,
        });
        let built = self.block(|elab| elab.stmts(body));
        let frame = self.body.loops.pop();
        let mut block = built?;
        if matches!(block.last(), Some(s) if s.kind == StmtKind::Break(inner)) {
            block.pop();
        }
        if frame.as_ref().is_some_and(|f| f.continued) {
            self.emit(StmtKind::Labeled(inner, block), span)?;
        } else {
            self.body.out.extend(block);
        }
        Ok(frame.is_some_and(|f| f.broken))
    }

    /// `for (init; cond; update) body`
    pub(crate) fn for_loop(
        &mut self,
        init: &Block,
        cond: &Expr,
        update: &Block,
        body: &Block,
        span: Span,
    ) -> Result<()> {
        self.stmts(init)?;
        let outer = self.program.make_label();
        let block = self.block(|elab| {
            let more = elab.scalar(cond)?;
            let done = elab.not(more, cond.span);
            elab.leave_if(done, outer, cond.span)?;
            elab.loop_body(outer, body, span)?;
            elab.stmts(update)
        })?;
        self.emit(StmtKind::Loop(outer, block), span)
    }

    fn leave_if(&mut self, cond: ir::Expr, label: Label, span: Span) -> Result<()> {
        let then = self.block(|elab| elab.emit(StmtKind::Break(label), span))?;
        self.emit_if(cond, then, Vec::new(), span)
    }

    /// `for (local in collection) body`
    pub(crate) fn for_in(
        &mut self,
        local: LocalId,
        collection: &Collection,
        body: &Block,
        span: Span,
    ) -> Result<()> {
        match collection {
            Collection::Range(lo, hi) => self.for_range(local, lo, hi, body, span),
            Collection::Elements(elems) => self.for_elements(local, elems, body, span),
        }
    }

    /// Makes the variable of a loop.
    fn loop_variable(&mut self, local: LocalId, span: Span) -> Result<Storage> {
        self.declare(local, None)?;
        match self.env.locals.get(&local) {
            Some(Binding::Storage(storage)) => Ok(storage.clone()),
            _ => self.fail(errors::not_storable(span)),
        }
    }

    /// Iterates from `lo` up to and including `hi`. The end is tested before counting, so that a range that ends at
    /// the type's last value terminates.
    fn for_range(
        &mut self,
        local: LocalId,
        lo: &Expr,
        hi: &Expr,
        body: &Block,
        span: Span,
    ) -> Result<()> {
        let Storage::Scalar(place) = self.loop_variable(local, span)? else {
            return self.fail(errors::not_storable(span));
        };
        let ty = self.place_type(place);
        let bounds = self.operands(&[lo, hi])?;
        let mut ends = Vec::new();
        for (value, expr) in bounds.iter().zip([lo, hi]) {
            let scalar = self.as_scalar(value, expr.span)?;
            let scalar = self.cast(scalar, ty, expr.span);
            ends.push(self.save_scalar(scalar, expr.span)?);
        }
        let [first, last] = ends[..] else {
            return self.fail(errors::not_storable(span));
        };
        let counter = Place::Var(self.new_var("counter", ty, span));
        self.set(counter, first, span)?;
        let outer = self.program.make_label();
        let block = self.block(|elab| {
            let now = elab.read(counter, span);
            elab.set(place, now, span)?;
            elab.loop_body(outer, body, span)?;
            let at_end = elab.binary(BinaryOp::Eq, now, last, Type::Bool, span);
            elab.leave_if(at_end, outer, span)?;
            let one = {
                let bits = Bits::new(ty.width(), 1u32);
                elab.expr(ir::ExprKind::Const(bits), ty, span)
            };
            let next = elab.binary(BinaryOp::Add, now, one, ty, span);
            elab.set(counter, next, span)
        })?;
        let not_empty = self.binary(BinaryOp::Le, first, last, Type::Bool, span);
        let then = self.block(|elab| elab.emit(StmtKind::Loop(outer, block), span))?;
        if let (ir::ExprKind::Const(a), ir::ExprKind::Const(b)) = (
            &self.program.exprs[first].kind,
            &self.program.exprs[last].kind,
        ) {
            let signed = matches!(ty, Type::Bits { signed: true, .. });
            if a.to_int(signed) <= b.to_int(signed) {
                self.body.out.extend(then);
            }
            return Ok(());
        }
        self.emit_if(not_empty, then, Vec::new(), span)
    }

    /// Iterates over the elements of a list or stack; the body is copied for each element.
    fn for_elements(
        &mut self,
        local: LocalId,
        elems: &Expr,
        body: &Block,
        span: Span,
    ) -> Result<()> {
        let storage = self.loop_variable(local, span)?;
        let ty = self.module.locals[local].ty.clone();
        let values = match (self.evaluate(elems), &elems.kind) {
            (Some(hir::ConstValue::List(values)), _) => {
                let mut all = Vec::new();
                for value in &values {
                    all.push(self.constant(value, &ty, elems.span)?);
                }
                all
            }
            (_, ExprKind::List(elems)) => self.operands(&elems.iter().collect::<Vec<_>>())?,
            (_, ExprKind::Cast(inner)) => match &inner.kind {
                ExprKind::List(elems) => self.operands(&elems.iter().collect::<Vec<_>>())?,
                _ => {
                    let value = self.eval(inner)?;
                    self.elements_of(&value, span)
                }
            },
            _ => {
                let value = self.eval(elems)?;
                self.elements_of(&value, span)
            }
        };
        // The elements are those before the loop, whatever its iterations do.
        let changes = may_change(body, elems);
        let mut fixed = Vec::new();
        for value in values {
            fixed.push(match value {
                Value::Stored(_) if !changes => value,
                value => self.copy_of(value, span)?,
            });
        }
        let outer = self.program.make_label();
        let mut broken = false;
        self.body.unrolled += 1;
        let block = self.block(|elab| {
            for value in fixed {
                elab.store(&LValue::Whole(storage.clone()), value, span)?;
                broken |= elab.loop_body(outer, body, span)?;
            }
            Ok(())
        });
        self.body.unrolled -= 1;
        let block = block?;
        if broken {
            self.emit(StmtKind::Labeled(outer, block), span)
        } else {
            self.body.out.extend(block);
            Ok(())
        }
    }

    /// `switch` on a value.
    pub(crate) fn switch(
        &mut self,
        scrutinee: &Expr,
        cases: &[SwitchCase<Expr>],
        span: Span,
    ) -> Result<()> {
        let on = self.scalar(scrutinee)?;
        let width = self.type_of(on).width();
        let mut built = Vec::new();
        let mut default = Vec::new();
        for case in cases {
            let block = self.block(|elab| elab.stmts(&case.body))?;
            if case.is_default {
                // Labels beside `default` lead to the same block.
                default = block;
                continue;
            }
            let mut values = Vec::new();
            for label in &case.labels {
                let value = self.must_evaluate(label)?;
                values.push(self.const_bits(&value, width, label.span)?);
            }
            built.push((values, block));
        }
        let cases = built;
        self.emit(StmtKind::Switch { on, cases, default }, span)
    }

    /// `switch` on the action that a table ran.
    pub(crate) fn switch_table(
        &mut self,
        table: TableId,
        cases: &[SwitchCase<hir::ActionId>],
        span: Span,
    ) -> Result<()> {
        let action = self.new_var("action_run", Type::bit(32), span);
        let ran = self.apply_table(table, None, Some(action), span)?;
        let on = self.read(Place::Var(action), span);
        let mut built = Vec::new();
        let mut default = Vec::new();
        for case in cases {
            let block = self.block(|elab| elab.stmts(&case.body))?;
            if case.is_default {
                default = block;
                continue;
            }
            let values = case
                .labels
                .iter()
                .flat_map(|label| {
                    ran.actions
                        .iter()
                        .enumerate()
                        .filter(move |(_, id)| *id == label)
                        .map(|(index, _)| Bits::new(32, index as u32))
                })
                .collect();
            built.push((values, block));
        }
        let cases = built;
        self.emit(StmtKind::Switch { on, cases, default }, span)
    }
}
