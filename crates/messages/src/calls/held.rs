//! Last bytes of TCP streams, in rings to which tickets lead (`onpath/stream_bytes.h`), and messages that are read there.

use super::object::{self, memory_of_payload};
use super::{Payload, Reads, from};
use crate::{MEMORY, errors};
use arch::payload::{CANDIDATES, EQUAL, HOLD, RELEASE, RING, read_for};
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::calls::values;
use emit::memory::declare;
use emit::{Function, Gen};
use ir::{Expr, ExternCall, ExternInst};
use layout::{Map, MapKind};
use smol_str::SmolStr;

/// Bytes that are loaded at once, for which a ring has room behind its end.
const PIECE: u32 = 2048;
/// Size of `struct stream_ring`, in bytes.
const VALUE: u32 = 16 + RING + PIECE;

/// Returns the map with the streams of an object; declares it on first use. Its first value counts the streams.
pub(super) fn map<T: Payload>(g: &mut Gen<'_, T>, streams: ExternInst) -> SmolStr {
    if let Some(known) = T::shared(&mut g.file.own).streams.get(&streams) {
        return known.clone();
    }
    let map = g
        .file
        .names
        .fresh_short(&g.p.externs[streams].name, "", T::MAP_NAME);
    let rings = Map::new(
        map.as_str(),
        MapKind::Array,
        4,
        VALUE,
        u64::from(slots(g, streams)) + 1,
    );
    let types = (CType::U32, CType::Struct("stream_ring".into()));
    declare(g, rings, Some(types));
    T::shared(&mut g.file.own)
        .streams
        .insert(streams, map.clone());
    map
}

/// Returns the number of streams of an object.
fn slots<T: Payload>(g: &Gen<'_, T>, streams: ExternInst) -> u32 {
    let number = g.p.externs[streams].int_arg("streams");
    number.and_then(|n| u32::try_from(n).ok()).unwrap_or(1)
}

/// Emits a call of `hold`, `equal` or `release`.
pub(super) fn call<T: Payload>(
    g: &mut Gen<'_, T>,
    streams: ExternInst,
    call: &ExternCall,
    span: Span,
) {
    if call.name.as_str() == RELEASE {
        if let Some([ticket, _]) = given::<T, 2>(g, call, span) {
            let function = release(g, streams);
            g.result(call, C::call(function, vec![ticket]));
        }
        return;
    }
    let Some(given) = given::<T, 5>(g, call, span) else {
        return;
    };
    let [ticket, sequence, offset, length, parsed] = given;
    let function = match call.name.as_str() {
        HOLD => function(g, streams, HOLD, hold),
        EQUAL => function(g, streams, EQUAL, equal),
        other => {
            debug_assert!(false, "{other}");
            return;
        }
    };
    let from = from(parsed, offset);
    let from = emit::calls::declare(g, CType::U64, "from", from);
    let loaded = vec![from.clone(), length, g.packet_length()];
    let loaded = C::call("stream_loaded", loaded);
    let args = vec![C::id("ctx"), from, loaded, sequence, ticket];
    g.result(call, C::call(function, args));
}

/// Returns the arguments of a call that are values, the bits that were parsed last. `None` if the program was refused.
fn given<T: Payload, const N: usize>(
    g: &mut Gen<'_, T>,
    call: &ExternCall,
    span: Span,
) -> Option<[C; N]> {
    let given: Vec<Expr> = (0..call.args.len())
        .flat_map(|at| values(call, at))
        .copied()
        .collect();
    // In a copy, the program does not know how far its parser got.
    let Ok(given) = <[Expr; N]>::try_from(given) else {
        let target = g.target.name();
        g.refuse(errors::of_copies(target, span));
        return None;
    };
    T::reads(g, Reads::InLoops, span).then(|| given.map(|value| lower::scalar(g, value)))
}

