//! Variables and headers that code may read or write, at any depth.
//!
//! Guarantee: the code does not read storage outside of [`Mentions::read`], and does not write storage outside of
//! [`Mentions::written`]. The routines that it calls and the tables that it applies (keys and every action) are
//! included. An element of a stack counts as all of them.

use crate::visit::{self, Access};
use crate::*;
use std::collections::HashSet;

/// A variable, or a header with its fields and validity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Storage {
    /// A variable.
    Var(Var),
    /// A header.
    Header(Header),
}

/// Storage and tables that code may use.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Mentions {
    /// Storage that may be read.
    pub read: HashSet<Storage>,
    /// Storage that may be written.
    pub written: HashSet<Storage>,
    /// Tables that may be applied.
    pub tables: HashSet<Table>,
    /// True if the code or an action may end the pipeline block.
    pub exits: bool,
    /// True if an extern is called.
    pub externs: bool,
    routines: HashSet<Routine>,
}

impl Mentions {
    /// Returns the mentions of a block.
    pub fn of_block(program: &Program, block: &Block) -> Mentions {
        let mut mentions = Mentions::default();
        mentions.add_block(program, block);
        mentions
    }

    /// Returns the mentions of a statement.
    pub fn of_stmt(program: &Program, kind: &StmtKind) -> Mentions {
        let mut mentions = Mentions::default();
        mentions.add_stmt(program, kind);
        mentions
    }

    /// Returns true if the storage is read or written.
    pub fn contains(&self, storage: Storage) -> bool {
        self.read.contains(&storage) || self.written.contains(&storage)
    }

    /// Adds the storage that an expression reads.
    pub fn add_expr(&mut self, program: &Program, expr: Expr) {
        visit::walk_expr(program, expr, &mut |data| match data.kind {
            ExprKind::Var(var) => {
                self.read.insert(Storage::Var(var));
            }
            ExprKind::Field(header, _) | ExprKind::IsValid(header) => {
                each(program, header, |h| {
                    self.read.insert(h);
                });
            }
            _ => {}
        });
    }

    /// Adds the mentions of a table's key and actions.
    pub fn add_table(&mut self, program: &Program, table: Table) {
        if !self.tables.insert(table) {
            return;
        }
        let data = &program.tables[table];
        for key in &data.keys {
            self.add_expr(program, key.expr);
        }
        for action in &data.actions {
            let action = &program.actions[action.action];
            self.written
                .extend(action.params.iter().map(|&v| Storage::Var(v)));
            self.add_block(program, &action.body);
        }
    }

    /// Adds the mentions of a block.
    pub fn add_block(&mut self, program: &Program, block: &Block) {
        for stmt in block {
            self.add_stmt(program, &stmt.kind);
        }
    }

    /// Adds the mentions of a statement.
    pub fn add_stmt(&mut self, program: &Program, kind: &StmtKind) {
        visit::accesses(program, kind, |access| match access {
            Access::Eval(expr) => self.add_expr(program, expr),
            Access::Read(place) => {
                each_place(program, place, |s| {
                    self.read.insert(s);
                });
            }
            Access::Write(place) => {
                each_place(program, place, |s| {
                    self.written.insert(s);
                });
            }
            Access::ReadHeader(header) => each(program, header, |s| {
                self.read.insert(s);
            }),
            Access::WriteHeader(header) | Access::SetValidity(header, _) => {
                each(program, header, |s| {
                    self.written.insert(s);
                });
            }
        });
        match *kind {
            StmtKind::Apply { table, .. } => self.add_table(program, table),
            StmtKind::Call(routine, _) => self.add_routine(program, routine),
            StmtKind::Exit => self.exits = true,
            StmtKind::Extern(_) => self.externs = true,
            _ => {}
        }
        for inner in visit::blocks(kind) {
            self.add_block(program, inner);
        }
    }

    fn add_routine(&mut self, program: &Program, routine: Routine) {
        if !self.routines.insert(routine) {
            return;
        }
        let data = &program.routines[routine];
        for &param in &data.params {
            let storage = param_storage(param);
            self.read.insert(storage);
            self.written.insert(storage);
        }
        self.add_block(program, &data.body);
    }
}

/// Returns the storage that a parameter is bound to.
pub fn param_storage(param: Param) -> Storage {
    match param {
        Param::In(v) | Param::Out(v) | Param::InOut(v) => Storage::Var(v),
        Param::HeaderIn(h) | Param::HeaderOut(h) | Param::HeaderInOut(h) => Storage::Header(h),
    }
}

/// Calls `f` with each header that a reference may name.
pub fn each(program: &Program, header: HeaderRef, mut f: impl FnMut(Storage)) {
    match header {
        HeaderRef::Header(header) => f(Storage::Header(header)),
        HeaderRef::Element(stack, _) => {
            for &elem in &program.stacks[stack].elems {
                f(Storage::Header(elem));
            }
        }
    }
}

fn each_place(program: &Program, place: Place, mut f: impl FnMut(Storage)) {
    match place {
        Place::Var(var) => f(Storage::Var(var)),
        Place::Field(header, _) => each(program, header, f),
    }
}
