//! Regular expressions: the automaton as tables in read-only data, and a loop that runs it on bytes in memory.

use crate::file::File;
use crate::writer::{MEMORY, mask};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::Function;
use payload::{Pattern, Table};
use smol_str::SmolStr;

/// Memory that a function searches: the struct, the member with the bytes, and the mask of offsets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bytes {
    structure: SmolStr,
    member: &'static str,
    mask: C,
}

impl Bytes {
    /// Bytes of a message in its memory.
    pub fn message(structure: &SmolStr) -> Bytes {
        Bytes {
            structure: structure.clone(),
            member: "bytes",
            mask: mask(),
        }
    }

    /// Bytes of a name's text in the same memory.
    pub fn text(structure: &SmolStr) -> Bytes {
        Bytes {
            structure: structure.clone(),
            member: "text",
            mask: C::bin(BinOp::Sub, C::id("MESSAGE_TEXT"), C::int(1)),
        }
    }
}

/// Regular expressions of a file: their automata by text, and the functions that search for them.
#[derive(Clone, Default, Debug)]
pub struct Patterns {
    automata: Vec<(String, Automaton)>,
    functions: Vec<Known>,
}

/// Function that was emitted.
#[derive(Clone, Debug)]
struct Known {
    text: String,
    bytes: Bytes,
    gives: Gives,
    function: SmolStr,
}

/// Result of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gives {
    Found,
    State,
}

impl Patterns {
    /// Returns the function that searches a range of a memory for an expression; emits it on first use. `None` if the
    /// expression has no automaton; then the program has been refused.
    pub fn matching(&mut self, file: &mut File<'_>, text: &str, bytes: &Bytes) -> Option<SmolStr> {
        let automaton = self.automaton(file, text)?;
        Some(self.searching(file, text, &automaton, bytes, Gives::Found))
    }

    /// Returns the function that computes the state of an expression's automaton after a range of a memory, with the
    /// automaton.
    pub(crate) fn beginning(
        &mut self,
        file: &mut File<'_>,
        text: &str,
        bytes: &Bytes,
    ) -> Option<(SmolStr, Automaton)> {
        let automaton = self.automaton(file, text)?;
        let function = self.searching(file, text, &automaton, bytes, Gives::State);
        Some((function, automaton))
    }

    fn searching(
        &mut self,
        file: &mut File<'_>,
        text: &str,
        automaton: &Automaton,
        bytes: &Bytes,
        gives: Gives,
    ) -> SmolStr {
        let is_it =
            |known: &&Known| known.text == text && known.bytes == *bytes && known.gives == gives;
        if let Some(known) = self.functions.iter().find(is_it) {
            return known.function.clone();
        }
        let what = match gives {
            Gives::Found => "matches",
            Gives::State => "begins",
        };
        let name = file.names.fresh(&format!("{}_{what}", bytes.structure));
        let state = automaton.run(
            C::id(MEMORY).arrow(bytes.member),
            bytes.mask.clone(),
            (C::id("at"), C::id("length")),
            automaton.start(),
        );
        let none = vec![Stmt::Return(Some(C::int(0)))];
        file.functions.push(Function {
            linkage: file.target.linkage.into(),
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
        self.functions.push(Known {
            text: text.to_owned(),
            bytes: bytes.clone(),
            gives,
            function: name.clone(),
        });
        name
    }

    /// Returns the automaton of an expression; declares it on first use. `None` if there is none; then the program has
    /// been refused.
    pub fn automaton(&mut self, file: &mut File<'_>, text: &str) -> Option<Automaton> {
        if let Some((_, known)) = self.automata.iter().find(|(known, _)| known == text) {
            return Some(known.clone());
        }
        let table = Pattern::new(text).ok()?.table().ok()?;
        let made = Automaton::declared(file, &table);
        self.automata.push((text.to_owned(), made.clone()));
        Some(made)
    }
}

/// Automaton as constant arrays, with the other arguments of `message_run`.
#[derive(Clone, Debug)]
pub struct Automaton {
    classes: C,
    next: C,
    /// Mask of the indices of transitions.
    mask: C,
    start: u16,
    found: u16,
    last: u16,
}

impl Automaton {
    fn declared(file: &mut File<'_>, table: &Table) -> Automaton {
        let classes = &mut table.classes.iter().map(|&class| class.into());
        let classes = file.array("classes", CType::U8, 256, classes);
        // The mask must not change any valid index.
        let size = table.next.len().next_power_of_two();
        let next = &mut table.next.iter().map(|&next| next.into());
        let next = file.array("transitions", CType::U16, size, next);
        Automaton {
            classes,
            next,
            mask: C::int(size as u64 - 1),
            start: table.start,
            found: table.found,
            last: table.last(),
        }
    }

    /// Returns the initial state.
    pub fn start(&self) -> C {
        C::int(self.start.into())
    }

    /// Runs the automaton on bytes of a memory, and returns the last state.
    pub fn run(&self, bytes: C, mask: C, (at, left): (C, C), state: C) -> C {
        let tables = [&self.classes, &self.next, &self.mask].map(C::clone);
        let mut args = vec![bytes, mask, at, left];
        args.extend(tables);
        args.extend([state, C::int(self.last.into())]);
        C::call("message_run", args)
    }

    /// Tests that the expression matches if the bytes end in this state.
    pub fn has_found(&self, state: C) -> C {
        C::bin(BinOp::Ge, state, C::int(self.found.into()))
    }

    /// Tests that no byte changes the state.
    pub fn stays(&self, state: C) -> C {
        let is = |number: u16| C::bin(BinOp::Eq, state.clone(), C::int(number.into()));
        C::or(is(0), is(self.last))
    }
}
