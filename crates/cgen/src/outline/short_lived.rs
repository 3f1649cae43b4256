//! Variables that live for a few statements only.

use crate::tidy::blocks;
use crate::tree::{BinOp, Effect, Expr, Stmt};
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// Greatest number of statements that a short-lived variable lives for.
const MOST: usize = 24;

/// Returns the names that are written once, by a statement with one value for all paths, and read only by the next few
/// statements of the same block, before paths meet again. So no checker has to tell paths apart by their values.
pub fn short_lived(body: &[Stmt]) -> HashSet<SmolStr> {
    let mut uses = HashMap::new();
    count(body, &mut uses);
    let mut short = HashSet::new();
    search(body, &uses, &mut short);
    short
}

fn search(block: &[Stmt], all: &HashMap<SmolStr, usize>, short: &mut HashSet<SmolStr>) {
    for (i, stmt) in block.iter().enumerate() {
        if let Stmt::Assign(Expr::Ident(name), value) = stmt
            && is_plain(value)
            && reads_until_join(name, &block[i + 1..]) + 1 == all[name]
        {
            short.insert(name.clone());
        }
        for nested in blocks(stmt) {
            search(nested, all, short);
        }
    }
}

/// Returns the number of times that the next few statements read a name. It ends where paths meet, and at a statement
/// that does more than read.
fn reads_until_join(name: &SmolStr, block: &[Stmt]) -> usize {
    let is_code = |stmt: &&Stmt| !matches!(stmt, Stmt::Line { .. } | Stmt::Comment(_));
    let mut reads = 0;
    for stmt in block.iter().filter(is_code).take(MOST) {
        let (read, goes_on) = match stmt {
            Stmt::Assign(Expr::Ident(_), value) => (mentions(name, value), is_plain(value)),
            Stmt::If(cond, yes, no) => (mentions(name, cond), no.is_empty() && leaves(yes)),
            Stmt::Switch { on, .. } => (mentions(name, on), false),
            _ => break,
        };
        reads += read;
        if !goes_on {
            break;
        }
    }
    reads
}

/// Returns true if a block ends with a jump.
fn leaves(block: &[Stmt]) -> bool {
    matches!(
        block.last(),
        Some(Stmt::Goto(_) | Stmt::Return(_) | Stmt::Break | Stmt::Continue)
    )
}

/// Returns true if an expression has no side effects, and is computed without jumps.
fn is_plain(e: &Expr) -> bool {
    let own = match e {
        Expr::Call(callee, _) => callee.effect == Effect::Pure,
        Expr::Cond(..) => false,
        Expr::Binary(op, ..) => !matches!(
            op,
            BinOp::Lt
                | BinOp::Le
                | BinOp::Gt
                | BinOp::Ge
                | BinOp::Eq
                | BinOp::Ne
                | BinOp::LogicalAnd
                | BinOp::LogicalOr
        ),
        _ => true,
    };
    own && e.parts().into_iter().all(is_plain)
}

fn mentions(name: &SmolStr, e: &Expr) -> usize {
    let own = usize::from(matches!(e, Expr::Ident(own) if own == name));
    own + e
        .parts()
        .into_iter()
        .map(|part| mentions(name, part))
        .sum::<usize>()
}

/// Counts the uses of each name.
fn count(block: &[Stmt], uses: &mut HashMap<SmolStr, usize>) {
    fn add(e: &Expr, uses: &mut HashMap<SmolStr, usize>) {
        if let Expr::Ident(name) = e {
            *uses.entry(name.clone()).or_default() += 1;
        }
        e.parts().into_iter().for_each(|part| add(part, uses));
    }
    for stmt in block {
        match stmt {
            Stmt::Assign(dst, value) | Stmt::Update(_, dst, value) => {
                add(dst, uses);
                add(value, uses);
            }
            Stmt::Expr(e) | Stmt::Return(Some(e)) | Stmt::Hint { on: e, .. } => add(e, uses),
            Stmt::If(e, ..) | Stmt::Switch { on: e, .. } => add(e, uses),
            Stmt::MayJump { args, .. } => args.iter().for_each(|arg| add(arg, uses)),
            Stmt::Decl { name, init, .. } => {
                add(&Expr::Ident(name.clone()), uses);
                init.iter().for_each(|init| add(init, uses));
            }
            _ => {}
        }
        blocks(stmt)
            .into_iter()
            .for_each(|block| count(block, uses));
    }
}
