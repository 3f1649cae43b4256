//! Indexed meters: an array of token buckets, each under a lock of its own, so that no token is taken twice.

use crate::counter::{found, index};
use crate::errors;
use crate::target::{StateTarget, Used};
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use emit::Gen;
use emit::calls::places;
use emit::values::Value;
use ir::{ExternCall, ExternInst, Place};
use layout::{Map, MapKind, MeterAbi};
use smol_str::SmolStr;

/// Size of `struct packet_meter`, in bytes.
const SIZE: u32 = 96;

/// Returns the type of an element.
pub(crate) fn ty() -> CType {
    CType::Struct("packet_meter".into())
}

/// Declares a map of `max_entries` meters.
pub(crate) fn declare<T: StateTarget>(g: &mut Gen<'_, T>, name: &SmolStr, max_entries: u32) {
    T::note(g, Used::Meters);
    let map = Map::new(name.as_str(), MapKind::Array, 4, SIZE, max_entries.into());
    emit::memory::declare(g, map, Some((CType::U32, ty())));
}

/// Returns the cost of a packet in tokens: one, or one for each byte of its length.
pub(crate) fn cost<T: StateTarget>(g: &mut Gen<'_, T>, object: ExternInst) -> C {
    match externs::meter::counts_bytes(&g.p.externs[object]) {
        true => g.packet_length(),
        false => C::int(1),
    }
}

/// Returns the colour that a meter gives a packet. `meter` is a pointer that may be null.
pub(crate) fn color(meter: C, cost: C) -> C {
    C::call("meter_color", vec![meter, cost])
}

/// Emits the storing of a colour.
pub(crate) fn store<T: StateTarget>(g: &mut Gen<'_, T>, place: Place, color: C) {
    let width = g.p.place_type(place).map_or(0, |ty| ty.width());
    let color = match width {
        0 => return,
        1 => C::bin(BinOp::And, color, C::int(lower::mask(width))),
        _ => color,
    };
    g.store(place, Value::Scalar(color));
}

/// Emits `execute_meter`: the colour that the meter at an index gives the packet, or green if the index is out of
/// range.
pub(crate) fn execute<T: StateTarget>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall) {
    let Some(map) = map(g, object) else {
        return;
    };
    let (key, slot) = (g.file.names.fresh("index"), g.file.names.fresh("meter"));
    let index = index(g, call, 0);
    let block = found::<T>(&map, &key, index, &slot, ty());
    let cost = cost(g, object);
    let color = color(C::Ident(slot), cost);
    let place = places(call, 1).first().copied();
    let block = g.block(|g| {
        g.out.extend(block);
        match place {
            Some(place) => store(g, place, color),
            None => g.push(Stmt::Expr(color)),
        }
    });
    g.push(Stmt::Block(block));
}

/// Returns the map of a meter, declared on first use.
fn map<T: StateTarget>(g: &mut Gen<'_, T>, object: ExternInst) -> Option<SmolStr> {
    let index = object.as_u32();
    if let Some(known) = T::kept(&mut g.file.own)
        .contents
        .meters
        .iter()
        .find(|m| m.index == index)
    {
        return Some(known.map.as_str().into());
    }
    let data = &g.p.externs[object];
    let size = data.int_arg("size").and_then(|n| u32::try_from(n).ok());
    let Some(size) = size.filter(|n| *n > 0) else {
        g.refuse(errors::array_size("meter", &data.name, data.span));
        return None;
    };
    let name = g.file.names.fresh_short(&data.name, "", T::MAP_NAME);
    let abi = MeterAbi {
        index,
        name: data.name.to_string(),
        map: name.to_string(),
        size: size.into(),
    };
    declare(g, &name, size);
    T::kept(&mut g.file.own).contents.meters.push(abi);
    Some(name)
}
