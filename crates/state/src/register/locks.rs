//! Locks of registers' cells. One lock is held at a time.
//!
//! If atomic blocks use one cell each, the lock is in the cell. Registers of which a block uses several cells have
//! their locks in a separate map. It has a lock for each index if every block uses the registers at one index, else one
//! lock for all cells.

use crate::counter::{found, index_of};
use crate::layouts::Locks;
use crate::target::{LOCK, StateTarget, Used, add_lock};
use cgen::tree::{Block, Expr as C, Stmt, Type as CType};
use emit::Gen;
use emit::memory::declare;
use emit::record::Record;
use ir::atomic::{self, Group};
use ir::{Expr, ExternInst, Program, visit};
use layout::{Map, MapKind};

/// Returns the locks of a register. Their map is declared if it is needed.
pub(crate) fn of<T: StateTarget>(g: &mut Gen<'_, T>, object: ExternInst) -> Locks {
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

/// Returns the size of the largest register of a group.
fn largest(p: &Program, group: &Group) -> u32 {
    let size = |&object| p.externs[object].int_arg("size");
    let sizes = group.members.iter().filter_map(size);
    let fitting = sizes.filter_map(|size| u32::try_from(size).ok());
    fitting.max().unwrap_or(1).max(1)
}

/// Returns true if an atomic block of the program uses the register.
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

/// Returns a pointer to the holder of a cell's lock, and statements that find it. The pointer may be null. No function
/// may be called while the lock is held, so that the cell is looked up before.
pub(crate) fn find<T: StateTarget>(
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

/// Emits the taking of a cell's lock, if the cell exists.
pub(crate) fn take<T: StateTarget>(g: &mut Gen<'_, T>, holder: Option<&C>) {
    call(g, holder, T::take_lock);
}

/// Emits the release of a cell's lock.
pub(crate) fn give_back<T: StateTarget>(g: &mut Gen<'_, T>, holder: Option<&C>) {
    call(g, holder, T::give_lock_back);
}

fn call<T: StateTarget>(g: &mut Gen<'_, T>, holder: Option<&C>, what: fn(C) -> C) {
    let Some(holder) = holder else { return };
    let call = what(holder.clone().arrow(LOCK).addr());
    g.push(Stmt::If(
        holder.clone(),
        vec![Stmt::Expr(call)],
        Block::new(),
    ));
}
