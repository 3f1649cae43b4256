//! Going through blocks.

use crate::tree::{Block, Expr, Stmt};

/// Calls `f` on every expression of a block, except those of hints, with whether the expression is stored to.
pub(super) fn for_each_expr(block: &[Stmt], f: &mut impl FnMut(&Expr, bool)) {
    for stmt in block {
        match stmt {
            Stmt::Expr(e) | Stmt::Return(Some(e)) => f(e, false),
            Stmt::Assign(dst, value) => {
                f(dst, true);
                f(value, false);
            }
            Stmt::Update(_, dst, value) => {
                f(dst, false);
                f(value, false);
            }
            Stmt::Decl { init: Some(e), .. } => f(e, false),
            Stmt::MayJump { args, .. } => args.iter().for_each(|arg| f(arg, false)),
            Stmt::If(cond, a, b) => {
                f(cond, false);
                for_each_expr(a, f);
                for_each_expr(b, f);
            }
            Stmt::Switch { on, cases, default } => {
                f(on, false);
                for (_, block) in cases {
                    for_each_expr(block, f);
                }
                for_each_expr(default, f);
            }
            Stmt::Loop(b) | Stmt::Block(b) => for_each_expr(b, f),
            _ => {}
        }
    }
}

pub(super) fn for_each_expr_mut(block: &mut [Stmt], f: &mut impl FnMut(&mut Expr)) {
    for stmt in block {
        match stmt {
            Stmt::Expr(e) | Stmt::Return(Some(e)) | Stmt::Hint { on: e, .. } => f(e),
            Stmt::Assign(dst, value) | Stmt::Update(_, dst, value) => {
                f(dst);
                f(value);
            }
            Stmt::Decl { init: Some(e), .. } => f(e),
            Stmt::MayJump { args, .. } => args.iter_mut().for_each(&mut *f),
            Stmt::If(cond, a, b) => {
                f(cond);
                for_each_expr_mut(a, f);
                for_each_expr_mut(b, f);
            }
            Stmt::Switch { on, cases, default } => {
                f(on);
                for (_, block) in cases {
                    for_each_expr_mut(block, f);
                }
                for_each_expr_mut(default, f);
            }
            Stmt::Loop(b) | Stmt::Block(b) => for_each_expr_mut(b, f),
            _ => {}
        }
    }
}

/// The blocks of a statement, in order, to read.
pub(crate) fn blocks(stmt: &Stmt) -> Vec<&Block> {
    match stmt {
        Stmt::If(_, a, b) => vec![a, b],
        Stmt::Switch { cases, default, .. } => {
            let cases = cases.iter().map(|(_, b)| b);
            cases.chain([default]).collect()
        }
        Stmt::Loop(b) | Stmt::Block(b) => vec![b],
        _ => Vec::new(),
    }
}

/// The blocks of a statement, in order.
pub fn blocks_mut(stmt: &mut Stmt) -> Vec<&mut Block> {
    match stmt {
        Stmt::If(_, a, b) => vec![a, b],
        Stmt::Switch { cases, default, .. } => {
            let mut all: Vec<_> = cases.iter_mut().map(|(_, b)| b).collect();
            all.push(default);
            all
        }
        Stmt::Loop(b) | Stmt::Block(b) => vec![b],
        _ => Vec::new(),
    }
}
