//! Statements.

mod control_flow;
mod loops;
mod switch;

pub(crate) use control_flow::always_leaves;

use crate::call::Called;
use crate::checker::{Checker, Context};
use crate::errors::{declarations, statements, warnings};
use diag::Span;
use hir::*;
use syntax::ast;

impl Checker<'_> {
    /// Checks a block in a scope of its own.
    pub(crate) fn block(&mut self, block: &ast::Block) -> Block {
        let annotations = self.annotations_of(&block.annotations, block.span, block.span);
        let stmts = self.scoped(|c| c.stmts(&block.stmts));
        atomic_if(&annotations, stmts, block.span)
    }

    /// Checks statements in the current scope.
    pub(crate) fn stmts(&mut self, stmts: &[ast::Stmt]) -> Block {
        let mut out = Vec::with_capacity(stmts.len());
        let mut left: Option<Span> = None;
        for stmt in stmts {
            if let Some(by) = left.take()
                && !matches!(stmt.kind, ast::StmtKind::Empty)
            {
                self.report(warnings::unreachable_statement(stmt.span, by));
            }
            let before = out.len();
            self.stmt(stmt, &mut out);
            left = out[before..]
                .iter()
                .rev()
                .find(|s| control_flow::leaves(s))
                .map(|s| s.span);
        }
        out
    }

    /// Checks one statement. Some statements become none, some two.
    pub(crate) fn stmt(&mut self, stmt: &ast::Stmt, out: &mut Block) {
        self.deeper(stmt.span, |c| c.stmt_kind(stmt, out));
    }

    /// Checks a branch: a block's statements, or a lone statement, in a scope of its own.
    fn branch(&mut self, stmt: &ast::Stmt) -> Block {
        self.scoped(|c| {
            let mut out = Vec::new();
            match &stmt.kind {
                ast::StmtKind::Block(block) => {
                    let annotations = c.annotations_of(&block.annotations, block.span, block.span);
                    let stmts = c.stmts(&block.stmts);
                    return atomic_if(&annotations, stmts, block.span);
                }
                ast::StmtKind::Decl(decl) => {
                    let what = crate::decl::kind_name(&decl.kind);
                    let found = declarations::not_here(decl.span, what, "a branch without braces");
                    c.report(found.help(
                        "put braces around the branch, or declare it before: it would end with the branch",
                    ));
                }
                _ => {}
            }
            c.stmt(stmt, &mut out);
            out
        })
    }

    fn stmt_kind(&mut self, stmt: &ast::Stmt, out: &mut Block) {
        let span = stmt.span;
        let in_parser = self.context == Context::ParserState;
        let kind = match &stmt.kind {
            ast::StmtKind::Empty => return,
            ast::StmtKind::Decl(decl) => return self.local_decl(decl, out),
            ast::StmtKind::Assign { target, op, value } => {
                match self.assignment(target, *op, value, span) {
                    Some(kind) => kind,
                    None => return,
                }
            }
            ast::StmtKind::Call(call) => return self.call_stmt(call, span, out),
            ast::StmtKind::If { arms, otherwise } => {
                let arms = arms.iter().map(|arm| IfArm {
                    cond: self.condition(&arm.cond),
                    then: self.branch(&arm.then),
                    span: arm.span,
                });
                let arms = arms.collect();
                let otherwise = otherwise.as_ref().map_or_else(Vec::new, |s| self.branch(s));
                StmtKind::If { arms, otherwise }
            }
            ast::StmtKind::Block(block) => StmtKind::Block(self.block(block)),
            ast::StmtKind::Return(value) => match self.return_stmt(value.as_ref(), span) {
                Some(kind) => kind,
                None => return,
            },
            ast::StmtKind::Exit => {
                if !matches!(self.context, Context::ControlApply | Context::Action) {
                    self.report(statements::not_here(
                        span,
                        "`exit`",
                        self.context.describe(),
                        "`exit` ends a control: use it in `apply` blocks and actions",
                    ));
                    return;
                }
                StmtKind::Exit
            }
            ast::StmtKind::Break | ast::StmtKind::Continue => {
                let is_break = matches!(stmt.kind, ast::StmtKind::Break);
                if self.loops == 0 {
                    self.report(statements::outside_loop(
                        span,
                        if is_break { "break" } else { "continue" },
                    ));
                    return;
                }
                if is_break {
                    StmtKind::Break
                } else {
                    StmtKind::Continue
                }
            }
            ast::StmtKind::Switch { scrutinee, cases } => {
                if in_parser {
                    self.report(statements::not_here(
                        span,
                        "`switch`",
                        self.context.describe(),
                        "branch with `transition select` or `if`",
                    ));
                    return;
                }
                match self.switch(scrutinee, cases) {
                    Some(kind) => kind,
                    None => return,
                }
            }
            ast::StmtKind::For { .. } | ast::StmtKind::ForIn { .. } if in_parser => {
                self.report(statements::not_here(
                    span,
                    "a loop",
                    self.context.describe(),
                    "loop with a transition back to an earlier state",
                ));
                return;
            }
            ast::StmtKind::For {
                init,
                cond,
                update,
                body,
            } => self.for_loop(init, cond, update, body),
            ast::StmtKind::ForIn {
                annotations,
                ty,
                name,
                collection,
                body,
            } => match self.for_in(annotations, ty, name, collection, body) {
                Some(kind) => kind,
                None => return,
            },
        };
        out.push(Stmt { kind, span });
    }

    /// Checks a constant, variable or instance among statements.
    fn local_decl(&mut self, decl: &ast::Decl, out: &mut Block) {
        match &decl.kind {
            ast::DeclKind::Const { ty, name, value } => {
                if let Some((local, value)) = self.const_decl(decl, ty, name, value) {
                    out.push(Stmt {
                        kind: StmtKind::Local {
                            local,
                            init: Some(value),
                        },
                        span: decl.span,
                    });
                }
            }
            ast::DeclKind::Var { ty, name, init } => {
                if let Some((local, init)) = self.var_decl(decl, ty, name, init.as_ref()) {
                    out.push(Stmt {
                        kind: StmtKind::Local { local, init },
                        span: decl.span,
                    });
                }
            }
            ast::DeclKind::Instance { .. } => {
                if let Some(id) = self.instance_decl(decl) {
                    out.push(Stmt {
                        kind: StmtKind::Instance(id),
                        span: decl.span,
                    });
                }
            }
            _ => {
                let name = crate::decl::kind_name(&decl.kind);
                self.report(declarations::not_here(
                    decl.span,
                    name,
                    self.context.describe(),
                ));
            }
        }
    }

    fn assignment(
        &mut self,
        target: &ast::Expr,
        op: Option<ast::BinaryOp>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let target = self.expr(target, None);
        let Some(op) = op else {
            let value = self.expr_as(value, &target.ty);
            if target.ty == Ty::Poison || !self.require_lvalue(&target) {
                return None;
            }
            return Some(StmtKind::Assign { target, value });
        };
        let right = self.expr(value, None);
        if target.ty == Ty::Poison || !self.require_lvalue(&target) {
            return None;
        }
        if Self::has_call(&target) {
            let old = Expr {
                kind: ExprKind::Target,
                ty: target.ty.clone(),
                span: target.span,
            };
            let result = self.operate(op, old, right, span);
            let value = self.coerce(result, &target.ty);
            return (value.ty != Ty::Poison).then_some(StmtKind::Update { target, value });
        }
        let result = self.operate(op, target.clone(), right, span);
        let value = self.coerce(result, &target.ty);
        (value.ty != Ty::Poison).then_some(StmtKind::Assign { target, value })
    }

    fn call_stmt(&mut self, call: &ast::Expr, span: Span, out: &mut Block) {
        let ast::ExprKind::Call {
            callee,
            type_args,
            args,
        } = &call.kind
        else {
            self.expr(call, None);
            return;
        };
        match self.call(callee, type_args, args, None, call.span) {
            Called::Call(call, instance) => {
                if let Some(id) = instance {
                    out.push(Stmt {
                        kind: StmtKind::Instance(id),
                        span,
                    });
                }
                out.push(Stmt {
                    kind: StmtKind::Call(call),
                    span,
                });
            }
            // A value that is not used has no effect; `static_assert` is already evaluated.
            Called::Value(_) | Called::Poison => {}
        }
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<StmtKind> {
        if self.context == Context::ParserState {
            self.report(statements::not_here(
                span,
                "`return`",
                self.context.describe(),
                "leave a state with `transition`",
            ));
            return None;
        }
        let wanted = self.result.clone();
        match (value, wanted) {
            (None, Ty::Void) => Some(StmtKind::Return(None)),
            (None, Ty::Poison) => Some(StmtKind::Return(None)),
            (None, ty) => {
                let shown = self.show(&ty);
                self.report(statements::return_without(span, &shown));
                Some(StmtKind::Return(None))
            }
            (Some(value), Ty::Void) => {
                self.expr(value, None);
                self.report(statements::return_with(value.span, self.context.describe()));
                Some(StmtKind::Return(None))
            }
            (Some(value), ty) => Some(StmtKind::Return(Some(self.expr_as(value, &ty)))),
        }
    }
}

/// Wraps a body in one atomic statement if it is annotated `@atomic` (specification 18.4.1).
pub(crate) fn atomic_if(annotations: &[Annotation], body: Block, span: Span) -> Block {
    if annotations.iter().any(|a| a.name == "atomic") {
        let kind = StmtKind::Atomic(body);
        vec![Stmt { kind, span }]
    } else {
        body
    }
}
