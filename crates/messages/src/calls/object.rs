//! Memory and functions of an object that reads messages.

use super::{Payload, file, head, held, patterns, quic};
use crate::{AttributeMember, MEMORY, Message, Request, SLACK, any_is_missing, errors, status};
use arch::payload::{MOST_BYTES, QUIC_INITIALS, limit_of, names_in, schema_of};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::calls::declare;
use emit::record::Record;
use emit::{Function, Gen, memory};
use ir::ExternInst;
use layout::{Map, MapKind};
use payload::AttributeKind;
use smol_str::SmolStr;
use std::collections::HashMap;

/// Parameters and variables of the packet's functions, besides those of the code of messages.
const VARIABLES: [&str; 18] = [
    "ctx",
    "zero",
    "parsed",
    "offset",
    "most",
    "length",
    "from",
    "place",
    "state",
    "ticket",
    "slot",
    "head",
    "front",
    "last",
    "ticket_of_all",
    "ring",
    "sequence",
    "datagram_of_core",
];

/// Origin of the bytes of messages that began in earlier packets.
#[derive(Clone, Debug)]
pub(super) enum Behind {
    /// Map with the first bytes of messages.
    Heads(SmolStr),
    /// Map with the last bytes of streams.
    Streams(SmolStr),
    /// Object with the first bytes of QUIC connections.
    Connections(quic::Initials),
}

/// Object that reads messages.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// Map with its memory.
    pub map: SmolStr,
    /// Struct of its memory.
    pub structure: SmolStr,
    /// Function that reads a message, a part of each one that [`reading`] returns: a call less for each packet.
    read: SmolStr,
    /// Origin of bytes of earlier packets, if messages may continue.
    pub behind: Option<Behind>,
    /// Most bytes of a message that are read.
    pub limit: u32,
    /// Function that writes the text of a DNS name, if one is wanted.
    pub name_text: Option<SmolStr>,
    /// Members with the positions of attributes, by name.
    pub attributes: HashMap<String, (AttributeMember, AttributeKind)>,
}

/// Memory that holds an object's messages.
struct Memories<'o> {
    map: &'o SmolStr,
    structure: &'o SmolStr,
    behind: Option<&'o Behind>,
    limit: u32,
}

/// Returns this CPU's memory for an object: a pointer that only the verifier considers nullable.
pub(super) fn memory<T: Payload>(g: &mut Gen<'_, T>, object: &Object) -> C {
    let zero = declare(g, CType::U32, "first", C::int(0));
    let found = T::find(&object.map, zero.addr());
    let ty = CType::Struct(object.structure.clone()).ptr();
    declare(g, ty, "message", found)
}

/// Returns an object's memory and functions; emits them on first use. `None` if that is impossible; then the program
/// has been refused.
pub(super) fn object<T: Payload>(g: &mut Gen<'_, T>, object: ExternInst) -> Option<Object> {
    if let Some(known) = T::shared(&mut g.file.own).objects.get(&object) {
        return Some(known.clone());
    }
    let data = &g.p.externs[object];
    let schema = schema_of(data)?;
    let limit = limit_of(data, &schema);
    reserve_variables(g);
    let map = g.file.names.fresh_short(&data.name, "", T::MAP_NAME);
    let structure = g.file.names.fresh(&format!("{map}_message"));
    let asked = T::shared(&mut g.file.own)
        .asked
        .get(&object)
        .cloned()
        .unwrap_or_default();
    let request = Request {
        names: &asked.names,
        limit,
        may_stop: asked.may_stop(),
    };
    let message = match Message::new(&mut file(g), &schema, &structure, &request) {
        Ok(message) => message,
        Err(why) => {
            let target = g.target.name();
            g.refuse(errors::unreadable(target, &schema.name, &why, data.span));
            return None;
        }
    };
    T::shared(&mut g.file.own).reads_documents |= message.has_documents;
    let of_cores = Map::new(map.as_str(), MapKind::PerCoreArray, 4, message.size, 1);
    let types = (CType::U32, CType::Struct(structure.clone()));
    memory::declare(g, of_cores, Some(types));

    let behind = match asked.held_by.first() {
        Some(&holder) if g.p.externs[holder].ty == QUIC_INITIALS => {
            Some(Behind::Connections(quic::initials(g, holder)))
        }
        Some(&holder) => Some(Behind::Streams(held::map(g, holder))),
        None => asked.keeps.then(|| Behind::Heads(head::map(g, &map))),
    };
    let memory = Memories {
        map: &map,
        structure: &structure,
        behind: behind.as_ref(),
        limit,
    };
    let read = reader(g, &message, &memory);
    let attributes = message.attributes();
    let attributes = attributes.map(|(name, member, kind)| (name.into(), (member.clone(), kind)));
    let made = Object {
        read,
        attributes: attributes.collect(),
        name_text: message.name_text,
        behind,
        limit,
        map,
        structure,
    };
    T::shared(&mut g.file.own)
        .objects
        .insert(object, made.clone());
    Some(made)
}

