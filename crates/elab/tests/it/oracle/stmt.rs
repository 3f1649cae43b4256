//! Statements (section 12).

use super::machine::{Leave, Machine, Result};
use super::place::StoragePath;
use super::value::{Value, binary};
use hir::{BinaryOp, Block, Collection, Expr, LocalId, Stmt, StmtKind};

impl Machine<'_> {
    /// Runs statements in order.
    pub(super) fn block(&mut self, block: &[Stmt]) -> Result<()> {
        block.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Local { local, init } => {
                let value = match init {
                    Some(init) => Some(self.eval(init)?),
                    None => None,
                };
                self.declare(*local, value);
                Ok(())
            }
            StmtKind::Instance(_) => Ok(()),
            StmtKind::Assign { target, value } => {
                let place = self.place(target)?;
                let value = self.eval(value)?;
                self.write(&place, value);
                Ok(())
            }
            StmtKind::Update { target, value } => {
                let place = self.place(target)?;
                let old = self.read(&place);
                let outer = self.target.replace(old);
                let value = self.eval(value);
                self.target = outer;
                self.write(&place, value?);
                Ok(())
            }
            StmtKind::Call(call) => self.call(call).map(|_| ()),
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    if self.eval(&arm.cond)?.bool() {
                        return self.block(&arm.then);
                    }
                }
                self.block(otherwise)
            }
            StmtKind::Block(inner) | StmtKind::Atomic(inner) => self.block(inner),
            StmtKind::Return(None) => Err(Leave::Return(None)),
            StmtKind::Return(Some(value)) => {
                let value = self.eval(value)?;
                Err(Leave::Return(Some(value)))
            }
            StmtKind::Exit => Err(Leave::Exit),
            StmtKind::Break => Err(Leave::Break),
            StmtKind::Continue => Err(Leave::Continue),
            StmtKind::Switch { scrutinee, cases } => {
                let value = self.eval(scrutinee)?;
                let mut chosen = cases.iter().find(|case| case.is_default);
                for case in cases {
                    for label in &case.labels {
                        if self.eval(label)?.equals(&value) {
                            chosen = Some(case);
                        }
                    }
                }
                chosen.map_or(Ok(()), |case| self.block(&case.body))
            }
            StmtKind::SwitchTable { table, cases } => {
                let ran = self.apply(*table)?.action;
                let labelled = |labels: &[_]| ran.is_some_and(|action| labels.contains(&action));
                let chosen = cases.iter().find(|case| labelled(&case.labels));
                let chosen = chosen.or(cases.iter().find(|case| case.is_default));
                chosen.map_or(Ok(()), |case| self.block(&case.body))
            }
            StmtKind::For {
                init,
                cond,
                update,
                body,
            } => {
                self.block(init)?;
                while self.eval(cond)?.bool() && self.iteration(body)? {
                    self.block(update)?;
                }
                Ok(())
            }
            StmtKind::ForIn {
                local,
                collection,
                body,
            } => self.for_in(*local, collection, body),
        }
    }

    /// Runs an iteration of a loop; returns true if another one may follow.
    fn iteration(&mut self, body: &Block) -> Result<bool> {
        match self.block(body) {
            Err(Leave::Break) => Ok(false),
            Err(Leave::Continue) | Ok(()) => Ok(true),
            Err(leave) => Err(leave),
        }
    }

    /// Runs a loop over a collection, which is evaluated once, before the first iteration.
    fn for_in(&mut self, local: LocalId, collection: &Collection, body: &Block) -> Result<()> {
        let values = match collection {
            Collection::Range(lo, hi) => self.range(lo, hi)?,
            Collection::Elements(elements) => self.eval(elements)?.parts().to_vec(),
        };
        let known = [self.here(), self.control()];
        let known = known.map(|frame| self.frames[frame].locals.contains_key(&local));
        if known == [false, false] {
            self.declare(local, None);
        }
        let variable = StoragePath::of(self.home(local), local);
        for value in values {
            self.write(&variable, value);
            if !self.iteration(body)? {
                break;
            }
        }
        Ok(())
    }

    /// Returns the numbers of a range, both ends included.
    fn range(&mut self, lo: &Expr, hi: &Expr) -> Result<Vec<Value>> {
        let (mut next, last) = (self.eval(lo)?, self.eval(hi)?);
        let mut all = Vec::new();
        while next.bits().value <= last.bits().value {
            all.push(next.clone());
            if next == last {
                break;
            }
            let bits = next.bits();
            let one = Value::number(1, bits.width, bits.signed);
            next = binary(BinaryOp::Add, &next, &one);
        }
        Ok(all)
    }
}
