//! Log messages (`log_msg`): records in a ring buffer of their own, each with the values of its message. The number of
//! messages per second is limited. Those that exceed the limit or find no room are counted.

use super::record::{fill, record};
use crate::layouts::{LogLayout, RecordLayout};
use crate::target::{StateTarget, Used};
use cgen::tree::{Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Gen;
use emit::calls::values;
use emit::memory::declare;
use emit::values::Value;
use ir::{ExternArg, ExternCall, Type};
use layout::{LogAbi, LogsAbi, Map, MapKind};
use smol_str::SmolStr;

/// Size of the ring buffer, in bytes.
const RING: u64 = 1 << 17;

/// Emits `log_msg`: a message and its values.
pub(crate) fn log<T: StateTarget>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) {
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
        let there = g.block(|g| fill(g, &record, &layout, C::int(0), sent));
        g.push(Stmt::If(record, there, Block::new()));
    });
    g.push(Stmt::Block(block));
}

/// Returns the layout of a message's records, described on first use. `None` if the program is refused.
fn layout<T: StateTarget>(
    g: &mut Gen<'_, T>,
    text: &str,
    types: &[Type],
    span: Span,
) -> Option<RecordLayout> {
    let logs = &T::shared(&mut g.file.own).logs;
    let mut known = logs.iter();
    if let Some(known) = known.find(|log| log.text == text && log.types == types) {
        return Some(known.record.clone());
    }
    let number = logs.len() as u32;
    let values = types.iter().map(|ty| (SmolStr::default(), *ty));
    let time = (SmolStr::new_static("time"), Type::bit(64));
    let fields: Vec<(SmolStr, Type)> = std::iter::once(time).chain(values).collect();
    let (layout, size, fields) = record(g, number, "log", &fields, span)?;
    maps(g);
    if let Some(logs) = &mut T::kept(&mut g.file.own).contents.logs {
        logs.records.push(LogAbi {
            text: text.to_string(),
            size,
            fields,
            timed: true,
        });
    }
    T::shared(&mut g.file.own).logs.push(LogLayout {
        text: text.to_string(),
        types: types.to_vec(),
        record: layout.clone(),
    });
    Some(layout)
}

/// Returns the addresses of the ring buffer and of the limit.
fn maps<T: StateTarget>(g: &mut Gen<'_, T>) -> [C; 2] {
    if T::kept(&mut g.file.own).contents.logs.is_none() {
        T::note(g, Used::Records);
        let [ring, limit] = ["messages", "messages_limit"]
            .map(|wish| g.file.names.fresh_short(wish, "", T::MAP_NAME));
        let records = Map::new(ring.as_str(), MapKind::Ring, 0, 0, RING);
        declare(g, records, None);
        let limits = Map::new(limit.as_str(), MapKind::Array, 4, 24, 2);
        let ty = CType::Struct("log_limit".into());
        declare(g, limits, Some((CType::U32, ty)));
        T::kept(&mut g.file.own).contents.logs = Some(LogsAbi {
            ring: ring.to_string(),
            limit: limit.to_string(),
            records: Vec::new(),
        });
    }
    let logs = T::kept(&mut g.file.own).contents.logs.as_ref();
    let address = |name: fn(&LogsAbi) -> &String| {
        C::id(logs.map(|logs| name(logs).as_str()).unwrap_or_default()).addr()
    };
    [address(|logs| &logs.ring), address(|logs| &logs.limit)]
}
