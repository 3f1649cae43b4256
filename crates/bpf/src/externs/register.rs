//! Registers: an array, one copy for all processors. Where a program has a register in an atomic block, each cell has a lock, which
//! a block holds from its first call to its end, and any other call while it reads or writes.

use super::counter::{found, index, index_of};
use crate::abi::{ByteOrder, MapAbi, MapKind, RegisterAbi};
use crate::calls::{places, values};
use crate::errors::{self, flow_state as refusals};
use crate::maps::MAP_NAME;
use crate::table::describe;
use crate::target::{Bpf, Gen};
use crate::uses::{Construct, needs};
use cgen::tree::{Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Target;
use emit::names::Names;
use emit::record::{Form, Record};
use emit::values::Value;
use ir::atomic::{Problem, Refusal, Region};
use ir::{ExternCall, ExternInst, Program, StmtKind, Type, visit};
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
    /// Whether cells have locks.
    locked: bool,
}

/// An atomic block whose calls are of one register at one index.
pub(crate) fn atomic(g: &mut Gen<'_>, region: &Region, block: &ir::Block) {
    let (before, inside) = block.split_at(region.first);
    g.run(before);
    g.kill_computed();
    let span = inside.first().map_or(Span::NONE, |stmt| stmt.span);
    let Some(layout) = layout(g, region.object) else {
        return;
    };
    if !layout.locked {
        // The fast path has no such block.
        let name = g.p.externs[region.object].name.clone();
        let refusal = Refusal {
            problem: Problem::Extern(name),
            at: span,
            first: span,
        };
        let hook = g.target.options.hook;
        return g.refuse(refusals::atomic(hook, &refusal));
    }
    g.hold_headers(inside);
    let index = region.key.first().map(|&index| index_of(g, index));
    let (cell, declared) = find_at(g, &layout, index.unwrap_or(C::int(0)));
    let block = g.block(|g| {
        g.out.extend(declared);
        lock(g, &layout, &cell, "bpf_spin_lock");
        g.target.held_cell = Some((region.object, cell.clone()));
        g.run(inside);
        g.target.held_cell = None;
        lock(g, &layout, &cell, "bpf_spin_unlock");
    });
    g.push(Stmt::Block(block));
    g.release_headers();
    g.kill_computed();
}

/// Takes the lock of a cell that is there, or leaves it.
fn lock(g: &mut Gen<'_>, layout: &Layout, cell: &C, function: &str) {
    if layout.locked {
        let call = C::call(function, vec![cell.clone().arrow(LOCK).addr()]);
        g.push(Stmt::If(cell.clone(), vec![Stmt::Expr(call)], Block::new()));
    }
}

/// The member with a cell's lock.
const LOCK: &str = "lock";

/// The cell that a call is about, and the statements that find it and take its lock, if it is not held anyway.
fn reach(
    g: &mut Gen<'_>,
    object: ExternInst,
    layout: &Layout,
    call: &ExternCall,
    at: usize,
) -> (C, Block, bool) {
    if let Some((held, cell)) = &g.target.held_cell
        && *held == object
    {
        return (cell.clone(), Block::new(), false);
    }
    let (cell, mut block) = find(g, layout, call, at);
    block.extend(g.block(|g| lock(g, layout, &cell, "bpf_spin_lock")));
    (cell, block, true)
}

/// Whether a register is in an atomic block of the program.
fn is_in_block(p: &Program, object: ExternInst) -> bool {
    let mut found = false;
    for body in visit::bodies(p) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Atomic(inner) = &stmt.kind {
                visit::walk_block(inner, &mut |stmt| {
                    let call = ir::atomic::keyed_call(p, &stmt.kind);
                    found |= call.is_some_and(|(of, _)| of == object);
                });
            }
        });
    }
    found
}

/// Reads a cell; zeros outside.
pub(super) fn read(g: &mut Gen<'_>, object: ExternInst, call: &ExternCall) {
    let Some(layout) = layout(g, object) else {
        return;
    };
    let (cell, mut block, ends) = reach(g, object, &layout, call, 1);
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
    if ends {
        block.extend(g.block(|g| lock(g, &layout, &cell, "bpf_spin_unlock")));
    }
    g.push(Stmt::Block(block));
}

/// Writes a cell; outside it does nothing.
pub(super) fn write(g: &mut Gen<'_>, object: ExternInst, call: &ExternCall) {
    let Some(layout) = layout(g, object) else {
        return;
    };
    let written: Vec<Value> = values(call, 1)
        .to_vec()
        .into_iter()
        .map(|e| g.value(e))
        .collect();
    let (cell, mut block, ends) = reach(g, object, &layout, call, 0);
    let there = g.block(|g| {
        for (value, (member, _)) in written.into_iter().zip(&layout.members) {
            g.store_local(cell.clone().arrow(member.clone()), value);
        }
    });
    block.push(Stmt::If(cell.clone(), there, Block::new()));
    if ends {
        block.extend(g.block(|g| lock(g, &layout, &cell, "bpf_spin_unlock")));
    }
    g.push(Stmt::Block(block));
}

/// The cell at an index, and the statements that find it.
fn find(g: &mut Gen<'_>, layout: &Layout, call: &ExternCall, at: usize) -> (C, Block) {
    let index = index(g, call, at);
    find_at(g, layout, index)
}

fn find_at(g: &mut Gen<'_>, layout: &Layout, index: C) -> (C, Block) {
    let (key, cell) = (g.file.names.fresh("index"), g.file.names.fresh("cell"));
    let ty = CType::Struct(layout.cell.clone());
    let block = found(&layout.map, &key, index, &cell, ty);
    (C::Ident(cell), block)
}

/// The layout of a register, whose map is declared on first use. `None` if there can be none, for which the program is
/// refused.
fn layout(g: &mut Gen<'_>, object: ExternInst) -> Option<Layout> {
    if let Some(known) = g.file.own.registers.get(&object) {
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
    let mut taken: Names = Bpf::names();
    let locked = is_in_block(g.p, object);
    if locked {
        taken.reserve(LOCK);
        record.add(CType::Struct("bpf_spin_lock".into()), LOCK, 4, 4, "");
        g.file.own.maps.locked_cells = true;
        needs(g, Construct::AtomicRegisters);
    }
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
        locked,
    });
    let layout = Layout {
        map,
        cell,
        members,
        locked,
    };
    g.file.own.registers.insert(object, layout.clone());
    Some(layout)
}
