//! The bytes that QUIC connections begin with (`onpath/quic.h`).

use super::{Payload, Reads, from, object};
use crate::errors;
use arch::payload::{connections, kept_and_behind, read_for};
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::calls::{declare, places, values};
use emit::values::Value;
use emit::{Function, Gen, memory};
use ir::{ExternArg, ExternCall, ExternInst};
use layout::{Map, MapKind};
use smol_str::SmolStr;

/// Size of `struct quic_connection` and of `struct quic_memory`, in bytes.
const CONNECTION: u32 = 5280;
const MEMORY: u32 = 5200;

/// Maps and function of an object that holds bytes of connections.
#[derive(Clone, Debug)]
pub(super) struct Initials {
    /// Map of the connections; the first value has the last ticket.
    pub map: SmolStr,
    /// Number of connections.
    pub slots: u32,
    /// Function that takes a datagram.
    take: SmolStr,
}

/// Returns an object's maps and function; emits them on first use.
pub(super) fn initials<T: Payload>(g: &mut Gen<'_, T>, object: ExternInst) -> Initials {
    if let Some(known) = T::shared(&mut g.file.own).initials.get(&object) {
        return known.clone();
    }
    object::reserve_variables(g);
    let data = &g.p.externs[object];
    let slots = connections(data);
    let map = g.file.names.fresh_short(&data.name, "", T::MAP_NAME);
    let take = g.file.names.fresh(&format!("{map}_take"));
    let all = Map::new(
        map.as_str(),
        MapKind::Array,
        4,
        CONNECTION,
        u64::from(slots) + 1,
    );
    let connection = CType::Struct("quic_connection".into());
    memory::declare(g, all, Some((CType::U32, connection)));
    let of_core = memory_of_core(g);
    let function = function(g, &take, &map, &of_core, slots);
    g.file.functions.push(function);
    let made = Initials { map, slots, take };
    T::shared(&mut g.file.own)
        .initials
        .insert(object, made.clone());
    made
}

/// Returns the map of a processor's memory for a datagram; declares it on first use.
fn memory_of_core<T: Payload>(g: &mut Gen<'_, T>) -> SmolStr {
    if let Some(known) = T::shared(&mut g.file.own).quic_memory.clone() {
        return known;
    }
    let map = g.file.names.fresh_short("datagram", "", T::MAP_NAME);
    let of_cores = Map::new(map.as_str(), MapKind::PerCoreArray, 4, MEMORY, 1);
    let types = (CType::U32, CType::Struct("quic_memory".into()));
    memory::declare(g, of_cores, Some(types));
    T::shared(&mut g.file.own).quic_memory = Some(map.clone());
    map
}

/// Copies to memory the bytes to which `ticket` leads, as `left` of the message's `all` bytes. `refuse_if` emits a
/// return under a condition.
pub(super) fn copied<T: Payload>(
    of: &Initials,
    limit: u32,
    refuse_if: &impl Fn(C) -> Stmt,
) -> Block {
    let memory = || C::id(crate::MEMORY);
    let (most, _) = kept_and_behind(limit);
    let head = CType::Struct("message_head".into()).ptr();
    let restored = vec![
        C::id("head"),
        C::id("ticket"),
        memory().arrow("bytes"),
        C::call("message_mask", vec![memory()]),
        C::int(most.into()),
    ];
    vec![
        Stmt::decl(CType::U32, "slot", slot(C::id("ticket"), of.slots)),
        // A connection begins with them.
        Stmt::decl(head, "head", T::find(&of.map, C::id("slot").addr())),
        refuse_if(C::not(C::id("head"))),
        Stmt::Assign(C::id("left"), C::call("message_restore", restored)),
        refuse_if(C::not(C::id("left"))),
        Stmt::Assign(C::id("all"), C::id("left")),
    ]
}

/// Returns the slot to which a ticket leads.
fn slot(ticket: C, slots: u32) -> C {
    C::call("quic_slot", vec![ticket, C::int(slots.into())])
}

