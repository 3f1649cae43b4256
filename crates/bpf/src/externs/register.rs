//! Registers: an array, one copy for all processors.

use super::counter::{found, index};
use super::{places, values};
use crate::abi::{ByteOrder, MapAbi, MapKind, RegisterAbi};
use crate::errors;
use crate::maps::MAP_NAME;
use crate::table::describe;
use crate::target::{Bpf, Gen};
use cgen::tree::{Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Target;
use emit::names::Names;
use emit::record::{Form, Record};
use emit::values::Value;
use ir::{ExternCall, ExternInst, Type};
use smol_str::SmolStr;

/// A register that the program uses.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The map.
    map: SmolStr,
    /// The struct of its cells.
    cell: SmolStr,
    /// The member and form of each scalar.
    members: Vec<(SmolStr, Form)>,
}

/// Reads a cell; zeros outside.
pub(super) fn read(g: &mut Gen<'_>, object: ExternInst, call: &ExternCall, span: Span) {
    let Some(layout) = layout(g, object, span) else {
        return;
    };
    let (cell, mut block) = find(g, &layout, call, 1);
    let places = places(call, 0).to_vec();
    let there = g.block(|g| {
        for (&place, (member, form)) in places.iter().zip(&layout.members) {
            g.store(
                place,
                Value::member(cell.clone().arrow(member.clone()), *form),
            );
        }
    });
    let outside = g.block(|g| {
        for (&place, (_, form)) in places.iter().zip(&layout.members) {
            g.store(place, Value::zero(form.width));
        }
    });
    block.push(Stmt::If(cell, there, outside));
    g.push(Stmt::Block(block));
}

/// Writes a cell; outside it does nothing.
pub(super) fn write(g: &mut Gen<'_>, object: ExternInst, call: &ExternCall, span: Span) {
    let Some(layout) = layout(g, object, span) else {
        return;
    };
    let written: Vec<Value> = values(call, 1)
        .to_vec()
        .into_iter()
        .map(|e| g.value(e))
        .collect();
    let (cell, mut block) = find(g, &layout, call, 0);
    let there = g.block(|g| {
        for (value, (member, _)) in written.into_iter().zip(&layout.members) {
            g.store_local(cell.clone().arrow(member.clone()), value);
        }
    });
    block.push(Stmt::If(cell, there, Block::new()));
    g.push(Stmt::Block(block));
}

/// The cell at an index, and the statements that find it.
fn find(g: &mut Gen<'_>, layout: &Layout, call: &ExternCall, at: usize) -> (C, Block) {
    let index = index(g, call, at);
    let (key, cell) = (g.file.names.fresh("index"), g.file.names.fresh("cell"));
    let ty = CType::Struct(layout.cell.clone());
    let block = found(&layout.map, &key, index, &cell, ty);
    (C::Ident(cell), block)
}

/// The layout of a register, whose map is declared on first use. `None` if there can be none, for which the program is
/// refused.
fn layout(g: &mut Gen<'_>, object: ExternInst, span: Span) -> Option<Layout> {
    if let Some(known) = g.file.own.registers.get(&object) {
        return Some(known.clone());
    }
    let data = &g.p.externs[object];
    let size = data
        .int_arg("size")
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| *n > 0);
    let Some(size) = size else {
        g.refuse(errors::array_size("register", &data.name, span));
        return None;
    };
    let scalars = data.type_args.first().map_or(&[][..], Vec::as_slice);
    if scalars.iter().any(|ty| matches!(ty, Type::Varbit(_))) {
        g.refuse(errors::register_of_varbit(&data.name, span));
        return None;
    }
    let names = data.type_arg_names.first().cloned().unwrap_or_default();
    let mut record = Record::default();
    let mut taken: Names = Bpf::names();
    let mut members = Vec::with_capacity(scalars.len());
    let mut fields = Vec::with_capacity(scalars.len());
    for (i, ty) in scalars.iter().enumerate() {
        let name = names.get(i).map_or("", |name| name.as_str());
        let wish = if name.is_empty() { "value" } else { name };
        let form = Form::new(ty.width(), ByteOrder::Host);
        let member = taken.fresh(wish);
        let offset = record.add_form(form, member.clone(), "");
        fields.push(describe::field(form, name, offset));
        members.push((member, form));
    }
    record.finish();
    let map = g.file.names.fresh_short(&data.name, "", MAP_NAME);
    let cell = g.file.names.fresh(&format!("{map}_cell"));
    g.file.declare_struct(&cell, record.members.clone());
    g.file.own.maps.declare(
        MapAbi {
            name: map.to_string(),
            kind: MapKind::Array,
            key_size: 4,
            value_size: record.size,
            max_entries: size,
            no_prealloc: false,
            mmapable: false,
        },
        Some((CType::U32, CType::Struct(cell.clone()))),
    );
    g.file.own.maps.registers.push(RegisterAbi {
        index: object.as_u32(),
        name: data.name.to_string(),
        map: map.to_string(),
        size: size.into(),
        fields,
    });
    let layout = Layout { map, cell, members };
    g.file.own.registers.insert(object, layout.clone());
    Some(layout)
}
