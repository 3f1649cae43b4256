//! Expressions: one function for each form. Each returns a typed HIR expression, folded if it is constant.

mod aggregate;
pub(crate) mod cast;
mod literal;
pub(crate) mod member;
mod name;
mod operator;
mod slice;

use crate::call::Called;
use crate::checker::{Checker, poison_expr};
use crate::errors::{calls, statements, types};
use diag::Span;
use hir::*;
use syntax::ast;

impl Checker<'_> {
    /// Types an expression. `want` is the type that its context expects; lists, `...` and calls with a generic result
    /// need it. Nothing is converted to it here.
    pub(crate) fn expr(&mut self, expr: &ast::Expr, want: Option<&Ty>) -> Expr {
        self.deeper(expr.span, |c| c.expr_kind(expr, want))
            .unwrap_or_else(|| poison_expr(expr.span))
    }

    /// Types an expression and converts it to `ty`.
    pub(crate) fn expr_as(&mut self, expr: &ast::Expr, ty: &Ty) -> Expr {
        let value = self.expr(expr, Some(ty));
        self.coerce(value, ty)
    }

    fn expr_kind(&mut self, expr: &ast::Expr, want: Option<&Ty>) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Int { value, width } => self.int_literal(value, *width, span),
            ast::ExprKind::Bool(value) => {
                crate::checker::constant(ConstValue::Bool(*value), Ty::Bool, span)
            }
            ast::ExprKind::String(text) => {
                crate::checker::constant(ConstValue::String(text.clone()), Ty::String, span)
            }
            ast::ExprKind::Name { global, name } => self.name_expr(*global, name, span),
            ast::ExprKind::This => self.this_expr(span),
            ast::ExprKind::Type(ty) => {
                let ty = self.ty(ty);
                let shown = self.show(&ty);
                self.poison(crate::errors::names::type_as_value(span, &shown, "a type"))
            }
            ast::ExprKind::Member(base, name) => self.member(base, name, span),
            ast::ExprKind::Index(base, index) => self.index(base, index, span),
            ast::ExprKind::Slice { base, hi, lo } => self.slice(base, hi, lo, span),
            ast::ExprKind::PartSelect { base, lo, width } => {
                self.part_select(base, lo, width, span)
            }
            ast::ExprKind::List(elems) => self.list(elems, want, span),
            ast::ExprKind::Struct { fields, rest } => self.structure(fields, *rest, want, span),
            ast::ExprKind::Invalid => self.invalid_header(want, span),
            ast::ExprKind::Default => self.default_value(want, span),
            ast::ExprKind::DontCare => self.poison(calls::dont_care_value(span)),
            ast::ExprKind::Unary(op, operand) => self.unary(*op, operand, span),
            ast::ExprKind::Chain(first, links) => self.chain(first, links),
            ast::ExprKind::Ternary(cond, yes, no) => self.mux(cond, yes, no, want, span),
            ast::ExprKind::Cast(ty, operand) => self.cast(ty, operand, want, span),
            ast::ExprKind::Call {
                callee,
                type_args,
                args,
            } => {
                let in_case = std::mem::replace(&mut self.run_time_sets, false);
                let called = self.call(callee, type_args, args, want, span);
                self.run_time_sets = in_case;
                self.called_value(called, in_case, span)
            }
            ast::ExprKind::Mask(..) | ast::ExprKind::Range(..) | ast::ExprKind::Tuple(_) => {
                self.poison(statements::keyset_elsewhere(span))
            }
        }
    }

    /// Makes the value of a call. Calls are not allowed in a case of `select`.
    fn called_value(&mut self, called: Called, in_case: bool, span: Span) -> Expr {
        match called {
            Called::Value(value) => value,
            Called::Poison => poison_expr(span),
            Called::Call(..) if in_case => self.poison(statements::call_in_case(span)),
            Called::Call(call, _) if call.result == Ty::Void => self.poison(types::no_value(span)),
            Called::Call(call, _) => {
                let ty = call.result.clone();
                Expr {
                    kind: ExprKind::Call(Box::new(call)),
                    ty,
                    span,
                }
            }
        }
    }

    /// Types a condition.
    pub(crate) fn condition(&mut self, expr: &ast::Expr) -> Expr {
        self.expr_as(expr, &Ty::Bool)
    }

    /// Returns true if an expression is a compile-time constant, once constructor arguments are known.
    pub(crate) fn is_compile_time(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Instance(_) | ExprKind::This | ExprKind::Default => true,
            ExprKind::Local(id) => match self.module.locals[*id].kind {
                LocalKind::CtorParam | LocalKind::Const => true,
                LocalKind::Param(Direction::None) => {
                    !self.action_data.contains(id) && !self.block_data.contains(id)
                }
                // Their values are known only at run time.
                LocalKind::Param(_) | LocalKind::Var => false,
            },
            ExprKind::Field(e, _)
            | ExprKind::TupleField(e, _)
            | ExprKind::Slice { base: e, .. }
            | ExprKind::Unary(_, e)
            | ExprKind::Cast(e) => self.is_compile_time(e),
            ExprKind::StackIndex(a, b) | ExprKind::PartSelect { base: a, lo: b, .. } => {
                self.is_compile_time(a) && self.is_compile_time(b)
            }
            ExprKind::Chain(first, steps) => {
                self.is_compile_time(first) && steps.iter().all(|s| self.is_compile_time(&s.right))
            }
            ExprKind::Mux(a, b, c) => {
                self.is_compile_time(a) && self.is_compile_time(b) && self.is_compile_time(c)
            }
            ExprKind::List(elems) => elems.iter().all(|e| self.is_compile_time(e)),
            ExprKind::StackProperty(..)
            | ExprKind::Target
            | ExprKind::IsValid(_)
            | ExprKind::Call(_)
            | ExprKind::TableHit(..) => false,
        }
    }

    /// Reports an expression that is not a compile-time constant. Poison passes.
    pub(crate) fn require_compile_time(&mut self, expr: &Expr, what: &str) -> bool {
        if crate::infer::has_poison(&expr.ty) || self.is_compile_time(expr) {
            return true;
        }
        self.report(crate::errors::constants::not_constant(expr.span, what));
        false
    }
}
