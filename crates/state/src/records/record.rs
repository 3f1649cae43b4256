//! Records that packets send to the control plane: a number, a receiver, and values.

use crate::errors;
use crate::layouts::RecordLayout;
use crate::target::StateTarget;
use cgen::tree::{Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Gen;
use emit::names::Names;
use emit::record::{MemberLayout, Record};
use emit::values::Value;
use ir::Type;
use layout::{ByteOrder, FieldAbi};
use smol_str::SmolStr;

/// Emits the filling and submission of a record.
pub(crate) fn fill<T: StateTarget>(
    g: &mut Gen<'_, T>,
    record: &C,
    layout: &RecordLayout,
    receiver: C,
    values: Vec<Value>,
) {
    // A ring buffer reuses memory without clearing it, so that every byte must be written.
    g.set(record.clone().arrow("number"), C::int(layout.number.into()));
    g.set(record.clone().arrow("receiver"), receiver);
    for (value, member) in values.into_iter().zip(&layout.members) {
        g.store_local(record.clone().arrow(member.clone()), value);
    }
    g.push(Stmt::Expr(T::submit(record.clone())));
}

/// Declares the struct of records with these fields. Returns its layout, its size in bytes, and the fields in order.
/// `None` if the program is refused.
pub(crate) fn record<T: StateTarget>(
    g: &mut Gen<'_, T>,
    number: u32,
    name: &str,
    fields: &[(SmolStr, Type)],
    span: Span,
) -> Option<(RecordLayout, u32, Vec<FieldAbi>)> {
    if fields.iter().any(|(_, ty)| matches!(ty, Type::Varbit(_))) {
        g.refuse(errors::digest_of_varbit(g.target.name(), name, span));
        return None;
    }
    let mut taken: Names = T::names();
    let mut record = Record::default();
    for name in ["number", "receiver"] {
        taken.reserve(name);
        record.add(CType::U32, name, 4, 4, "");
    }
    let mut placed = Vec::with_capacity(fields.len());
    let mut members = Vec::with_capacity(fields.len());
    // The widest come first, so that there are no gaps, which would expose old contents of the ring buffer.
    let mut order: Vec<usize> = (0..fields.len()).collect();
    let form = |i: usize| MemberLayout::new(fields[i].1.width(), ByteOrder::Host);
    order.sort_by_key(|&i| std::cmp::Reverse(form(i).align));
    for i in order {
        let (name, _) = &fields[i];
        let wish = if name.is_empty() {
            "value"
        } else {
            name.as_str()
        };
        let member = taken.fresh(wish);
        let offset = record.add_value(form(i), member.clone(), "");
        placed.push((i, form(i).field(name, offset)));
        members.push((i, member));
    }
    placed.sort_by_key(|(i, _)| *i);
    members.sort_by_key(|(i, _)| *i);
    let name = g.file.names.fresh(&format!("{name}_digest"));
    g.file.declare_struct(&name, record.members.clone());
    let layout = RecordLayout {
        number,
        record: name,
        members: members.into_iter().map(|(_, member)| member).collect(),
    };
    let placed = placed.into_iter().map(|(_, field)| field).collect();
    Some((layout, record.size, placed))
}
