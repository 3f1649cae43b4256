//! Statements.

use crate::body::InlineFrame;
use crate::effects::has_effects;
use crate::instances::Binding;
use crate::{Elab, Failed, Result};
use diag::Span;
use hir::{Block, Expr, Stmt};
use ir::StmtKind;

impl Elab<'_> {
    /// Builds statements in order. If one fails, the next ones are still checked.
    pub(crate) fn stmts(&mut self, block: &Block) -> Result<()> {
        let mut result = Ok(());
        for stmt in block {
            result = self.deeper(stmt.span, |elab| elab.stmt(stmt)).and(result);
            if self.exhausted {
                return Err(Failed);
            }
            if matches!(
                stmt.kind,
                hir::StmtKind::Return(_)
                    | hir::StmtKind::Exit
                    | hir::StmtKind::Break
                    | hir::StmtKind::Continue
            ) {
                // Nothing after it is reached.
                break;
            }
        }
        result
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        let span = stmt.span;
        if self.body.graph.is_some() && self.splits_state(stmt) {
            return self.splitting_stmt(stmt);
        }
        match &stmt.kind {
            hir::StmtKind::Local { local, init } => self.local(*local, init.as_ref(), span),
            hir::StmtKind::Instance(id) => {
                self.declare_instance(*id)?;
                self.pending_methods()
            }
            hir::StmtKind::Assign { target, value } => {
                let lvalue = self.lvalue(target, has_effects(value))?;
                let value = self.eval(value)?;
                self.store(&lvalue, value, span)
            }
            hir::StmtKind::Update { target, value } => {
                let lvalue = self.lvalue(target, true)?;
                let old = self.load(&lvalue, span)?;
                let outer = self.target.replace(old);
                let value = self.eval(value);
                self.target = outer;
                self.store(&lvalue, value?, span)
            }
            hir::StmtKind::Call(call) => self.call(call, false).map(|_| ()),
            hir::StmtKind::If { arms, otherwise } => self.if_stmt(arms, otherwise, span),
            hir::StmtKind::Block(inner) => self.stmts(inner),
            hir::StmtKind::Atomic(inner) => self.atomic(inner, span),
            hir::StmtKind::Return(value) => self.return_stmt(value.as_ref(), span),
            hir::StmtKind::Exit => {
                let outs: Vec<_> = self
                    .body
                    .inlined
                    .iter()
                    .rev()
                    .flat_map(|f| f.copy_outs.iter().cloned())
                    .collect();
                self.copy_out(&outs)?;
                self.emit(StmtKind::Exit, span)
            }
            hir::StmtKind::Break => self.break_stmt(span),
            hir::StmtKind::Continue => self.continue_stmt(span),
            hir::StmtKind::Switch { scrutinee, cases } => self.switch(scrutinee, cases, span),
            hir::StmtKind::SwitchTable { table, cases } => self.switch_table(*table, cases, span),
            hir::StmtKind::For {
                init,
                cond,
                update,
                body,
            } => self.for_loop(init, cond, update, body, span),
            hir::StmtKind::ForIn {
                local,
                collection,
                body,
            } => self.for_in(*local, collection, body, span),
        }
    }

    fn local(&mut self, id: hir::LocalId, init: Option<&Expr>, span: Span) -> Result<()> {
        if let (hir::LocalKind::Const, Some(_)) = (self.module.locals[id].kind, init) {
            return self.declare(id, init);
        }
        // The initial value is read before the variable is made: in a loop, both are the same storage in each
        // iteration.
        match init {
            Some(init) => {
                let value = self.eval(init)?;
                self.declare(id, None)?;
                match self.env.locals.get(&id).cloned() {
                    Some(Binding::Storage(storage)) => self.assign(&storage, value, span),
                    _ => Ok(()),
                }
            }
            None => {
                self.declare(id, None)?;
                self.initialise(id, None, span)
            }
        }
    }

    /// Builds an atomic block. Refuses it in a parser, where packets share no state, and whose states are not
    /// blocks.
    fn atomic(&mut self, inner: &Block, span: Span) -> Result<()> {
        if self.body.in_parser {
            return self.fail(crate::errors::atomic_parser(span));
        }
        let block = self.block(|elab| elab.stmts(inner))?;
        self.emit(StmtKind::Atomic(block), span)
    }

    fn return_stmt(&mut self, value: Option<&Expr>, span: Span) -> Result<()> {
        let result = match self.body.inlined.last() {
            Some(frame) => frame.result.clone(),
            None => self.body.result.clone(),
        };
        if let Some(value) = value {
            let returned = self.eval(value)?;
            if let Some(result) = result {
                self.assign(&result, returned, span)?;
            }
        }
        match self.body.inlined.last_mut() {
            Some(InlineFrame {
                after: Some(after), ..
            }) => {
                let after = *after;
                self.end_state(ir::Transition::To(ir::TransitionTarget::State(after)));
                Ok(())
            }
            Some(frame) => {
                frame.returns += 1;
                let label = frame.label;
                self.emit(StmtKind::Break(label), span)
            }
            None => self.emit(StmtKind::Return, span),
        }
    }
}
