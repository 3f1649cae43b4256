//! The locks of registers' cells. One lock is held at a time. Where atomic blocks use one cell each, it is in the cell;
//! registers of which a block uses several cells have it in a map of their own: one for each index if every block uses them at one
//! index, else one for all of their cells.

use crate::counter::{found, index_of};
use crate::layouts::Locks;
use crate::target::{LOCK, State, Used, add_lock};
use cgen::tree::{Block, Expr as C, Stmt, Type as CType};
use emit::Gen;
use emit::memory::declare;
use emit::record::Record;
use ir::atomic::{self, Group};
use ir::{Expr, ExternInst, Program, visit};
use layout::{Map, MapKind};

/// The locks of a register, whose map is declared where it is needed.
pub(crate) fn of<T: State>(g: &mut Gen<'_, T>, object: ExternInst) -> Locks {
    if !is_in_block(g.p, object) {
        return Locks::None;
    }
    T::note(g, Used::LockedRegisters);
    let Some(group) = atomic::group(g.p, object) else {
        return Locks::InCells;
    };
    let known = &T::shared(&mut g.file.own).registers;
    let mut others = group.members.iter().filter_map(|other| known.get(other));
    if let Some(other) = others.next() {
        return other.locks.clone();
    }
    let size = match group.is_by_index {
        true => largest(g.p, &group),
        false => 1,
    };
    let name = &g.p.externs[group.members[0]].name;
    let map = g.file.names.fresh_short(name, "_locks", T::MAP_NAME);
    let element = g.file.names.fresh(&format!("{map}_element"));
    let mut record = Record::default();
    add_lock::<T>(&mut record);
    record.finish();
    g.file.declare_struct(&element, record.members.clone());
    let declared = Map::new(map.as_str(), MapKind::Array, 4, record.size, size.into());
    let types = (CType::U32, CType::Struct(element.clone()));
    declare(g, declared, Some(types));
    Locks::Apart {
        map,
        element,
        is_by_index: group.is_by_index,
    }
}

/// The size of the largest register of a group.
fn largest(p: &Program, group: &Group) -> u32 {
    let size = |&object| p.externs[object].int_arg("size");
    let sizes = group.members.iter().filter_map(size);
    let fitting = sizes.filter_map(|size| u32::try_from(size).ok());
    fitting.max().unwrap_or(1).max(1)
}

/// True if a register is in an atomic block of the program.
fn is_in_block(p: &Program, object: ExternInst) -> bool {
    let mut found = false;
    for body in visit::bodies(p) {
        visit::walk_block(body, &mut |stmt| {
            if let ir::StmtKind::Atomic(inner) = &stmt.kind {
                visit::walk_block(inner, &mut |stmt| {
                    let call = atomic::keyed_call(p, &stmt.kind);
                    found |= call.is_some_and(|(of, _)| of == object);
                });
            }
        });
    }
    found
}

/// A pointer, which may be null, to what has the lock of a cell, and the statements that find it. No function may be called where the
/// lock is held, so that the cell is looked up before.
pub(crate) fn find<T: State>(
    g: &mut Gen<'_, T>,
    locks: &Locks,
    index: Expr,
    cell: &C,
) -> (Option<C>, Block) {
    match locks {
        Locks::None => (None, Block::new()),
        Locks::InCells => (Some(cell.clone()), Block::new()),
        Locks::Apart {
            map,
            element,
            is_by_index,
        } => {
            let (key, holder) = (
                g.file.names.fresh("lock_index"),
                g.file.names.fresh("lock_holder"),
            );
            let index = match is_by_index {
                true => index_of(g, index),
                false => C::int(0),
            };
            let ty = CType::Struct(element.clone());
            let block = found::<T>(map, &key, index, &holder, ty);
            (Some(C::Ident(holder)), block)
        }
    }
}

/// Takes the lock of a cell that is there.
pub(crate) fn take<T: State>(g: &mut Gen<'_, T>, holder: Option<&C>) {
    call(g, holder, T::take_lock);
}

/// Gives it back.
pub(crate) fn give_back<T: State>(g: &mut Gen<'_, T>, holder: Option<&C>) {
    call(g, holder, T::give_lock_back);
}

fn call<T: State>(g: &mut Gen<'_, T>, holder: Option<&C>, what: fn(C) -> C) {
    let Some(holder) = holder else { return };
    let call = what(holder.clone().arrow(LOCK).addr());
    g.push(Stmt::If(
        holder.clone(),
        vec![Stmt::Expr(call)],
        Block::new(),
    ));
}
