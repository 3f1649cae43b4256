//! Lowering of extern calls to C: state, checksums, hashes, messages, the clock, events, and users' own C functions.

use crate::abi::{MapAbi, MapKind};
use crate::emitter::{Bpf, Gen, needs};
use crate::errors;
use crate::maps::MAP_NAME;
use crate::uses::Construct;
use arch::Model;
use cgen::tree::{Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Target;
use ir::ExternCall;
use smol_str::SmolStr;

/// Extern that sends the packet to user space, as it was received.
pub(crate) const SEND_PACKET: &str = "BPF_PERF_EVENT_OUTPUT";

/// Emits a call of an extern. Refuses an extern that is unknown or has no meaning in the kernel.
pub(crate) fn call(g: &mut Gen<'_>, call: &ExternCall, stmt: &ir::Stmt) {
    let span = stmt.span;
    if state::call(g, call, stmt) || messages::calls::call(g, call, span) {
        return;
    }
    match (call.object, call.name.as_str()) {
        (Some(object), method) => {
            let name = format!("{}.{method}", g.p.externs[object].ty);
            unknown(g, &name, span);
        }
        (None, name @ ("csum_replace2" | "csum_replace4" | "ebpf_ipv4_checksum")) => {
            g.pure_function(name, call);
        }
        (None, name @ ("l4_csum_replace2" | "l4_csum_replace4")) => {
            needs(g, Construct::TransportChecksums);
            let mut args = vec![C::id("ctx")];
            args.extend(g.arguments(call));
            g.result(call, C::call(name, args));
        }
        (None, "assert" | "assume") => {
            let holds = g.arguments(call).into_iter().next();
            let fails = C::not(holds.unwrap_or(C::int(1)));
            match g.target.next_copy {
                // It ends this copy alone.
                Some(next) => g.push(Stmt::goto_if(fails, next)),
                None => g.goto_reject(fails),
            }
        }
        (None, "monotonic_ns") => g.result(call, C::call("now_ns", Vec::new())),
        (None, "BPF_KTIME_GET_NS") => {
            let now = C::call("now_ns", Vec::new()).cast(CType::U32);
            g.result(call, now);
        }
        (None, SEND_PACKET) => send_event(g, call),
        (None, name) if g.target.options.extern_files.is_empty() => unknown(g, name, span),
        (None, name) if Bpf::names().is_reserved(name) => {
            g.refuse(errors::reserved_extern(name, span));
        }
        (None, name) => g.user_function(name, call, span),
    }
}

pub(crate) fn unknown(g: &mut Gen<'_>, name: &str, span: Span) {
    let hook = g.target.options.hook;
    g.refuse(match g.target.model {
        Model::Pipeline => errors::v1model_extern(hook, name, span),
        _ => errors::unknown_extern(hook, name, span),
    });
}

fn send_event(g: &mut Gen<'_>, call: &ExternCall) {
    let map = match &g.file.own.maps.events {
        Some(map) => SmolStr::from(map.as_str()),
        None => {
            let map = g.file.names.fresh_short("events", "", MAP_NAME);
            g.file.own.maps.declare(
                MapAbi {
                    name: map.to_string(),
                    kind: MapKind::PerfEventArray,
                    key_size: 4,
                    value_size: 4,
                    max_entries: 0,
                    no_prealloc: false,
                    mmapable: false,
                },
                None,
            );
            g.file.own.maps.events = Some(map.to_string());
            map
        }
    };
    let length = g.packet_length();
    let sent = C::call(
        "send_packet_event",
        vec![C::id("ctx"), C::Ident(map).addr(), length],
    );
    g.result(call, sent);
}
