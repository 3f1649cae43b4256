//! Text form of a program: printer and parser.
//!
//! `parse(&program.to_string())` returns an equal program, except for spans and for the numbering and sharing of
//! expressions, which are printed as trees. Other entities are declared in order of their ids, so these are preserved.
//!
//! Each item begins in the first column of a line. Nothing else does, except closing braces. This lets the parser find
//! all declarations before it reads any body. Entities are referred to by name. If two of a kind have the same name, or
//! a name is ambiguous, the id follows after `#` (`tmp#v3`). Names that are not plain words are enclosed in backquotes.
//! `//` begins a comment.

mod lex;
mod names;
mod parse;
mod parse_code;
mod parse_items;
mod print;
mod stmts;

pub use parse::{ParseError, parse};

use crate::BinaryOp;

/// Infix operators and their symbols.
const OPERATORS: [(BinaryOp, &str); 19] = [
    (BinaryOp::Mul, "*"),
    (BinaryOp::Div, "/"),
    (BinaryOp::Mod, "%"),
    (BinaryOp::Add, "+"),
    (BinaryOp::Sub, "-"),
    (BinaryOp::SatAdd, "|+|"),
    (BinaryOp::SatSub, "|-|"),
    (BinaryOp::Shl, "<<"),
    (BinaryOp::Shr, ">>"),
    (BinaryOp::Le, "<="),
    (BinaryOp::Ge, ">="),
    (BinaryOp::Lt, "<"),
    (BinaryOp::Gt, ">"),
    (BinaryOp::Eq, "=="),
    (BinaryOp::Ne, "!="),
    (BinaryOp::And, "&"),
    (BinaryOp::Xor, "^"),
    (BinaryOp::Or, "|"),
    (BinaryOp::Concat, "++"),
];

#[cfg(test)]
pub(crate) mod tests;
