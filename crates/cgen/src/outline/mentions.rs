//! Names, labels and jumps that statements mention.

use crate::tree::{Expr, Stmt};
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// Names, labels and jumps of some statements.
#[derive(Default)]
pub(super) struct Mentions {
    /// Variables and other names.
    pub(super) names: HashSet<SmolStr>,
    /// Number of jumps to each label.
    pub(super) jumps: HashMap<SmolStr, usize>,
    /// Labels defined in the statements.
    pub(super) labels: HashSet<SmolStr>,
    /// True if a `break` or `continue` leads out of the statements.
    pub(super) leaves: bool,
}

impl Mentions {
    pub(super) fn of(block: &[Stmt]) -> Mentions {
        let mut found = Mentions::default();
        found.block(block, (false, false));
        found
    }

    /// `around`: whether a `break`, and whether a `continue`, stays inside the statements.
    fn block(&mut self, block: &[Stmt], around: (bool, bool)) {
        for stmt in block {
            self.stmt(stmt, around);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, around: (bool, bool)) {
        match stmt {
            Stmt::Line { .. } | Stmt::Comment(_) | Stmt::Return(None) => {}
            Stmt::Expr(e) | Stmt::Hint { on: e, .. } | Stmt::Return(Some(e)) => self.expr(e),
            Stmt::MayJump { args, label, .. } => {
                args.iter().for_each(|arg| self.expr(arg));
                self.jump(label);
            }
            Stmt::Assign(dst, value) | Stmt::Update(_, dst, value) => {
                self.expr(dst);
                self.expr(value);
            }
            Stmt::Decl { name, init, .. } => {
                self.names.insert(name.clone());
                if let Some(init) = init {
                    self.expr(init);
                }
            }
            Stmt::If(cond, yes, no) => {
                self.expr(cond);
                self.block(yes, around);
                self.block(no, around);
            }
            Stmt::Switch { on, cases, default } => {
                self.expr(on);
                let around = (true, around.1);
                for (_, case) in cases {
                    self.block(case, around);
                }
                self.block(default, around);
            }
            Stmt::Loop(body) => self.block(body, (true, true)),
            Stmt::Block(block) => self.block(block, around),
            Stmt::Label(label) => {
                self.labels.insert(label.clone());
            }
            Stmt::Goto(label) => self.jump(label),
            Stmt::Break => self.leaves |= !around.0,
            Stmt::Continue => self.leaves |= !around.1,
        }
    }

    fn jump(&mut self, label: &SmolStr) {
        *self.jumps.entry(label.clone()).or_default() += 1;
    }

    fn expr(&mut self, e: &Expr) {
        if let Expr::Ident(name) = e {
            self.names.insert(name.clone());
        }
        for part in e.parts() {
            self.expr(part);
        }
    }
}
