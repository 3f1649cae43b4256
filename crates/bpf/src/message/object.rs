//! An object's memory and functions.

use super::shared::Object;
use super::{file, head, patterns};
use crate::abi::{MapAbi, MapKind};
use crate::emitter::{GLOBAL_FUNC, Gen};
use crate::errors::message as errors;
use crate::maps::MAP_NAME;
use arch::payload::{MOST_BYTES, limit_of, names_in, schema_of};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::Function;
use emit::calls::declare;
use emit::record::Record;
use ir::ExternInst;
use messages::{MEMORY, Message, Request, SLACK, any_is_missing, status};
use smol_str::SmolStr;

/// The parameters and variables of the functions of the packet, besides those of the code of messages.
const VARIABLES: [&str; 15] = [
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
];

/// Where an object has the bytes of messages.
struct Memories<'o> {
    map: &'o SmolStr,
    structure: &'o SmolStr,
    heads: Option<&'o SmolStr>,
    limit: u32,
}

/// This processor's memory for an object: a pointer that is null only to the verifier.
pub(super) fn memory(g: &mut Gen<'_>, object: &Object) -> C {
    let zero = declare(g, CType::U32, "first", C::int(0));
    let map = C::Ident(object.map.clone());
    let found = C::call("bpf_map_lookup_elem", vec![map.addr(), zero.addr()]);
    let ty = CType::Struct(object.structure.clone()).ptr();
    declare(g, ty, "message", found)
}

/// An object's memory and functions, made on first use. `None` if there can be none, for which the program is refused.
pub(super) fn object(g: &mut Gen<'_>, object: ExternInst) -> Option<Object> {
    if let Some(known) = g.file.own.messages.objects.get(&object) {
        return Some(known.clone());
    }
    let data = &g.p.externs[object];
    let schema = schema_of(data)?;
    let limit = limit_of(data, &schema);
    reserve_variables(g);
    let map = g.file.names.fresh_short(&data.name, "", MAP_NAME);
    let structure = g.file.names.fresh(&format!("{map}_message"));
    let asked = g
        .file
        .own
        .messages
        .asked
        .get(&object)
        .cloned()
        .unwrap_or_default();
    let request = Request {
        names: &asked.names,
        limit,
        may_stop: asked.may_stop(),
    };
    let message = match Message::new(&mut file(&mut g.file), &schema, &structure, &request) {
        Ok(message) => message,
        Err(why) => {
            let hook = g.target.options.hook;
            g.refuse(errors::unreadable(hook, &schema.name, &why, data.span));
            return None;
        }
    };
    g.file.own.messages.reads_documents |= message.has_documents;
    let abi = MapAbi::new(map.as_str(), MapKind::PercpuArray, 4, message.size, 1);
    let types = (CType::U32, CType::Struct(structure.clone()));
    g.file.own.maps.declare(abi, Some(types));

    let heads = asked.keeps.then(|| head::map(g, &map));
    let memory = Memories {
        map: &map,
        structure: &structure,
        heads: heads.as_ref(),
        limit,
    };
    let read = reader(g, &message, &memory);
    let attributes = message.attributes();
    let attributes = attributes.map(|(name, member, kind)| (name.into(), (member.clone(), kind)));
    let made = Object {
        read,
        attributes: attributes.collect(),
        name_text: message.name_text,
        heads,
        limit,
        map,
        structure,
    };
    g.file.own.messages.objects.insert(object, made.clone());
    Some(made)
}

/// Keeps the names of the functions' own variables, which would hide what has them.
fn reserve_variables(g: &mut Gen<'_>) {
    for taken in VARIABLES.into_iter().chain(messages::VARIABLES) {
        g.file.names.reserve(taken);
    }
}

/// The map and the struct of the memory that all functions about the payload share, made on first use.
pub(super) fn memory_of_payload(g: &mut Gen<'_>) -> (SmolStr, SmolStr) {
    if let Some(known) = g.file.own.messages.find_memory.clone() {
        return known;
    }
    reserve_variables(g);
    let map = g.file.names.fresh_short("payload", "", MAP_NAME);
    let structure = g.file.names.fresh("payload_copy");
    let mut record = Record::default();
    let size = MOST_BYTES + SLACK;
    record.add(CType::U8.array(size), "bytes", size, 8, "the payload");
    let value_size = record.size;
    g.file.declare_struct(&structure, record.members);
    let abi = MapAbi::new(map.as_str(), MapKind::PercpuArray, 4, value_size, 1);
    let types = (CType::U32, CType::Struct(structure.clone()));
    g.file.own.maps.declare(abi, Some(types));
    g.file.own.messages.find_memory = Some((map.clone(), structure.clone()));
    (map, structure)
}

