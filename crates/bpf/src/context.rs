//! Access to the packet's context, the `ctx` of the hook's function. What it takes to keep the accesses as the verifier wants
//! them is in `include/onpath/bpf.h`.

use cgen::tree::{Expr as C, Stmt};

/// The value of a member.
pub(crate) fn get(member: &str) -> C {
    access("context_get", member)
}

/// The address that is a member's value.
pub(crate) fn pointer(member: &str) -> C {
    access("context_pointer", member)
}

/// Sets a member.
pub(crate) fn set(member: &str, value: C) -> Stmt {
    let args = vec![C::id("ctx"), C::id(member), value];
    Stmt::Expr(C::call("context_set", args))
}

fn access(how: &str, member: &str) -> C {
    C::pure(how, vec![C::id("ctx"), C::id(member)])
}
