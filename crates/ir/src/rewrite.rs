//! Rewriting of expressions and statements, with simplification of the results.

use crate::*;
use std::collections::HashMap;

/// Substitutions for the leaves of expressions and for storage.
pub trait Leaves {
    /// Replaces the read of a variable.
    fn var(&mut self, program: &mut Program, var: Var) -> Option<Expr> {
        let _ = (program, var);
        None
    }

    /// Replaces the read of a field, once its header was replaced.
    fn field(&mut self, program: &mut Program, header: HeaderRef, field: u32) -> Option<Expr> {
        let _ = (program, header, field);
        None
    }

    /// Replaces the validity of a header, once the header was replaced.
    fn valid(&mut self, program: &mut Program, header: HeaderRef) -> Option<bool> {
        let _ = (program, header);
        None
    }

    /// Replaces a header, read or written, once its index was replaced.
    fn header(&mut self, program: &mut Program, header: HeaderRef) -> HeaderRef {
        let _ = program;
        header
    }

    /// Replaces a variable that is written.
    fn written(&mut self, var: Var) -> Var {
        var
    }

    /// Replaces a stack whose elements are moved.
    fn stack(&mut self, program: &mut Program, stack: Stack) -> Stack {
        let _ = program;
        stack
    }
}

/// Empty substitution, to simplify only.
pub struct Nothing;

impl Leaves for Nothing {}

/// Replaces leaves in expressions. Results are cached, so the substitution of a leaf must not change over time.
pub struct Rewriter<'a, L> {
    /// The program that holds the expressions.
    pub program: &'a mut Program,
    /// The substitutions.
    pub leaves: L,
    done: HashMap<Expr, Expr>,
}

impl<'a, L: Leaves> Rewriter<'a, L> {
    /// Creates a rewriter with an empty cache.
    pub fn new(program: &'a mut Program, leaves: L) -> Rewriter<'a, L> {
        Rewriter {
            program,
            leaves,
            done: HashMap::new(),
        }
    }

    /// Rewrites an expression; returns the same expression if nothing changes.
    pub fn expr(&mut self, expr: Expr) -> Expr {
        if let Some(&done) = self.done.get(&expr) {
            return done;
        }
        let new = self.rebuild(expr);
        self.done.insert(expr, new);
        new
    }

    /// Rewrites a header's index, then replaces the header.
    pub fn header(&mut self, header: HeaderRef) -> HeaderRef {
        let header = match header {
            HeaderRef::Element(stack, index) => HeaderRef::Element(stack, self.expr(index)),
            header => header,
        };
        self.leaves.header(self.program, header)
    }

    /// Rewrites a statement and the blocks inside it.
    pub fn stmt(&mut self, stmt: &mut Stmt) {
        visit::map_stmt(&mut stmt.kind, self);
        for block in visit::blocks_mut(&mut stmt.kind) {
            self.block(block);
        }
    }

    /// Rewrites a block.
    pub fn block(&mut self, block: &mut Block) {
        block.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    /// Rewrites a transition's keys.
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
