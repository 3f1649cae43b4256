//! The typed, resolved form of a P4 program, still generic and not yet instantiated.
//!
//! The checker (`sema`) makes it from the syntax tree; elaboration (`elab`) turns it into IR by
//! substituting type parameters and constructor arguments, starting at `main`. In between:
//!
//! - every name is an id, every expression has its type, every implicit cast is an explicit one;
//! - arguments are in parameter order, one per parameter, defaults filled in;
//! - what the language alone can evaluate is evaluated ([`ExprKind::Const`]). What depends on a
//!   constructor parameter stays an expression that elaboration evaluates;
//! - only type parameters ([`Ty::Param`]), never inference variables, are left open in types.
//!
//! A module with errors is never handed on, so elaboration may rely on all of this.

mod decl;
mod expr;
mod stmt;
mod ty;

pub use decl::*;
pub use expr::*;
pub use stmt::*;
pub use ty::*;
