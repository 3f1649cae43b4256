//! Pure expressions.

use crate::{Bits, Header, Stack, Type, Var};
use cranelift_entity::entity_impl;
use diag::Span;

/// An expression of a program; immutable once made, and free to share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Expr(u32);
entity_impl!(Expr, "e");

/// Definition of an [`Expr`].
#[derive(Clone, PartialEq, Debug)]
pub struct ExprData {
    /// The operation.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// The source text it comes from.
    pub span: Span,
}

/// An operation without effects.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant of type [`Type::Bits`].
    Const(Bits),
    /// A constant of type [`Type::Bool`].
    Bool(bool),
    /// A member of [`Type::Error`] or [`Type::Enum`], by index.
    Member(u32),
    /// A variable's value.
    Var(Var),
    /// A header's field by index. An invalid header's fields hold the value last written, or zero.
    Field(HeaderRef, u32),
    /// Validity of a header, a `bool`.
    IsValid(HeaderRef),
    /// Prefix operator.
    Unary(UnaryOp, Expr),
    /// Infix operator.
    Binary(BinaryOp, Expr, Expr),
    /// Conversion to this expression's type: between widths and signedness (truncating, or extending
    /// by the operand's signedness), `bool` from and to `bit<1>`, enums and errors from and to bits.
    Cast(Expr),
    /// Bits `hi` down to `lo` of the operand, as unsigned.
    Slice {
        /// The operand, of type [`Type::Bits`].
        base: Expr,
        /// Highest bit.
        hi: u32,
        /// Lowest bit.
        lo: u32,
    },
    /// `cond ? then : otherwise`
    Mux(Expr, Expr, Expr),
}

/// Reference to a header instance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HeaderRef {
    /// A fixed header.
    Header(Header),
    /// The element of a stack at an index of type `bit<32>`.
    Element(Stack, Expr),
}

/// A prefix operator; the operand has the result's type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// Two's complement.
    Neg,
    /// Complement of all bits.
    BitNot,
    /// `!` on `bool`.
    Not,
}

/// An infix operator. Both operands have one type, and so has the result, except for comparisons, `Concat` and shifts.
/// The second operand of a shift is unsigned of any width; shifts by the width or more give 0 (or all sign bits for
/// `Shr` on signed). `Div` and `Mod` by zero give 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    SatAdd,
    SatSub,
    Shl,
    Shr,
    Le,
    Ge,
    Lt,
    Gt,
    /// Equality of two values of one type, varbits too.
    Eq,
    /// Inequality of two values of one type, varbits too.
    Ne,
    /// Conjunction of bits or of `bool`s; it is unobservable whether both sides are evaluated.
    And,
    /// Exclusive or of bits.
    Xor,
    /// Disjunction of bits or of `bool`s.
    Or,
    /// The first operand's bits above the second's.
    Concat,
}