/// The function that copies a message to the object's memory and reads it there.
fn reader(g: &mut Gen<'_>, message: &Message<'_>, memory: &Memories) -> SmolStr {
    let name = g.file.names.fresh(&format!("{}_read", memory.structure));
    let mut body = copied(memory, message.nothing_found(), &status("OTHER"));
    let keeps = memory.heads.is_some();
    let (patterns, mut file) = patterns(&mut g.file);
    body.append(&mut message.read(&mut file, patterns, keeps));
    push_reader(g, &name, keeps, body);
    name
}

/// The function that reads a message for the attributes in a list, made on first use: whatever follows these does not matter.
pub(super) fn read_for(g: &mut Gen<'_>, object: ExternInst, known: &Object, list: &str) -> SmolStr {
    let key = (object, list.to_owned());
    let mut made = g.file.own.messages.reads_for.iter();
    if let Some((_, function)) = made.find(|(made, _)| *made == key) {
        return function.clone();
    }
    let name = g.file.names.fresh(&format!("{}_for", known.read));
    let parameters = parameters(known.heads.is_some());
    let arguments = parameters.into_iter().map(|(_, name)| C::Ident(name));
    let arguments = std::iter::once(C::id("ctx")).chain(arguments);
    let found = C::call(
        "bpf_map_lookup_elem",
        vec![C::Ident(known.map.clone()).addr(), C::id("zero").addr()],
    );
    let members = names_in(list).filter_map(|name| known.attributes.get(name));
    let missing = any_is_missing(members.map(|(member, _)| member));
    let whole = C::or(C::not(C::id(MEMORY)), missing);
    let body = vec![
        Stmt::decl(
            CType::U32,
            "status",
            C::call(known.read.clone(), arguments.collect()),
        ),
        Stmt::decl(CType::U32, "zero", C::int(0)),
        Stmt::decl(CType::Struct(known.structure.clone()).ptr(), MEMORY, found),
        Stmt::Return(Some(C::choose(whole, C::id("status"), status("READ")))),
    ];
    push_reader(g, &name, known.heads.is_some(), body);
    g.file.own.messages.reads_for.push((key, name.clone()));
    name
}

/// Copies a message, as far as it is read, to memory, in which `nothing_found` notes that no attribute is; returns `refused` where that cannot be. Then
/// `left` bytes of it are there, of `all`.
fn copied(of: &Memories, nothing_found: Block, refused: &C) -> Block {
    let memory = || C::id(MEMORY);
    let found = C::call(
        "bpf_map_lookup_elem",
        vec![C::Ident(of.map.clone()).addr(), C::id("zero").addr()],
    );
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
    if of.heads.is_none() {
        let parsed = C::id("parsed").cast(CType::U64);
        let from = C::bin(BinOp::Add, parsed, C::id("offset"));
        body.push(Stmt::decl(CType::U64, "from", from));
    }
    body.extend([
        Stmt::decl(CType::U32, "all", rest),
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
    match of.heads {
        None => body.push(refuse_if(copy)),
        Some(heads) => {
            let behind = head::copied(heads, of.limit, &refuse_if);
            body.push(Stmt::If(C::id("ticket"), behind, vec![refuse_if(copy)]));
        }
    }
    body
}

/// The parameters of a function of the packet that reads a message, behind the context.
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

/// Adds a function of the packet that reads a message.
fn push_reader(g: &mut Gen<'_>, name: &SmolStr, keeps: bool, body: Block) {
    push_function(g, name, CType::U32, keeps, body);
}

/// Adds a function of the packet.
pub(super) fn push_function(
    g: &mut Gen<'_>,
    name: &SmolStr,
    result: CType,
    keeps: bool,
    body: Block,
) {
    let packet = g.target.hook.text().packet();
    g.file.functions.push(Function {
        linkage: GLOBAL_FUNC.into(),
        name: name.clone(),
        result,
        params: std::iter::once(packet).chain(parameters(keeps)).collect(),
        body,
    });
}
