//! The C tree: what generated code is made of.

use smol_str::SmolStr;

/// A C type.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Type {
    U8,
    U16,
    U32,
    U64,
    S32,
    S64,
    Int,
    Void,
    /// `struct name`
    Struct(SmolStr),
    /// A type known by name (a typedef).
    Named(SmolStr),
    /// Pointer to a type.
    Ptr(Box<Type>),
    /// Array of a type.
    Array(Box<Type>, u32),
}

impl Type {
    /// A pointer to this type.
    pub fn ptr(self) -> Type {
        Type::Ptr(Box::new(self))
    }

    /// An array of this type.
    pub fn array(self, len: u32) -> Type {
        Type::Array(Box::new(self), len)
    }

    /// The smallest unsigned register type that holds a value of this width: expressions are 32 or
    /// 64 bits wide, as registers are.
    pub fn register(width: u32) -> Type {
        if width <= 32 { Type::U32 } else { Type::U64 }
    }
}

/// A prefix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum UnOp {
    Neg,
    BitNot,
    Not,
    Addr,
    Deref,
}

/// An infix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum BinOp {
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
}

/// What a call does besides giving a value. Who makes the call knows; a name says nothing about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing: the call may go if nobody wants its value.
    Pure,
    /// Something, perhaps: the call stays.
    Impure,
}

/// What a call calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callee {
    /// The function or function-like macro.
    pub name: SmolStr,
    /// What calling it does.
    pub effect: Effect,
}

/// A C expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// A name.
    Ident(SmolStr),
    /// An integer, printed as a register of its own size: decimal when small, else hexadecimal, and
    /// with a suffix that makes it unsigned if `typed`.
    Int {
        /// The value.
        value: u64,
        /// Whether the literal must have the type `u32` (or `u64` if `wide`) by itself.
        typed: bool,
        /// Whether it is one of 64 bits.
        wide: bool,
    },
    /// A signed integer.
    Signed(i64),
    /// A call of a function or function-like macro.
    Call(Callee, Vec<Expr>),
    /// Prefix operator.
    Unary(UnOp, Box<Expr>),
    /// Infix operator.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `cond ? then : otherwise`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(type)operand`
    Cast(Type, Box<Expr>),
    /// `base[index]`
    Index(Box<Expr>, Box<Expr>),
    /// `base.name`
    Member(Box<Expr>, SmolStr),
    /// `base->name`
    Arrow(Box<Expr>, SmolStr),
    /// `sizeof(type)`
    SizeOf(Type),
    /// `{ a, b }` as an initialiser, with member names where there are any.
    Init(Vec<(Option<SmolStr>, Expr)>),
    /// `(type){ ... }`
    Compound(Type, Vec<(Option<SmolStr>, Expr)>),
}

impl Expr {
    /// A name.
    pub fn id(name: impl Into<SmolStr>) -> Expr {
        Expr::Ident(name.into())
    }

    /// An integer whose literal type does not matter where it stands.
    pub fn int(value: u64) -> Expr {
        Expr::Int {
            value,
            typed: false,
            wide: false,
        }
    }

    /// A call that may have an effect.
    pub fn call(name: impl Into<SmolStr>, args: Vec<Expr>) -> Expr {
        let (name, effect) = (name.into(), Effect::Impure);
        Expr::Call(Callee { name, effect }, args)
    }

    /// A call of which nothing but the value matters.
    pub fn pure(name: impl Into<SmolStr>, args: Vec<Expr>) -> Expr {
        let (name, effect) = (name.into(), Effect::Pure);
        Expr::Call(Callee { name, effect }, args)
    }

    /// Whether nothing but the value matters.
    pub fn is_pure(&self) -> bool {
        let own = match self {
            Expr::Call(callee, _) => callee.effect == Effect::Pure,
            _ => true,
        };
        own && self.parts().into_iter().all(Expr::is_pure)
    }

