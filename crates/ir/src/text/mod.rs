//! The readable text form of a program, and back.
//!
//! `parse(&program.to_string())` gives the same program but for spans and for the numbering and
//! sharing of expressions, which are printed as trees. Ids of all other entities are kept: they are
//! declared in order.
//!
//! An item begins in the first column of a line and nothing else does, but for closing braces; that
//! is how the parser finds what is declared before it reads any body. Entities are called by their
//! names; where two of a kind share one, or a name could be mistaken for something else, the id
//! follows after `#` (`tmp#v3`). Names that are no plain words stand between backquotes. `//`
//! begins a comment.

mod lex;
mod names;
mod parse;
mod parse_code;
mod parse_items;
mod print;
mod stmts;

pub use parse::{ParseError, parse};

use crate::BinaryOp;

/// The infix operators and how they are written.
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
