//! An object's memory and functions.

use super::Asked;
use super::document::Memory;
use super::head;
use super::layout::Window;
use super::pattern;
use super::scan::{may_stand, stands};
use super::writer::{
    AT, END, ENDLESS, Helper, MEMORY, Member, Wanted, Writer, any_is_missing, left, status,
};
use crate::abi::{MapAbi, MapKind};
use crate::calls::declare;
use crate::errors::message as errors;
use crate::maps::MAP_NAME;
use crate::target::{GLOBAL_FUNC, Gen};
use arch::payload::{MOST_BYTES, limit_of, names_in, schema_of};
use cgen::tree::{BinOp, Block, Expr as C, Item, Stmt, Type as CType};
use emit::Function;
use emit::names::Names;
use emit::record::Record;
use ir::ExternInst;
use payload::{Kind, Only, POINTED_TO_A_BYTE, Schema, Signature, Site};
use smol_str::SmolStr;
use std::collections::HashMap;

/// `MESSAGE_SLACK`, `MESSAGE_TEXT` and the bytes of `struct message_value`.
const SLACK: u32 = 64;
const TEXT: u32 = 1024;
const VALUE: u32 = 16;

/// The parameters and variables of the function that reads a message.
const VARIABLES: [&str; 19] = [
    MEMORY,
    "ctx",
    "zero",
    "parsed",
    "offset",
    "most",
    "length",
    "from",
    "all",
    "left",
    "status",
    "place",
    "state",
    "ticket",
    "slot",
    "head",
    "front",
    "last",
    "ticket_of_all",
];

/// An object that reads messages.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// The map with its memory.
    pub map: SmolStr,
    /// The struct of it.
    pub structure: SmolStr,
    /// The function that reads a message.
    pub read: SmolStr,
    /// The map with the first bytes of messages that go on in later packets, if some are kept.
    pub heads: Option<SmolStr>,
    /// How many bytes of a message are read at most.
    pub limit: u32,
    /// The function that gives the text of a DNS name, if one is wanted.
    pub name_text: Option<SmolStr>,
    /// The members that say where attributes are, by their names.
    pub attributes: HashMap<String, (Member, Kind)>,
}

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
    if let Some(known) = g.file.own.messages.get(&object) {
        return Some(known.clone());
    }
    let data = &g.p.externs[object];
    let schema = schema_of(data)?;
    let limit = limit_of(data, &schema);
    // The functions' own variables would hide what has their names.
    for taken in VARIABLES {
        g.file.names.reserve(taken);
    }
    let map = g.file.names.fresh_short(&data.name, "", MAP_NAME);
    let structure = g.file.names.fresh(&format!("{map}_message"));
    let (wanted, members, documents) = wanted(g, object, &schema);

    let mut record = Record::default();
    let size = limit.next_power_of_two().max(16);
    let bytes = CType::U8.array(size + SLACK);
    record.add(bytes, "bytes", size + SLACK, 8, "the message");
    let has_names = wanted.iter().any(|w| w.asked.kind == Kind::DnsName);
    if has_names {
        let text = CType::U8.array(TEXT + SLACK);
        record.add(text, "text", TEXT + SLACK, 8, "of a name");
    }
    for wanted in &wanted {
        let Member::Own(name) = &wanted.member else {
            continue;
        };
        let ty = CType::Struct("message_value".into());
        let note = format!("{:?}", wanted.asked.name);
        record.add(ty, name.clone(), VALUE, 8, &note);
    }
    let memory = (&structure, members, documents.clone());
    let may_stop = g.file.own.asked.get(&object).is_some_and(Asked::may_stop);
    let mut writer = Writer::new(&schema, &wanted, memory, &mut g.file.names);
    writer.stop = writer.last_wanted().filter(|_| may_stop);
    let parse = parser(&mut writer);
    let has_names_within = writer.reads_names(schema.root);
    let (has_documents, has_xml) = writer.has_documents();
    let name_text = has_names.then(|| writer.helper(Helper::NameText));
    let incomplete = writer.incomplete;
    let (tables, functions, refused) = (writer.tables, writer.functions, writer.refused);
    for (stack, levels) in writer.stacks {
        let ty = CType::S64.array(levels);
        record.add(ty, stack, 8 * levels, 8, "of each level");
    }
    for count in writer.counts {
        record.add(CType::U32, count, 4, 4, "");
    }
    if has_documents {
        documents.add(&mut record, &wanted, schema.limits.depth, has_xml);
        g.file.own.reads_documents = true;
    }
    if has_names_within {
        record.add(CType::U32, "name_bytes", 4, 4, "");
        record.add(CType::U32, "pointed_to", 4, 4, "");
    }
    if let Some(why) = refused {
        let hook = g.target.options.hook;
        let at = g.p.externs[object].span;
        g.refuse(errors::unreadable(hook, &schema.name, &why, at));
        return None;
    }
    record.finish();
    let value_size = record.size;
    g.file.declare_struct(&structure, record.members);
    let abi = MapAbi::new(map.as_str(), MapKind::PercpuArray, 4, value_size, 1);
    let types = (CType::U32, CType::Struct(structure.clone()));
    g.file.own.maps.declare(abi, Some(types));

    g.file.structs.extend(tables);
    g.file.functions.extend(functions);
    let keeps = g
        .file
        .own
        .asked
        .get(&object)
        .is_some_and(|asked| asked.keeps);
    let heads = keeps.then(|| head::map(g, &map));
    let memory = Memories {
        map: &map,
        structure: &structure,
        heads: heads.as_ref(),
        limit,
    };
    let made = Object {
        read: reader(g, &schema, &wanted, &memory, (&parse, incomplete.as_ref())),
        heads,
        limit,
        map,
        structure,
        name_text,
        attributes: wanted
            .into_iter()
            .map(|w| (w.asked.name, (w.member, w.asked.kind)))
            .collect(),
    };
    g.file.own.messages.insert(object, made.clone());
    Some(made)
}

