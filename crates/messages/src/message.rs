//! Code that reads the messages of a schema: the memory of a message, the function that reads it there, and the code
//! around a call of that function.

use crate::document::Memory;
use crate::file::File;
use crate::layout::Window;
use crate::pattern::Patterns;
use crate::writer::{
    AT, AttributeMember, END, ENDLESS, Helper, MEMORY, Wanted, Writer, left, status,
};
use cgen::tree::{BinOp, Block, Expr as C, Item, Stmt, Type as CType};
use emit::names::Names;
use emit::record::Record;
use payload::{AttributeKind, Only, POINTED_TO_A_BYTE, Schema, Site};
use smol_str::SmolStr;

/// Number of bytes after those that offsets are masked to: `MESSAGE_SLACK`.
pub const SLACK: u32 = 64;
/// Sizes in bytes of a name's text, `MESSAGE_TEXT`, and of `struct message_value`.
const TEXT: u32 = 1024;
const VALUE: u32 = 16;

/// Variables of the function that [`Message::read`] is part of, which no name of the file may shadow: the message's
/// memory, the size of the message, the number of its bytes in memory, and the status.
pub const VARIABLES: [&str; 4] = [MEMORY, "all", "left", "status"];

/// Attributes to read from the messages of a schema.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// Names of attributes, in the order of their members.
    pub names: &'r [String],
    /// Most bytes of a message that are read.
    pub limit: u32,
    /// True if reading may stop after the last of the attributes.
    pub may_stop: bool,
}

/// Code that reads the messages of a schema.
#[derive(Debug)]
pub struct Message<'s> {
    schema: &'s Schema,
    structure: SmolStr,
    wanted: Vec<Wanted>,
    /// Function that reads a message in its memory.
    parse: SmolStr,
    /// Member with the offset from which on values do not count.
    incomplete: Option<SmolStr>,
    /// Size of the memory, in bytes.
    pub size: u32,
    /// Function that writes the text of a DNS name, if one is wanted.
    pub name_text: Option<SmolStr>,
    /// True if messages may contain documents.
    pub has_documents: bool,
}

