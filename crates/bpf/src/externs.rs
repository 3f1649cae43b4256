//! Calls of externs: counters, checksums, the clock, events, and the user's own C.

use crate::abi::{CounterAbi, MapAbi, MapKind};
use crate::maps::MAP_NAME;
use crate::target::{Bpf, Gen};
use crate::uses::{Construct, needs};
use crate::{errors, flow_state};
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::{Target, packet_length};
use ir::{ExternCall, ExternInst};
use smol_str::SmolStr;

/// How many indices of a sparse counter are kept: few are used out of many.
const SPARSE_LIMIT: u32 = 1 << 16;

/// The extern that sends a packet to user space as it came.
pub(crate) const SEND_PACKET: &str = "BPF_PERF_EVENT_OUTPUT";

/// Calls an extern, or refuses it.
pub(crate) fn call(g: &mut Gen<'_>, call: &ExternCall, stmt: &ir::Stmt) {
    let span = stmt.span;
    match (call.object, call.name.as_str()) {
        (Some(object), method) => {
            let ty = g.p.externs[object].ty.clone();
            match (ty.as_str(), method) {
                ("CounterArray", "increment" | "add") => count(g, object, call, span),
                (ir::atomic::FLOW_STATE, _) => flow_state::flow_call(g, object, call, stmt),
                _ => unknown(g, &format!("{ty}.{method}"), span),
            }
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
        (None, "random32") => g.result(call, C::call("random_u32", Vec::new())),
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

fn unknown(g: &mut Gen<'_>, name: &str, span: Span) {
    let hook = g.target.options.hook;
    g.refuse(errors::unknown_extern(hook, name, span));
}

fn count(g: &mut Gen<'_>, object: ExternInst, call: &ExternCall, span: Span) {
    let Some(map) = counter_map(g, object, span) else {
        return;
    };
    let mut args = g.arguments(call).into_iter();
    let index = args.next().unwrap_or(C::int(0));
    let by = args.next().unwrap_or(C::int(1));
    let (key, slot) = (g.file.names.fresh("index"), g.file.names.fresh("count"));
    let sparse = g
        .file
        .own
        .maps
        .list
        .iter()
        .any(|m| m.name == map.as_str() && m.kind == MapKind::PercpuHash);
    let size = g
        .file
        .own
        .maps
        .counters
        .iter()
        .find(|c| c.map == map.as_str())
        .map_or(0, |c| c.size);
    let id = |n: &SmolStr| C::Ident(n.clone());
    let mut block = vec![
        Stmt::decl(CType::U32, key.clone(), index),
        Stmt::decl(
            CType::U64.ptr(),
            slot.clone(),
            C::call(
                "bpf_map_lookup_elem",
                vec![id(&map).addr(), id(&key).addr()],
            ),
        ),
    ];
    let target = C::Unary(cgen::tree::UnOp::Deref, Box::new(id(&slot)));
    let add = vec![Stmt::Update(BinOp::Add, target, by.clone())];
    let otherwise = if sparse {
        let first = g.file.names.fresh("first");
        let insert = vec![
            Stmt::decl(CType::U64, first.clone(), by),
            Stmt::Expr(C::call(
                "bpf_map_update_elem",
                vec![
                    id(&map).addr(),
                    id(&key).addr(),
                    id(&first).addr(),
                    C::id("BPF_NOEXIST"),
                ],
            )),
        ];
        vec![Stmt::If(
            C::bin(BinOp::Lt, id(&key), C::int(size)),
            insert,
            Vec::new(),
        )]
    } else {
        Vec::new()
    };
    block.push(Stmt::If(id(&slot), add, otherwise));
    g.push(Stmt::Block(block));
}

fn counter_map(g: &mut Gen<'_>, object: ExternInst, span: Span) -> Option<SmolStr> {
    let index = object.as_u32();
    if let Some(known) = g.file.own.maps.counters.iter().find(|c| c.index == index) {
        return Some(known.map.as_str().into());
    }
    let data = &g.p.externs[object];
    let size = data
        .int_arg("max_index")
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| *n > 0);
    let Some(size) = size else {
        g.refuse(errors::counter_size(&data.name, span));
        return None;
    };
    let sparse = data
        .args
        .iter()
        .any(|(n, v)| n == "sparse" && *v == ir::CtorValue::Bool(true));
    let name = g.file.names.fresh_short(&data.name, "", MAP_NAME);
    g.file.own.maps.declare(
        MapAbi {
            name: name.to_string(),
            kind: if sparse {
                MapKind::PercpuHash
            } else {
                MapKind::PercpuArray
            },
            key_size: 4,
            value_size: 8,
            max_entries: if sparse { size.min(SPARSE_LIMIT) } else { size },
            no_prealloc: sparse,
            mmapable: false,
        },
        Some((CType::U32, CType::U64)),
    );
    g.file.own.maps.counters.push(CounterAbi {
        index,
        name: data.name.to_string(),
        map: name.to_string(),
        size: size.into(),
    });
    Some(name)
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
    let sent = C::call(
        "send_packet_event",
        vec![C::id("ctx"), C::Ident(map).addr(), packet_length()],
    );
    g.result(call, sent);
}