/// The map and the struct of the memory that all functions about the payload share, made on first use.
pub(super) fn memory_of_payload(g: &mut Gen<'_>) -> (SmolStr, SmolStr) {
    if let Some(known) = g.file.own.find_memory.clone() {
        return known;
    }
    for taken in VARIABLES {
        g.file.names.reserve(taken);
    }
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
    g.file.own.find_memory = Some((map.clone(), structure.clone()));
    (map, structure)
}

/// An array of constants.
pub(super) fn array(
    name: &SmolStr,
    ty: CType,
    size: usize,
    values: &mut dyn Iterator<Item = u64>,
) -> Item {
    Item::Variable {
        ty: ty.array(size as u32),
        name: name.clone(),
        init: Some(C::Init(values.map(|value| (None, C::int(value))).collect())),
        attribute: None,
        constant: true,
    }
}

/// The attributes that the program asks for, with members of the object's memory, and what names these have.
fn wanted(g: &Gen<'_>, object: ExternInst, schema: &Schema) -> (Vec<Wanted>, Names, Memory) {
    let names = g.file.own.asked.get(&object);
    let mut members = g.file.names.clone();
    members.reserve("bytes");
    members.reserve("text");
    members.reserve("name_bytes");
    members.reserve("pointed_to");
    let documents = Memory::new(&mut members);
    let mut numbers = 0;
    let mut member = |asked: &payload::Asked| {
        let in_document = |site: &Site| matches!(site.only, Only::Member(_));
        if asked.sites.iter().any(in_document) {
            numbers += 1;
            return Member::Numbered(documents.values.clone(), numbers);
        }
        Member::Own(members.fresh_path(&asked.name.replace(['-', ' '], "_")))
    };
    let names: Vec<&str> = names
        .into_iter()
        .flat_map(|asked| &asked.names)
        .map(String::as_str)
        .collect();
    // Lengths that do not agree make a message malformed, whoever asks for them.
    let lengths = schema.next.iter();
    let lengths = lengths.flat_map(|next| std::iter::once(&next.length).chain(&next.chunked));
    let hidden = lengths
        .map(String::as_str)
        .filter(|name| !names.contains(name));
    let hidden = hidden.map(|name| (name, true));
    let asked = names.iter().map(|&name| (name, false)).chain(hidden);
    let wanted = asked
        .filter_map(|(name, is_hidden)| Some((schema.asked(name).ok()?, is_hidden)))
        .map(|(asked, is_hidden)| Wanted {
            member: member(&asked),
            asked,
            is_hidden,
        })
        .collect();
    (wanted, members, documents)
}

