//! Regular expressions: the automaton as tables in read-only data, and one loop that runs it on bytes in memory.

use crate::file::File;
use crate::writer::{MEMORY, mask};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::Function;
use payload::{Pattern, Table};
use smol_str::SmolStr;

/// The memory that a function looks at: the struct, the member with the bytes, and what offsets there are masked by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bytes {
    structure: SmolStr,
    member: &'static str,
    mask: C,
}

impl Bytes {
    /// Those of a message in its memory.
    pub fn message(structure: &SmolStr) -> Bytes {
        Bytes {
            structure: structure.clone(),
            member: "bytes",
            mask: mask(),
        }
    }

    /// Those of the text of a name, in the same memory.
    pub fn text(structure: &SmolStr) -> Bytes {
        Bytes {
            structure: structure.clone(),
            member: "text",
            mask: C::bin(BinOp::Sub, C::id("MESSAGE_TEXT"), C::int(1)),
        }
    }
}

/// The regular expressions of a file: their automata by their texts, and the functions that look for them.
#[derive(Clone, Default, Debug)]
pub struct Patterns {
    automata: Vec<(String, Automaton)>,
    functions: Vec<Known>,
}

/// A function that was made.
#[derive(Clone, Debug)]
struct Known {
    text: String,
    bytes: Bytes,
    gives: Gives,
    function: SmolStr,
}

/// The result of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gives {
    Found,
    State,
}

impl Patterns {
    /// The function that says whether an expression is found in so many bytes of a memory from an offset on. It is made on first use;
    /// `None` if there is none, for which the program was refused.
    pub fn matching(&mut self, file: &mut File<'_>, text: &str, bytes: &Bytes) -> Option<SmolStr> {
        let automaton = self.automaton(file, text)?;
        Some(self.searching(file, text, &automaton, bytes, Gives::Found))
    }

    /// The function that gives the state of an expression's automaton after so many bytes of a memory, with the automaton.
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

    /// The automaton of an expression, declared on first use; `None` if there is none, for which the program was refused.
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

/// An automaton as constant arrays, with the other arguments of `message_run`.
#[derive(Clone, Debug)]
pub struct Automaton {
    classes: C,
    next: C,
    /// The mask of places of transitions.
    mask: C,
    start: u16,
    found: u16,
    last: u16,
}

impl Automaton {
    fn declared(file: &mut File<'_>, table: &Table) -> Automaton {
        let classes = &mut table.classes.iter().map(|&class| class.into());
        let classes = file.array("classes", CType::U8, 256, classes);
        // The mask of a place takes no more of it than what is there.
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

    /// The state to begin with.
    pub fn start(&self) -> C {
        C::int(self.start.into())
    }

    /// The state after so many bytes of a memory from an offset on.
    pub fn run(&self, bytes: C, mask: C, (at, left): (C, C), state: C) -> C {
        let tables = [&self.classes, &self.next, &self.mask].map(C::clone);
        let mut args = vec![bytes, mask, at, left];
        args.extend(tables);
        args.extend([state, C::int(self.last.into())]);
        C::call("message_run", args)
    }

    /// True if the expression is found when nothing follows.
    pub fn has_found(&self, state: C) -> C {
        C::bin(BinOp::Ge, state, C::int(self.found.into()))
    }

    /// True if no byte changes the state.
    pub fn stays(&self, state: C) -> C {
        let is = |number: u16| C::bin(BinOp::Eq, state.clone(), C::int(number.into()));
        C::or(is(0), is(self.last))
    }
}
