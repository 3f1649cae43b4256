//! Metadata and headers that a copy preserves of its original.

use super::arrow;
use crate::emitter::Gen;
use arch::v1model::copying::REQUESTS;
use arch::v1model::traffic::{Instance, PENDING, origin};
use arch::v1model::{META, STANDARD_METADATA};
use cgen::tree::{BinOp, Block, Expr as C, Stmt};
use emit::locals::LocalKind;
use ir::{Header, Var};

/// Compares the requested field list with a number.
pub(super) fn is_list(g: &mut Gen<'_>, list: &str, number: u32) -> C {
    let asked = g.slot(REQUESTS, list);
    C::bin(BinOp::Eq, asked, C::int(number.into()))
}

/// Changes the state of a copy, which begins as a full copy of the saved state, to that of this kind of copy.
pub(super) fn made(g: &mut Gen<'_>, made: &Instance, copy: &str) {
    match (made.list, made.all_metadata) {
        (Some(list), true) => keep_list(g, list, copy),
        (list, false) => forget_others(g, list, copy),
        (None, true) => {}
    }
    for name in PENDING.iter().filter(|name| !made.carries.contains(name)) {
        if let Some(var) = g.p.slot_var(REQUESTS, name)
            && let Some((_, of_copy)) = in_state(g, LocalKind::Var(var), copy)
        {
            g.set(of_copy, C::int(0));
        }
    }
}

/// Gives a copy the fields of its list, with their present values.
fn keep_list(g: &mut Gen<'_>, asked: &str, copy: &str) {
    for list in g.p.field_lists.clone() {
        let fields = g.block(|g| {
            for &var in &list.vars {
                if let Some((place, of_copy)) = in_state(g, LocalKind::Var(var), copy) {
                    let set = assign_var(g, var, of_copy, place);
                    g.out.extend(set);
                }
            }
        });
        if !fields.is_empty() {
            let is = is_list(g, asked, list.number);
            g.push(Stmt::If(is, fields, Block::new()));
        }
    }
}

/// Clears all metadata of a copy except its origin and the fields of its list.
fn forget_others(g: &mut Gen<'_>, asked: Option<&str>, copy: &str) {
    let stays: Vec<_> = origin()
        .map(|name| g.p.slot_var(STANDARD_METADATA, name))
        .collect();
    let slots = g.p.slots.clone();
    let metadata = [META, STANDARD_METADATA];
    for slot in slots
        .iter()
        .filter(|slot| metadata.contains(&slot.name.as_str()))
    {
        for &(_, var) in slot
            .vars
            .iter()
            .filter(|(_, var)| !stays.contains(&Some(*var)))
        {
            let Some((_, of_copy)) = in_state(g, LocalKind::Var(var), copy) else {
                continue;
            };
            let lists: Vec<u32> =
                g.p.field_lists
                    .iter()
                    .filter(|list| list.vars.contains(&var))
                    .map(|list| list.number)
                    .collect();
            let kept = lists
                .into_iter()
                .filter_map(|number| Some(is_list(g, asked?, number)))
                .reduce(C::or);
            let zero = zero_var(g, var, of_copy);
            match kept {
                Some(kept) => g.push(Stmt::If(C::not(kept), zero, Block::new())),
                None => g.out.extend(zero),
            }
        }
        for &(_, header) in &slot.headers {
            forget_header(g, header, copy);
        }
    }
}

fn forget_header(g: &mut Gen<'_>, header: Header, copy: &str) {
    let fields = g.p.header_types[g.p.headers[header].ty].fields.clone();
    for (i, field) in fields.iter().enumerate() {
        let kind = match field.ty {
            ir::Type::Varbit(_) => LocalKind::VarbitLen(header),
            _ if field.ty.width() == 0 => continue,
            _ => LocalKind::Field(header, i as u32),
        };
        if let Some((_, of_copy)) = in_state(g, kind, copy) {
            let width = match field.ty {
                ir::Type::Varbit(_) => 0,
                ty => ty.width(),
            };
            let zero = zeros(of_copy, width);
            g.out.extend(zero);
        }
    }
    if let Some((_, of_copy)) = in_state(g, LocalKind::Valid(header), copy) {
        g.set(of_copy, C::int(0));
    }
}

/// Returns a C variable of the current state, and the same variable of a copy's.
fn in_state(g: &mut Gen<'_>, kind: LocalKind, copy: &str) -> Option<(C, C)> {
    if !g.plan.state.as_ref().is_some_and(|state| state.holds(kind)) {
        return None;
    }
    let place = g.local(kind);
    let C::Ident(name) = &place else { return None };
    let of_copy = arrow(copy, name);
    Some((place, of_copy))
}

fn zeros(place: C, width: u32) -> Block {
    match width {
        0..=64 => vec![Stmt::Assign(place, C::int(0))],
        _ => (0..cgen::lower::limb_count(width))
            .map(|i| Stmt::Assign(place.clone().index(C::int(i.into())), C::int(0)))
            .collect(),
    }
}

fn zero_var(g: &Gen<'_>, var: Var, place: C) -> Block {
    zeros(place, g.p.vars[var].ty.width())
}

pub(super) fn assign_var(g: &Gen<'_>, var: Var, to: C, from: C) -> Block {
    match g.p.vars[var].ty.width() {
        0..=64 => vec![Stmt::Assign(to, from)],
        width => (0..cgen::lower::limb_count(width))
            .map(|i| {
                let i = || C::int(i.into());
                Stmt::Assign(to.clone().index(i()), from.clone().index(i()))
            })
            .collect(),
    }
}
