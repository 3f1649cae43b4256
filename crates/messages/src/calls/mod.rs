//! The payload, and messages of applications in it (`p4include/payload.p4`).
//!
//! Each object that reads messages has two functions. One copies the payload to memory. The other, generated from the
//! schema, reads it there and notes the positions of the wanted attributes. Both remain functions, so that a verifier
//! of the C checks them once.
//!
//! Searches in the payload itself work piece by piece (`pieces`).

mod checksums;
mod chunks;
mod cursor;
mod head;
mod held;
mod names;
mod object;
mod patterns;
mod pieces;
mod quic;

use crate::{AttributeMember, Bytes, File, MessageTarget, Patterns, errors};
use arch::payload::{
    AllAsked, CHUNKS, FIND, FIND_BYTES, FIND_NAME, FIND_PATTERN, FIND_URL, GET_BYTES, GET_NUMBER,
    KEEP, LENGTH, MATCHES, MATCHES_PATTERN, NAME_SET, PATTERN, QUIC_INITIALS, READ, READ_BEHIND,
    READ_FOR, READ_HELD, READ_INITIALS, READ_MESSAGE, STREAM_BYTES, SUM, TAKE, TRUNCATE, UNCHANGED,
    WRITE, asked, object_of, read_for,
};
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::calls::{declare, places, values};
use emit::values::Value;
use emit::{Event, Gen};
use ir::{Expr, ExternArg, ExternCall, ExternInst, Place, Program};
use object::Object;
use payload::AttributeKind;
use smol_str::SmolStr;
use std::collections::HashMap;
use tables::Tables;

/// Target whose packets have a payload that programs read.
pub trait Payload: Tables {
    /// Functions and memory of the payload that the functions of a file share.
    fn shared(file: &mut Self::File) -> &mut Shared;

    /// Name of the struct of a packet.
    fn packet(&self) -> &'static str;

