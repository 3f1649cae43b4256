//! Expressions, evaluated from left to right (section 8.1).

use super::machine::{Machine, Result};
use super::place::{PathStep, part};
use super::value::{Value, binary, unary};
use hir::{BinaryOp, Expr, ExprKind};

impl Machine<'_> {
    /// Evaluates an expression.
    pub(super) fn eval(&mut self, expr: &Expr) -> Result<Value> {
        if self.is_place(expr) {
            let place = self.place(expr)?;
            return Ok(self.read(&place));
        }
        Ok(match &expr.kind {
            ExprKind::Const(value) => self.constant(value, &expr.ty),
            ExprKind::Field(base, index) | ExprKind::TupleField(base, index) => {
                part(&self.eval(base)?, &[PathStep::Part(*index as usize)])
            }
            ExprKind::StackIndex(base, index) => {
                let base = self.eval(base)?;
                part(&base, &[PathStep::element(&self.eval(index)?)])
            }
            ExprKind::Slice { base, hi, lo } => {
                part(&self.eval(base)?, &[PathStep::Slice(*lo, hi - lo + 1)])
            }
            ExprKind::PartSelect { base, lo, width } => {
                let base = self.eval(base)?;
                part(&base, &[PathStep::bits_from(&self.eval(lo)?, *width)])
            }
            ExprKind::Target => self.target.clone().expect("an assignment around it"),
            ExprKind::IsValid(header) => Value::Bool(self.eval(header)?.is_valid()),
            ExprKind::List(elems) => {
                let mut parts = Vec::new();
                for elem in elems {
                    parts.push(self.eval(elem)?);
                }
                self.list(&expr.ty, parts)
            }
            ExprKind::Default => self.nothing(&expr.ty),
            ExprKind::Unary(op, operand) => unary(*op, &self.eval(operand)?),
            ExprKind::Chain(first, steps) => {
                let mut left = self.eval(first)?;
                for step in steps {
                    left = match step.op {
                        BinaryOp::And if !left.bool() => left,
                        BinaryOp::Or if left.bool() => left,
                        BinaryOp::And | BinaryOp::Or => self.eval(&step.right)?,
                        op => binary(op, &left, &self.eval(&step.right)?),
                    };
                }
                left
            }
            ExprKind::Mux(cond, a, b) => {
                let chosen = if self.eval(cond)?.bool() { a } else { b };
                self.eval(chosen)?
            }
            ExprKind::Cast(inner) => {
                let value = self.eval(inner)?;
                self.cast(value, &expr.ty)
            }
            ExprKind::Call(call) => self.call(call)?.expect("it returns a value"),
            ExprKind::TableHit(table, wanted) => Value::Bool(self.apply(*table)?.hit == *wanted),
            other => panic!("the oracle has no {other:?}"),
        })
    }
}
