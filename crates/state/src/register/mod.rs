//! Registers: an array with one copy for all processors. If an atomic block uses a register, its cells have locks
//! ([`locks`]). A block holds them from its first call to its end, any other call while it reads or writes.

mod locks;

use crate::counter::{found, index_of};
use crate::errors;
use crate::layouts::{Locks, RegisterLayout};
use crate::target::{LOCK, StateTarget, add_lock};
use cgen::tree::{Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Gen;
use emit::calls::{places, values};
use emit::memory::declare;
use emit::names::Names;
use emit::record::{MemberLayout, Record};
use emit::values::Value;
use ir::atomic::{Cell, Problem, Refusal, Region};
use ir::{Expr, ExternCall, ExternInst, Type};
use layout::{ByteOrder, Map, MapKind, RegisterAbi};

/// Emits an atomic block whose calls use cells of registers.
pub(crate) fn atomic<T: StateTarget>(g: &mut Gen<'_, T>, region: &Region, block: &ir::Block) {
    let (before, inside) = block.split_at(region.first);
    g.run(before);
    g.kill_computed();
    let span = inside.first().map_or(Span::NONE, |stmt| stmt.span);
    let mut layouts = Vec::with_capacity(region.cells.len());
    for cell in &region.cells {
        let Some(layout) = layout(g, cell.object) else {
            return;
        };
        layouts.push(layout);
    }
    let locks = layouts[0].locks.clone();
    let is_apart = matches!(locks, Locks::Apart { .. });
    let fits =
        layouts.iter().all(|layout| layout.locks == locks) && (is_apart || layouts.len() == 1);
    if locks == Locks::None || !fits {
        // The fast path has no such block.
        let name = g.p.externs[region.cells[0].object].name.clone();
        let refusal = Refusal {
            problem: Problem::Extern(name),
            at: span,
            first: span,
        };
        return g.refuse(errors::atomic(g.target.name(), &refusal));
    }
    g.hold_headers(inside);
    let block = g.block(|g| {
        let mut held = Vec::with_capacity(layouts.len());
        for (known, layout) in region.cells.iter().zip(&layouts) {
            let (cell, declared) = find(g, layout, known.key[0]);
            g.out.extend(declared);
            held.push((known.clone(), cell));
        }
        let (first, cell) = &held[0];
        let (holder, declared) = locks::find(g, &locks, first.key[0], cell);
        g.out.extend(declared);
        locks::take(g, holder.as_ref());
        g.target.held().cells = held;
        g.run(inside);
        g.target.held().cells.clear();
        locks::give_back(g, holder.as_ref());
    });
    g.push(Stmt::Block(block));
    g.release_headers();
    g.kill_computed();
}

/// Returns the cell that a call uses, statements that find it and take its lock, and the holder of the lock. The holder
/// is `None` if an enclosing block holds the lock already.
fn reach<T: StateTarget>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    layout: &RegisterLayout,
    call: &ExternCall,
    at: usize,
) -> (C, Block, Option<C>) {
    let Some(&index) = values(call, at).first() else {
        return (C::int(0), Block::new(), None);
    };
    let p = g.p;
    let is_it = |(cell, _): &&(Cell, C)| cell.is(p, object, &[index]);
    if let Some((_, cell)) = g.target.held().cells.iter().find(is_it) {
        return (cell.clone(), Block::new(), None);
    }
    let (cell, mut block) = find(g, layout, index);
    let (holder, declared) = locks::find(g, &layout.locks, index, &cell);
    block.extend(declared);
    block.extend(g.block(|g| locks::take(g, holder.as_ref())));
    (cell, block, holder)
}

/// Emits the read of a cell, or zeros if the index is out of range.
pub(crate) fn read<T: StateTarget>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall) {
    let Some(layout) = layout(g, object) else {
        return;
    };
    let (cell, mut block, holder) = reach(g, object, &layout, call, 1);
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
    block.push(Stmt::If(cell.clone(), there, outside));
    block.extend(g.block(|g| locks::give_back(g, holder.as_ref())));
    g.push(Stmt::Block(block));
}