    /// The expressions that this one is made of.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Ident(_) | Expr::Int { .. } | Expr::Signed(_) | Expr::SizeOf(_) => Vec::new(),
            Expr::Call(_, args) => args.iter().collect(),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) | Expr::Arrow(a, _) => {
                vec![a]
            }
            Expr::Binary(_, a, b) | Expr::Index(a, b) => vec![a, b],
            Expr::Cond(a, b, c) => vec![a, b, c],
            Expr::Init(list) | Expr::Compound(_, list) => list.iter().map(|(_, e)| e).collect(),
        }
    }

    /// An infix operation.
    pub fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// `!a`, or the opposite comparison.
    #[allow(clippy::should_implement_trait)]
    pub fn not(a: Expr) -> Expr {
        match a {
            Expr::Int { value, .. } => Expr::int(u64::from(value == 0)),
            Expr::Binary(op, x, y) => match op.inverse() {
                Some(inverse) => Expr::Binary(inverse, x, y),
                None => Expr::Unary(UnOp::Not, Box::new(Expr::Binary(op, x, y))),
            },
            Expr::Unary(UnOp::Not, x) => *x,
            other => Expr::Unary(UnOp::Not, Box::new(other)),
        }
    }

    /// `base->name`
    pub fn arrow(self, name: impl Into<SmolStr>) -> Expr {
        Expr::Arrow(Box::new(self), name.into())
    }

    /// `base.name`
    pub fn member(self, name: impl Into<SmolStr>) -> Expr {
        Expr::Member(Box::new(self), name.into())
    }

    /// `base[index]`
    pub fn index(self, index: Expr) -> Expr {
        Expr::Index(Box::new(self), Box::new(index))
    }

    /// `&self`
    pub fn addr(self) -> Expr {
        Expr::Unary(UnOp::Addr, Box::new(self))
    }

    /// `(type)self`
    pub fn cast(self, ty: Type) -> Expr {
        Expr::Cast(ty, Box::new(self))
    }

    /// `self + value`, with literals added up. For addresses and offsets, which never wrap.
    pub fn plus(self, value: u64) -> Expr {
        match self {
            _ if value == 0 => self,
            Expr::Int { value: own, .. } => Expr::int(own + value),
            Expr::Binary(BinOp::Add, base, more) if more.as_int().is_some() => {
                let more = more.as_int().unwrap_or(0);
                Expr::bin(BinOp::Add, *base, Expr::int(more + value))
            }
            _ => Expr::bin(BinOp::Add, self, Expr::int(value)),
        }
    }

    /// The value, if it is a literal.
    pub fn as_int(&self) -> Option<u64> {
        match self {
            Expr::Int { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// `cond ? yes : no`, simplified if the condition is a literal.
    pub fn choose(cond: Expr, yes: Expr, no: Expr) -> Expr {
        match cond.as_int() {
            Some(0) => no,
            Some(_) => yes,
            None => Expr::Cond(Box::new(cond), Box::new(yes), Box::new(no)),
        }
    }

    /// `a || b`, simplified if either is a literal.
    pub fn or(a: Expr, b: Expr) -> Expr {
        match (a.as_int(), b.as_int()) {
            (Some(0), Some(0)) => Expr::int(0),
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(_), _) | (_, Some(_)) => Expr::int(1),
            _ => Expr::bin(BinOp::LogicalOr, a, b),
        }
    }

    /// `a && b`, simplified if either is a literal.
    pub fn and(a: Expr, b: Expr) -> Expr {
        match (a.as_int(), b.as_int()) {
            (Some(0), _) | (_, Some(0)) => Expr::int(0),
            (Some(_), Some(_)) => Expr::int(1),
            (Some(_), _) => b,
            (_, Some(_)) => a,
            _ => Expr::bin(BinOp::LogicalAnd, a, b),
        }
    }
}

impl BinOp {
    /// The comparison that holds where this one does not.
    pub fn inverse(self) -> Option<BinOp> {
        Some(match self {
            BinOp::Lt => BinOp::Ge,
            BinOp::Ge => BinOp::Lt,
            BinOp::Gt => BinOp::Le,
            BinOp::Le => BinOp::Gt,
            BinOp::Eq => BinOp::Ne,
            BinOp::Ne => BinOp::Eq,
            _ => return None,
        })
    }
}

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A C statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// What follows comes from this line of the P4 source.
    Line {
        /// The file's name as the user wrote it.
        file: SmolStr,
        /// The line, from 1.
        line: u32,
    },
    /// A comment on its own line.
    Comment(String),
    /// An expression for its effect.
    Expr(Expr),
    /// `name(on);` tells the compiler of the C, or who checks its output, something about a variable. It
    /// does not count as a use of the variable: where nothing else reads it, the hint goes.
    Hint {
        /// A macro of the target.
        name: SmolStr,
        /// The variable.
        on: Expr,
    },
    /// `name(label);` is a macro of the target that may jump to a label.
    MayJump {
        /// The macro.
        name: SmolStr,
        /// Where it may jump.
        label: SmolStr,
    },
    /// `dst = value;`
    Assign(Expr, Expr),
    /// `dst op= value;`
    Update(BinOp, Expr, Expr),
    /// A declaration with or without first value.
    Decl {
        /// The type.
        ty: Type,
        /// The name.
        name: SmolStr,
        /// The first value.
        init: Option<Expr>,
        /// Bytes to align to, if more than the type asks for.
        align: Option<u32>,
    },
    /// `if (cond) { } else { }`
    If(Expr, Block, Block),
    /// `switch`; every case ends with a break unless it cannot be left.
    Switch {
        /// What is looked at.
        on: Expr,
        /// Values and blocks.
        cases: Vec<(Vec<Expr>, Block)>,
        /// The default block; left out if empty.
        default: Block,
    },
    /// `for (;;) { }`
    Loop(Block),
    /// `{ }`
    Block(Block),
    /// `label:`
    Label(SmolStr),
    /// `goto label;`
    Goto(SmolStr),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return value;`
    Return(Option<Expr>),
}

impl Stmt {
    /// A declaration with a first value.
    pub fn decl(ty: Type, name: impl Into<SmolStr>, init: Expr) -> Stmt {
        Stmt::Decl {
            ty,
            name: name.into(),
            init: Some(init),
            align: None,
        }
    }

    /// `if (cond) goto label;`
    pub fn goto_if(cond: Expr, label: impl Into<SmolStr>) -> Stmt {
        Stmt::If(cond, vec![Stmt::Goto(label.into())], Vec::new())
    }

    /// Whether control never goes on after this statement.
    pub fn diverges(&self) -> bool {
        match self {
            Stmt::Goto(_) | Stmt::Return(_) | Stmt::Break | Stmt::Continue => true,
            Stmt::If(_, a, b) => block_diverges(a) && block_diverges(b),
            Stmt::Block(b) => block_diverges(b),
            _ => false,
        }
    }
}

/// Whether control never reaches the end of the block.
pub fn block_diverges(block: &[Stmt]) -> bool {
    block
        .iter()
        .rev()
        .find(|s| !matches!(s, Stmt::Line { .. } | Stmt::Comment(_)))
        .is_some_and(Stmt::diverges)
}

/// A member of a struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Member {
    /// A named member.
    Field {
        /// Its type.
        ty: Type,
        /// Its name.
        name: SmolStr,
        /// What it is, in a few words; may be empty.
        note: String,
    },
    /// An anonymous union of named structs.
    Union(Vec<(SmolStr, Vec<Member>)>),
}

/// A declaration at file level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// `#include "path"`
    Include(String),
    /// A comment, one line each.
    Comment(Vec<String>),
    /// `struct name { };`
    Struct {
        /// Its name.
        name: SmolStr,
        /// Its members.
        members: Vec<Member>,
    },
    /// An enum of constants.
    Enum(Vec<(SmolStr, u64)>),
    /// A variable of a struct without a name, whose members are macros' expansions.
    Described {
        /// The macro calls, in order.
        members: Vec<Expr>,
        /// The variable's name.
        name: SmolStr,
        /// What follows its name.
        attribute: String,
    },
    /// A variable with a first value.
    Variable {
        /// Its type.
        ty: Type,
        /// Its name.
        name: SmolStr,
        /// First value.
        init: Option<Expr>,
        /// What follows its name, if anything.
        attribute: Option<String>,
        /// `const`
        constant: bool,
    },
    /// A prototype.
    Prototype {
        /// Result.
        result: Type,
        /// Name.
        name: SmolStr,
        /// Parameters.
        params: Vec<(Type, SmolStr)>,
    },
    /// A function.
    Function {
        /// What stands in front of it, on a line of its own: how it is linked.
        linkage: SmolStr,
        /// Result.
        result: Type,
        /// Name.
        name: SmolStr,
        /// Parameters.
        params: Vec<(Type, SmolStr)>,
        /// Body.
        body: Block,
    },
}

/// A C file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unit {
    /// Its items in order.
    pub items: Vec<Item>,
}