/// The function that reads the message in an object's memory, from an offset to an end.
fn parser(writer: &mut Writer) -> SmolStr {
    let name = writer.file.fresh(&format!("{}_parse", writer.structure));
    for taken in [MEMORY, AT, END, ENDLESS] {
        writer.names.reserve(taken);
    }
    writer.push(Stmt::If(
        C::not(C::id(MEMORY)),
        vec![Stmt::Return(Some(status("OTHER")))],
        Block::new(),
    ));
    let window = Window {
        end: C::id(END),
        depth: 0,
    };
    let root = writer.schema.root;
    if writer.reads_names(root) {
        let bytes = left(&C::id(END), C::id(AT));
        let most = C::bin(BinOp::Mul, C::int(POINTED_TO_A_BYTE as u64), bytes);
        writer.push(Stmt::Assign(C::id(MEMORY).arrow("pointed_to"), most));
    }
    writer.layout(root, &window, &C::int(0), None);
    writer.push(Stmt::Return(Some(status("READ"))));
    if writer.loops {
        writer.push(Stmt::Label(ENDLESS.into()));
        writer.push(Stmt::Return(Some(status("TOO_LONG"))));
    }
    let body = std::mem::take(&mut writer.out);
    let parameters = vec![(CType::U32, AT.into()), (CType::U32, END.into())];
    writer.function(&name, CType::U32, parameters, body);
    name
}

/// The function that copies a message to the object's memory and reads it there.
fn reader(
    g: &mut Gen<'_>,
    schema: &Schema,
    wanted: &[Wanted],
    memory: &Memories,
    (parse, incomplete): (&SmolStr, Option<&SmolStr>),
) -> SmolStr {
    let name = g.file.names.fresh(&format!("{}_read", memory.structure));
    let mut body = copied(memory, wanted, &status("OTHER"));
    let left_is = || C::id("left");
    let is_longer = |a: C, b: C| C::bin(BinOp::Gt, a, b);
    let refuse_if = |condition: C, why: &str| {
        let refused = vec![Stmt::Return(Some(status(why)))];
        Stmt::If(condition, refused, Block::new())
    };
    if !schema.recognise.is_empty() {
        let begins = memory.heads.is_some();
        body.push(recognised(g, schema, memory.structure, begins));
    }
    let from = incomplete.map(|name| C::id(MEMORY).arrow(name.clone()));
    if let Some(from) = &from {
        body.push(Stmt::Assign(from.clone(), C::id("MESSAGE_ABSENT")));
    }
    let args = vec![C::id(MEMORY), C::int(0), left_is()];
    body.push(Stmt::decl(
        CType::U32,
        "status",
        C::call(parse.clone(), args),
    ));
    if let Some(from) = from {
        let is_incomplete = C::bin(BinOp::Ne, from.clone(), C::id("MESSAGE_ABSENT"));
        let forget = |wanted: &Wanted| {
            let start = wanted.member.of(C::id(MEMORY)).member("start");
            let is_in_it = C::bin(BinOp::Ge, start, from.clone());
            Stmt::If(is_in_it, absent(wanted), Block::new())
        };
        let forgotten = wanted.iter().map(forget).collect();
        body.push(Stmt::If(is_incomplete, forgotten, Block::new()));
    }
    let is = |name: &str| C::bin(BinOp::Eq, C::id("status"), status(name));
    let cut = C::or(is("TRUNCATED"), is("LENGTH_PAST_END"));
    body.push(refuse_if(
        C::and(is_longer(C::id("all"), left_is()), cut),
        "TOO_LONG",
    ));
    body.push(Stmt::Return(Some(C::id("status"))));
    push_reader(g, &name, memory.heads.is_some(), body);
    name
}

