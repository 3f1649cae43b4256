//! Replacing parts of expressions and statements, simplifying what becomes of them.

use crate::*;
use std::collections::HashMap;

/// What to put in place of what expressions end in.
pub trait Leaves {
    /// For a variable that is read.
    fn var(&mut self, program: &mut Program, var: Var) -> Option<Expr> {
        let _ = (program, var);
        None
    }

    /// For a field that is read, once its header was replaced.
    fn field(&mut self, program: &mut Program, header: HeaderRef, field: u32) -> Option<Expr> {
        let _ = (program, header, field);
        None
    }

    /// For the validity of a header, once that was replaced.
    fn valid(&mut self, program: &mut Program, header: HeaderRef) -> Option<bool> {
        let _ = (program, header);
        None
    }

    /// For a header, read or written, once its index was replaced.
    fn header(&mut self, program: &mut Program, header: HeaderRef) -> HeaderRef {
        let _ = program;
        header
    }

    /// For a variable that is written.
    fn written(&mut self, var: Var) -> Var {
        var
    }

    /// For a stack whose elements are moved.
    fn stack(&mut self, program: &mut Program, stack: Stack) -> Stack {
        let _ = program;
        stack
    }
}

/// Only simplifies.
pub struct Nothing;

impl Leaves for Nothing {}

/// Replaces leaves all over expressions; what was replaced once is remembered, so leaves must mean
/// the same all the time.
pub struct Rewriter<'a, L> {
    /// Where expressions are made.
    pub program: &'a mut Program,
    /// What to replace.
    pub leaves: L,
    done: HashMap<Expr, Expr>,
}

impl<'a, L: Leaves> Rewriter<'a, L> {
    /// A rewriter that has replaced nothing yet.
    pub fn new(program: &'a mut Program, leaves: L) -> Rewriter<'a, L> {
        Rewriter {
            program,
            leaves,
            done: HashMap::new(),
        }
    }

    /// Replaces in an expression; the same expression comes back if nothing changes.
    pub fn expr(&mut self, expr: Expr) -> Expr {
        if let Some(&done) = self.done.get(&expr) {
            return done;
        }
        let new = self.rebuild(expr);
        self.done.insert(expr, new);
        new
    }

    /// Replaces in a header's index, then the header.
    pub fn header(&mut self, header: HeaderRef) -> HeaderRef {
        let header = match header {
            HeaderRef::Element(stack, index) => HeaderRef::Element(stack, self.expr(index)),
            header => header,
        };
        self.leaves.header(self.program, header)
    }

    /// Replaces in a statement and the blocks inside.
    pub fn stmt(&mut self, stmt: &mut Stmt) {
        visit::map_stmt(&mut stmt.kind, self);
        for block in visit::blocks_mut(&mut stmt.kind) {
            self.block(block);
        }
    }

    /// Replaces in a block.
    pub fn block(&mut self, block: &mut Block) {
        block.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    /// Replaces in a transition's keys.
    pub fn transition(&mut self, transition: &mut Transition) {
        if let Transition::Select { keys, .. } = transition {
            keys.iter_mut().for_each(|key| *key = self.expr(*key));
        }
    }

    fn rebuild(&mut self, expr: Expr) -> Expr {
        let ExprData { kind, ty, span } = self.program.exprs[expr].clone();
        let new = match kind {
            ExprKind::Const(_) | ExprKind::Bool(_) | ExprKind::Member(_) => return expr,
            ExprKind::Var(var) => return self.leaves.var(self.program, var).unwrap_or(expr),
            ExprKind::Field(header, field) => {
                let header = self.header(header);
                if let Some(new) = self.leaves.field(self.program, header, field) {
                    return new;
                }
                ExprKind::Field(header, field)
            }
            ExprKind::IsValid(header) => {
                let header = self.header(header);
                match self.leaves.valid(self.program, header) {
                    Some(known) => ExprKind::Bool(known),
                    None => ExprKind::IsValid(header),
                }
            }
            ref operation => visit::map_operation(operation.clone(), |operand| self.expr(operand)),
        };
        match build::simplify(self.program, &new, ty, span) {
            Some(simple) => simple,
            None if new == kind => expr,
            None => self.program.exprs.push(ExprData {
                kind: new,
                ty,
                span,
            }),
        }
    }
}

impl<L: Leaves> visit::Map for Rewriter<'_, L> {
    fn expr(&mut self, expr: Expr) -> Expr {
        Rewriter::expr(self, expr)
    }

    fn header(&mut self, header: HeaderRef) -> HeaderRef {
        Rewriter::header(self, header)
    }

    fn var(&mut self, var: Var) -> Var {
        self.leaves.written(var)
    }

    fn stack(&mut self, stack: Stack) -> Stack {
        self.leaves.stack(self.program, stack)
    }
}
