//! Digests: records in a ring buffer. Where nobody reads them and it is full, they are lost, and counted.

use crate::abi::{MapAbi, MapKind};
use crate::calls::values;
use crate::errors;
use crate::maps::MAP_NAME;
use crate::target::{Bpf, Gen};
use crate::uses::{Construct, needs};
use cgen::lower;
use cgen::tree::{Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Target;
use emit::names::Names;
use emit::record::{Form, Record};
use emit::values::Value;
use ir::{ExternCall, Type};
use layout::{ByteOrder, DigestAbi, DigestsAbi, FieldAbi};
use smol_str::SmolStr;

/// Bytes of the ring.
const RING: u32 = 1 << 18;

/// Records of one kind, of a digest or a message.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    number: u32,
    /// The struct of its records.
    pub(super) record: SmolStr,
    /// The member of each scalar.
    members: Vec<SmolStr>,
}

/// `digest`: hands values to user space.
pub(super) fn send(g: &mut Gen<'_>, call: &ExternCall, span: Span) {
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
        let reserve = vec![ring, C::SizeOf(ty.clone()), C::int(0)];
        g.push(Stmt::decl(
            ty.ptr(),
            record.clone(),
            C::call("bpf_ringbuf_reserve", reserve),
        ));
        let record = C::Ident(record);
        let receiver = receiver.unwrap_or(C::int(0));
        let there = g.block(|g| fill(g, &record, &layout, receiver, sent));
        let full = vec![Stmt::Expr(C::call("digest_lost", vec![lost]))];
        g.push(Stmt::If(record, there, full));
    });
    g.push(Stmt::Block(block));
}

/// Fills a record in and hands it over.
pub(super) fn fill(g: &mut Gen<'_>, record: &C, layout: &Layout, receiver: C, values: Vec<Value>) {
    // The kernel hands out what was there before: every byte is written.
    g.set(record.clone().arrow("number"), C::int(layout.number.into()));
    g.set(record.clone().arrow("receiver"), receiver);
    for (value, member) in values.into_iter().zip(&layout.members) {
        g.store_local(record.clone().arrow(member.clone()), value);
    }
    let submit = vec![record.clone(), C::int(0)];
    g.push(Stmt::Expr(C::call("bpf_ringbuf_submit", submit)));
}

/// The layout of a digest, described on first use. `None` if there can be none, for which the program is refused.
fn layout(g: &mut Gen<'_>, number: u32, span: Span) -> Option<Layout> {
    if let Some(known) = g.file.own.digests.get(&number) {
        return Some(known.clone());
    }
    let data = g.p.digests.get(number as usize)?.clone();
    let (layout, size, fields) = record(g, number, &data.name, &data.fields, span)?;
    maps(g);
    if let Some(digests) = &mut g.file.own.maps.kept.contents.digests {
        digests.records.push(DigestAbi {
            number,
            size,
            fields,
        });
    }
    g.file.own.digests.insert(number, layout.clone());
    Some(layout)
}

/// Declares the struct of records with these fields; gives its layout, its bytes, and where the fields are, in order. `None` if
/// there can be none, for which the program is refused.
pub(super) fn record(
    g: &mut Gen<'_>,
    number: u32,
    name: &str,
    fields: &[(SmolStr, Type)],
    span: Span,
) -> Option<(Layout, u32, Vec<FieldAbi>)> {
    if fields.iter().any(|(_, ty)| matches!(ty, Type::Varbit(_))) {
        let target = g.target.options.hook.target();
        g.refuse(errors::digest_of_varbit(target, name, span));
        return None;
    }
    let mut taken: Names = Bpf::names();
    let mut record = Record::default();
    for name in ["number", "receiver"] {
        taken.reserve(name);
        record.add(CType::U32, name, 4, 4, "");
    }
    let mut placed = Vec::with_capacity(fields.len());
    let mut members = Vec::with_capacity(fields.len());
    // The widest first, so that there are no gaps: what the ring held before would be in them.
    let mut order: Vec<usize> = (0..fields.len()).collect();
    let form = |i: usize| Form::new(fields[i].1.width(), ByteOrder::Host);
    order.sort_by_key(|&i| std::cmp::Reverse(form(i).align));
    for i in order {
        let (name, _) = &fields[i];
        let wish = if name.is_empty() {
            "value"
        } else {
            name.as_str()
        };
        let member = taken.fresh(wish);
        let offset = record.add_form(form(i), member.clone(), "");
        placed.push((i, form(i).field(name, offset)));
        members.push((i, member));
    }
    placed.sort_by_key(|(i, _)| *i);
    members.sort_by_key(|(i, _)| *i);
    let name = g.file.names.fresh(&format!("{name}_digest"));
    g.file.declare_struct(&name, record.members.clone());
    let layout = Layout {
        number,
        record: name,
        members: members.into_iter().map(|(_, member)| member).collect(),
    };
    let placed = placed.into_iter().map(|(_, field)| field).collect();
    Some((layout, record.size, placed))
}

/// The addresses of the ring and of the count of what found no room.
fn maps(g: &mut Gen<'_>) -> (C, C) {
    needs(g, Construct::Digests);
    if g.file.own.maps.kept.contents.digests.is_none() {
        let [ring, lost] =
            ["digests", "digests_lost"].map(|wish| g.file.names.fresh_short(wish, "", MAP_NAME));
        let ring_abi = MapAbi {
            name: ring.to_string(),
            kind: MapKind::RingBuffer,
            key_size: 0,
            value_size: 0,
            max_entries: RING,
            no_prealloc: false,
            mmapable: false,
        };
        let lost_abi = MapAbi {
            name: lost.to_string(),
            kind: MapKind::Array,
            key_size: 4,
            value_size: 8,
            max_entries: 2,
            ..ring_abi.clone()
        };
        let maps = &mut g.file.own.maps;
        maps.declare(ring_abi, None);
        maps.declare(lost_abi, Some((CType::U32, CType::U64)));
        maps.kept.contents.digests = Some(DigestsAbi {
            ring: ring.to_string(),
            lost: lost.to_string(),
            records: Vec::new(),
        });
    }
    let digests = g.file.own.maps.kept.contents.digests.as_ref();
    let address = |name: fn(&DigestsAbi) -> &String| {
        C::id(digests.map(|d| name(d).as_str()).unwrap_or_default()).addr()
    };
    (address(|d| &d.ring), address(|d| &d.lost))
}
