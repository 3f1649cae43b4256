//! Random programs that exercise effects. Functions, actions, controls and tables change their arguments, and are
//! called wherever an expression may stand. Arguments overlap and come in any order, and bodies are left early in
//! all ways.

mod declarations;
mod expr;
mod stmt;

use super::packet::Parts;
use crate::support::Numbers;

/// Types of values.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Ty {
    Nibble,
    Byte,
    Word,
    Signed,
    Bool,
    Pair,
    Header,
    /// The other header of a union.
    Other,
    Stack,
    Union,
}

impl Ty {
    fn text(self) -> &'static str {
        match self {
            Ty::Nibble => "bit<4>",
            Ty::Byte => "bit<8>",
            Ty::Word => "bit<16>",
            Ty::Signed => "int<8>",
            Ty::Bool => "bool",
            Ty::Pair => "pair_t",
            Ty::Header => "h_t",
            Ty::Other => "g_t",
            Ty::Stack => "h_t[4]",
            Ty::Union => "u_t",
        }
    }
}

/// Something in scope that holds a value. `@` in its text stands for an index.
#[derive(Clone, Debug)]
struct Name {
    text: String,
    ty: Ty,
    writable: bool,
}

#[derive(Clone, Debug)]
struct Param {
    name: String,
    direction: &'static str,
    ty: Ty,
}

/// Something that can be called.
#[derive(Clone, Debug)]
struct Callable {
    /// Beginning of the call.
    text: String,
    params: Vec<Param>,
    result: Option<Ty>,
    /// True if it may exit.
    exits: bool,
}

/// A table of the enclosing control.
#[derive(Clone, Debug)]
struct Table {
    text: String,
    actions: Vec<String>,
    exits: bool,
}

/// Bodies, by the statements that they may have.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Body {
    Parser,
    Function(Option<Ty>),
    Action,
    Apply,
}

/// Names that can be used at a point of the program.
#[derive(Clone, Debug)]
struct Scope {
    body: Body,
    names: Vec<Name>,
    /// Actions and controls.
    callables: Vec<Callable>,
    tables: Vec<Table>,
    /// Number of enclosing loops.
    loops: usize,
    /// True if a statement may exit here.
    may_exit: bool,
}

/// Generator of programs.
struct Generator<'n> {
    numbers: &'n mut Numbers,
    functions: Vec<Callable>,
    scope: Scope,
    /// Number of the name that a statement uses more often than others, so that effects interact.
    favourite: usize,
    /// Number of names that have been made.
    named: usize,
    /// Number of constructs that may still be made.
    fuel: usize,
}

/// A random program's own parts.
pub(super) fn random(numbers: &mut Numbers) -> Parts {
    let mut generator = Generator {
        numbers,
        functions: Vec::new(),
        scope: Scope::new(Body::Apply),
        favourite: 0,
        named: 0,
        fuel: 0,
    };
    Parts {
        top: indented(&generator.functions()),
        parsing: indented(&generator.parsing()),
        controls: indented(&generator.controls()),
    }
}

impl Scope {
    fn new(body: Body) -> Scope {
        Scope {
            body,
            names: Vec::new(),
            callables: Vec::new(),
            tables: Vec::new(),
            loops: 0,
            may_exit: false,
        }
    }

    /// Brings the headers into scope.
    fn declare_headers(&mut self) {
        for (text, ty) in [
            ("hdr.e.a", Ty::Byte),
            ("hdr.e.b", Ty::Byte),
            ("hdr.e.c", Ty::Byte),
            ("hdr.e.w", Ty::Word),
            ("hdr.e.d", Ty::Signed),
            ("hdr.e.r[@]", Ty::Byte),
            ("hdr.h", Ty::Header),
            ("hdr.s", Ty::Stack),
            ("hdr.u", Ty::Union),
        ] {
            self.declare(text, ty, true);
        }
    }

    /// Brings something into scope, with its parts.
    fn declare(&mut self, text: &str, ty: Ty, writable: bool) {
        let parts: &[(&str, Ty)] = match ty {
            Ty::Pair => &[(".p", Ty::Byte), (".q", Ty::Byte)],
            Ty::Header => &[(".x", Ty::Byte), (".y", Ty::Byte)],
            Ty::Other => &[(".z", Ty::Word)],
            Ty::Stack => &[("[@]", Ty::Header)],
            Ty::Union => &[(".h", Ty::Header), (".g", Ty::Other)],
            _ => &[],
        };
        self.names.push(Name {
            text: text.to_owned(),
            ty,
            writable,
        });
        for (part, ty) in parts {
            self.declare(&format!("{text}{part}"), *ty, writable);
        }
    }
}

impl Generator<'_> {
    fn below(&mut self, limit: usize) -> usize {
        self.numbers.below(limit)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn any<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Returns a name that nothing else has.
    fn fresh(&mut self, prefix: &str) -> String {
        self.named += 1;
        format!("{prefix}{}", self.named)
    }

    /// Returns true if a construct of several parts is to be made; this uses up fuel.
    fn goes_on(&mut self, depth: usize) -> bool {
        let goes_on = depth > 0 && self.fuel > 0;
        self.fuel -= usize::from(goes_on);
        goes_on
    }
}

/// Indents the lines of a text by its braces.
fn indented(text: &str) -> String {
    let (mut out, mut level) = (String::new(), 0usize);
    for line in text.lines() {
        let (opens, closes) = (line.matches('{').count(), line.matches('}').count());
        let own = level - usize::from(line.starts_with('}'));
        out += &"    ".repeat(own);
        out += line;
        out.push('\n');
        level = level + opens - closes;
    }
    out
}
