//! Types of l-values, headers and operators.

use crate::{
    BinaryOp, Expr, ExprKind, HeaderRef, HeaderType, HeaderTypeData, Place, Program, Type,
};

impl Program {
    /// Returns the type of a header or of a stack's elements; `None` for a stack without elements.
    pub fn header_type(&self, header: HeaderRef) -> Option<HeaderType> {
        let header = match header {
            HeaderRef::Header(header) => header,
            HeaderRef::Element(stack, _) => *self.stacks[stack].elems.first()?,
        };
        Some(self.headers[header].ty)
    }

    /// Returns the layout of a header or of a stack's elements; `None` for a stack without elements.
    pub fn header_layout(&self, header: HeaderRef) -> Option<&HeaderTypeData> {
        self.header_type(header).map(|ty| &self.header_types[ty])
    }

    /// Returns the type of a header's field; `None` if there is no such field.
    pub fn field_type(&self, header: HeaderRef, field: u32) -> Option<Type> {
        let layout = self.header_layout(header)?;
        layout.fields.get(field as usize).map(|f| f.ty)
    }

    /// Returns the type of an l-value; `None` if it is a field that does not exist.
    pub fn place_type(&self, place: Place) -> Option<Type> {
        match place {
            Place::Var(var) => Some(self.vars[var].ty),
            Place::Field(header, field) => self.field_type(header, field),
        }
    }

    /// Returns the type of an expression.
    pub fn ty(&self, expr: Expr) -> Type {
        self.exprs[expr].ty
    }

    /// Returns the result type that follows from an operation's operands. Returns `None` for casts and members, whose
    /// type does not follow, and for fields that do not exist. Constants count as unsigned.
    pub fn natural_type(&self, kind: &ExprKind) -> Option<Type> {
        Some(match *kind {
            ExprKind::Const(ref bits) => Type::bit(bits.width()),
            ExprKind::Bool(_) | ExprKind::IsValid(_) => Type::Bool,
            ExprKind::Member(_) | ExprKind::Cast(_) => return None,
            ExprKind::Var(var) => self.vars[var].ty,
            ExprKind::Field(header, field) => return self.field_type(header, field),
            ExprKind::Unary(_, operand) => self.ty(operand),
            ExprKind::Binary(op, a, b) => match op {
                _ if op.is_comparison() => Type::Bool,
                BinaryOp::Concat => Type::Bits {
                    width: self.ty(a).width() + self.ty(b).width(),
                    signed: is_signed(self.ty(a)),
                },
                _ => self.ty(a),
            },
            ExprKind::Slice { hi, lo, .. } => Type::bit(hi.saturating_sub(lo).saturating_add(1)),
            ExprKind::Mux(_, then, _) => self.ty(then),
        })
    }
}

impl BinaryOp {
    /// Returns true if the result is a `bool` for all operand types.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Le | Ge | Lt | Gt | Eq | Ne)
    }
}

/// Returns true for `int<w>`.
pub fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::Bits { signed: true, .. })
}
