//! P4 as a tree: the subset of the language that a query's program uses besides its include files.

/// Program: the names of its include files, and its declarations.
pub(super) struct Program {
    /// Lines of the comment at its top.
    pub comment: Vec<String>,
    pub includes: Vec<&'static str>,
    pub enums: Vec<Enum>,
    pub structs: Vec<Struct>,
    pub control: Control,
    /// Instance of the package.
    pub main: Expr,
}

/// Enum with numbers.
pub(super) struct Enum {
    pub name: &'static str,
    pub bits: u32,
    /// Members: name, value, and comment.
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
    /// Parameters of direction `in`.
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
    /// A loop with a counter from 0 and a greatest number of iterations, as long as the condition holds.
    For(&'static str, u32, Expr, Block),
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Name(String),
    Member(Box<Expr>, String),
    Number(u64),
    /// A number of as many bits as these bytes have.
    Bytes(Vec<u8>),
    Bool(bool),
    Text(String),
    List(Vec<Expr>),
    Not(Box<Expr>),
    Cast(Type, Box<Expr>),
    /// A slice from the more significant bit to the less significant one.
    Slice(Box<Expr>, usize, usize),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// A conjunction.
    All(Vec<Expr>),
    /// A disjunction.
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

/// Builds a call of a function.
pub(super) fn call(function: impl Into<String>, args: Vec<Expr>) -> Expr {
    Expr::Call(name(function).into(), args)
}

pub(super) fn declare(ty: Type, name: impl Into<String>, value: Expr) -> Stmt {
    Stmt::Declare(ty, name.into(), Some(value))
}

/// Declares a variable without a value.
pub(super) fn variable(ty: Type, name: impl Into<String>) -> Stmt {
    Stmt::Declare(ty, name.into(), None)
}

pub(super) fn when(condition: Expr, then: Block) -> Stmt {
    Stmt::If(condition, then, Block::new())
}

/// Builds a conjunction; a single part is returned as it is.
pub(super) fn all(parts: impl IntoIterator<Item = Expr>) -> Expr {
    joined(parts, Expr::All, true)
}

/// Builds a disjunction; a single part is returned as it is.
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

    /// Builds a call of a method.
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

    /// Tests that a header is valid.
    pub(super) fn valid(self) -> Expr {
        self.method("isValid", Vec::new())
    }
}
