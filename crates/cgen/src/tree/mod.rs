//! The C tree of generated code.

mod expr;
mod item;
mod stmt;

pub use expr::{BinOp, Callee, Effect, Expr, UnOp};
pub use item::{Item, Member, Unit};
pub use stmt::{Block, Stmt, block_diverges};

use smol_str::SmolStr;

/// A C type.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Type {
    U8,
    U16,
    U32,
    U64,
    S32,
    S64,
    Int,
    Void,
    /// `struct name`
    Struct(SmolStr),
    /// A type known by name (a typedef).
    Named(SmolStr),
    /// Pointer to a type.
    Ptr(Box<Type>),
    /// Array of a type.
    Array(Box<Type>, u32),
}

impl Type {
    /// A pointer to this type.
    pub fn ptr(self) -> Type {
        Type::Ptr(Box::new(self))
    }

    /// An array of this type.
    pub fn array(self, len: u32) -> Type {
        Type::Array(Box::new(self), len)
    }

    /// Returns the smallest unsigned register type that holds a value of this width. Expressions are 32 or 64 bits
    /// wide, as registers are.
    pub fn register(width: u32) -> Type {
        if width <= 32 { Type::U32 } else { Type::U64 }
    }
}