impl<'s> Message<'s> {
    /// Adds the struct of a message's memory, named `structure`, and its functions.
    ///
    /// # Errors
    ///
    /// The error describes the part of the schema for which no function can be generated.
    pub fn new(
        file: &mut File<'_>,
        schema: &'s Schema,
        structure: &SmolStr,
        request: &Request<'_>,
    ) -> Result<Message<'s>, String> {
        let (wanted, members, documents) = wanted(file.names, schema, request.names);
        let has_names = wanted
            .iter()
            .any(|w| w.asked.kind == AttributeKind::DnsName);
        let mut record = memory(&wanted, request.limit, has_names);
        let memory = (structure, members, documents.clone());
        let mut writer = Writer::new(file.target, schema, &wanted, memory, file.names);
        writer.stop = writer.last_wanted().filter(|_| request.may_stop);
        let parse = parser(&mut writer);
        let has_names_within = writer.reads_names(schema.root);
        let (has_documents, has_xml) = writer.has_documents();
        let name_text = has_names.then(|| writer.helper(Helper::NameText));
        let incomplete = writer.incomplete;
        let (mut tables, mut functions, refused) =
            (writer.tables, writer.functions, writer.refused);
        for (stack, levels) in writer.stacks {
            let ty = CType::S64.array(levels);
            record.add(ty, stack, 8 * levels, 8, "of each level");
        }
        for count in writer.counts {
            record.add(CType::U32, count, 4, 4, "");
        }
        if has_documents {
            documents.add(&mut record, &wanted, schema.limits.depth, has_xml);
        }
        if has_names_within {
            record.add(CType::U32, "name_bytes", 4, 4, "");
            record.add(CType::U32, "pointed_to", 4, 4, "");
        }
        if let Some(why) = refused {
            return Err(why);
        }
        record.finish();
        file.tables.push(Item::Struct {
            name: structure.clone(),
            members: record.members,
        });
        file.tables.append(&mut tables);
        file.functions.append(&mut functions);
        Ok(Message {
            schema,
            structure: structure.clone(),
            wanted,
            parse,
            incomplete,
            size: record.size,
            name_text,
            has_documents,
        })
    }

    /// Returns the wanted attributes, and those whose lengths are compared: names, members and kinds.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &AttributeMember, AttributeKind)> {
        let all = self.wanted.iter();
        all.map(|w| (w.asked.name.as_str(), &w.member, w.asked.kind))
    }

    /// Emits code that marks all attributes as absent.
    pub fn nothing_found(&self) -> Block {
        self.wanted.iter().flat_map(absent).collect()
    }

    /// Emits code that reads a message of `all` bytes, of which the first `left` are in memory, and returns its status.
    /// If `begins`, it returns BEGINS where the bytes are too few to recognise the message. The function gets a
    /// variable `status`, and one for each expression by which messages are recognised.
    pub fn read(&self, file: &mut File<'_>, patterns: &mut Patterns, begins: bool) -> Block {
        let mut body = Block::new();
        let left_is = || C::id("left");
        if !self.schema.recognise.is_empty() {
            body.push(crate::recognise::recognised(
                (file, patterns),
                self.schema,
                &self.structure,
                begins,
            ));
        }
        let incomplete = self.incomplete.as_ref();
        let from = incomplete.map(|name| C::id(MEMORY).arrow(name.clone()));
        if let Some(from) = &from {
            body.push(Stmt::Assign(from.clone(), C::id("MESSAGE_ABSENT")));
        }
        let args = vec![C::id(MEMORY), C::int(0), left_is()];
        let parsed = C::call(self.parse.clone(), args);
        body.push(Stmt::decl(CType::U32, "status", parsed));
        if let Some(from) = from {
            let is_incomplete = C::bin(BinOp::Ne, from.clone(), C::id("MESSAGE_ABSENT"));
            let forget = |wanted: &Wanted| {
                let start = wanted.member.of(C::id(MEMORY)).member("start");
                let is_in_it = C::bin(BinOp::Ge, start, from.clone());
                Stmt::If(is_in_it, absent(wanted), Block::new())
            };
            let forgotten = self.wanted.iter().map(forget).collect();
            body.push(Stmt::If(is_incomplete, forgotten, Block::new()));
        }
        let is = |name: &str| C::bin(BinOp::Eq, C::id("status"), status(name));
        let cut = C::or(is("TRUNCATED"), is("LENGTH_PAST_END"));
        let is_longer = C::bin(BinOp::Gt, C::id("all"), left_is());
        let too_long = vec![Stmt::Return(Some(status("TOO_LONG")))];
        body.push(Stmt::If(C::and(is_longer, cut), too_long, Block::new()));
        body.push(Stmt::Return(Some(C::id("status"))));
        body
    }
}

/// Builds the memory of a message: its bytes, the text of a name, and the positions of attributes.
fn memory(wanted: &[Wanted], limit: u32, has_names: bool) -> Record {
    let mut record = Record::default();
    let size = limit.next_power_of_two().max(16);
    let bytes = CType::U8.array(size + SLACK);
    record.add(bytes, "bytes", size + SLACK, 8, "the message");
    if has_names {
        let text = CType::U8.array(TEXT + SLACK);
        record.add(text, "text", TEXT + SLACK, 8, "of a name");
    }
    for wanted in wanted {
        let AttributeMember::Own(name) = &wanted.member else {
            continue;
        };
        let ty = CType::Struct("message_value".into());
        let note = format!("{:?}", wanted.asked.name);
        record.add(ty, name.clone(), VALUE, 8, &note);
    }
    record
}

/// Resolves the names of attributes. Returns the attributes with their members, the names of all members, and the
/// members for documents.
fn wanted(file: &Names, schema: &Schema, names: &[String]) -> (Vec<Wanted>, Names, Memory) {
    let mut members = file.clone();
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
            return AttributeMember::Numbered(documents.values.clone(), numbers);
        }
        AttributeMember::Own(members.fresh_path(&asked.name.replace(['-', ' '], "_")))
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // Conflicting lengths make a message malformed, even if the program does not ask for them.
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

/// Emits the function that reads the message in its memory, from an offset to an end.
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

/// Emits code that marks an attribute as absent.
fn absent(wanted: &Wanted) -> Block {
    let value = wanted.member.of(C::id(MEMORY));
    let start = value.clone().member("start");
    // Programs may read the value of an absent attribute without testing that it is present.
    let none = match wanted.asked.kind {
        AttributeKind::Number { .. } => "number",
        AttributeKind::Bytes | AttributeKind::DnsName => "length",
    };
    vec![
        Stmt::Assign(start, C::id("MESSAGE_ABSENT")),
        Stmt::Assign(value.member(none), C::int(0)),
    ]
}
