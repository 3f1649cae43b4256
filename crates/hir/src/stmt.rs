//! Statements.

use crate::*;
use diag::Span;

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// The whole statement.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StmtKind {
    /// A variable, or a constant that depends on constructor parameters, is declared. Without a
    /// value its headers are invalid and the rest is undefined.
    Local {
        local: LocalId,
        init: Option<Expr>,
    },
    /// An instance declared among statements.
    Instance(InstanceId),
    /// The target is an l-value: local, field, stack element, slice, or a list of these.
    Assign {
        target: Expr,
        value: Expr,
    },
    /// A compound assignment whose target calls functions: the target is evaluated once, and `value` reads it as
    /// [`ExprKind::Target`].
    Update {
        target: Expr,
        value: Expr,
    },
    /// A call for its effects; a returned value is dropped.
    Call(Call),
    /// The first arm whose condition holds, or else `otherwise`. There is at least one arm.
    If {
        arms: Vec<IfArm>,
        otherwise: Block,
    },
    /// A block of its own scope.
    Block(Block),
    /// A block that nothing else may come between (`@atomic`).
    Atomic(Block),
    Return(Option<Expr>),
    Exit,
    Break,
    Continue,
    /// On an expression. At most one case has an empty `labels`, meaning `default`.
    Switch {
        scrutinee: Expr,
        cases: Vec<SwitchCase<Expr>>,
    },
    /// Applies the table, then chooses by the action that ran.
    SwitchTable {
        table: TableId,
        cases: Vec<SwitchCase<ActionId>>,
    },
    For {
        init: Block,
        cond: Expr,
        update: Block,
        body: Block,
    },
    ForIn {
        local: LocalId,
        collection: Collection,
        body: Block,
    },
}

/// `if (cond) { ... }` in a chain of `else if`.
#[derive(Clone, Debug)]
pub struct IfArm {
    /// The condition.
    pub cond: Expr,
    /// What is done if it is the first that holds.
    pub then: Block,
    /// From this `if` to the end of the chain.
    pub span: Span,
}

/// What a `for ... in` goes over.
#[derive(Clone, Debug)]
pub enum Collection {
    /// `lo .. hi`, both ends included; not compile-time constants.
    Range(Expr, Expr),
    /// The elements of a list or the valid range of a stack, in order.
    Elements(Expr),
}

/// `label: label: { ... }`, fall-through labels gathered.
#[derive(Clone, Debug)]
pub struct SwitchCase<L> {
    /// What leads here; none for `default`.
    pub labels: Vec<L>,
    /// Whether `default` is among them.
    pub is_default: bool,
    /// What is done.
    pub body: Block,
    /// The whole case.
    pub span: Span,
}