/// Emits the write of a cell. It has no effect if the index is out of range.
pub(crate) fn write<T: StateTarget>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall) {
    let Some(layout) = layout(g, object) else {
        return;
    };
    let written: Vec<Value> = values(call, 1)
        .to_vec()
        .into_iter()
        .map(|e| g.value(e))
        .collect();
    let (cell, mut block, holder) = reach(g, object, &layout, call, 0);
    let there = g.block(|g| {
        for (value, (member, _)) in written.into_iter().zip(&layout.members) {
            g.store_local(cell.clone().arrow(member.clone()), value);
        }
    });
    block.push(Stmt::If(cell.clone(), there, Block::new()));
    block.extend(g.block(|g| locks::give_back(g, holder.as_ref())));
    g.push(Stmt::Block(block));
}

/// Returns the cell at an index, and the statements that find it.
fn find<T: StateTarget>(g: &mut Gen<'_, T>, layout: &RegisterLayout, index: Expr) -> (C, Block) {
    let index = index_of(g, index);
    let (key, cell) = (g.file.names.fresh("index"), g.file.names.fresh("cell"));
    let ty = CType::Struct(layout.cell.clone());
    let block = found::<T>(&layout.map, &key, index, &cell, ty);
    (C::Ident(cell), block)
}

/// Returns the layout of a register, whose map is declared on first use. `None` if the program is refused.
fn layout<T: StateTarget>(g: &mut Gen<'_, T>, object: ExternInst) -> Option<RegisterLayout> {
    if let Some(known) = T::shared(&mut g.file.own).registers.get(&object) {
        return Some(known.clone());
    }
    let data = g.p.externs[object].clone();
    let size = data
        .int_arg("size")
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| *n > 0);
    let Some(size) = size else {
        g.refuse(errors::array_size("register", &data.name, data.span));
        return None;
    };
    let scalars = data.type_args.first().map_or(&[][..], Vec::as_slice);
    if scalars.iter().any(|ty| matches!(ty, Type::Varbit(_))) {
        g.refuse(errors::register_of_varbit(&data.name, data.span));
        return None;
    }
    let names = data.type_arg_names.first().cloned().unwrap_or_default();
    let mut record = Record::default();
    let mut taken: Names = T::names();
    let locks = locks::of(g, object);
    let locked = locks == Locks::InCells;
    if locked {
        taken.reserve(LOCK);
        add_lock::<T>(&mut record);
    }
    let mut members = Vec::with_capacity(scalars.len());
    let mut fields = Vec::with_capacity(scalars.len());
    for (i, ty) in scalars.iter().enumerate() {
        let name = names.get(i).map_or("", |name| name.as_str());
        let wish = if name.is_empty() { "value" } else { name };
        let form = MemberLayout::new(ty.width(), ByteOrder::Host);
        let member = taken.fresh(wish);
        let offset = record.add_value(form, member.clone(), "");
        fields.push(form.field(name, offset));
        members.push((member, form));
    }
    record.finish();
    let map = g.file.names.fresh_short(&data.name, "", T::MAP_NAME);
    let cell = g.file.names.fresh(&format!("{map}_cell"));
    g.file.declare_struct(&cell, record.members.clone());
    let declared = Map::new(map.as_str(), MapKind::Array, 4, record.size, size.into());
    let types = (CType::U32, CType::Struct(cell.clone()));
    declare(g, declared, Some(types));
    T::kept(&mut g.file.own)
        .contents
        .registers
        .push(RegisterAbi {
            index: object.as_u32(),
            name: data.name.to_string(),
            map: map.to_string(),
            size: size.into(),
            fields,
            locked,
        });
    let layout = RegisterLayout {
        map,
        cell,
        members,
        locks,
    };
    T::shared(&mut g.file.own)
        .registers
        .insert(object, layout.clone());
    Some(layout)
}