    /// Records that a program sums its payload; returns the function that emits the sum.
    fn sum(g: &mut Gen<'_, Self>) -> PayloadSum<Self>;

    /// Refuses a call of an extern that the target lacks.
    fn refuse_extern(g: &mut Gen<'_, Self>, name: &str, span: Span);

    /// Records that a program reads its payload in this manner. Returns false if the target does not support it, after
    /// refusing the program.
    fn reads(_g: &mut Gen<'_, Self>, _how: Reads, _span: Span) -> bool {
        true
    }
}

/// Emitter of the sum of a packet's bytes from bit `parsed` on (of the packet as it was parsed) up to its length, as
/// 16-bit words in network order. If `odd` is not 0, the words begin one byte earlier.
pub type PayloadSum<T> = fn(&mut Gen<'_, T>, parsed: C, length: C, odd: C) -> C;

/// Access to the payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// A fixed number of bytes at an offset.
    Bytes,
    /// The payload is changed as well.
    Changed,
    /// Loops over the payload.
    InLoops,
}

/// Functions and memory of the payload, emitted on first use.
#[derive(Clone, Default, Debug)]
pub struct Shared {
    /// Attributes that the program asks for, on all its paths.
    asked: AllAsked,
    /// Functions that read messages, by object and list of attributes, if they read for some.
    readings: Vec<((ExternInst, Option<String>), SmolStr)>,
    /// Functions that preserve the first bytes of messages, by object.
    keeps: HashMap<ExternInst, SmolStr>,
    /// Maps with the last bytes of streams, by object.
    streams: HashMap<ExternInst, SmolStr>,
    /// Functions that hold and compare such bytes, by object and method.
    of_streams: HashMap<(ExternInst, SmolStr), SmolStr>,
    /// True if the program reads the payload other than as messages.
    reads_bytes: bool,
    /// True if the program reads messages that contain documents.
    reads_documents: bool,
    /// Functions that search for bytes in the payload.
    finds: Vec<(Vec<u8>, SmolStr)>,
    /// Map of the memory for searches, and its struct.
    find_memory: Option<(SmolStr, SmolStr)>,
    /// Regular expressions that are matched in memory.
    patterns: Patterns,
    /// Functions that match regular expressions in the payload, by the expression's text.
    payload_patterns: Vec<(String, SmolStr)>,
    /// Function that passes over a chunked body, if it was emitted.
    chunks: Option<SmolStr>,
    /// Functions that take a name from a message, by the struct of its memory, and whether from a DNS name's text.
    names_taken: HashMap<(SmolStr, bool), SmolStr>,
    /// Functions that find a DNS name's rule by its labels, by the message's struct and the set's map of records.
    names_found: HashMap<(SmolStr, SmolStr), SmolStr>,
    /// Functions that take the text of a URL from a message, by the struct of its memory.
    paths_taken: HashMap<SmolStr, SmolStr>,
    /// Function that puts a name in front of such a text.
    name_put: Option<SmolStr>,
    /// Function that loads a name from the packet.
    name_loaded: Option<SmolStr>,
    /// Objects that hold bytes of QUIC connections, and the map of a processor's memory for a datagram.
    initials: HashMap<ExternInst, quic::Initials>,
    quic_memory: Option<SmolStr>,
    /// Objects that read messages.
    objects: HashMap<ExternInst, Object>,
}

impl Shared {
    /// Collects the attributes of a program, before its functions are emitted. A function may ask for only some of
    /// them.
    pub fn of(program: &Program) -> Shared {
        Shared {
            asked: asked(program),
            ..Shared::default()
        }
    }

    /// Returns true if the program reads the payload: then it includes `onpath/message.h`.
    pub fn reads_payload(&self) -> bool {
        self.reads_bytes || self.holds_streams() || !self.objects.is_empty()
    }

    /// Returns true if the program holds bytes of streams: then it includes `onpath/stream_bytes.h`.
    pub fn holds_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Returns true if the program holds bytes of QUIC connections: then it includes `onpath/quic.h`.
    pub fn reads_quic(&self) -> bool {
        !self.initials.is_empty()
    }

    /// Returns true if messages contain documents: then the program includes `onpath/document.h`.
    pub fn reads_documents(&self) -> bool {
        self.reads_documents
    }
}

/// Returns the parts of the file to which code of messages is added.
fn file<'f, T: Payload>(g: &'f mut Gen<'_, T>) -> File<'f> {
    patterns(g).1
}

/// Returns the same, with the file's regular expressions.
fn patterns<'f, T: Payload>(g: &'f mut Gen<'_, T>) -> (&'f mut Patterns, File<'f>) {
    let target = MessageTarget {
        reserved: T::reserved(),
        linkage: g.target.linkage(),
    };
    let file = &mut g.file;
    let parts = File {
        target,
        names: &mut file.names,
        tables: &mut file.structs,
        functions: &mut file.functions,
    };
    (&mut T::shared(&mut file.own).patterns, parts)
}

/// Returns the parameter of a function for the packet.
fn packet<T: Payload>(g: &Gen<'_, T>) -> (CType, SmolStr) {
    (CType::Struct(g.target.packet().into()).ptr(), "ctx".into())
}

/// Returns true for a call of the extern object that computes the Internet checksum.
fn is_checksum(program: &Program, call: &ExternCall) -> bool {
    let of = |object: ExternInst| program.externs[object].ty == "Checksum16";
    call.name == "get" && call.object.is_some_and(of)
}

/// Returns the object that a call is a method of, if it is of this type.
fn object_of_type(program: &Program, call: &ExternCall, ty: &str) -> Option<ExternInst> {
    let object = call.object?;
    (program.externs[object].ty == ty).then_some(object)
}

/// Emits a call of an extern about the payload, or of one that computes a hash or a checksum. Returns false if it is
/// neither.
pub fn call<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) -> bool {
    match (object_of(g.p, call), call.name.as_str()) {
        (Some(object), READ_MESSAGE | READ_FOR | READ_BEHIND) => read(g, object, call, span),
        (Some(object), READ_HELD) => held::read(g, object, call, span),
        (Some(object), READ_INITIALS) => quic::read(g, object, call, span),
        (None, TAKE) if let Some(initials) = object_of_type(g.p, call, QUIC_INITIALS) => {
            quic::take(g, initials, call, span);
        }
        (Some(object), KEEP) => keep(g, object, call, span),
        (Some(object), GET_NUMBER | GET_BYTES) => get(g, object, call, span),
        (Some(object), MATCHES_PATTERN) => matches(g, object, call, span),
        (Some(object), FIND_NAME) => names::find_name(g, object, call, span),
        (Some(object), FIND_PATTERN) => patterns::find_pattern(g, object, call, span),
        (Some(object), FIND_URL) => patterns::find_url(g, object, call, span),
        (None, FIND_BYTES) if let Some(set) = object_of_type(g.p, call, NAME_SET) => {
            names::find_bytes(g, set, call, span);
        }
        (None, _) if let Some(streams) = object_of_type(g.p, call, STREAM_BYTES) => {
            held::call(g, streams, call, span);
        }
        (
            None,
            LENGTH | READ | WRITE | TRUNCATE | UNCHANGED | SUM | MATCHES | FIND | PATTERN | CHUNKS,
        ) if call.object.is_none() => cursor::call(g, call, span),
        (None, "hash") => checksums::hash(g, call, span),
        (None, "update_checksum" | "update_checksum_with_payload") => {
            checksums::update_checksum(g, call, span);
        }
        (None, "verify_checksum" | "verify_checksum_with_payload") => {
            checksums::verify_checksum(g, call, span);
        }
        (None, _) if is_checksum(g.p, call) => checksums::checksum16(g, call, span),
        _ => return false,
    }
    true
}

