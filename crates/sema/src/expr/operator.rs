//! Operators (specification sections 8.5 to 8.10).

use crate::checker::{Checker, constant, poison_expr};
use crate::constant;
use crate::errors::{constants, types, warnings};
use diag::Span;
use hir::*;
use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;
use syntax::ast;

impl Checker<'_> {
    /// Checks `-a`, `+a`, `~a`, `!a`.
    pub(super) fn unary(&mut self, op: ast::UnaryOp, operand: &ast::Expr, span: Span) -> Expr {
        let mut value = self.expr(operand, None);
        if value.ty == Ty::Poison {
            return poison_expr(span);
        }
        if op != ast::UnaryOp::Not
            && let Some(inner) = self.underlying(&value.ty)
        {
            value = self.coerce(value, &inner);
        }
        let fits = match op {
            ast::UnaryOp::Not => value.ty == Ty::Bool,
            ast::UnaryOp::BitNot | ast::UnaryOp::Neg | ast::UnaryOp::Plus => {
                matches!(value.ty, Ty::Bits { .. } | Ty::Int)
            }
        };
        if !fits {
            let shown = self.show(&value.ty);
            return self.poison(types::unary_operator(span, unary_symbol(op), &shown));
        }
        let op = match op {
            ast::UnaryOp::Plus => return Expr { span, ..value },
            ast::UnaryOp::Neg => UnaryOp::Neg,
            ast::UnaryOp::BitNot => UnaryOp::BitNot,
            ast::UnaryOp::Not => UnaryOp::Not,
        };
        let ty = value.ty.clone();
        match &value.kind {
            ExprKind::Const(ConstValue::Bool(b)) => constant(ConstValue::Bool(!b), ty, span),
            ExprKind::Const(ConstValue::Int(n)) => {
                let folded = constant::unary(op, n, &ty);
                constant(ConstValue::Int(folded), ty, span)
            }
            _ => Expr {
                kind: ExprKind::Unary(op, Box::new(value)),
                ty,
                span,
            },
        }
    }

    /// Checks `a op b op c`.
    pub(super) fn chain(&mut self, first: &ast::Expr, links: &[ast::Link]) -> Expr {
        let mut rest = links.iter();
        // An untyped operand takes the type of the other one.
        let mut left = match links.first() {
            Some(link) if needs_type(first) && !needs_type(&link.right) => {
                rest.next();
                let right = self.expr(&link.right, None);
                let left = self.expr(first, Some(&right.ty));
                self.operate(link.op, left, right, link.span)
            }
            _ => self.expr(first, None),
        };
        for link in rest {
            let want = needs_type(&link.right).then(|| left.ty.clone());
            let right = self.expr(&link.right, want.as_ref());
            left = self.operate(link.op, left, right, link.span);
        }
        left
    }

    /// Checks `a op b` for typed operands.
    pub(crate) fn operate(
        &mut self,
        op: ast::BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Expr {
        if left.ty == Ty::Poison || right.ty == Ty::Poison {
            return poison_expr(span);
        }
        let lowered = lower(op);
        match lowered {
            BinaryOp::And | BinaryOp::Or => self.logical(lowered, left, right, span),
            BinaryOp::Eq | BinaryOp::Ne => self.equality(lowered, left, right, span),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(lowered, left, right, span),
            BinaryOp::Concat => self.concat(left, right, span),
            _ => self.arithmetic(lowered, left, right, span),
        }
    }

    fn operator_error(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Expr {
        let (a, b) = (self.show(&left.ty), self.show(&right.ty));
        let help = self.operands_instead(op, symbol(op), left, right);
        self.poison(types::binary_operator(span, symbol(op), &a, &b, help))
    }

    fn logical(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        if left.ty != Ty::Bool || right.ty != Ty::Bool {
            return self.operator_error(op, &left, &right, span);
        }
        let stops = op == BinaryOp::Or;
        match (&left.kind, &right.kind) {
            // The second operand is not evaluated if the first decides.
            (ExprKind::Const(ConstValue::Bool(a)), _) => {
                let value = if *a == stops { left } else { right };
                Expr { span, ..value }
            }
            _ => pair(op, left, right, Ty::Bool, span),
        }
    }

    /// Gives both operands of arithmetic one type, if the rules allow.
    fn level(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        let (mut left, mut right) = (left, right);
        if left.ty != right.ty {
            if let Some(inner) = self.underlying(&left.ty) {
                left = self.coerce(left, &inner);
            }
            if let Some(inner) = self.underlying(&right.ty) {
                right = self.coerce(right, &inner);
            }
        }
        if left.ty == Ty::Int && matches!(right.ty, Ty::Bits { .. }) {
            left = self.coerce(left, &right.ty);
        } else if right.ty == Ty::Int && matches!(left.ty, Ty::Bits { .. }) {
            right = self.coerce(right, &left.ty);
        } else if matches!(left.ty, Ty::Tuple(_))
            && matches!(left.kind, ExprKind::List(_) | ExprKind::Const(_))
            && !matches!(right.ty, Ty::Tuple(_))
        {
            left = self.coerce(left, &right.ty);
        } else if matches!(right.ty, Ty::Tuple(_)) && left.ty != right.ty {
            right = self.coerce(right, &left.ty);
        }
        (left, right)
    }

    /// Gives a number without a width the `type` of the other operand, as an assignment would.
    fn level_new_type(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        match (&left.ty, &right.ty) {
            (Ty::Int, to @ Ty::NewType(_)) if self.bits_behind(to).is_some() => {
                let to = to.clone();
                (self.coerce(left, &to), right)
            }
            (to @ Ty::NewType(_), Ty::Int) if self.bits_behind(to).is_some() => {
                let to = to.clone();
                (left, self.coerce(right, &to))
            }
            _ => self.level(left, right),
        }
    }

    fn equality(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (left, right) = self.level_new_type(left, right);
        if left.ty == Ty::Poison || right.ty == Ty::Poison {
            return poison_expr(span);
        }
        if left.ty != right.ty || !self.has_equality(&left.ty) {
            return self.operator_error(op, &left, &right, span);
        }
        if let (ExprKind::Const(a), ExprKind::Const(b)) = (&left.kind, &right.kind) {
            let equal = (a == b) == (op == BinaryOp::Eq);
            return constant(ConstValue::Bool(equal), Ty::Bool, span);
        }
        pair(op, left, right, Ty::Bool, span)
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (mut left, mut right) = (left, right);
        if let (Some(a), Some(b)) = (self.underlying(&left.ty), self.underlying(&right.ty)) {
            left = self.coerce(left, &a);
            right = self.coerce(right, &b);
        }
        let dividing = matches!(op, BinaryOp::Div | BinaryOp::Mod);
        // As bits, a negative divisor would be a large number.
        if dividing
            && let (Ty::Int, ExprKind::Const(ConstValue::Int(divisor))) = (&right.ty, &right.kind)
            && divisor.sign() == Sign::Minus
        {
            let fault = constant::Fault::Negative;
            return self.poison(constants::fault(fault, span, right.span, symbol(op)));
        }
        let (left, right) = self.level(left, right);
        if left.ty == Ty::Poison || right.ty == Ty::Poison {
            return poison_expr(span);
        }
        let saturating = matches!(op, BinaryOp::SatAdd | BinaryOp::SatSub);
        let fits = left.ty == right.ty
            && match &left.ty {
                Ty::Bits { signed, .. } => !(dividing && *signed),
                Ty::Int => !saturating,
                _ => false,
            };
        if !fits {
            return self.operator_error(op, &left, &right, span);
        }
        let compares = matches!(
            op,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
        );
        if let (ExprKind::Const(ConstValue::Int(a)), ExprKind::Const(ConstValue::Int(b))) =
            (&left.kind, &right.kind)
        {
            if compares {
                return constant(
                    ConstValue::Bool(constant::compare(op, a.cmp(b))),
                    Ty::Bool,
                    span,
                );
            }
            return match constant::binary(op, a, b, &left.ty) {
                Ok(value) => constant(ConstValue::Int(value), left.ty, span),
                Err(fault) => self.poison(constants::fault(fault, span, right.span, symbol(op))),
            };
        }
        if dividing {
            match &right.kind {
                ExprKind::Const(ConstValue::Int(b)) if b.sign() == Sign::NoSign => {
                    return self.poison(constants::fault(
                        constant::Fault::DivisionByZero,
                        span,
                        right.span,
                        symbol(op),
                    ));
                }
                _ if !self.is_compile_time(&right) => {
                    self.report(warnings::run_time_divisor(right.span, symbol(op)));
                }
                _ => {}
            }
        }
        let ty = if compares { Ty::Bool } else { left.ty.clone() };
        pair(op, left, right, ty, span)
    }

    fn shift(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (mut left, mut right) = (left, right);
        if let Some(inner) = self.underlying(&left.ty) {
            left = self.coerce(left, &inner);
        }
        if let Some(inner) = self.underlying(&right.ty) {
            right = self.coerce(right, &inner);
        }
        if !matches!(left.ty, Ty::Int | Ty::Bits { .. })
            || !matches!(right.ty, Ty::Int | Ty::Bits { .. })
        {
            return self.operator_error(op, &left, &right, span);
        }
        if let ExprKind::Const(ConstValue::Int(n)) = &right.kind {
            if n.sign() == Sign::Minus {
                return self.poison(constants::fault(
                    constant::Fault::NegativeShift,
                    span,
                    right.span,
                    symbol(op),
                ));
            }
            if let Ty::Bits { width, .. } = left.ty
                && n.to_u32().is_none_or(|n| n >= width)
            {
                let shown = self.show(&left.ty);
                self.report(warnings::shift_width(right.span, n, &shown));
            }
        }
        if let (ExprKind::Const(ConstValue::Int(a)), ExprKind::Const(ConstValue::Int(b))) =
            (&left.kind, &right.kind)
        {
            return match constant::binary(op, a, b, &left.ty) {
                Ok(value) => constant(ConstValue::Int(value), left.ty, span),
                Err(fault) => self.poison(constants::fault(fault, span, right.span, symbol(op))),
            };
        }
        if left.ty == Ty::Int && !self.is_compile_time(&right) {
            let what = "the shift amount of an `int`";
            return self.poison(constants::not_constant(right.span, what));
        }
        // The specification does not define a negative shift amount. Treat it as a large one.
        if let Ty::Bits {
            width,
            signed: true,
        } = right.ty
        {
            let at = right.span;
            right = self.convert(right, &Ty::bit(width), at);
        }
        let ty = left.ty.clone();
        pair(op, left, right, ty, span)
    }

    fn concat(&mut self, left: Expr, right: Expr, span: Span) -> Expr {
        let (mut left, mut right) = (left, right);
        if let Some(inner) = self.underlying(&left.ty) {
            left = self.coerce(left, &inner);
        }
        if let Some(inner) = self.underlying(&right.ty) {
            right = self.coerce(right, &inner);
        }
        let (a, b, signed) = match (&left.ty, &right.ty) {
            (Ty::String, Ty::String) => {
                if let (
                    ExprKind::Const(ConstValue::String(a)),
                    ExprKind::Const(ConstValue::String(b)),
                ) = (&left.kind, &right.kind)
                {
                    return constant(ConstValue::String(format!("{a}{b}")), Ty::String, span);
                }
                return pair(BinaryOp::Concat, left, right, Ty::String, span);
            }
            (Ty::Bits { width: a, signed }, Ty::Bits { width: b, .. }) => (*a, *b, *signed),
            (Ty::Int, _) => return self.poison(types::concat_int(left.span)),
            (_, Ty::Int) => return self.poison(types::concat_int(right.span)),
            _ => return self.operator_error(BinaryOp::Concat, &left, &right, span),
        };
        let width = a + b;
        if width > crate::types::MAX_WIDTH {
            return self.poison(types::width(
                span,
                &BigInt::from(width),
                0,
                crate::types::MAX_WIDTH,
            ));
        }
        let ty = Ty::Bits { width, signed };
        if let (ExprKind::Const(ConstValue::Int(x)), ExprKind::Const(ConstValue::Int(y))) =
            (&left.kind, &right.kind)
        {
            let joined = (x << b) + constant::wrap(y, b, false);
            return constant(
                ConstValue::Int(constant::wrap(&joined, width, signed)),
                ty,
                span,
            );
        }
        pair(BinaryOp::Concat, left, right, ty, span)
    }

    /// Checks `c ? a : b`.
    pub(super) fn mux(
        &mut self,
        cond: &ast::Expr,
        yes: &ast::Expr,
        no: &ast::Expr,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let cond = self.condition(cond);
        let (yes, no) = if needs_type(yes) && !needs_type(no) && want.is_none() {
            let no = self.expr(no, None);
            (self.expr(yes, Some(&no.ty)), no)
        } else {
            let yes = self.expr(yes, want);
            let hint = if yes.ty == Ty::Int {
                want.cloned()
            } else {
                Some(yes.ty.clone())
            };
            let no = self.expr(no, hint.as_ref().filter(|_| needs_type(no)).or(want));
            (yes, no)
        };
        let (yes, no) = self.level_new_type(yes, no);
        if cond.ty == Ty::Poison || yes.ty == Ty::Poison || no.ty == Ty::Poison {
            return poison_expr(span);
        }
        if let ExprKind::Const(ConstValue::Bool(c)) = cond.kind
            && yes.ty == no.ty
            && self.is_value(&yes.ty)
        {
            return Expr {
                span,
                ..if c { yes } else { no }
            };
        }
        if yes.ty == no.ty && !self.is_value(&yes.ty) {
            let shown = self.show(&yes.ty);
            return self.poison(types::not_storable(yes.span, &shown));
        }
        if yes.ty != no.ty {
            let (a, b) = (self.show(&yes.ty), self.show(&no.ty));
            return self.poison(types::branches_differ(yes.span, no.span, &a, &b));
        }
        if yes.ty == Ty::Int && !self.is_compile_time(&cond) {
            return self.poison(types::branches_without_width(span));
        }
        let ty = yes.ty.clone();
        Expr {
            kind: ExprKind::Mux(Box::new(cond), Box::new(yes), Box::new(no)),
            ty,
            span,
        }
    }
}

/// Returns true if an expression needs a type from its context.
fn needs_type(expr: &ast::Expr) -> bool {
    use ast::ExprKind::*;
    match &expr.kind {
        List(_) | Struct { .. } | Invalid | Default => true,
        // A run-time number converted to `int`, which needs a type from its context.
        Cast(ty, _) => matches!(ty.kind, ast::TypeKind::Int),
        _ => false,
    }
}

/// Makes `left op right`. If `left` is a chain, it is extended.
fn pair(op: BinaryOp, left: Expr, right: Expr, ty: Ty, span: Span) -> Expr {
    let step = InfixOperation {
        op,
        right,
        ty: ty.clone(),
        span,
    };
    let kind = match left.kind {
        ExprKind::Chain(first, mut steps) => {
            steps.push(step);
            ExprKind::Chain(first, steps)
        }
        _ => ExprKind::Chain(Box::new(left), vec![step]),
    };
    Expr { kind, ty, span }
}

fn lower(op: ast::BinaryOp) -> BinaryOp {
    use ast::BinaryOp as A;
    match op {
        A::Mul => BinaryOp::Mul,
        A::Div => BinaryOp::Div,
        A::Mod => BinaryOp::Mod,
        A::Add => BinaryOp::Add,
        A::Sub => BinaryOp::Sub,
        A::SatAdd => BinaryOp::SatAdd,
        A::SatSub => BinaryOp::SatSub,
        A::Shl => BinaryOp::Shl,
        A::Shr => BinaryOp::Shr,
        A::Le => BinaryOp::Le,
        A::Ge => BinaryOp::Ge,
        A::Lt => BinaryOp::Lt,
        A::Gt => BinaryOp::Gt,
        A::Eq => BinaryOp::Eq,
        A::Ne => BinaryOp::Ne,
        A::BitAnd => BinaryOp::BitAnd,
        A::BitXor => BinaryOp::BitXor,
        A::BitOr => BinaryOp::BitOr,
        A::Concat => BinaryOp::Concat,
        A::And => BinaryOp::And,
        A::Or => BinaryOp::Or,
    }
}

fn unary_symbol(op: ast::UnaryOp) -> &'static str {
    match op {
        ast::UnaryOp::Neg => "-",
        ast::UnaryOp::Plus => "+",
        ast::UnaryOp::BitNot => "~",
        ast::UnaryOp::Not => "!",
    }
}

/// Returns an operator as it is written.
fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::SatAdd => "|+|",
        BinaryOp::SatSub => "|-|",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Le => "<=",
        BinaryOp::Ge => ">=",
        BinaryOp::Lt => "<",
        BinaryOp::Gt => ">",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::Concat => "++",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
