//! `log_msg`: records in a ring buffer of their own, each with the values of its message. At most so many a second are made; what
//! is more, or finds no room, is counted.

use super::digest::{self, Layout};
use crate::abi::{MapAbi, MapKind};
use crate::calls::values;
use crate::maps::MAP_NAME;
use crate::target::Gen;
use crate::uses::{Construct, needs};
use cgen::tree::{Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::values::Value;
use ir::{ExternArg, ExternCall, Type};
use layout::{LogAbi, LogsAbi};
use smol_str::SmolStr;

/// Bytes of the ring.
const RING: u32 = 1 << 17;

/// `log_msg`: a message and its values.
pub(super) fn log(g: &mut Gen<'_>, call: &ExternCall, span: Span) {
    let Some(ExternArg::String(text)) = call.args.first() else {
        return;
    };
    let scalars = values(call, 1).to_vec();
    let types: Vec<Type> = scalars.iter().map(|&e| g.p.ty(e)).collect();
    let Some(layout) = layout(g, text, &types, span) else {
        return;
    };
    let [ring, limit] = maps(g);
    let block = g.block(|g| {
        let time = Value::Scalar(C::call("now_ns", Vec::new()));
        let values = scalars.into_iter().map(|e| g.value(e));
        let sent: Vec<Value> = std::iter::once(time).chain(values).collect();
        let record = g.file.names.fresh("record");
        let ty = CType::Struct(layout.record.clone());
        let args = vec![ring, limit, C::SizeOf(ty.clone())];
        let reserved = C::call("log_reserve", args);
        g.push(Stmt::decl(ty.ptr(), record.clone(), reserved));
        let record = C::Ident(record);
        let there = g.block(|g| digest::fill(g, &record, &layout, C::int(0), sent));
        g.push(Stmt::If(record, there, Block::new()));
    });
    g.push(Stmt::Block(block));
}

/// The layout of a message's records, described on first use. `None` if there can be none, for which the program is refused.
fn layout(g: &mut Gen<'_>, text: &str, types: &[Type], span: Span) -> Option<Layout> {
    let known =
        |(log, known): &(&LogAbi, &(Vec<Type>, Layout))| log.text == *text && known.0 == types;
    let own = &g.file.own;
    let described = own
        .maps
        .kept
        .contents
        .logs
        .iter()
        .flat_map(|logs| &logs.records);
    if let Some((_, (_, layout))) = described.zip(&own.logs).find(known) {
        return Some(layout.clone());
    }
    let number = own.logs.len() as u32;
    let values = types.iter().map(|ty| (SmolStr::default(), *ty));
    let time = (SmolStr::new_static("time"), Type::bit(64));
    let fields: Vec<(SmolStr, Type)> = std::iter::once(time).chain(values).collect();
    let (layout, size, fields) = digest::record(g, number, "log", &fields, span)?;
    maps(g);
    if let Some(logs) = &mut g.file.own.maps.kept.contents.logs {
        logs.records.push(LogAbi {
            text: text.to_string(),
            size,
            fields,
            timed: true,
        });
    }
    g.file.own.logs.push((types.to_vec(), layout.clone()));
    Some(layout)
}

/// The addresses of the ring and of the limit.
fn maps(g: &mut Gen<'_>) -> [C; 2] {
    if g.file.own.maps.kept.contents.logs.is_none() {
        needs(g, Construct::Digests);
        let [ring, limit] =
            ["messages", "messages_limit"].map(|wish| g.file.names.fresh_short(wish, "", MAP_NAME));
        let maps = &mut g.file.own.maps;
        maps.declare(
            MapAbi::new(ring.as_str(), MapKind::RingBuffer, 0, 0, RING),
            None,
        );
        let limits = MapAbi::new(limit.as_str(), MapKind::Array, 4, 24, 2);
        let ty = CType::Struct("log_limit".into());
        maps.declare(limits, Some((CType::U32, ty)));
        maps.kept.contents.logs = Some(LogsAbi {
            ring: ring.to_string(),
            limit: limit.to_string(),
            records: Vec::new(),
        });
    }
    let logs = g.file.own.maps.kept.contents.logs.as_ref();
    let address = |name: fn(&LogsAbi) -> &String| {
        C::id(logs.map(|logs| name(logs).as_str()).unwrap_or_default()).addr()
    };
    [address(|logs| &logs.ring), address(|logs| &logs.limit)]
}
