//! P4 as a tree: as much of the language as the program of a query has beside what its include files declare.

/// A program: its include files' names, and what it declares.
pub(super) struct Program {
    /// The lines of the comment at its top.
    pub comment: Vec<String>,
    pub includes: Vec<&'static str>,
    pub enums: Vec<Enum>,
    pub structs: Vec<Struct>,
    pub control: Control,
    /// The instance of the package.
    pub main: Expr,
}

/// Numbers with names.
pub(super) struct Enum {
    pub name: &'static str,
    pub bits: u32,
    /// Names and values, each with its comment.
    pub members: Vec<(&'static str, u32, &'static str)>,
}

/// A struct's declaration.
pub(super) struct Struct {
    pub name: String,
    pub fields: Vec<(Type, String)>,
}

/// A control's declaration.
pub(super) struct Control {
    pub name: &'static str,
    /// Its `in` parameters.
    pub params: Vec<(Type, &'static str)>,
    pub instances: Vec<Instance>,
    pub apply: Block,
}

/// An instance of an extern or a control.
pub(super) struct Instance {
    pub ty: Type,
    pub args: Vec<Expr>,
    pub name: String,
    pub comment: Option<String>,
}

/// A type.
#[derive(Clone, Debug)]
pub(super) enum Type {
    Bits(u32),
    Signed(u32),
    Bool,
    Named(String),
    Generic(&'static str, Vec<Type>),
}

pub(super) type Block = Vec<Stmt>;

/// A statement.
pub(super) enum Stmt {
    Comment(&'static str),
    Declare(Type, String, Option<Expr>),
    Assign(Expr, Expr),
    Call(Expr),
    If(Expr, Block, Block),
    /// Turns that are counted from 0 on by a variable, at most so many, as long as the condition holds.
    Turns(&'static str, u32, Expr, Block),
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Name(String),
    Member(Box<Expr>, String),
    Number(u64),
    /// As many bits as the bytes have.
    Bytes(Vec<u8>),
    Bool(bool),
    Text(String),
    List(Vec<Expr>),
    Not(Box<Expr>),
    Cast(Type, Box<Expr>),
    /// Its bits from the first, the more significant one, to the last.
    Slice(Box<Expr>, usize, usize),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// True if all are.
    All(Vec<Expr>),
    /// True if any is.
    Any(Vec<Expr>),
    Call(Box<Expr>, Vec<Expr>),
}

pub(super) fn named(name: impl Into<String>) -> Type {
    Type::Named(name.into())
}

pub(super) fn name(name: impl Into<String>) -> Expr {
    Expr::Name(name.into())
}

pub(super) fn text(text: impl Into<String>) -> Expr {
    Expr::Text(text.into())
}

pub(super) fn number(number: impl Into<u64>) -> Expr {
    Expr::Number(number.into())
}

/// A call of a function.
pub(super) fn call(function: impl Into<String>, args: Vec<Expr>) -> Expr {
    Expr::Call(name(function).into(), args)
}

pub(super) fn declare(ty: Type, name: impl Into<String>, value: Expr) -> Stmt {
    Stmt::Declare(ty, name.into(), Some(value))
}

/// A variable that has no value yet.
pub(super) fn variable(ty: Type, name: impl Into<String>) -> Stmt {
    Stmt::Declare(ty, name.into(), None)
}

pub(super) fn when(condition: Expr, then: Block) -> Stmt {
    Stmt::If(condition, then, Block::new())
}

/// True if all are; one alone is itself.
pub(super) fn all(parts: impl IntoIterator<Item = Expr>) -> Expr {
    joined(parts, Expr::All, true)
}

/// True if any is; one alone is itself.
pub(super) fn any(parts: impl IntoIterator<Item = Expr>) -> Expr {
    joined(parts, Expr::Any, false)
}

fn joined(parts: impl IntoIterator<Item = Expr>, many: fn(Vec<Expr>) -> Expr, none: bool) -> Expr {
    let mut parts: Vec<Expr> = parts.into_iter().collect();
    match (parts.pop(), parts.is_empty()) {
        (None, _) => Expr::Bool(none),
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            many(parts)
        }
    }
}

impl Expr {
    pub(super) fn member(self, name: impl Into<String>) -> Expr {
        Expr::Member(self.into(), name.into())
    }

    /// A call of one of its methods.
    pub(super) fn method(self, method: &str, args: Vec<Expr>) -> Expr {
        Expr::Call(self.member(method).into(), args)
    }

    pub(super) fn binary(self, operator: &'static str, right: Expr) -> Expr {
        Expr::Binary(operator, self.into(), right.into())
    }

    pub(super) fn equals(self, right: Expr) -> Expr {
        self.binary("==", right)
    }

    pub(super) fn not(self) -> Expr {
        Expr::Not(self.into())
    }

    pub(super) fn cast(self, ty: Type) -> Expr {
        Expr::Cast(ty, self.into())
    }

    /// True if a header is there.
    pub(super) fn valid(self) -> Expr {
        self.method("isValid", Vec::new())
    }
}