/// `read`, `read_for` and `read_behind`: reads the message at an offset of the payload, perhaps after preserved bytes.
fn read<T: Payload>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall, span: Span) {
    let mut given: Vec<Expr> = (0..call.args.len())
        .flat_map(|at| values(call, at))
        .copied()
        .collect();
    let ticket = (call.name == READ_BEHIND).then(|| given.remove(0));
    // The list of attributes has no value.
    let list = read_for(call);
    let wanted = call.args.len() - usize::from(list.is_some()) - usize::from(ticket.is_some());
    let (offset, most, parsed) = match given[..] {
        [offset, parsed] if wanted == 2 => (offset, None, parsed),
        [offset, most, parsed] => (offset, Some(most), parsed),
        _ => {
            let target = g.target.name();
            return g.refuse(errors::of_copies(target, span));
        }
    };
    let Some(known) = object::object(g, object) else {
        return;
    };
    if !T::reads(g, Reads::InLoops, span) {
        return;
    }
    let [offset, parsed] = [offset, parsed].map(|value| lower::scalar(g, value));
    let most = most.map(|most| lower::scalar(g, most));
    let most = most.unwrap_or(C::id("MESSAGE_ANY_LENGTH"));
    let packet_length = g.packet_length();
    let args = match &known.behind {
        None => vec![
            C::id("ctx"),
            C::bin(BinOp::Shr, parsed, C::int(3)),
            offset,
            most,
            packet_length,
        ],
        // A function has at most five parameters.
        Some(_) => vec![
            C::id("ctx"),
            from(parsed, offset),
            most,
            packet_length,
            ticket.map_or(C::int(0), |ticket| lower::scalar(g, ticket)),
        ],
    };
    let function = object::reading(g, object, &known, list.map(String::as_str));
    g.result(call, C::call(function, args));
}

/// `keep`: preserves bytes with which a message begins or continues.
fn keep<T: Payload>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall, span: Span) {
    let given: Vec<Expr> = (0..call.args.len())
        .flat_map(|at| values(call, at))
        .copied()
        .collect();
    // In a copy, the program does not know how far its parser got.
    let [ticket, offset, most, parsed] = given[..] else {
        let target = g.target.name();
        return g.refuse(errors::of_copies(target, span));
    };
    let Some(known) = object::object(g, object) else {
        return;
    };
    let Some(function) = head::keep(g, object, &known) else {
        return g.result(call, C::int(0));
    };
    let [ticket, offset, most, parsed] =
        [ticket, offset, most, parsed].map(|value| lower::scalar(g, value));
    let from = from(parsed, offset);
    let packet_length = g.packet_length();
    let kept = C::call(
        function,
        vec![C::id("ctx"), from, most, packet_length, ticket],
    );
    g.result(call, kept);
}

