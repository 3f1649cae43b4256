//! The payload, and messages of applications in it (`p4include/payload.p4`): for each object that reads messages a function that copies the payload to memory and one, made of the
//! schema, that reads it there and notes where the wanted attributes are. Both stay functions: what verifies the C, checks them once.
//! What is looked for in the payload as such is looked for piece by piece (`pieces`).

mod checksums;
mod chunks;
mod cursor;
mod head;
mod object;
mod pieces;

use crate::{Bytes, File, Member, Patterns, Target, errors};
use arch::payload::{
    AllAsked, CHUNKS, FIND, GET_BYTES, GET_NUMBER, KEEP, LENGTH, MATCHES, MATCHES_PATTERN, PATTERN,
    READ, READ_BEHIND, READ_FOR, READ_MESSAGE, asked, object_of, read_for,
};
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::calls::{declare, places, values};
use emit::memory::Memory;
use emit::values::Value;
use emit::{Event, Gen};
use ir::{Expr, ExternArg, ExternCall, ExternInst, Place, Program};
use object::Object;
use payload::Kind;
use smol_str::SmolStr;
use std::collections::HashMap;

/// A target whose packets have a payload that programs read.
pub trait Payload: Memory {
    /// Functions and memory about the payload that the functions of a file have in common.
    fn shared(file: &mut Self::File) -> &mut Shared;

    /// The struct of a packet.
    fn packet(&self) -> &'static str;

