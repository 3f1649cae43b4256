//! Which variables and headers code may read or write, however deep.
//!
//! Guarantee: what is not in [`Mentions::read`] is not read, what is not in [`Mentions::written`]
//! is not written, by the code, the routines it calls and the tables it applies (keys and every
//! action). An element of a stack counts as all of them.

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

/// What code may touch.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Mentions {
    /// What may be read.
    pub read: HashSet<Storage>,
    /// What may be written.
    pub written: HashSet<Storage>,
    /// Which tables may be applied.
    pub tables: HashSet<Table>,
    /// Whether the pipeline block may be ended, by the code or by an action.
    pub exits: bool,
    /// Whether an extern is called.
    pub externs: bool,
    routines: HashSet<Routine>,
}

impl Mentions {
    /// What a block touches.
    pub fn of_block(program: &Program, block: &Block) -> Mentions {
        let mut mentions = Mentions::default();
        mentions.add_block(program, block);
        mentions
    }

    /// What a statement touches.
    pub fn of_stmt(program: &Program, kind: &StmtKind) -> Mentions {
        let mut mentions = Mentions::default();
        mentions.add_stmt(program, kind);
        mentions
    }

    /// What an expression reads.
    pub fn of_expr(program: &Program, expr: Expr) -> Mentions {
        let mut mentions = Mentions::default();
        mentions.add_expr(program, expr);
        mentions
    }

    /// Whether something is read or written.
    pub fn contains(&self, storage: Storage) -> bool {
        self.read.contains(&storage) || self.written.contains(&storage)
    }

    /// Adds what an expression reads.
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

    /// Adds what a table's key and actions touch.
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

    /// Adds what a block touches.
    pub fn add_block(&mut self, program: &Program, block: &Block) {
        for stmt in block {
            self.add_stmt(program, &stmt.kind);
        }
    }

    /// Adds what a statement touches.
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

/// What a parameter is bound to.
pub fn param_storage(param: Param) -> Storage {
    match param {
        Param::In(v) | Param::Out(v) | Param::InOut(v) => Storage::Var(v),
        Param::HeaderIn(h) | Param::HeaderOut(h) | Param::HeaderInOut(h) => Storage::Header(h),
    }
}

/// The headers that a reference may mean.
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
