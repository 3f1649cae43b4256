//! Statements.

use super::{BinOp, Expr, Type};
use smol_str::SmolStr;

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A C statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// Origin of the statements that follow: a line of the P4 source.
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
    /// `name(on);` gives the C compiler, or the verifier of its output, a hint about a variable. It does not count
    /// as a use of the variable: a hint about a variable that nothing else reads is removed.
    Hint {
        /// A macro of the target.
        name: SmolStr,
        /// The variable.
        on: Expr,
    },
    /// `name(args, label);` is a macro of the target that may jump to a label.
    MayJump {
        /// The macro.
        name: SmolStr,
        /// Arguments that decide whether it jumps.
        args: Vec<Expr>,
        /// Label that it may jump to.
        label: SmolStr,
    },
    /// `dst = value;`
    Assign(Expr, Expr),
    /// `dst op= value;`
    Update(BinOp, Expr, Expr),
    /// A declaration with or without an initial value.
    Decl {
        /// The type.
        ty: Type,
        /// The name.
        name: SmolStr,
        /// The initial value.
        init: Option<Expr>,
        /// Alignment in bytes, if greater than that of the type.
        align: Option<u32>,
    },
    /// `if (cond) { } else { }`
    If(Expr, Block, Block),
    /// `switch`; every case ends with a break unless it cannot be left.
    Switch {
        /// Value that is compared with the cases.
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
    /// A declaration with an initial value.
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

    /// Returns true if control never continues after this statement.
    pub fn diverges(&self) -> bool {
        match self {
            Stmt::Goto(_) | Stmt::Return(_) | Stmt::Break | Stmt::Continue => true,
            Stmt::If(_, a, b) => block_diverges(a) && block_diverges(b),
            Stmt::Block(b) => block_diverges(b),
            _ => false,
        }
    }
}

/// Returns true if control never reaches the end of the block.
pub fn block_diverges(block: &[Stmt]) -> bool {
    block
        .iter()
        .rev()
        .find(|s| !matches!(s, Stmt::Line { .. } | Stmt::Comment(_)))
        .is_some_and(Stmt::diverges)
}
