//! Entries of the control: targets of edges out of the parser (see `ir::passes::thread`).

use crate::emitter::Gen;
use crate::target::Target;
use cgen::tree::{Block, Stmt};
use ir::{EntryPoint, StmtKind};
use smol_str::SmolStr;
use std::collections::HashMap;

/// The entries that the parser, as far as it is emitted, jumps to.
pub(crate) struct Entries {
    /// Label at the first control's end, which an entry at that point shares.
    pub control_end: SmolStr,
    labels: HashMap<EntryPoint, SmolStr>,
}

impl Entries {
    pub(crate) fn new(control_end: SmolStr) -> Entries {
        Entries {
            control_end,
            labels: HashMap::new(),
        }
    }

    /// Returns true if a parser enters a block.
    fn lead_into(&self, block: &[ir::Stmt]) -> bool {
        block.iter().any(|stmt| self.lead_to(stmt))
    }

    /// Returns true if a statement is an entry, or parsers enter one of its branches.
    pub(crate) fn lead_to(&self, stmt: &ir::Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Entry(entry) => self.labels.contains_key(entry),
            StmtKind::If {
                then, otherwise, ..
            } => self.lead_into(then) || self.lead_into(otherwise),
            _ => false,
        }
    }
}

impl<T: Target> Gen<'_, T> {
    /// Returns the jump of an accepting parser to an entry of the control.
    pub(crate) fn enter(&mut self, entry: EntryPoint) -> Block {
        let control = &self.p.routines[self.plan.controls[0]].body;
        let is_end = || control.last().map(|stmt| &stmt.kind) == Some(&StmtKind::Entry(entry));
        let Entries {
            labels,
            control_end,
        } = &mut self.entries;
        let label = labels.entry(entry).or_insert_with(|| match is_end() {
            true => control_end.clone(),
            false => self.file.names.fresh("enter"),
        });
        vec![Stmt::Goto(label.clone())]
    }

    /// Emits the label of an entry, if parsers use it.
    pub(crate) fn entry(&mut self, entry: EntryPoint) {
        if let Some(label) = self.entries.labels.get(&entry)
            && *label != self.entries.control_end
        {
            let label = label.clone();
            self.push(Stmt::Label(label));
        }
    }

    /// Emits a condition's branch that is always taken, and those parts of the other that parsers enter.
    pub(crate) fn decided(&mut self, taken: &[ir::Stmt], other: &[ir::Stmt]) {
        self.run(taken);
        if !self.entries.lead_into(other) {
            return;
        }
        let past = self.file.names.fresh("past");
        if !self.header_facts.dead {
            self.push(Stmt::Goto(past.clone()));
        }
        self.run(other);
        self.push(Stmt::Label(past));
    }
}
