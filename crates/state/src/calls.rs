//! Calls of externs that keep state.

use crate::metrics::MetricKind;
use crate::records::{digest, log};
use crate::target::StateTarget;
use crate::{counter, direct, flow_state, meter, metrics, random, register};
use cgen::tree::Expr as C;
use emit::Gen;
use emit::table::{DIRECT_COUNTER, DIRECT_METER};
use ir::ExternCall;
use ir::atomic::{FLOW_STATE, REGISTER};

/// Emits the call of an extern that keeps state or draws random numbers. Returns false for other externs.
pub fn call<T: StateTarget>(g: &mut Gen<'_, T>, call: &ExternCall, stmt: &ir::Stmt) -> bool {
    let span = stmt.span;
    match (call.object, call.name.as_str()) {
        (Some(object), method) => {
            let data = &g.p.externs[object];
            match (data.ty.as_str(), method) {
                ("CounterArray", "increment" | "add") => counter::add(g, object, call),
                ("counter", "count") => counter::count(g, object, call),
                // The table counts when it is applied.
                (DIRECT_COUNTER, "count") => {}
                (DIRECT_METER, "read") => direct::color(g, call),
                ("meter", "execute_meter") => meter::execute(g, object, call),
                (REGISTER, "read") => register::read(g, object, call),
                (REGISTER, "write") => register::write(g, object, call),
                (FLOW_STATE, _) => flow_state::flow_call(g, object, call, stmt),
                (_, "add") if let Some(kind) = MetricKind::of(data) => {
                    metrics::add(g, object, kind, call)
                }
                _ => return false,
            }
        }
        (None, "random32") => g.result(call, C::call("random_u32", Vec::new())),
        (None, "random") => random::random(g, call, span),
        (None, "digest") => digest::send(g, call, span),
        (None, "log_msg") => log::log(g, call, span),
        (None, _) => return false,
    }
    true
}
