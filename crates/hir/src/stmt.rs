//! Statements.

use crate::*;
use diag::Span;

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Kind of statement, with its operands.
    pub kind: StmtKind,
    /// The whole statement.
    pub span: Span,
}

/// Kind of a statement, with its operands.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StmtKind {
    /// Declares a variable, or a constant that depends on constructor parameters. Without a value its headers are
    /// invalid and the rest is undefined.
    Local {
        local: LocalId,
        init: Option<Expr>,
    },
    /// An instance declared among statements.
    Instance(InstanceId),
    /// Assigns to an l-value: local, field, stack element, slice, or a list of these.
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
    /// A call for its effects; a returned value is discarded.
    Call(Call),
    /// Runs the first arm with a true condition, or else `otherwise`. There is at least one arm.
    If {
        arms: Vec<IfArm>,
        otherwise: Block,
    },
    /// A block with its own scope.
    Block(Block),
    /// An atomic block (`@atomic`): nothing else runs between its statements.
    Atomic(Block),
    Return(Option<Expr>),
    Exit,
    Break,
    Continue,
    /// Switches on an expression. At most one case has an empty `labels`, meaning `default`.
    Switch {
        scrutinee: Expr,
        cases: Vec<SwitchCase<Expr>>,
    },
    /// Applies the table, then switches on the action that ran.
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
    /// Block that runs if no earlier arm's condition holds and this one does.
    pub then: Block,
    /// From this `if` to the end of the chain.
    pub span: Span,
}

/// Collection that a `for ... in` iterates over.
#[derive(Clone, Debug)]
pub enum Collection {
    /// `lo .. hi`, both ends included. The bounds may be run-time values.
    Range(Expr, Expr),
    /// The elements of a list or the valid range of a stack, in order.
    Elements(Expr),
}

/// `label: label: { ... }`, with fall-through labels gathered.
#[derive(Clone, Debug)]
pub struct SwitchCase<L> {
    /// Labels of the case; none if it is only the `default`.
    pub labels: Vec<L>,
    /// True if `default` is among the labels.
    pub is_default: bool,
    /// Block that runs for these labels.
    pub body: Block,
    /// The whole case.
    pub span: Span,
}
