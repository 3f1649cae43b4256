//! Common parts of all extern calls: arguments, and variables for intermediate values.

use crate::emitter::Gen;
use crate::target::Target;
use cgen::tree::{Expr as C, Stmt, Type as CType};
use ir::{Expr, ExternArg, ExternCall, Place};

/// Returns the values of an `in` argument.
pub fn values(call: &ExternCall, at: usize) -> &[Expr] {
    match call.args.get(at) {
        Some(ExternArg::In(values)) => values,
        _ => &[],
    }
}

/// Returns the l-values of an `out` or `inout` argument.
pub fn places(call: &ExternCall, at: usize) -> &[Place] {
    match call.args.get(at) {
        Some(ExternArg::Out(places) | ExternArg::InOut(places)) => places,
        _ => &[],
    }
}

/// Declares a variable with a name similar to `wish`.
pub fn declare<T: Target>(g: &mut Gen<'_, T>, ty: CType, wish: &str, value: C) -> C {
    let name = g.file.names.fresh(wish);
    g.push(Stmt::decl(ty, name.clone(), value));
    C::Ident(name)
}
