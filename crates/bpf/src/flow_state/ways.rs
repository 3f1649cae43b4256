//! The ways through the statements that a lock is held for, and what is so at a point on all of them.

use ir::{Block, ExternCall, Label, Program, Stmt, StmtId, StmtKind, atomic};
use std::collections::HashMap;

/// What somebody wants to know of the ways through a region, which has no loops and is left at its end only.
pub trait Question<'a> {
    /// What is so at a point.
    type At: Clone;

    /// Where no way leads.
    fn never(&self) -> Self::At;

    /// Where two ways meet.
    fn join(&self, one: Self::At, other: Self::At) -> Self::At;

    /// Behind a call of the flow state, which is statement `id`.
    fn call(&mut self, id: StmtId, call: &'a ExternCall, before: Self::At) -> Self::At;

    /// Behind another statement that is no choice of ways.
    fn other(&mut self, kind: &'a StmtKind, before: Self::At) -> Self::At;
}

/// What is so at the end of a region, if at its start it is `start`.
pub fn through<'a, Q: Question<'a>>(
    program: &Program,
    question: &mut Q,
    stmts: &'a [Stmt],
    start: Q::At,
) -> Q::At {
    let breaks = HashMap::new();
    let mut walk = Walk {
        program,
        question,
        breaks,
    };
    walk.stmts(stmts, start)
}

struct Walk<'w, At, Q> {
    program: &'w Program,
    question: &'w mut Q,
    breaks: HashMap<Label, At>,
}

impl<'a, Q: Question<'a>> Walk<'_, Q::At, Q> {
    fn stmts(&mut self, stmts: &'a [Stmt], start: Q::At) -> Q::At {
        stmts.iter().fold(start, |at, stmt| self.stmt(stmt, at))
    }

    fn stmt(&mut self, stmt: &'a Stmt, at: Q::At) -> Q::At {
        let kind = &stmt.kind;
        match kind {
            StmtKind::If {
                then, otherwise, ..
            } => self.either([then, otherwise].into_iter(), at),
            StmtKind::Switch { cases, default, .. } => {
                let blocks = cases.iter().map(|(_, block)| block);
                self.either(blocks.chain([default]), at)
            }
            StmtKind::Atomic(block) => self.stmts(block, at),
            StmtKind::Labeled(label, block) => {
                let end = self.stmts(block, at);
                match self.breaks.remove(label) {
                    Some(left) => self.question.join(end, left),
                    None => end,
                }
            }
            StmtKind::Break(label) => {
                let left = match self.breaks.remove(label) {
                    Some(left) => self.question.join(left, at),
                    None => at,
                };
                self.breaks.insert(*label, left);
                self.question.never()
            }
            StmtKind::Extern(call) if atomic::flow_call(self.program, kind).is_some() => {
                self.question.call(stmt.id, call, at)
            }
            _ => self.question.other(kind, at),
        }
    }

    fn either(&mut self, blocks: impl Iterator<Item = &'a Block>, at: Q::At) -> Q::At {
        blocks.fold(self.question.never(), |known, block| {
            let end = self.stmts(block, at.clone());
            self.question.join(known, end)
        })
    }
}
