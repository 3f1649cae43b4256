//! Regular expressions: the automaton as tables in read-only data, and one loop that runs it on bytes in memory.

use super::cursor::offset;
use super::object::array;
use super::pieces;
use super::writer::{MEMORY, mask};
use crate::calls::values;
use crate::target::{GLOBAL_FUNC, Gen};
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
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

impl Bytes {
    /// Those of a message in the memory of its object.
    pub(super) fn message(structure: &SmolStr) -> Bytes {
        Bytes {
            structure: structure.clone(),
            member: "bytes",
            mask: mask(),
        }
    }
}

/// The function that says whether an expression is found in so many bytes of a memory from an offset on. It is made on first use; `None`
/// if there is none, for which the program was refused.
pub(super) fn function(g: &mut Gen<'_>, text: &str, bytes: &Bytes) -> Option<SmolStr> {
    searching(g, text, bytes, Gives::Found).map(|(function, _)| function)
}

/// The function that gives the state of an expression's automaton after so many bytes of a memory, with the automaton.
pub(super) fn beginning(
    g: &mut Gen<'_>,
    text: &str,
    bytes: &Bytes,
) -> Option<(SmolStr, Automaton)> {
    searching(g, text, bytes, Gives::State)
}

/// The result of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gives {
    Found,
    State,
}

fn searching(
    g: &mut Gen<'_>,
    text: &str,
    bytes: &Bytes,
    gives: Gives,
) -> Option<(SmolStr, Automaton)> {
    let automaton = automaton(g, text)?;
    let mut known = g.file.own.patterns.iter();
    let is_it =
        |known: &&Known| known.text == text && known.bytes == *bytes && known.gives == gives;
    if let Some(known) = known.find(is_it) {
        return Some((known.function.clone(), automaton));
    }
    let what = match gives {
        Gives::Found => "matches",
        Gives::State => "begins",
    };
    let name = g.file.names.fresh(&format!("{}_{what}", bytes.structure));
    let state = automaton.run(
        C::id(MEMORY).arrow(bytes.member),
        bytes.mask.clone(),
        (C::id("at"), C::id("length")),
        automaton.start(),
    );
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
            Stmt::Return(Some(match gives {
                Gives::Found => automaton.has_found(state),
                Gives::State => state,
            })),
        ],
    });
    g.file.own.patterns.push(Known {
        text: text.to_owned(),
        bytes: bytes.clone(),
        gives,
        function: name.clone(),
    });
    Some((name, automaton))
}

/// A function that was made.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    text: String,
    bytes: Bytes,
    gives: Gives,
    function: SmolStr,
}

/// An automaton as constant arrays, with the other arguments of `message_run`.
#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    classes: C,
    next: C,
    /// What places of transitions are masked by.
    mask: C,
    start: u16,
    found: u16,
    last: u16,
}

impl Automaton {
    /// The state to begin with.
    pub(super) fn start(&self) -> C {
        C::int(self.start.into())
    }

    /// The state after so many bytes of a memory from an offset on.
    pub(super) fn run(&self, bytes: C, mask: C, (at, left): (C, C), state: C) -> C {
        let tables = [&self.classes, &self.next, &self.mask].map(C::clone);
        let mut args = vec![bytes, mask, at, left];
        args.extend(tables);
        args.extend([state, C::int(self.last.into())]);
        C::call("message_run", args)
    }

    /// Whether the expression is found if nothing follows.
    pub(super) fn has_found(&self, state: C) -> C {
        C::bin(BinOp::Ge, state, C::int(self.found.into()))
    }

    /// Whether no byte changes the state.
    pub(super) fn stays(&self, state: C) -> C {
        let is = |number: u16| C::bin(BinOp::Eq, state.clone(), C::int(number.into()));
        C::or(is(0), is(self.last))
    }
}

/// The automaton of an expression, declared on first use; `None` if there is none, for which the program was refused.
pub(super) fn automaton(g: &mut Gen<'_>, text: &str) -> Option<Automaton> {
    let known = &g.file.own.automata;
    if let Some((_, known)) = known.iter().find(|(known, _)| known == text) {
        return Some(known.clone());
    }
    let table = Pattern::new(text).ok()?.table().ok()?;
    let made = declared(g, &table);
    let known = &mut g.file.own.automata;
    known.push((text.to_owned(), made.clone()));
    Some(made)
}

fn declared(g: &mut Gen<'_>, table: &Table) -> Automaton {
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
    Automaton {
        classes,
        next,
        mask: C::int(size as u64 - 1),
        start: table.start,
        found: table.found,
        last: table.last(),
    }
}

/// `payload_matches`
pub(super) fn payload(g: &mut Gen<'_>, call: &ExternCall, parsed: C) {
    let (Some(ExternArg::String(text)), [length]) = (call.args.get(2), values(call, 1)) else {
        return;
    };
    let Some(function) = pieces::matches(g, text) else {
        return;
    };
    let length = lower::scalar(g, *length);
    let args = vec![
        C::id("ctx"),
        parsed,
        offset(g, call),
        length,
        g.packet_length(),
    ];
    g.result(call, C::call(function, args));
}
