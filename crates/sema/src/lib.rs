//! Names, types, inference and constant evaluation: syntax tree to HIR.
//!
//! [`check`] walks the declarations once, in order, because P4 requires a name to be declared before it is used. It
//! types each expression bottom-up, makes implicit conversions explicit, and folds constants. An erroneous expression
//! gets the type [`hir::Ty::Poison`], which fits everything, so that one error is reported once. If there was no error,
//! the warnings that need whole bodies run over the HIR.
//!
//! This crate knows the language alone: no architecture, no target.

mod annotation;
mod call;
mod checker;
mod coerce;
mod constant;
mod decl;
mod errors;
mod expr;
mod infer;
mod keyset;
mod lvalue;
mod remedy;
mod scope;
mod stmt;
mod table;
mod types;
mod warn;

#[cfg(test)]
mod tests;

use diag::{Diagnostics, SourceMap};

/// Result of [`check`].
#[derive(Debug)]
pub struct Checked {
    /// Checked program; `None` if a diagnostic is an error.
    pub module: Option<hir::Module>,
    /// Errors and warnings, in the order of the source as far as one pass finds them so.
    pub diagnostics: Diagnostics,
}

/// Checks a program against the static rules of P4-16 1.2.5.
///
/// `map` is the map that the program's spans refer to. Its first file counts as the program's own, the others as
/// included; unused declarations are reported in the first file only. Never panics, whatever the tree.
pub fn check(program: &syntax::ast::Program, map: &SourceMap) -> Checked {
    let mut checker = checker::Checker::new(map);
    checker.program(program);
    checker.finish()
}

/// Every diagnostic code that this crate can give, for documentation and for the tests that show each.
pub use errors::CODES;