/// Body of a function over `ctx`, `from`, `most` bytes, `sequence` and `ticket`, and the type of its result. Its
/// arguments are the map of the streams and their number.
type Body<T> = fn(&mut Gen<'_, T>, &SmolStr, u32) -> (CType, Block);

/// Returns the function for a method; emits it on first use.
fn function<T: Payload>(
    g: &mut Gen<'_, T>,
    streams: ExternInst,
    method: &'static str,
    body: Body<T>,
) -> SmolStr {
    let key = (streams, SmolStr::new_static(method));
    if let Some(known) = T::shared(&mut g.file.own).of_streams.get(&key) {
        return known.clone();
    }
    let (_, _) = memory_of_payload(g);
    let map = map(g, streams);
    let name = g.file.names.fresh(&format!("{map}_{method}"));
    let slots = slots(g, streams);
    let (result, body) = body(g, &map, slots);
    let packet = super::packet(g);
    let number = |ty: CType, name: &str| (ty, SmolStr::from(name));
    let params = vec![
        packet,
        number(CType::U64, "from"),
        number(CType::U32, "most"),
        number(CType::U32, "sequence"),
        number(CType::U64, "ticket"),
    ];
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result,
        params,
        body,
    });
    T::shared(&mut g.file.own)
        .of_streams
        .insert(key, name.clone());
    name
}

fn refuse_if(condition: C) -> Stmt {
    Stmt::If(condition, vec![Stmt::Return(Some(C::int(0)))], Block::new())
}

fn ring() -> CType {
    CType::Struct("stream_ring".into()).ptr()
}

fn hold<T: Payload>(_: &mut Gen<'_, T>, map: &SmolStr, slots: u32) -> (CType, Block) {
    let slots = || C::int(slots.into());
    let begin = C::call("stream_begin", vec![C::id("head"), C::id("ticket")]);
    let slot = C::call(
        "stream_slot",
        vec![C::id("ticket"), C::id("begun"), slots()],
    );
    let held = [
        "ctx", "ring", "slot", "ticket", "begun", "from", "sequence", "most",
    ];
    let mut body = vec![
        refuse_if(C::not(C::id("most"))),
        Stmt::decl(CType::U32, "zero", C::int(0)),
        Stmt::decl(ring(), "head", T::find(map, C::id("zero").addr())),
        refuse_if(C::not(C::id("head"))),
        Stmt::decl(CType::U64, "begun", begin),
        Stmt::decl(CType::U32, "slot", slot),
        Stmt::decl(ring(), "ring", T::find(map, C::id("slot").addr())),
        refuse_if(C::not(C::id("ring"))),
        Stmt::decl(CType::U32, "next", C::id("slot")),
    ];
    // A free slot, or else that of the stream that began first of some.
    for _ in 1..CANDIDATES {
        let begun_of = |name: &str| C::id(name).arrow("begun");
        let is_older = C::bin(BinOp::Lt, begun_of("other"), begun_of("ring"));
        let taken = vec![
            Stmt::Assign(C::id("ring"), C::id("other")),
            Stmt::Assign(C::id("slot"), C::id("next")),
        ];
        let behind = C::call("stream_behind", vec![C::id("next"), slots()]);
        let tried = vec![
            Stmt::Assign(C::id("next"), behind),
            Stmt::decl(ring(), "other", T::find(map, C::id("next").addr())),
            Stmt::If(C::and(C::id("other"), is_older), taken, Block::new()),
        ];
        let is_new = C::and(C::id("begun"), begun_of("ring"));
        body.push(Stmt::If(is_new, tried, Block::new()));
    }
    let held = held.map(C::id).to_vec();
    body.push(Stmt::Return(Some(C::call("stream_hold", held))));
    (CType::U64, body)
}

/// Returns the function that lets another stream have a ticket's slot; emits it on first use.
fn release<T: Payload>(g: &mut Gen<'_, T>, streams: ExternInst) -> SmolStr {
    let key = (streams, SmolStr::new_static(RELEASE));
    if let Some(known) = T::shared(&mut g.file.own).of_streams.get(&key) {
        return known.clone();
    }
    let map = map(g, streams);
    let name = g.file.names.fresh(&format!("{map}_{RELEASE}"));
    let released = vec![C::id("ring"), C::id("ticket")];
    let body = vec![
        slot(),
        Stmt::decl(ring(), "ring", T::find(&map, C::id("slot").addr())),
        refuse_if(C::not(C::id("ring"))),
        Stmt::Return(Some(C::call("stream_release", released))),
    ];
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result: CType::U32,
        params: vec![(CType::U64, SmolStr::from("ticket"))],
        body,
    });
    T::shared(&mut g.file.own)
        .of_streams
        .insert(key, name.clone());
    name
}

