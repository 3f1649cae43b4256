//! Variables that live for a few statements only.

use crate::tidy::blocks;
use crate::tree::{Expr, Stmt, UnOp};
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// Greatest number of statements that a short-lived variable lives for.
const MOST: usize = 24;

/// Uses of a name in some statements.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Uses {
    reads: usize,
    writes: usize,
}

/// Names in some statements, and whether one of them is a label.
#[derive(Default)]
struct Found {
    uses: HashMap<SmolStr, Uses>,
    has_label: bool,
}

/// Returns the names that are written by one statement and read only by the next few statements of the same block, with
/// no label between: paths never meet while such a variable lives.
pub fn short_lived(body: &[Stmt]) -> HashSet<SmolStr> {
    let mut all = Found::default();
    all.block(body);
    let mut short = HashSet::new();
    search(body, &all.uses, &mut short);
    short
}

fn search(block: &[Stmt], all: &HashMap<SmolStr, Uses>, short: &mut HashSet<SmolStr>) {
    let found: Vec<Found> = block.iter().map(Found::of).collect();
    for (i, stmt) in block.iter().enumerate() {
        if let Stmt::Assign(Expr::Ident(name), _) = stmt
            && let Some(uses) = all.get(name)
            && uses.writes == 1
            && is_read_soon(name, uses.reads, &found[i..], &block[i..])
        {
            short.insert(name.clone());
        }
        for nested in blocks(stmt) {
            search(nested, all, short);
        }
    }
}

/// Returns true if the first statement and the next few have all reads of a name, with no label after the first.
fn is_read_soon(name: &SmolStr, mut reads: usize, found: &[Found], block: &[Stmt]) -> bool {
    if found[0].uses.get(name).is_some_and(|uses| uses.reads > 0) {
        return false;
    }
    let is_code = |stmt: &Stmt| !matches!(stmt, Stmt::Line { .. } | Stmt::Comment(_));
    let rest = found[1..].iter().zip(&block[1..]);
    for (found, _) in rest.filter(|(_, stmt)| is_code(stmt)).take(MOST) {
        if reads == 0 || found.has_label {
            break;
        }
        reads -= found.uses.get(name).map_or(0, |uses| uses.reads);
    }
    reads == 0
}

impl Found {
    fn of(stmt: &Stmt) -> Found {
        let mut found = Found::default();
        found.stmt(stmt);
        found
    }

    fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(dst, value) => {
                self.write(dst);
                self.read(value);
            }
            Stmt::Update(_, dst, value) => {
                self.write(dst);
                self.read(dst);
                self.read(value);
            }
            Stmt::Expr(e) | Stmt::Return(Some(e)) | Stmt::Hint { on: e, .. } => self.read(e),
            Stmt::MayJump { args, .. } => args.iter().for_each(|arg| self.read(arg)),
            Stmt::If(cond, ..) => self.read(cond),
            Stmt::Switch { on, .. } => self.read(on),
            Stmt::Decl { name, init, .. } => {
                self.uses.entry(name.clone()).or_default().writes += 1;
                init.iter().for_each(|init| self.read(init));
            }
            Stmt::Label(_) => self.has_label = true,
            _ => {}
        }
        blocks(stmt).into_iter().for_each(|block| self.block(block));
    }

    fn write(&mut self, dst: &Expr) {
        match dst {
            Expr::Ident(name) => self.uses.entry(name.clone()).or_default().writes += 1,
            _ => self.read(dst),
        }
    }

    fn read(&mut self, e: &Expr) {
        if let Expr::Ident(name) = e {
            self.uses.entry(name.clone()).or_default().reads += 1;
        }
        if let Expr::Unary(UnOp::Addr, of) = e
            && let Expr::Ident(name) = &**of
        {
            // Whoever has the address may write.
            self.uses.entry(name.clone()).or_default().writes += 2;
        }
        for part in e.parts() {
            self.read(part);
        }
    }
}
