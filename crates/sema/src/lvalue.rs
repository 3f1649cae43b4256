//! L-values: expressions that can be written to (specification section "Expressions that can be l-values").

use crate::checker::Checker;
use crate::errors::statements;
use hir::*;

impl Checker<'_> {
    /// Reports an error if an expression cannot be written to. Poison passes.
    pub(crate) fn require_lvalue(&mut self, expr: &Expr) -> bool {
        let mut at = expr;
        loop {
            if at.ty == Ty::Poison {
                return true;
            }
            match &at.kind {
                ExprKind::Local(id) => {
                    let local = &self.module.locals[*id];
                    let why = match local.kind {
                        LocalKind::Var | LocalKind::Param(Direction::Out | Direction::InOut) => {
                            return true;
                        }
                        LocalKind::Param(Direction::In) => "an `in` parameter",
                        LocalKind::Param(Direction::None) if self.action_data.contains(id) => {
                            "a parameter that the control plane gives"
                        }
                        LocalKind::Param(Direction::None) => "a parameter without direction",
                        LocalKind::CtorParam => "a constructor parameter",
                        LocalKind::Const => "a constant",
                    };
                    let is_object = matches!(
                        local.ty,
                        Ty::Extern(..) | Ty::Parser(..) | Ty::Control(..) | Ty::Package(..)
                    );
                    let help = match local.kind {
                        _ if is_object => {
                            "objects are not assigned: call their methods, or apply them"
                        }
                        LocalKind::Const => "declare it as a variable, without `const`",
                        LocalKind::Param(Direction::In) => {
                            "write to a copy in a variable, or make the parameter `inout`"
                        }
                        LocalKind::Param(_) if self.block_data.contains(id) => {
                            "write to a copy in a variable, or make the parameter `inout`"
                        }
                        _ => "write to a copy in a variable",
                    };
                    let diagnostic =
                        statements::read_only(expr.span, &local.name, why, local.span, help);
                    self.report(diagnostic);
                    return false;
                }
                ExprKind::Field(base, _)
                | ExprKind::TupleField(base, _)
                | ExprKind::StackIndex(base, _)
                | ExprKind::StackProperty(base, StackProperty::Next | StackProperty::Last)
                | ExprKind::Slice { base, .. }
                | ExprKind::PartSelect { base, .. } => at = base,
                ExprKind::Const(_) => {
                    let what = match self.written(expr.span) {
                        Some(text) => format!("the constant `{text}`"),
                        None => "a constant".to_owned(),
                    };
                    self.report(statements::not_lvalue(expr.span, &what));
                    return false;
                }
                ExprKind::Call(_) => {
                    self.report(statements::not_lvalue(expr.span, "the result of a call"));
                    return false;
                }
                _ => {
                    self.report(statements::not_lvalue(expr.span, "a computed value"));
                    return false;
                }
            }
        }
    }

    /// Returns true if evaluating an l-value has side effects.
    pub(crate) fn has_call(expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Call(_) | ExprKind::TableHit(..) => true,
            ExprKind::Field(e, _)
            | ExprKind::TupleField(e, _)
            | ExprKind::StackProperty(e, _)
            | ExprKind::Slice { base: e, .. }
            | ExprKind::IsValid(e)
            | ExprKind::Unary(_, e)
            | ExprKind::Cast(e) => Self::has_call(e),
            ExprKind::StackIndex(a, b) | ExprKind::PartSelect { base: a, lo: b, .. } => {
                Self::has_call(a) || Self::has_call(b)
            }
            ExprKind::Chain(first, steps) => {
                Self::has_call(first) || steps.iter().any(|s| Self::has_call(&s.right))
            }
            ExprKind::Mux(a, b, c) => Self::has_call(a) || Self::has_call(b) || Self::has_call(c),
            ExprKind::List(elems) => elems.iter().any(Self::has_call),
            _ => false,
        }
    }
}
