//! From the parser's end straight to where the control begins to differ.
//!
//! A control often begins by asking which headers are there, which each way out of the parser knows. Such
//! a way jumps past the questions, so that only what is really open is asked at run time.

use super::Gen;
use cgen::lower;
use cgen::tree::{Block, Stmt};
use ir::{ExprKind, Place, Program, StmtKind};

impl Gen<'_> {
    /// The jump of a parser that accepts.
    pub(super) fn accept(&mut self) -> Block {
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
                match self.entered.get(&id) {
                    Some(label) => label.clone(),
                    None => {
                        let label = self.names.fresh("enter");
                        self.entered.insert(id, label.clone());
                        label
                    }
                }
            }
            None => {
                self.ended.join(&self.flow);
                self.control_end.clone()
            }
        };
        self.block(|g| {
            for stmt in repeat {
                g.forget_computed();
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
        let reads = self.weak.reads.clone();
        let mut result = None;
        self.block(|g| {
            g.forget_computed();
            result = lower::scalar(g, e).as_int();
            g.forget_computed();
        });
        self.weak.reads = reads;
        result
    }
}

fn is_constant(program: &Program, e: ir::Expr) -> bool {
    matches!(
        program.exprs[e].kind,
        ExprKind::Const(_) | ExprKind::Bool(_) | ExprKind::Member(_)
    )
}