/// Reserves the names of the functions' own variables, which would shadow others.
pub(super) fn reserve_variables<T: Payload>(g: &mut Gen<'_, T>) {
    for taken in VARIABLES.into_iter().chain(crate::VARIABLES) {
        g.file.names.reserve(taken);
    }
}

/// Returns the map and the struct of the memory that all functions about the payload share; declares them on first use.
pub(super) fn memory_of_payload<T: Payload>(g: &mut Gen<'_, T>) -> (SmolStr, SmolStr) {
    if let Some(known) = T::shared(&mut g.file.own).find_memory.clone() {
        return known;
    }
    reserve_variables(g);
    let map = g.file.names.fresh_short("payload", "", T::MAP_NAME);
    let structure = g.file.names.fresh("payload_copy");
    let mut record = Record::default();
    let size = MOST_BYTES + SLACK;
    record.add(CType::U8.array(size), "bytes", size, 8, "the payload");
    let value_size = record.size;
    g.file.declare_struct(&structure, record.members);
    let of_cores = Map::new(map.as_str(), MapKind::PerCoreArray, 4, value_size, 1);
    let types = (CType::U32, CType::Struct(structure.clone()));
    memory::declare(g, of_cores, Some(types));
    T::shared(&mut g.file.own).find_memory = Some((map.clone(), structure.clone()));
    (map, structure)
}

/// Linkage of a function that is a part of its callers.
const INLINE: &str = "INLINE";

/// Emits the function that copies a message to the object's memory and reads it there.
fn reader<T: Payload>(g: &mut Gen<'_, T>, message: &Message<'_>, memory: &Memories) -> SmolStr {
    let name = g.file.names.fresh(&format!("{}_read", memory.structure));
    let mut body = copied::<T>(memory, message.nothing_found(), &status("OTHER"));
    let keeps = memory.behind.is_some();
    let (patterns, mut file) = patterns(g);
    body.append(&mut message.read(&mut file, patterns, keeps));
    push_function(g, INLINE, &name, CType::U32, keeps, body);
    name
}

/// Returns the function that reads a message, or reads it for a list of attributes and need not read what follows them;
/// emits it on first use.
pub(super) fn reading<T: Payload>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    known: &Object,
    list: Option<&str>,
) -> SmolStr {
    let key = (object, list.map(str::to_owned));
    let mut made = T::shared(&mut g.file.own).readings.iter();
    if let Some((_, function)) = made.find(|(made, _)| *made == key) {
        return function.clone();
    }
    let suffix = if list.is_some() { "for" } else { "all" };
    let name = g.file.names.fresh(&format!("{}_{suffix}", known.read));
    let parameters = parameters(known.behind.is_some());
    let arguments = parameters.into_iter().map(|(_, name)| C::Ident(name));
    let arguments = std::iter::once(C::id("ctx")).chain(arguments);
    let read = C::call(known.read.clone(), arguments.collect());
    let body = match list {
        None => vec![Stmt::Return(Some(read))],
        Some(list) => {
            let found = T::find(&known.map, C::id("zero").addr());
            let members = names_in(list).filter_map(|name| known.attributes.get(name));
            let missing = any_is_missing(members.map(|(member, _)| member));
            let whole = C::or(C::not(C::id(MEMORY)), missing);
            vec![
                Stmt::decl(CType::U32, "status", read),
                Stmt::decl(CType::U32, "zero", C::int(0)),
                Stmt::decl(CType::Struct(known.structure.clone()).ptr(), MEMORY, found),
                Stmt::Return(Some(C::choose(whole, C::id("status"), status("READ")))),
            ]
        }
    };
    let linkage = g.target.linkage();
    push_function(g, linkage, &name, CType::U32, known.behind.is_some(), body);
    T::shared(&mut g.file.own)
        .readings
        .push((key, name.clone()));
    name
}

