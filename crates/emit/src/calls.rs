//! What the calls of all externs have in common: their arguments, and variables for what is computed on the way.

use crate::emitter::Gen;
use crate::target::Target;
use cgen::tree::{Expr as C, Stmt, Type as CType};
use ir::{Expr, ExternArg, ExternCall, Place};

/// The values of an argument that is read.
pub fn values(call: &ExternCall, at: usize) -> &[Expr] {
    match call.args.get(at) {
        Some(ExternArg::In(values)) => values,
        _ => &[],
    }
}

/// The places of an argument that is written.
pub fn places(call: &ExternCall, at: usize) -> &[Place] {
    match call.args.get(at) {
        Some(ExternArg::Out(places) | ExternArg::InOut(places)) => places,
        _ => &[],
    }
}

/// Declares a variable whose name is like the wish.
pub fn declare<T: Target>(g: &mut Gen<'_, T>, ty: CType, wish: &str, value: C) -> C {
    let name = g.file.names.fresh(wish);
    g.push(Stmt::decl(ty, name.clone(), value));
    C::Ident(name)
}