/// Returns the function that takes a datagram.
fn function<T: Payload>(
    g: &Gen<'_, T>,
    name: &SmolStr,
    map: &SmolStr,
    of_core: &SmolStr,
    slots: u32,
) -> Function {
    let pointer = |name: &str| CType::Struct(name.into()).ptr();
    let found = |map: &SmolStr, key: &str| T::find(map, C::id(key).addr());
    let end = |condition: C, result: C| {
        Stmt::If(condition, vec![Stmt::Return(Some(result))], Block::new())
    };
    let status = |status: C| {
        let ticket = C::bin(BinOp::Shl, C::id("ticket"), C::int(8));
        C::bin(BinOp::Or, ticket, status)
    };
    let load = ["ctx", "from", "most", "length", "datagram_of_core"].map(C::id);
    let take = ["datagram_of_core", "head", "ticket", "ticket_of_all"].map(C::id);
    let new = C::call(
        "message_new_ticket",
        vec![C::id("last").arrow("head").addr()],
    );
    let other = || status(C::id("QUIC_OTHER"));
    let is_none = C::bin(BinOp::Ne, C::id("state"), C::id("QUIC_INITIAL"));
    let body = vec![
        Stmt::decl(CType::U32, "zero", C::int(0)),
        Stmt::decl(
            pointer("quic_memory"),
            "datagram_of_core",
            found(of_core, "zero"),
        ),
        Stmt::decl(pointer("quic_connection"), "last", found(map, "zero")),
        end(
            C::or(C::not(C::id("datagram_of_core")), C::not(C::id("last"))),
            other(),
        ),
        Stmt::decl(CType::U32, "state", C::call("quic_load", load.to_vec())),
        end(is_none, status(C::id("state"))),
        Stmt::decl(
            CType::U64,
            "ticket_of_all",
            C::choose(C::id("ticket"), C::id("ticket"), new),
        ),
        Stmt::decl(CType::U32, "slot", slot(C::id("ticket_of_all"), slots)),
        Stmt::decl(pointer("quic_connection"), "head", found(map, "slot")),
        end(C::not(C::id("head")), other()),
        Stmt::Return(Some(C::call("quic_take", take.to_vec()))),
    ];
    Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result: CType::U64,
        params: vec![
            super::packet(g),
            (CType::U64, "from".into()),
            (CType::U32, "most".into()),
            (CType::U32, "length".into()),
            (CType::U64, "ticket".into()),
        ],
        body,
    }
}

/// `take`: takes the Initials of a datagram.
pub(super) fn take<T: Payload>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    call: &ExternCall,
    span: Span,
) {
    let [[ticket], [offset], [length], [parsed]] = [0, 1, 2, 4].map(|at| values(call, at)) else {
        let target = g.target.name();
        return g.refuse(errors::of_copies(target, span));
    };
    if !T::reads(g, Reads::InLoops, span) {
        return;
    }
    T::shared(&mut g.file.own).reads_bytes = true;
    let known = initials(g, object);
    let [ticket, offset, length, parsed] =
        [ticket, offset, length, parsed].map(|value| lower::scalar(g, *value));
    let args = vec![
        C::id("ctx"),
        from(parsed, offset),
        length,
        g.packet_length(),
        ticket,
    ];
    let block = g.block(|g| {
        let taken = declare(g, CType::U64, "taken", C::call(known.take, args));
        if let Some(&place) = places(call, 3).first() {
            let ticket = C::bin(BinOp::Shr, taken.clone(), C::int(8));
            g.store(place, Value::Scalar(ticket));
        }
        g.result(
            call,
            C::bin(BinOp::And, taken.cast(CType::U32), C::int(0xff)),
        );
    });
    g.push(Stmt::Block(block));
}

/// `message.read_initials`: reads the bytes that are held as a message.
pub(super) fn read<T: Payload>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    call: &ExternCall,
    span: Span,
) {
    let (Some(ExternArg::Object(_)), [ticket]) = (call.args.first(), values(call, 1)) else {
        let target = g.target.name();
        return g.refuse(errors::of_copies(target, span));
    };
    let Some(known) = object::object(g, object) else {
        return;
    };
    // No connection has this ticket: without one, no bytes of the packet are read.
    let ticket = lower::scalar(g, *ticket);
    let ticket = C::choose(ticket.clone(), ticket, C::int(1 << 56));
    let length = g.packet_length();
    let args = vec![C::id("ctx"), C::int(0), C::int(0), length, ticket];
    let function = object::reading(g, object, &known, read_for(call).map(String::as_str));
    g.result(call, C::call(function, args));
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_those_of_the_header() {
        let header = include_str!("../../include/onpath/quic.h");
        let asserted = |size: u32, name: &str| {
            let text = format!("sizeof(struct {name}) == {size}");
            assert!(header.contains(&text), "{text}");
        };
        asserted(super::CONNECTION, "quic_connection");
        asserted(super::MEMORY, "quic_memory");
    }
}