/// Returns OTHER where a message does not begin as those of the schema do, and, if `begins`, BEGINS where there is too little of it to tell.
fn recognised(g: &mut Gen<'_>, schema: &Schema, structure: &SmolStr, begins: bool) -> Stmt {
    let left_is = || C::id("left");
    let (mut found, mut may_begin) = (Vec::new(), Vec::new());
    let mut states = Block::new();
    let mut found_behind = Vec::new();
    for signature in &schema.recognise {
        match signature {
            Signature::Bytes { at, bytes, and } => {
                let offset = C::int(*at as u64);
                let first = match at {
                    0 => stands(&offset, left_is(), bytes),
                    _ => {
                        let here = stands(&offset, left(&left_is(), offset.clone()), bytes);
                        C::and(C::bin(BinOp::Gt, left_is(), offset), here)
                    }
                };
                found.push(match and {
                    None => first,
                    Some((at, bytes)) => C::and(first, may_stand(*at, &left_is(), bytes)),
                });
                if *at == 0 {
                    let is_shorter = C::bin(BinOp::Lt, left_is(), C::int(bytes.len() as u64));
                    may_begin.push(C::and(is_shorter, may_stand(0, &left_is(), bytes)));
                }
            }
            Signature::Pattern(pattern) => {
                let Some((function, automaton)) =
                    pattern::beginning(g, pattern.text(), &pattern::Bytes::message(structure))
                else {
                    continue;
                };
                let name = SmolStr::from(format!("beginning{}", found_behind.len()));
                let args = vec![C::id(MEMORY), C::int(0), left_is()];
                let state = C::call(function, args);
                states.push(Stmt::decl(CType::U32, name.clone(), state));
                let state = C::Ident(name);
                found_behind.push(automaton.has_found(state.clone()));
                may_begin.push(state);
            }
        }
    }
    let refused = |why: &str| vec![Stmt::Return(Some(status(why)))];
    let mut none = Block::new();
    if let Some(begin) = may_begin.into_iter().reduce(C::or).filter(|_| begins) {
        none.push(Stmt::If(begin, refused("BEGINS"), Block::new()));
    }
    none.extend(refused("OTHER"));
    if let Some(is_found) = found_behind.into_iter().reduce(C::or) {
        states.push(Stmt::If(C::not(is_found), none, Block::new()));
        none = states;
    }
    match found.into_iter().reduce(C::or) {
        Some(is_found) => Stmt::If(C::not(is_found), none, Block::new()),
        None => Stmt::Block(none),
    }
}

/// The function that reads a message for the attributes in a list, made on first use: whatever follows these does not matter.
pub(super) fn read_for(g: &mut Gen<'_>, object: ExternInst, known: &Object, list: &str) -> SmolStr {
    let key = (object, list.to_owned());
    let mut made = g.file.own.reads_for.iter();
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
    g.file.own.reads_for.push((key, name.clone()));
    name
}

/// Copies a message, as far as it is read, to memory, in which no attribute is found yet; returns `refused` where that cannot be. Then
/// `left` bytes of it are there, of `all`.
fn copied(of: &Memories, wanted: &[Wanted], refused: &C) -> Block {
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
    body.extend(wanted.iter().flat_map(absent));
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

/// Notes that the message does not have an attribute.
fn absent(wanted: &Wanted) -> Block {
    let value = wanted.member.of(C::id(MEMORY));
    let start = value.clone().member("start");
    // Readers take the value of one that is not there without asking whether it is.
    let none = match wanted.asked.kind {
        Kind::Number { .. } => "number",
        Kind::Bytes | Kind::DnsName => "length",
    };
    vec![
        Stmt::Assign(start, C::id("MESSAGE_ABSENT")),
        Stmt::Assign(value.member(none), C::int(0)),
    ]
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
    let context = g.target.hook.text().context;
    let packet = (CType::Struct(context.into()).ptr(), SmolStr::from("ctx"));
    g.file.functions.push(Function {
        linkage: GLOBAL_FUNC.into(),
        name: name.clone(),
        result,
        params: std::iter::once(packet).chain(parameters(keeps)).collect(),
        body,
    });
}
