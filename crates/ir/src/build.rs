//! Construction of expressions, with simplifications that examine only the operands.
//!
//! Simplification never makes an expression larger and never removes a guard: `a & b` keeps its order, so that a target
//! may evaluate from left to right and stop early.

use crate::eval::{self, constant};
use crate::types::is_signed;
use crate::*;
use diag::Span;

/// Creates the constant of a value; `None` for varbits.
pub fn value(program: &mut Program, value: &Value, ty: Type, span: Span) -> Option<Expr> {
    let kind = value.to_const()?;
    Some(program.exprs.push(ExprData { kind, ty, span }))
}

/// Creates a constant of type `bit<32>`.
pub fn u32(program: &mut Program, value: u32, span: Span) -> Expr {
    let kind = ExprKind::Const(Bits::new(32, value));
    program.exprs.push(ExprData {
        kind,
        ty: Type::bit(32),
        span,
    })
}

/// Creates a read of a variable.
pub fn var(program: &mut Program, var: Var, span: Span) -> Expr {
    let ty = program.vars[var].ty;
    let kind = ExprKind::Var(var);
    program.exprs.push(ExprData { kind, ty, span })
}

/// Creates a read of an l-value.
pub fn place(program: &mut Program, place: Place, span: Span) -> Expr {
    match place {
        Place::Var(v) => var(program, v, span),
        Place::Field(header, field) => {
            let ty = program
                .field_type(header, field)
                .expect("a verified program names fields that exist");
            let kind = ExprKind::Field(header, field);
            program.exprs.push(ExprData { kind, ty, span })
        }
    }
}

/// Creates `!expr`.
pub fn not(program: &mut Program, expr: Expr) -> Expr {
    let span = program.exprs[expr].span;
    make(
        program,
        ExprKind::Unary(UnaryOp::Not, expr),
        Type::Bool,
        span,
    )
}

/// Appends the assignment of zero, the value of undefined storage, to an l-value.
pub fn zero(program: &mut Program, dst: Place, span: Span, out: &mut Block) {
    let Some(ty) = program.place_type(dst) else {
        return;
    };
    let value = match value(program, &Value::zero(ty), ty, span) {
        Some(value) => value,
        // A varbit that is never written.
        None => {
            let zero = program.vars.push(VarData {
                name: "zero".into(),
                ty,
                span,
            });
            var(program, zero, span)
        }
    };
    let kind = StmtKind::Assign { dst, value };
    out.push(Stmt::new(kind, span));
}

/// Appends statements that make a header invalid and all its fields zero.
pub fn clear(program: &mut Program, header: HeaderRef, span: Span, out: &mut Block) {
    let Some(layout) = program.header_layout(header) else {
        return;
    };
    let fields = layout.fields.len() as u32;
    for field in 0..fields {
        zero(program, Place::Field(header, field), span, out);
    }
    // Last, so that the fields' values are dead.
    let kind = StmtKind::SetInvalid(header);
    out.push(Stmt::new(kind, span));
}

/// Creates an operation, simplified if possible.
pub fn make(program: &mut Program, kind: ExprKind, ty: Type, span: Span) -> Expr {
    match simplify(program, &kind, ty, span) {
        Some(expr) => expr,
        None => program.exprs.push(ExprData { kind, ty, span }),
    }
}

/// Returns a simpler form of an operation, if there is one.
pub fn simplify(program: &mut Program, kind: &ExprKind, ty: Type, span: Span) -> Option<Expr> {
    match *kind {
        ExprKind::Unary(op, a) => unary(program, op, a, ty, span),
        ExprKind::Binary(op, a, b) => binary(program, op, a, b, ty, span),
        ExprKind::Cast(a) => cast(program, a, ty, span),
        ExprKind::Slice { base, hi, lo } => slice(program, base, hi, lo, ty, span),
        ExprKind::Mux(cond, then, otherwise) => match constant(program, cond) {
            Some(Value::Bool(true)) => Some(then),
            Some(_) => Some(otherwise),
            None if equal(program, then, otherwise) => Some(then),
            None if ty == Type::Bool => {
                let arms = (constant(program, then), constant(program, otherwise));
                match arms {
                    (Some(Value::Bool(true)), Some(Value::Bool(false))) => Some(cond),
                    (Some(Value::Bool(false)), Some(Value::Bool(true))) => Some(not(program, cond)),
                    _ => None,
                }
            }
            None => None,
        },
        _ => None,
    }
}

fn unary(program: &mut Program, op: UnaryOp, a: Expr, ty: Type, span: Span) -> Option<Expr> {
    if let Some(v) = constant(program, a) {
        return value(program, &eval::unary(op, &v), ty, span);
    }
    match program.exprs[a].kind {
        ExprKind::Unary(inner, b) if inner == op => Some(b),
        ExprKind::Binary(inner, b, c) if op == UnaryOp::Not => {
            let inverse = match inner {
                BinaryOp::Eq => BinaryOp::Ne,
                BinaryOp::Ne => BinaryOp::Eq,
                BinaryOp::Lt => BinaryOp::Ge,
                BinaryOp::Ge => BinaryOp::Lt,
                BinaryOp::Gt => BinaryOp::Le,
                BinaryOp::Le => BinaryOp::Gt,
                _ => return None,
            };
            Some(make(program, ExprKind::Binary(inverse, b, c), ty, span))
        }
        _ => None,
    }
}

