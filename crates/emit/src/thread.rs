//! Jump threading from the parser's end into the control.
//!
//! A control often begins by asking which headers are there, which each edge out of the parser knows. Such
//! an edge jumps past the tests, so that only undecided ones remain at run time.

use crate::emitter::Gen;
use crate::plan::header_facts::HeaderFacts;
use crate::target::Target;
use cgen::lower;
use cgen::tree::{Block, Stmt};
use ir::{ExprKind, Place, Program, StmtId, StmtKind};
use smol_str::SmolStr;
use std::collections::HashMap;

/// Where the parser's ends enter the control.
pub(crate) struct Entries {
    /// Statements of the control that they jump to.
    pub labels: HashMap<StmtId, SmolStr>,
    /// The label at the control's end.
    pub control_end: SmolStr,
    /// What is known there where the parser jumps to it.
    ended: HeaderFacts,
}

impl Entries {
    pub fn new(program: &Program, control_end: SmolStr) -> Entries {
        Entries {
            labels: HashMap::new(),
            control_end,
            ended: HeaderFacts::unreached(program),
        }
    }

    /// What is known at the control's end where the parser jumped to it.
    pub fn take_ended(&mut self, program: &Program) -> HeaderFacts {
        std::mem::replace(&mut self.ended, HeaderFacts::unreached(program))
    }
}

impl<T: Target> Gen<'_, T> {
    /// The jump of a parser that accepts.
    pub(crate) fn accept(&mut self) -> Block {
        let program = self.p;
        let control = &program.routines[self.plan.control].body;
        let mut decided = false;
        let mut repeat = Vec::new();
        let mut stack: Vec<(&[ir::Stmt], usize)> = vec![(control, 0)];
        let target = loop {
            let Some((block, at)) = stack.last_mut() else {
                break None;
            };
            let Some(stmt) = block.get(*at) else {
                stack.pop();
                continue;
            };
            match &stmt.kind {
                StmtKind::Assign {
                    dst: Place::Var(_),
                    value,
                } if program.ty(*value).width() <= 64 => {
                    if !is_constant(program, *value) {
                        if self.decide(*value).is_none() {
                            break Some(stmt);
                        }
                        decided = true;
                    }
                    repeat.push(stmt);
                }
                StmtKind::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    let Some(truth) = self.decide(*cond) else {
                        break Some(stmt);
                    };
                    decided = true;
                    *at += 1;
                    stack.push((if truth != 0 { then } else { otherwise }, 0));
                    continue;
                }
                _ => break Some(stmt),
            }
            *at += 1;
        };
        if !decided {
            return vec![Stmt::Goto("accept".into())];
        }
        let label = match target {
            Some(stmt) => {
                let id = stmt.id;
                match self.entries.labels.get(&id) {
                    Some(label) => label.clone(),
                    None => {
                        let label = self.file.names.fresh("enter");
                        self.entries.labels.insert(id, label.clone());
                        label
                    }
                }
            }
            None => {
                self.entries.ended.join(&self.header_facts);
                self.entries.control_end.clone()
            }
        };
        self.block(|g| {
            for stmt in repeat {
                g.kill_computed();
                if let StmtKind::Assign { dst, value } = &stmt.kind {
                    let value = g.value(*value);
                    g.store(*dst, value);
                }
            }
            g.push(Stmt::Goto(label));
        })
    }

    /// The value of an expression, if what is known here decides it.
    fn decide(&mut self, e: ir::Expr) -> Option<u64> {
        let reads = self.conditional.reads.clone();
        let mut result = None;
        self.block(|g| {
            g.kill_computed();
            result = lower::scalar(g, e).as_int();
            g.kill_computed();
        });
        self.conditional.reads = reads;
        result
    }
}

fn is_constant(program: &Program, e: ir::Expr) -> bool {
    matches!(
        program.exprs[e].kind,
        ExprKind::Const(_) | ExprKind::Bool(_) | ExprKind::Member(_)
    )
}
