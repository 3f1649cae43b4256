//! Expressions.

use super::Type;
use smol_str::SmolStr;

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

/// Side effects of a call. The caller that builds the call sets them; its name implies nothing about them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// No side effects: the call may be removed if its value is unused.
    Pure,
    /// Possible side effects: the call stays.
    Impure,
}

/// Function that a call names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callee {
    /// The function or function-like macro.
    pub name: SmolStr,
    /// Side effects of calling it.
    pub effect: Effect,
}

/// A C expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// A name.
    Ident(SmolStr),
    /// A word that a macro pastes into a name or an access. It refers to no variable, even if one has this name.
    Word(SmolStr),
    /// An integer, printed as a register of its own size: decimal when small, else hexadecimal, and
    /// with a suffix that makes it unsigned if `typed`.
    Int {
        /// The value.
        value: u64,
        /// True if the literal must have the type `u32` (or `u64` if `wide`) by itself.
        typed: bool,
        /// True if the literal has 64 bits.
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
    /// `{ a, b }` as an initialiser, with the members' names where they are given.
    Init(Vec<(Option<SmolStr>, Expr)>),
    /// `(type){ ... }`
    Compound(Type, Vec<(Option<SmolStr>, Expr)>),
}

impl Expr {
    /// A name.
    pub fn id(name: impl Into<SmolStr>) -> Expr {
        Expr::Ident(name.into())
    }

    /// An integer literal in a context where its type does not matter.
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

    /// A call without side effects.
    pub fn pure(name: impl Into<SmolStr>, args: Vec<Expr>) -> Expr {
        let (name, effect) = (name.into(), Effect::Pure);
        Expr::Call(Callee { name, effect }, args)
    }

    /// Returns true if evaluating the expression has no side effects.
    pub fn is_pure(&self) -> bool {
        let own = match self {
            Expr::Call(callee, _) => callee.effect == Effect::Pure,
            _ => true,
        };
        own && self.parts().into_iter().all(Expr::is_pure)
    }

    /// Returns the operands, in order.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Ident(_)
            | Expr::Word(_)
            | Expr::Int { .. }
            | Expr::Signed(_)
            | Expr::SizeOf(_) => Vec::new(),
            Expr::Call(_, args) => args.iter().collect(),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) | Expr::Arrow(a, _) => {
                vec![a]
            }
            Expr::Binary(_, a, b) | Expr::Index(a, b) => vec![a, b],
            Expr::Cond(a, b, c) => vec![a, b, c],
            Expr::Init(list) | Expr::Compound(_, list) => list.iter().map(|(_, e)| e).collect(),
        }
    }

    /// Returns the operands for mutation, in order.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Ident(_)
            | Expr::Word(_)
            | Expr::Int { .. }
            | Expr::Signed(_)
            | Expr::SizeOf(_) => Vec::new(),
            Expr::Call(_, args) => args.iter_mut().collect(),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) | Expr::Arrow(a, _) => {
                vec![a]
            }
            Expr::Binary(_, a, b) | Expr::Index(a, b) => vec![a, b],
            Expr::Cond(a, b, c) => vec![a, b, c],
            Expr::Init(list) | Expr::Compound(_, list) => list.iter_mut().map(|(_, e)| e).collect(),
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

    /// `self + value`, with literals added up. Only for addresses and offsets, which never wrap.
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
    /// Returns the comparison that holds exactly where this one does not; `None` for other operators.
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
