//! Evaluation of expressions.

use super::Run;
use ir::types::is_signed;
use ir::{Expr, ExprKind, Header, HeaderRef, Value, eval};

impl Run<'_> {
    /// Returns the value of an expression.
    pub(crate) fn eval(&self, expr: Expr) -> Value {
        let p = self.p;
        let data = &p.exprs[expr];
        match data.kind {
            ExprKind::Const(ref bits) => Value::Bits(bits.clone()),
            ExprKind::Bool(value) => Value::Bool(value),
            ExprKind::Member(index) => Value::Member(index),
            ExprKind::Var(var) => self.storage().var(var).clone(),
            ExprKind::Field(header, field) => match self.header_of(header) {
                Some(header) => self.storage().header(header).fields[field as usize].clone(),
                None => Value::zero(data.ty),
            },
            ExprKind::IsValid(header) => Value::Bool(
                self.header_of(header)
                    .is_some_and(|header| self.storage().header(header).valid),
            ),
            ExprKind::Unary(op, operand) => eval::unary(op, &self.eval(operand)),
            ExprKind::Binary(op, a, b) => {
                eval::binary(op, &self.eval(a), &self.eval(b), is_signed(p.ty(a)))
            }
            ExprKind::Cast(operand) => eval::cast(&self.eval(operand), p.ty(operand), data.ty),
            ExprKind::Slice { base, hi, lo } => eval::slice(&self.eval(base), hi, lo),
            ExprKind::Mux(cond, then, otherwise) => {
                let chosen = if self.eval(cond).bool() {
                    then
                } else {
                    otherwise
                };
                self.eval(chosen)
            }
        }
    }

    /// Resolves a header reference. `None` for an element past the end of its stack.
    pub(crate) fn header_of(&self, header: HeaderRef) -> Option<Header> {
        match header {
            HeaderRef::Header(header) => Some(header),
            HeaderRef::Element(stack, index) => {
                let index = self.eval(index).to_bits().to_u64()?;
                let index = usize::try_from(index).ok()?;
                self.p.stacks[stack].elems.get(index).copied()
            }
        }
    }
}
