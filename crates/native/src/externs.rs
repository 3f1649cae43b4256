//! Calls of externs that concern neither state nor the payload.

use crate::target::{Gen, Native, refusal};
use cgen::tree::{Expr as C, Type};
use emit::Target;
use ir::ExternCall;

/// Emits the call of an extern, or refuses it.
pub(crate) fn call(g: &mut Gen<'_>, call: &ExternCall, stmt: &ir::Stmt) {
    let span = stmt.span;
    if state::call(g, call, stmt) || messages::calls::call(g, call, span) {
        return;
    }
    match (call.object, call.name.as_str()) {
        (None, name @ ("csum_replace2" | "csum_replace4" | "ebpf_ipv4_checksum")) => {
            g.pure_function(name, call);
        }
        (None, "assert" | "assume") => {
            let holds = g.arguments(call).into_iter().next();
            g.goto_reject(C::not(holds.unwrap_or(C::int(1))));
        }
        (None, "monotonic_ns") => g.result(call, C::call("now_ns", Vec::new())),
        (None, "BPF_KTIME_GET_NS") => {
            let now = C::call("now_ns", Vec::new()).cast(Type::U32);
            g.result(call, now);
        }
        (None, name) if g.target.has_externs && !Native::names().is_reserved(name) => {
            g.user_function(name, call, span);
        }
        (_, name) => g.refuse(refusal(&format!("extern `{name}`"), span)),
    }
}