fn equal<T: Payload>(g: &mut Gen<'_, T>, map: &SmolStr, _: u32) -> (CType, Block) {
    let (payload, structure) = memory_of_payload(g);
    let memory = || C::id(MEMORY);
    let bytes = || memory().arrow("bytes");
    let mask = || C::call("message_mask", vec![memory()]);
    let copy = vec![C::id("ctx"), C::id("from"), bytes(), C::id("most"), mask()];
    let compared = vec![
        C::id("ring"),
        C::id("ticket"),
        bytes(),
        mask(),
        C::id("sequence"),
        C::id("most"),
    ];
    let body = vec![
        refuse_if(C::not(C::id("most"))),
        Stmt::decl(CType::U32, "zero", C::int(0)),
        Stmt::decl(
            CType::Struct(structure).ptr(),
            MEMORY,
            T::find(&payload, C::id("zero").addr()),
        ),
        slot(),
        Stmt::decl(ring(), "ring", T::find(map, C::id("slot").addr())),
        refuse_if(C::or(C::not(memory()), C::not(C::id("ring")))),
        refuse_if(C::call("message_copy", copy)),
        Stmt::Return(Some(C::call("stream_equal", compared))),
    ];
    (CType::U32, body)
}

/// Declares `slot`, that of `ticket`.
fn slot() -> Stmt {
    let slot = C::bin(BinOp::And, C::id("ticket"), C::id("STREAM_SLOT"));
    Stmt::decl(CType::U32, "slot", slot)
}

/// Copies to memory `left` bytes from sequence number `from` on, to which `ticket` leads. `refuse_if` emits a return
/// under a condition.
pub(super) fn copied<T: Payload>(map: &SmolStr, refuse_if: &impl Fn(C) -> Stmt) -> Block {
    let memory = || C::id(MEMORY);
    let restored = vec![
        C::id("ring"),
        C::id("ticket"),
        memory().arrow("bytes"),
        C::call("message_mask", vec![memory()]),
        C::id("from").cast(CType::U32),
        C::id("left"),
    ];
    let missing = C::call("stream_restore", restored);
    vec![
        slot(),
        Stmt::decl(ring(), "ring", T::find(map, C::id("slot").addr())),
        refuse_if(C::not(C::id("ring"))),
        refuse_if(C::and(C::id("left"), missing)),
    ]
}

/// Emits a call of `message.read_held`.
pub(super) fn read<T: Payload>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    call: &ExternCall,
    span: Span,
) {
    let Some(given) = given::<T, 5>(g, call, span) else {
        return;
    };
    let [ticket, sequence, offset, length, parsed] = given;
    let Some(known) = object::object(g, object) else {
        return;
    };
    let list = read_for(call).map(String::as_str);
    let function = object::reading(g, object, &known, list);
    let sequence = sequence.cast(CType::U64);
    let at = C::choose(ticket.clone(), sequence, from(parsed, offset));
    let args = vec![C::id("ctx"), at, length, g.packet_length(), ticket];
    g.result(call, C::call(function, args));
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::payload::{GENERATION, MOST_STREAMS};

    #[test]
    fn sizes_are_those_of_the_header() {
        let header = include_str!("../../include/onpath/stream_bytes.h");
        let defined = |name: &str| {
            let mut lines = header.lines().filter_map(|l| l.strip_prefix("#define "));
            lines.find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
        };
        assert_eq!(defined("STREAM_RING"), Some(RING.to_string()));
        assert_eq!(defined("STREAM_PIECE"), Some(PIECE.to_string()));
        let generation = format!("(1ull << {GENERATION})");
        assert_eq!(defined("STREAM_GENERATION"), Some(generation));
        // Slot 0 is none of a stream.
        const { assert!(MOST_STREAMS < 1 << GENERATION) };
    }
}