/// Copies a message to memory, as far as it is read. `nothing_found` marks all attributes as absent; `refused` is
/// returned if the copy is impossible. Afterwards `left` of the message's `all` bytes are in memory.
fn copied<T: Payload>(of: &Memories, nothing_found: Block, refused: &C) -> Block {
    let memory = || C::id(MEMORY);
    let found = T::find(of.map, C::id("zero").addr());
    let refuse_if = |condition: C| {
        Stmt::If(
            condition,
            vec![Stmt::Return(Some(refused.clone()))],
            Block::new(),
        )
    };
    let is_longer = |a: C, b: C| C::bin(BinOp::Gt, a, b);
    let rest = C::call("payload_left", vec![C::id("from"), C::id("length")]);
    let limit = || C::int(of.limit.into());
    let seen = C::choose(is_longer(C::id("all"), limit()), limit(), C::id("all"));
    let mut body = vec![
        Stmt::decl(CType::U32, "zero", C::int(0)),
        Stmt::decl(CType::Struct(of.structure.clone()).ptr(), MEMORY, found),
    ];
    if of.behind.is_none() {
        let parsed = C::id("parsed").cast(CType::U64);
        let from = C::bin(BinOp::Add, parsed, C::id("offset"));
        body.push(Stmt::decl(CType::U64, "from", from));
    }
    let all = match of.behind {
        Some(Behind::Streams(_)) => C::choose(C::id("ticket"), C::id("STREAM_RING"), rest),
        _ => rest,
    };
    body.extend([
        Stmt::decl(CType::U32, "all", all),
        Stmt::If(
            is_longer(C::id("all"), C::id("most")),
            vec![Stmt::Assign(C::id("all"), C::id("most"))],
            Block::new(),
        ),
        Stmt::decl(CType::U32, "left", seen),
        refuse_if(C::not(memory())),
    ]);
    body.extend(nothing_found);
    let args = vec![
        C::id("ctx"),
        C::id("from"),
        memory().arrow("bytes"),
        C::id("left"),
        C::call("message_mask", vec![memory()]),
    ];
    let copy = C::and(C::id("left"), C::call("message_copy", args));
    let behind = match of.behind {
        None => {
            body.push(refuse_if(copy));
            return body;
        }
        Some(Behind::Heads(heads)) => head::copied::<T>(heads, of.limit, &refuse_if),
        Some(Behind::Connections(of_quic)) => quic::copied::<T>(of_quic, of.limit, &refuse_if),
        Some(Behind::Streams(streams)) => held::copied::<T>(streams, &refuse_if),
    };
    body.push(Stmt::If(C::id("ticket"), behind, vec![refuse_if(copy)]));
    body
}

/// Returns the parameters, after the context, of a function that reads a message of the packet.
fn parameters(keeps: bool) -> Vec<(CType, SmolStr)> {
    let number = |name: &str| (CType::U32, SmolStr::from(name));
    let wide = |name: &str| (CType::U64, SmolStr::from(name));
    match keeps {
        false => ["parsed", "offset", "most", "length"].map(number).to_vec(),
        true => vec![
            wide("from"),
            number("most"),
            number("length"),
            wide("ticket"),
        ],
    }
}

/// Adds a function of the packet.
pub(super) fn push_function<T: Payload>(
    g: &mut Gen<'_, T>,
    linkage: &str,
    name: &SmolStr,
    result: CType,
    keeps: bool,
    body: Block,
) {
    let packet = super::packet(g);
    g.file.functions.push(Function {
        linkage: linkage.into(),
        name: name.clone(),
        result,
        params: std::iter::once(packet).chain(parameters(keeps)).collect(),
        body,
    });
}
