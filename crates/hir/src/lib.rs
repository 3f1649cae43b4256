//! The typed, resolved form of a P4 program, still generic and not yet instantiated.
//!
//! The checker (`sema`) makes it from the syntax tree. Elaboration (`elab`) turns it into IR: it substitutes type
//! parameters and constructor arguments, starting at `main`. The form has these invariants:
//!
//! - every name is an id, every expression has its type, every implicit cast is an explicit one;
//! - arguments are in parameter order, one per parameter, defaults filled in;
//! - constant expressions are evaluated ([`ExprKind::Const`]). An expression that depends on a
//!   constructor parameter remains, and elaboration evaluates it;
//! - types contain type parameters ([`Ty::Param`]) but no inference variables.
//!
//! A module with errors is never handed on, so elaboration relies on these invariants.

mod decl;
mod expr;
mod stmt;
mod ty;

pub use decl::*;
pub use expr::*;
pub use stmt::*;
pub use ty::*;