fn binary(
    program: &mut Program,
    op: BinaryOp,
    a: Expr,
    b: Expr,
    ty: Type,
    span: Span,
) -> Option<Expr> {
    let of = program.ty(a);
    let (x, y) = (constant(program, a), constant(program, b));
    if let (Some(x), Some(y)) = (&x, &y) {
        return value(program, &eval::binary(op, x, y, is_signed(of)), ty, span);
    }
    if of == Type::Bool {
        return bools(program, op, (a, x), (b, y), ty, span);
    }
    let is_zero = |v: &Option<Value>| matches!(v, Some(Value::Bits(bits)) if bits.is_zero());
    let is_ones = |v: &Option<Value>| matches!(v, Some(Value::Bits(bits)) if *bits == Bits::ones(bits.width()));
    let is_one =
        |v: &Option<Value>| matches!(v, Some(Value::Bits(bits)) if bits.to_u64() == Some(1));
    let zero = |program: &mut Program| value(program, &Value::zero(ty), ty, span);
    match op {
        BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor if is_zero(&x) => Some(b),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::SatAdd
        | BinaryOp::SatSub
            if is_zero(&y) =>
        {
            Some(a)
        }
        BinaryOp::SatAdd if is_zero(&x) => Some(b),
        BinaryOp::And | BinaryOp::Mul if is_zero(&x) || is_zero(&y) => zero(program),
        BinaryOp::Shl if is_zero(&x) => zero(program),
        BinaryOp::And if is_ones(&x) => Some(b),
        BinaryOp::And if is_ones(&y) => Some(a),
        // Not for `int<1>`, where the bit 1 is the number -1.
        BinaryOp::Mul if is_one(&x) && of.width() > 1 => Some(b),
        BinaryOp::Mul | BinaryOp::Div if is_one(&y) && of.width() > 1 => Some(a),
        BinaryOp::And | BinaryOp::Or if equal(program, a, b) => Some(a),
        BinaryOp::Sub | BinaryOp::Xor if equal(program, a, b) => zero(program),
        BinaryOp::Concat if of.width() == 0 && program.ty(b) == ty => Some(b),
        BinaryOp::Concat if program.ty(b).width() == 0 && of == ty => Some(a),
        BinaryOp::Concat => join_slices(program, a, b, ty, span),
        BinaryOp::Eq | BinaryOp::Le | BinaryOp::Ge if equal(program, a, b) => {
            value(program, &Value::Bool(true), Type::Bool, span)
        }
        BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Gt if equal(program, a, b) => {
            value(program, &Value::Bool(false), Type::Bool, span)
        }
        BinaryOp::Eq | BinaryOp::Ne => match (y, x) {
            (Some(Value::Bits(bits)), _) => narrow(program, op, a, &bits, span),
            (_, Some(Value::Bits(bits))) => narrow(program, op, b, &bits, span),
            _ => None,
        },
        _ => None,
    }
}

