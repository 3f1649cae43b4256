//! Regular expressions: the automaton as tables in read-only data, and one loop that runs it on bytes in memory.

use super::cursor::offset;
use super::object::{array, copied, memory_of_payload, push_reader};
use super::writer::{MEMORY, mask};
use crate::calls::values;
use crate::target::{GLOBAL_FUNC, Gen};
use arch::payload::MOST_BYTES;
use cgen::lower;
use cgen::tree::{Block, Expr as C, Stmt, Type as CType};
use emit::Function;
use ir::{ExternArg, ExternCall};
use payload::{Pattern, Table};
use smol_str::SmolStr;

/// The memory that a function looks at: the struct, the member with the bytes, and what offsets there are masked by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bytes {
    pub structure: SmolStr,
    pub member: &'static str,
    pub mask: C,
}

/// The function that says whether an expression is found in so many bytes of a memory from an offset on. It is made on first use; `None`
/// if there is none, for which the program was refused.
pub(super) fn function(g: &mut Gen<'_>, text: &str, bytes: &Bytes) -> Option<SmolStr> {
    let known = g.file.own.patterns.iter();
    let known = known.filter(|known| known.text == text);
    if let Some(known) = known.clone().find(|known| known.bytes == *bytes) {
        return Some(known.function.clone());
    }
    let tables = match known.map(|known| known.tables.clone()).next() {
        Some(tables) => tables,
        None => tables(g, &Pattern::new(text).ok()?.table().ok()?),
    };
    let name = g.file.names.fresh(&format!("{}_matches", bytes.structure));
    let mut args = vec![
        C::id(MEMORY).arrow(bytes.member),
        bytes.mask.clone(),
        C::id("at"),
        C::id("length"),
    ];
    args.extend(tables.iter().cloned());
    let none = vec![Stmt::Return(Some(C::int(0)))];
    g.file.functions.push(Function {
        linkage: GLOBAL_FUNC.into(),
        name: name.clone(),
        result: CType::U32,
        params: vec![
            (CType::Struct(bytes.structure.clone()).ptr(), MEMORY.into()),
            (CType::U32, "at".into()),
            (CType::U32, "length".into()),
        ],
        body: vec![
            Stmt::If(C::not(C::id(MEMORY)), none, Block::new()),
            Stmt::Return(Some(C::call("message_matches", args))),
        ],
    });
    g.file.own.patterns.push(Known {
        text: text.to_owned(),
        bytes: bytes.clone(),
        tables,
        function: name.clone(),
    });
    Some(name)
}

/// A function that was made.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    text: String,
    bytes: Bytes,
    /// The last arguments of `message_matches`.
    tables: Vec<C>,
    function: SmolStr,
}

/// The classes and transitions as constant arrays: what `message_matches` is told of them.
fn tables(g: &mut Gen<'_>, table: &Table) -> Vec<C> {
    let array = |g: &mut Gen<'_>,
                 wish: &str,
                 ty: CType,
                 size: usize,
                 values: &mut dyn Iterator<Item = u64>| {
        let name = g.file.names.fresh(wish);
        g.file.structs.push(array(&name, ty, size, values));
        C::Ident(name)
    };
    let classes = array(
        g,
        "classes",
        CType::U8,
        256,
        &mut table.classes.iter().map(|&class| class.into()),
    );
    // The mask of a place takes no more of it than what is there.
    let size = table.next.len().next_power_of_two();
    let next = array(
        g,
        "transitions",
        CType::U16,
        size,
        &mut table.next.iter().map(|&next| next.into()),
    );
    let number = |number: u16| C::int(number.into());
    vec![
        classes,
        next,
        C::int(size as u64 - 1),
        number(table.start),
        number(table.found),
        number(table.last()),
    ]
}

/// `payload_matches`
pub(super) fn payload(g: &mut Gen<'_>, call: &ExternCall, parsed: C) {
    let (Some(ExternArg::String(text)), [length]) = (call.args.get(2), values(call, 1)) else {
        return;
    };
    let (map, structure) = memory_of_payload(g);
    let bytes = Bytes {
        mask: mask(),
        member: "bytes",
        structure: structure.clone(),
    };
    let Some(function) = function(g, text, &bytes) else {
        return;
    };
    let readers = &g.file.own.pattern_readers;
    let known = readers.iter().find(|(known, _)| *known == function);
    let reader = match known.map(|(_, reader)| reader.clone()) {
        Some(known) => known,
        None => {
            let reader = g.file.names.fresh(&format!("{function}_at"));
            let mut body = copied(&map, &structure, &[], MOST_BYTES, &C::int(0));
            let args = vec![C::id(MEMORY), C::int(0), C::id("left")];
            body.push(Stmt::Return(Some(C::call(function.clone(), args))));
            push_reader(g, &reader, body);
            let readers = &mut g.file.own.pattern_readers;
            readers.push((function, reader.clone()));
            reader
        }
    };
    let length = lower::scalar(g, *length);
    let args = vec![
        C::id("ctx"),
        parsed,
        offset(g, call),
        length,
        emit::packet_length(),
    ];
    g.result(call, C::call(reader, args));
}