    /// Notes that a program sums its payload; gives the way to do it.
    fn sum(g: &mut Gen<'_, Self>) -> PayloadSum<Self>;

    /// Refuses a call of an extern that the target does not have.
    fn refuse_extern(g: &mut Gen<'_, Self>, name: &str, span: Span);

    /// Notes that a program reads its payload so. False if it cannot be, for which the program is refused.
    fn reads(_g: &mut Gen<'_, Self>, _how: Reads, _span: Span) -> bool {
        true
    }
}

/// The sum of a packet's bytes from a bit on (of the packet as it was parsed), as words of 16 bits in the packet's order; of words that begin with a
/// byte in front of it where the last argument is not 0.
pub type PayloadSum<T> = fn(&mut Gen<'_, T>, parsed: C, odd: C) -> C;

/// A way of reading the payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// So many bytes at an offset.
    Bytes,
    /// In loops over it.
    InLoops,
}

/// Functions and memory about the payload, made on first use.
#[derive(Clone, Default, Debug)]
pub struct Shared {
    /// The attributes that the program asks for, of all its paths.
    asked: AllAsked,
    /// The functions that read messages for some attributes, by their objects and the lists of these.
    reads_for: Vec<((ExternInst, String), SmolStr)>,
    /// The functions that keep the first bytes of messages, by their objects.
    keeps: HashMap<ExternInst, SmolStr>,
    /// The program reads the payload, but for messages.
    reads_bytes: bool,
    /// It reads messages with documents in them.
    reads_documents: bool,
    /// The functions that look for bytes in it.
    finds: Vec<(Vec<u8>, SmolStr)>,
    /// The map of the memory that they look in, and its struct.
    find_memory: Option<(SmolStr, SmolStr)>,
    /// The regular expressions that are looked for in a memory.
    patterns: Patterns,
    /// Those that do so in the payload, by the expressions' texts.
    payload_patterns: Vec<(String, SmolStr)>,
    /// The function that passes over a body in chunks, if one does.
    chunks: Option<SmolStr>,
    /// Objects that read messages.
    objects: HashMap<ExternInst, Object>,
}

impl Shared {
    /// That of a program, before its functions are emitted. One of them may ask for less than all of it.
    pub fn of(program: &Program) -> Shared {
        Shared {
            asked: asked(program),
            ..Shared::default()
        }
    }

    /// True if the program reads the payload: then it includes `onpath/message.h`.
    pub fn reads_payload(&self) -> bool {
        self.reads_bytes || !self.objects.is_empty()
    }

    /// True if messages have documents: then it includes `onpath/document.h`.
    pub fn reads_documents(&self) -> bool {
        self.reads_documents
    }
}

/// The file, as far as code of messages is added to it.
fn file<'f, T: Payload>(g: &'f mut Gen<'_, T>) -> File<'f> {
    patterns(g).1
}

/// The same, with the regular expressions in it.
fn patterns<'f, T: Payload>(g: &'f mut Gen<'_, T>) -> (&'f mut Patterns, File<'f>) {
    let target = Target {
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

/// The parameter of a function for the packet.
fn packet<T: Payload>(g: &Gen<'_, T>) -> (CType, SmolStr) {
    (CType::Struct(g.target.packet().into()).ptr(), "ctx".into())
}

/// True for a call of the extern object that computes the Internet checksum.
fn is_checksum(program: &Program, call: &ExternCall) -> bool {
    let of = |object: ExternInst| program.externs[object].ty == "Checksum16";
    call.name == "get" && call.object.is_some_and(of)
}

/// Calls an extern function or method about the payload, or one that computes a hash or a checksum. False if it is none.
pub fn call<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) -> bool {
    match (object_of(g.p, call), call.name.as_str()) {
        (Some(object), READ_MESSAGE | READ_FOR | READ_BEHIND) => read(g, object, call, span),
        (Some(object), KEEP) => keep(g, object, call, span),
        (Some(object), GET_NUMBER | GET_BYTES) => get(g, object, call, span),
        (Some(object), MATCHES_PATTERN) => matches(g, object, call, span),
        (None, LENGTH | READ | MATCHES | FIND | PATTERN | CHUNKS) if call.object.is_none() => {
            cursor::call(g, call, span);
        }
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

/// `read`, `read_for` and `read_behind`: of the message at an offset of the payload, perhaps with bytes in front that were kept.
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
    let args = match &known.heads {
        None => vec![
            C::id("ctx"),
            C::bin(BinOp::Shr, parsed, C::int(3)),
            offset,
            most,
            packet_length,
        ],
        // A function has five parameters.
        Some(_) => vec![
            C::id("ctx"),
            from(parsed, offset),
            most,
            packet_length,
            ticket.map_or(C::int(0), |ticket| lower::scalar(g, ticket)),
        ],
    };
    let function = match list {
        Some(list) => object::read_for(g, object, &known, list),
        None => known.read,
    };
    g.result(call, C::call(function, args));
}

/// `keep`: of bytes with which a message begins or goes on.
fn keep<T: Payload>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall, span: Span) {
    let given: Vec<Expr> = (0..call.args.len())
        .flat_map(|at| values(call, at))
        .copied()
        .collect();
    // Of a copy, the program does not know how far its parser got.
    let [ticket, offset, most, parsed] = given[..] else {
        let target = g.target.name();
        return g.refuse(errors::of_copies(target, span));
    };
    let Some(known) = object::object(g, object) else {
        return;
    };
    let Some(function) = head::keep(g, object, &known) else {
        return;
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

/// Where in a packet a byte of its payload is, behind so many bits that were parsed.
fn from(parsed: C, offset: C) -> C {
    let parsed = C::bin(BinOp::Shr, parsed, C::int(3));
    C::bin(BinOp::Add, parsed.cast(CType::U64), offset)
}

/// `get_number` and `get_bytes`: of the message that was read last.
fn get<T: Payload>(g: &mut Gen<'_, T>, object: ExternInst, call: &ExternCall, span: Span) {
    let Some(ExternArg::String(name)) = call.args.first() else {
        return;
    };
    let was_read = call.args.last();
    let Some(ExternArg::In(was_read)) = was_read else {
        let target = g.target.name();
        return g.refuse(errors::of_copies(target, span));
    };
    let Some(known) = object::object(g, object) else {
        return;
    };
    let Some((member, kind)) = known.attributes.get(name).cloned() else {
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
            if kind == Kind::DnsName {
                let there = C::bin(BinOp::Ne, start.clone(), C::id("MESSAGE_ABSENT"));
                let then = g.block(|g| dns_name(g, call, &known, &memory, start));
                return g.push(Stmt::If(there, then, Block::new()));
            }
            if let Some(place) = result {
                // There is no branch: the verifier would follow both of each attribute through all that comes later.
                let absent = C::bin(BinOp::Shr, start.clone(), C::int(31));
                let absent = declare(g, CType::U32, "absent", absent);
                g.on(Event::Computed(&absent));
                g.store(place, Value::Scalar(C::bin(BinOp::Xor, absent, C::int(1))));
            }
            if let Kind::Number { .. } = kind {
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

/// The text of a DNS name that is there.
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

/// A value that is 0 or 1.
fn flag<T: Payload>(g: &mut Gen<'_, T>, values: &[Expr]) -> C {
    match values[..] {
        [one] => lower::scalar(g, one),
        _ => C::int(1),
    }
}

/// Whether the message has an attribute.
fn is_there(memory: &C, member: &Member) -> C {
    let start = member.of(memory.clone()).member("start");
    let there = C::bin(BinOp::Ne, start, C::id("MESSAGE_ABSENT"));
    C::and(memory.clone(), there)
}

/// `matches`: whether a regular expression is found in an attribute of the message that was read last.
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
    let Some(known) = object::object(g, object) else {
        return;
    };
    let (Some((member, kind)), Some(&result)) =
        (known.attributes.get(name).cloned(), call.result.first())
    else {
        return;
    };
    let name_text = known.name_text.clone().filter(|_| kind == Kind::DnsName);
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
            let found = member.of(memory.clone());
            let start = found.clone().member("start");
            let (start, size) = match name_text {
                Some(name_text) => {
                    let args = vec![memory.clone(), start, C::int(0)];
                    let size = declare(g, CType::U32, "size", C::call(name_text, args));
                    (C::int(0), size)
                }
                None => (start, found.member("length")),
            };
            let args = vec![memory.clone(), start, size];
            g.store(result, Value::Scalar(C::call(function, args)));
        });
        g.push(Stmt::If(there, then, Block::new()));
    });
    g.push(Stmt::Block(block));
}

/// A number in a destination of so many bits.
fn fitted(number: C, width: u32) -> C {
    match width {
        0..=32 => number.cast(CType::U32),
        64 => number,
        // One that is negative has a destination of 64 bits.
        _ => C::bin(BinOp::And, number, C::int(lower::mask(width))),
    }
}

/// The first bytes of a value, the first one the highest, zeros behind its last.
fn first_bytes(bytes: &C, start: Option<&C>, size: &C, count: u32) -> Value {
    // Of which byte on, and how many bytes, each limb has, the lowest first.
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