/// Returns the offset in the packet of a byte of its payload, after this number of parsed bits.
fn from(parsed: C, offset: C) -> C {
    let parsed = C::bin(BinOp::Shr, parsed, C::int(3));
    C::bin(BinOp::Add, parsed.cast(CType::U64), offset)
}

/// Returns an object that reads messages, and an attribute that it was asked for. `None` if the program was refused.
fn attribute<T: Payload>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    name: &str,
) -> Option<(Object, AttributeMember, AttributeKind)> {
    let known = object::object(g, object)?;
    let (member, kind) = known.attributes.get(name).cloned()?;
    Some((known, member, kind))
}

/// `get_number` and `get_bytes`: values of the last message that was read.
fn get<T: Payload>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall, span: Span) {
    let Some(ExternArg::String(name)) = call.args.first() else {
        return;
    };
    let was_read = call.args.last();
    let Some(ExternArg::In(was_read)) = was_read else {
        let target = g.target.name();
        return g.refuse(errors::of_copies(target, span));
    };
    let Some((known, member, kind)) = attribute(g, object, name) else {
        return;
    };
    let (result, value) = (
        call.result.first().copied(),
        places(call, 1).first().copied(),
    );
    let length = places(call, 2).first().copied();
    let width = |place: Place| g.p.place_type(place).map_or(0, |ty| ty.width());
    let (value_width, length_width) = (value.map_or(0, width), length.map_or(0, width));
    for (place, width) in [(result, 1), (value, value_width), (length, length_width)] {
        if let Some(place) = place {
            g.store(place, Value::zero(width));
        }
    }
    let was_read = flag(g, was_read);
    let block = g.block(|g| {
        let memory = object::memory(g, &known);
        let then = g.block(|g| {
            let found = member.of(memory.clone());
            let start = declare(g, CType::U32, "start", found.clone().member("start"));
            if kind == AttributeKind::DnsName {
                let there = C::bin(BinOp::Ne, start.clone(), C::id("MESSAGE_ABSENT"));
                let then = g.block(|g| dns_name(g, call, &known, &memory, start));
                return g.push(Stmt::If(there, then, Block::new()));
            }
            if let Some(place) = result {
                // Without a branch: the verifier would explore both sides for each attribute, and all later code for
                // each combination.
                let absent = C::bin(BinOp::Shr, start.clone(), C::int(31));
                let absent = declare(g, CType::U32, "absent", absent);
                g.on(Event::Computed(&absent));
                g.store(place, Value::Scalar(C::bin(BinOp::Xor, absent, C::int(1))));
            }
            if let AttributeKind::Number { .. } = kind {
                if let Some(place) = value {
                    let number = found.member("number");
                    g.store(place, Value::Scalar(fitted(number, value_width)));
                }
                return;
            }
            let size = declare(g, CType::U32, "size", found.member("length"));
            if let Some(place) = length {
                g.store(place, Value::Scalar(size.clone()));
            }
            if let Some(place) = value {
                let first = first_bytes(&memory, Some(&start), &size, value_width / 8);
                g.store(place, first);
            }
        });
        let is_there = C::and(was_read, memory);
        g.push(Stmt::If(is_there, then, Block::new()));
    });
    g.push(Stmt::Block(block));
}

/// Emits the text of a DNS name that was found.
fn dns_name<T: Payload>(
    g: &mut Gen<'_, T>,
    call: &ExternCall,
    object: &Object,
    memory: &C,
    start: C,
) {
    let Some(function) = &object.name_text else {
        return;
    };
    let args = vec![memory.clone(), start, C::int(0)];
    let size = declare(g, CType::U32, "size", C::call(function.clone(), args));
    if let Some(&place) = call.result.first() {
        g.store(place, Value::Scalar(C::int(1)));
    }
    if let Some(&place) = places(call, 2).first() {
        g.store(place, Value::Scalar(size.clone()));
    }
    if let Some(&place) = places(call, 1).first() {
        let width = g.p.place_type(place).map_or(0, |ty| ty.width());
        let text = memory.clone().arrow("text");
        g.store(place, first_bytes(&text, None, &size, width / 8));
    }
}

