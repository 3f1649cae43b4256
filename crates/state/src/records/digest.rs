//! Digests: records in a ring buffer. If the buffer is full because nobody reads it, they are lost, and counted.

use super::record::{fill, record};
use crate::layouts::RecordLayout;
use crate::target::{StateTarget, Used};
use cgen::lower;
use cgen::tree::{Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Gen;
use emit::calls::values;
use emit::memory::declare;
use emit::values::Value;
use ir::ExternCall;
use layout::{DigestAbi, DigestsAbi, Map, MapKind};

/// Size of the ring buffer, in bytes.
const RING: u64 = 1 << 18;

/// Emits `digest`, which sends values to the control plane.
pub(crate) fn send<T: StateTarget>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) {
    let number = values(call, 2).first().map(|&e| lower::scalar(g, e));
    let number = number.and_then(|number| number.as_int()).unwrap_or(0) as u32;
    let Some(layout) = layout(g, number, span) else {
        return;
    };
    let (ring, lost) = maps(g);
    let receiver = values(call, 0).first().map(|&e| lower::scalar(g, e));
    let scalars = values(call, 1).to_vec();
    let block = g.block(|g| {
        let sent: Vec<Value> = scalars.into_iter().map(|e| g.value(e)).collect();
        let record = g.file.names.fresh("record");
        let ty = CType::Struct(layout.record.clone());
        let reserved = T::reserve(ring, C::SizeOf(ty.clone()));
        g.push(Stmt::decl(ty.ptr(), record.clone(), reserved));
        let record = C::Ident(record);
        let receiver = receiver.unwrap_or(C::int(0));
        let there = g.block(|g| fill(g, &record, &layout, receiver, sent));
        let full = vec![Stmt::Expr(C::call("digest_lost", vec![lost]))];
        g.push(Stmt::If(record, there, full));
    });
    g.push(Stmt::Block(block));
}

/// Returns the layout of a digest, described on first use. `None` if the program is refused.
fn layout<T: StateTarget>(g: &mut Gen<'_, T>, number: u32, span: Span) -> Option<RecordLayout> {
    if let Some(known) = T::shared(&mut g.file.own).digests.get(&number) {
        return Some(known.clone());
    }
    let data = g.p.digests.get(number as usize)?.clone();
    let (layout, size, fields) = record(g, number, &data.name, &data.fields, span)?;
    maps(g);
    if let Some(digests) = &mut T::kept(&mut g.file.own).contents.digests {
        digests.records.push(DigestAbi {
            number,
            size,
            fields,
        });
    }
    T::shared(&mut g.file.own)
        .digests
        .insert(number, layout.clone());
    Some(layout)
}

/// Returns the addresses of the ring buffer and of the array that counts lost digests.
fn maps<T: StateTarget>(g: &mut Gen<'_, T>) -> (C, C) {
    T::note(g, Used::Records);
    if T::kept(&mut g.file.own).contents.digests.is_none() {
        let [ring, lost] =
            ["digests", "digests_lost"].map(|wish| g.file.names.fresh_short(wish, "", T::MAP_NAME));
        let maps = [
            (Map::new(ring.as_str(), MapKind::Ring, 0, 0, RING), None),
            (
                Map::new(lost.as_str(), MapKind::Array, 4, 8, 2),
                Some((CType::U32, CType::U64)),
            ),
        ];
        for (map, types) in maps {
            declare(g, map, types);
        }
        T::kept(&mut g.file.own).contents.digests = Some(DigestsAbi {
            ring: ring.to_string(),
            lost: lost.to_string(),
            records: Vec::new(),
        });
    }
    let digests = T::kept(&mut g.file.own).contents.digests.as_ref();
    let address = |name: fn(&DigestsAbi) -> &String| {
        C::id(digests.map(|d| name(d).as_str()).unwrap_or_default()).addr()
    };
    (address(|d| &d.ring), address(|d| &d.lost))
}