/// Simplifies operators on `bool`.
fn bools(
    program: &mut Program,
    op: BinaryOp,
    (a, x): (Expr, Option<Value>),
    (b, y): (Expr, Option<Value>),
    ty: Type,
    span: Span,
) -> Option<Expr> {
    let (known, other) = match (x, y) {
        (Some(Value::Bool(known)), _) => (known, b),
        (_, Some(Value::Bool(known))) => (known, a),
        _ if equal(program, a, b) => {
            return match op {
                BinaryOp::And | BinaryOp::Or => Some(a),
                BinaryOp::Eq => value(program, &Value::Bool(true), ty, span),
                BinaryOp::Ne => value(program, &Value::Bool(false), ty, span),
                _ => None,
            };
        }
        _ => return None,
    };
    match (op, known) {
        (BinaryOp::And, true) | (BinaryOp::Or, false) => Some(other),
        (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => Some(other),
        (BinaryOp::And, false) => value(program, &Value::Bool(false), ty, span),
        (BinaryOp::Or, true) => value(program, &Value::Bool(true), ty, span),
        (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => Some(not(program, other)),
        _ => None,
    }
}

/// Simplifies `x[h:m] ++ x[m-1:l]` to `x[h:l]`.
fn join_slices(program: &mut Program, a: Expr, b: Expr, ty: Type, span: Span) -> Option<Expr> {
    let (
        ExprKind::Slice {
            base: x, hi, lo, ..
        },
        ExprKind::Slice {
            base: y,
            hi: next,
            lo: low,
        },
    ) = (&program.exprs[a].kind, &program.exprs[b].kind)
    else {
        return None;
    };
    let (base, hi, low) = (*x, *hi, *low);
    if next + 1 != *lo || ty != Type::bit(hi - low + 1) || !equal(program, base, *y) {
        return None;
    }
    let kind = ExprKind::Slice { base, hi, lo: low };
    Some(make(program, kind, ty, span))
}

/// Simplifies `(bit<32>)x == c` to a comparison in the width of `x`, or to a constant if `c` does not fit.
fn narrow(
    program: &mut Program,
    op: BinaryOp,
    wide: Expr,
    bits: &Bits,
    span: Span,
) -> Option<Expr> {
    let ExprKind::Cast(x) = program.exprs[wide].kind else {
        return None;
    };
    let ty = program.ty(x);
    let Type::Bits {
        width,
        signed: false,
    } = ty
    else {
        return None;
    };
    if width > bits.width() {
        return None;
    }
    if bits.value().bits() > u64::from(width) {
        return value(program, &Value::Bool(op == BinaryOp::Ne), Type::Bool, span);
    }
    let narrow = Value::Bits(Bits::new(width, bits.value().clone()));
    let c = value(program, &narrow, ty, span)?;
    Some(make(program, ExprKind::Binary(op, x, c), Type::Bool, span))
}

fn cast(program: &mut Program, a: Expr, ty: Type, span: Span) -> Option<Expr> {
    let from = program.ty(a);
    if from == ty {
        return Some(a);
    }
    if let Some(v) = constant(program, a) {
        return value(program, &eval::cast(&v, from, ty), ty, span);
    }
    let (ExprKind::Cast(b), Type::Bits { width, .. }) = (&program.exprs[a].kind, ty) else {
        return None;
    };
    let b = *b;
    // The intermediate width loses no bits that the result retains. Extension follows the inner type's signedness, so a
    // second extension must have the same.
    match (program.ty(b), from) {
        (
            inner @ Type::Bits { width: w, signed },
            Type::Bits {
                width: mid,
                signed: mid_signed,
            },
        ) if width <= mid && (w <= mid || width <= w.min(mid))
            || width > mid && w <= mid && (signed == mid_signed || !signed && w < mid) =>
        {
            if inner == ty {
                return Some(b);
            }
            Some(make(program, ExprKind::Cast(b), ty, span))
        }
        _ => None,
    }
}

fn slice(
    program: &mut Program,
    base: Expr,
    hi: u32,
    lo: u32,
    ty: Type,
    span: Span,
) -> Option<Expr> {
    let of = program.ty(base);
    if let Some(v @ Value::Bits(_)) = constant(program, base) {
        return value(program, &eval::slice(&v, hi, lo), ty, span);
    }
    if lo == 0 && of == ty {
        return Some(base);
    }
    let again = |program: &mut Program, base, hi, lo| {
        Some(make(program, ExprKind::Slice { base, hi, lo }, ty, span))
    };
    match program.exprs[base].kind {
        ExprKind::Slice {
            base: inner,
            lo: low,
            ..
        } => again(program, inner, hi + low, lo + low),
        ExprKind::Binary(BinaryOp::Concat, a, b) => {
            let cut = program.ty(b).width();
            if hi < cut {
                again(program, b, hi, lo)
            } else if lo >= cut {
                again(program, a, hi - cut, lo - cut)
            } else {
                None
            }
        }
        ExprKind::Cast(inner) => match program.ty(inner) {
            Type::Bits { width, .. } if hi < width => again(program, inner, hi, lo),
            Type::Bits {
                width,
                signed: false,
            } if lo >= width => value(program, &Value::zero(ty), ty, span),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true if two expressions are the same operation on the same operands.
pub fn equal(program: &Program, a: Expr, b: Expr) -> bool {
    if a == b {
        return true;
    }
    let (x, y) = (&program.exprs[a], &program.exprs[b]);
    if x.ty != y.ty {
        return false;
    }
    let eq = |a, b| equal(program, a, b);
    match (&x.kind, &y.kind) {
        (ExprKind::Field(h, f), ExprKind::Field(k, g)) => f == g && same_header(program, *h, *k),
        (ExprKind::IsValid(h), ExprKind::IsValid(k)) => same_header(program, *h, *k),
        (ExprKind::Unary(op, a), ExprKind::Unary(other, b)) => op == other && eq(*a, *b),
        (ExprKind::Binary(op, a, b), ExprKind::Binary(other, c, d)) => {
            op == other && eq(*a, *c) && eq(*b, *d)
        }
        (ExprKind::Cast(a), ExprKind::Cast(b)) => eq(*a, *b),
        (
            ExprKind::Slice { base, hi, lo },
            ExprKind::Slice {
                base: other,
                hi: h,
                lo: l,
            },
        ) => hi == h && lo == l && eq(*base, *other),
        (ExprKind::Mux(a, b, c), ExprKind::Mux(d, e, f)) => eq(*a, *d) && eq(*b, *e) && eq(*c, *f),
        (x, y) => x == y,
    }
}

/// Returns true if two references name the same header for all values of variables.
pub fn same_header(program: &Program, a: HeaderRef, b: HeaderRef) -> bool {
    match (a, b) {
        (HeaderRef::Element(s, i), HeaderRef::Element(t, j)) => s == t && equal(program, i, j),
        _ => a == b,
    }
}
