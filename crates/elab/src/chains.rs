//! Chains: operators from left to right, and `else if`. However long a chain is in the source, its IR is flat
//! enough for recursive passes: see [`MAX_HEIGHT`] and [`MAX_ARMS`].

use crate::effects::{MAX_HEIGHT, has_effects, height, takes_statements};
use crate::value::Value;
use crate::{Elab, Result};
use diag::Span;
use hir::{BinaryOp, Block, ConstValue, Expr, IfArm, InfixOperation, Ty};
use ir::{Place, StmtKind, Type};

/// Maximum number of `else if` arms that become nested statements. Further arms come after them, under a variable
/// that is set if none of the first ones held.
const MAX_ARMS: usize = 64;

impl Elab<'_> {
    /// `first op a op b`, from left to right.
    pub(crate) fn eval_chain(&mut self, first: &Expr, steps: &[InfixOperation]) -> Result<Value> {
        let mut known = self.evaluate(first);
        let mut left: Option<Value> = None;
        let mut tall = height(first);
        let (mut ty, mut span) = (&first.ty, first.span);
        for step in steps {
            let folded = known
                .as_ref()
                .and_then(|known| self.evaluate_step(known, ty, step));
            if folded.is_none() {
                let value = match (left.take(), known.take()) {
                    (Some(value), _) => value,
                    (None, Some(known)) => self.constant(&known, ty, span)?,
                    (None, None) => self.eval(first)?,
                };
                if let Some(fault) = self.step_fault(step) {
                    return self.fail(fault);
                }
                let mut value = self.eval_step(value, ty, span, step)?;
                tall = 1 + tall.max(height(&step.right));
                if tall > MAX_HEIGHT {
                    value = self.save(value, &step.ty, step.span)?;
                    tall = 0;
                }
                left = Some(value);
            }
            known = folded;
            (ty, span) = (&step.ty, step.span);
        }
        match (left, known) {
            (Some(value), _) => Ok(value),
            (None, Some(known)) => self.constant(&known, ty, span),
            (None, None) => self.eval(first),
        }
    }

    /// Evaluates an operator whose left operand is already evaluated. The left value is saved before the right
    /// operand can change what it reads.
    fn eval_step(
        &mut self,
        left: Value,
        ty: &Ty,
        left_span: Span,
        step: &InfixOperation,
    ) -> Result<Value> {
        let span = step.span;
        if matches!(step.op, BinaryOp::And | BinaryOp::Or) {
            let left = self.as_scalar(&left, left_span)?;
            return Ok(Value::Scalar(self.eval_logic(left, step)?));
        }
        let left = if has_effects(&step.right) {
            self.save(left, ty, left_span)?
        } else {
            left
        };
        if matches!(step.op, BinaryOp::Shl | BinaryOp::Shr) {
            let left = self.as_scalar(&left, left_span)?;
            let by = self.shift_distance(&step.right)?;
            return Ok(Value::Scalar(self.arithmetic(step.op, left, by, span)));
        }
        let right = self.eval(&step.right)?;
        if let BinaryOp::Eq | BinaryOp::Ne = step.op {
            let equal = self.equal(&left, &right, span)?;
            return Ok(Value::Scalar(if step.op == BinaryOp::Eq {
                equal
            } else {
                self.negate_equality(equal, span)
            }));
        }
        let left = self.as_scalar(&left, left_span)?;
        let right = self.as_scalar(&right, step.right.span)?;
        Ok(Value::Scalar(self.arithmetic(step.op, left, right, span)))
    }

    /// `left && b` or `left || b`: statements that the right operand takes only run if it is evaluated.
    fn eval_logic(&mut self, left: ir::Expr, step: &InfixOperation) -> Result<ir::Expr> {
        let (span, right) = (step.span, &step.right);
        let is_and = step.op == BinaryOp::And;
        if let ir::ExprKind::Bool(value) = self.program.exprs[left].kind {
            return if value == is_and {
                self.scalar(right)
            } else {
                Ok(left)
            };
        }
        if !takes_statements(right) {
            let right = self.scalar(right)?;
            return Ok(if is_and {
                self.and(left, right, span)
            } else {
                self.or(left, right, span)
            });
        }
        let result = Place::Var(self.new_var("tmp", Type::Bool, span));
        self.set(result, left, span)?;
        let cond = self.read(result, span);
        let block = self.block(|elab| {
            let value = elab.scalar(right)?;
            elab.set(result, value, right.span)
        })?;
        let (then, otherwise) = if is_and {
            (block, Vec::new())
        } else {
            (Vec::new(), block)
        };
        self.emit_if(cond, then, otherwise, span)?;
        Ok(self.read(result, span))
    }

    /// Adds `if (cond) then else otherwise`.
    pub(crate) fn emit_if(
        &mut self,
        cond: ir::Expr,
        then: ir::Block,
        otherwise: ir::Block,
        span: Span,
    ) -> Result<()> {
        let kind = StmtKind::If {
            cond,
            then,
            otherwise,
        };
        self.emit(kind, span)
    }

    /// `if (a) ... else if (b) ... else ...`
    pub(crate) fn if_stmt(&mut self, arms: &[IfArm], otherwise: &Block, span: Span) -> Result<()> {
        let (mut open, mut last) = (Vec::new(), otherwise);
        for arm in arms {
            match self.evaluate(&arm.cond) {
                Some(ConstValue::Bool(false)) => {}
                Some(ConstValue::Bool(true)) => {
                    last = &arm.then;
                    break;
                }
                _ => open.push(arm),
            }
        }
        if open.len() <= MAX_ARMS {
            return self.nested_arms(&open, &mut |elab| elab.stmts(last));
        }
        let unmatched = Place::Var(self.new_var("unmatched", Type::Bool, span));
        let mut result = Ok(());
        for (i, group) in open.chunks(MAX_ARMS).enumerate() {
            let group = |elab: &mut Self| {
                elab.set_bool(unmatched, false, span)?;
                elab.nested_arms(group, &mut |elab| elab.set_bool(unmatched, true, span))
            };
            let built = if i == 0 {
                group(self)
            } else {
                self.only_if(unmatched, span, group)
            };
            result = built.and(result);
        }
        self.only_if(unmatched, span, |elab| elab.stmts(last))
            .and(result)
    }

    /// Emits arms as nested statements, with `last` in the innermost `else`.
    fn nested_arms(
        &mut self,
        arms: &[&IfArm],
        last: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let Some((arm, rest)) = arms.split_first() else {
            return last(self);
        };
        let cond = self.scalar(&arm.cond);
        let then = self.block(|elab| elab.stmts(&arm.then));
        let otherwise =
            self.block(|elab| elab.deeper(arm.span, |elab| elab.nested_arms(rest, last)));
        self.emit_if(cond?, then?, otherwise?, arm.span)
    }

    /// Emits statements that run if a variable is true.
    fn only_if(
        &mut self,
        var: Place,
        span: Span,
        build: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let cond = self.read(var, span);
        let then = self.block(build)?;
        self.emit_if(cond, then, Vec::new(), span)
    }

    fn set_bool(&mut self, dst: Place, value: bool, span: Span) -> Result<()> {
        let value = self.bool(value, span);
        self.set(dst, value, span)
    }
}
