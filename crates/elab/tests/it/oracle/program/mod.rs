//! Random programs made for effects: functions, actions, controls and tables that change what they are given, called wherever
//! an expression may stand, with arguments that overlap, in any order, beside all that leaves a body early.

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
    /// What the call begins with.
    text: String,
    params: Vec<Param>,
    result: Option<Ty>,
    /// Whether it may exit.
    exits: bool,
}

/// A table of the control around.
#[derive(Clone, Debug)]
struct Table {
    text: String,
    actions: Vec<String>,
    exits: bool,
}

/// Bodies, by what may be in them.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Body {
    Parser,
    Function(Option<Ty>),
    Action,
    Apply,
}

/// What can be used at a place in the program.
#[derive(Clone, Debug)]
struct Scope {
    body: Body,
    names: Vec<Name>,
    /// Actions and controls.
    callables: Vec<Callable>,
    tables: Vec<Table>,
    /// Loops around.
    loops: usize,
    /// Whether something may exit here.
    may_exit: bool,
}

/// Makes programs.
struct Generator<'n> {
    numbers: &'n mut Numbers,
    functions: Vec<Callable>,
    scope: Scope,
    /// The number of the name that a statement uses more often than others: effects are seen where things meet.
    favourite: usize,
    /// How many names have been made.
    named: usize,
    /// How much more may be made.
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

    /// Brings something into scope, with the parts that it has.
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

    /// A name that nothing else has.
    fn fresh(&mut self, prefix: &str) -> String {
        self.named += 1;
        format!("{prefix}{}", self.named)
    }

    /// Whether to make something of several parts; it uses up fuel.
    fn goes_on(&mut self, depth: usize) -> bool {
        let goes_on = depth > 0 && self.fuel > 0;
        self.fuel -= usize::from(goes_on);
        goes_on
    }
}

/// A text with its lines moved in by its braces.
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