/// Returns a flag argument: 0 or 1.
fn flag<T: Payload>(g: &mut Gen<'_, T>, values: &[Expr]) -> C {
    match values[..] {
        [one] => lower::scalar(g, one),
        _ => C::int(1),
    }
}

/// Tests that the message has an attribute.
fn is_there(memory: &C, member: &AttributeMember) -> C {
    let start = member.of(memory.clone()).member("start");
    let there = C::bin(BinOp::Ne, start, C::id("MESSAGE_ABSENT"));
    C::and(memory.clone(), there)
}

/// `matches`: tests a regular expression on an attribute of the last message that was read.
fn matches<T: Payload>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall, span: Span) {
    let (name, text, was_read) = match &call.args[..] {
        [
            ExternArg::String(name),
            ExternArg::String(text),
            ExternArg::In(was_read),
        ] => (name, text, was_read),
        _ => {
            let target = g.target.name();
            return g.refuse(errors::of_copies(target, span));
        }
    };
    let (Some((known, member, kind)), Some(&result)) =
        (attribute(g, object, name), call.result.first())
    else {
        return;
    };
    let name_text = known
        .name_text
        .clone()
        .filter(|_| kind == AttributeKind::DnsName);
    let bytes = match name_text {
        Some(_) => Bytes::text(&known.structure),
        None => Bytes::message(&known.structure),
    };
    let (patterns, mut file) = patterns(g);
    let Some(function) = patterns.matching(&mut file, text, &bytes) else {
        return;
    };
    g.store(result, Value::zero(1));
    let was_read = flag(g, was_read);
    let block = g.block(|g| {
        let memory = object::memory(g, &known);
        let there = C::and(was_read, is_there(&memory, &member));
        let then = g.block(|g| {
            let (start, size) = bytes_of(g, &memory, &member, name_text);
            let args = vec![memory.clone(), start, size];
            g.store(result, Value::Scalar(C::call(function, args)));
        });
        g.push(Stmt::If(there, then, Block::new()));
    });
    g.push(Stmt::Block(block));
}

/// Returns the start and size of an attribute that the message has: of its bytes there, or of a DNS name's text, which the
/// function `name_text` writes.
fn bytes_of<T: Payload>(
    g: &mut Gen<'_, T>,
    memory: &C,
    member: &AttributeMember,
    name_text: Option<SmolStr>,
) -> (C, C) {
    let found = member.of(memory.clone());
    let start = found.clone().member("start");
    match name_text {
        Some(name_text) => {
            let args = vec![memory.clone(), start, C::int(0)];
            let size = declare(g, CType::U32, "size", C::call(name_text, args));
            (C::int(0), size)
        }
        None => (start, found.member("length")),
    }
}

/// Fits a number into a destination of this width.
fn fitted(number: C, width: u32) -> C {
    match width {
        0..=32 => number.cast(CType::U32),
        64 => number,
        // Negative numbers have a destination of 64 bits.
        _ => C::bin(BinOp::And, number, C::int(lower::mask(width))),
    }
}

/// Returns the first `count` bytes of a value as a big-endian number, padded with zeros after the last byte.
fn first_bytes(bytes: &C, start: Option<&C>, size: &C, count: u32) -> Value {
    // Offset and number of the bytes in each limb, the lowest limb first.
    let limb = |number: u32| {
        let (from, taken) = match count.checked_sub(8 * (number + 1)) {
            Some(from) => (from, 8),
            None => (0, count - 8 * number),
        };
        let here = match start {
            Some(start) => C::pure(
                "message_at",
                vec![bytes.clone(), start.clone().plus(from.into())],
            ),
            None => C::bin(BinOp::Add, bytes.clone(), C::int(from.into())),
        };
        let left = match from {
            0 => size.clone(),
            _ => C::bin(BinOp::Sub, size.clone(), C::int(from.into())),
        };
        let word = C::pure("message_word", vec![here, left]);
        match 64 - 8 * taken {
            0 => word,
            unused => C::bin(BinOp::Shr, word, C::int(unused.into())),
        }
    };
    match count {
        0..=8 => Value::Scalar(limb(0)),
        _ => Value::Limbs((0..count.div_ceil(8)).map(limb).collect()),
    }
}
