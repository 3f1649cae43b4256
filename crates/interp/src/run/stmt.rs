//! Execution of statements.

use super::{ControlFlow, Run};
use crate::trace::TraceKind;
use cranelift_entity::EntityRef;
use diag::Span;
use ir::{EntryPoint, HeaderRef, Stmt, StmtKind, Value};

impl Run<'_> {
    /// Runs statements in order.
    pub(crate) fn block(&mut self, block: &[Stmt]) -> ControlFlow {
        for stmt in block {
            match self.stmt(stmt) {
                ControlFlow::Next => {}
                left => return left,
            }
        }
        ControlFlow::Next
    }

    /// Runs statements from an entry point on. `None` if the block does not contain it.
    pub(crate) fn block_from(&mut self, block: &[Stmt], entry: EntryPoint) -> Option<ControlFlow> {
        for (i, stmt) in block.iter().enumerate() {
            let entered = match &stmt.kind {
                StmtKind::Entry(here) if *here == entry => Some(ControlFlow::Next),
                StmtKind::If {
                    then, otherwise, ..
                } => self
                    .block_from(then, entry)
                    .or_else(|| self.block_from(otherwise, entry)),
                _ => None,
            };
            match entered {
                None => {}
                Some(ControlFlow::Next) => return Some(self.block(&block[i + 1..])),
                left => return left,
            }
        }
        None
    }

    fn stmt(&mut self, stmt: &Stmt) -> ControlFlow {
        if let Err(fault) = self.step() {
            return ControlFlow::Fault(fault);
        }
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Assign { dst, value } => {
                let value = self.eval(*value);
                let target = self.target(*dst);
                self.store(target, value, span);
            }
            StmtKind::CopyHeader { dst, src } => self.copy_header(*dst, *src, span),
            StmtKind::SetValid(header) => self.set_valid(*header, true, span),
            StmtKind::SetInvalid(header) => self.set_valid(*header, false, span),
            StmtKind::PushFront(stacks, count) => self.push_front(stacks, *count),
            StmtKind::PopFront(stacks, count) => self.pop_front(stacks, *count),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                let chosen = if self.eval(*cond).bool() {
                    then
                } else {
                    otherwise
                };
                return self.block(chosen);
            }
            StmtKind::Switch { on, cases, default } => {
                let value = self.eval(*on).to_bits();
                let chosen = cases
                    .iter()
                    .find(|(values, _)| values.contains(&value))
                    .map_or(default, |(_, block)| block);
                return self.block(chosen);
            }
            // Packets run one after the other here.
            StmtKind::Atomic(block) => return self.block(block),
            StmtKind::Labeled(label, block) => {
                return match self.block(block) {
                    ControlFlow::Break(left) if left == *label => ControlFlow::Next,
                    flow => flow,
                };
            }
            StmtKind::Loop(label, block) => loop {
                if let Err(fault) = self.step() {
                    return ControlFlow::Fault(fault);
                }
                match self.block(block) {
                    ControlFlow::Next => {}
                    ControlFlow::Continue(again) if again == *label => {}
                    ControlFlow::Break(left) if left == *label => return ControlFlow::Next,
                    flow => return flow,
                }
            },
            StmtKind::Break(label) => return ControlFlow::Break(*label),
            StmtKind::Continue(label) => return ControlFlow::Continue(*label),
            StmtKind::Return => return ControlFlow::Return,
            StmtKind::Exit => return ControlFlow::Exit,
            StmtKind::Apply { table, hit, action } => {
                return self.apply(*table, *hit, *action, span);
            }
            StmtKind::IsCurrent {
                table,
                generation,
                current,
            } => {
                let now = self.it.tables[table.index()].generation();
                let answer = Value::Bool(now == *generation);
                self.it.storage.set_var(*current, answer);
            }
            StmtKind::Call(routine, args) => return self.call(*routine, args, span),
            StmtKind::Extern(call) => return self.extern_call(call, span),
            StmtKind::Extract { header, varbit } => return self.extract(*header, *varbit, span),
            StmtKind::Lookahead { place, skip } => return self.lookahead(*place, *skip, span),
            StmtKind::Advance(bits) => return self.advance(*bits, span),
            StmtKind::Search {
                pattern,
                limit,
                passed,
            } => self.search(pattern, *limit, *passed, span),
            StmtKind::Automaton {
                automaton,
                start,
                limit,
                end,
                passed,
            } => self.automaton(automaton, (*start, *end), *limit, *passed, span),
            StmtKind::Fits { bits, fits } => self.fits(*bits, *fits),
            StmtKind::SkipAhead { table, short } => return self.skip_ahead(table, *short, span),
            StmtKind::PacketLength(place) => {
                let target = self.target(*place);
                let length = ir::Bits::new(32, self.packet.len() as u64);
                self.store_bits(target, &length, span);
            }
            StmtKind::Verify { cond, error } => {
                if !self.eval(*cond).bool() {
                    return ControlFlow::Reject(self.error_index(*error));
                }
            }
            StmtKind::Emit(header) => self.emit(*header, span),
            StmtKind::Entry(_) => {}
        }
        ControlFlow::Next
    }

    fn copy_header(&mut self, dst: HeaderRef, src: HeaderRef, span: Span) {
        let (Some(dst), src) = (self.header_of(dst), self.header_of(src)) else {
            return;
        };
        match src {
            Some(src) => self.it.storage.copy_header(dst, src),
            None => self.it.storage.clear_header(self.p, dst),
        }
        self.trace(span, |run| TraceKind::CopyHeader {
            to: run.p.headers[dst].name.to_string(),
            from: src.map_or_else(
                || "(outside the stack)".to_string(),
                |src| run.p.headers[src].name.to_string(),
            ),
            valid: run.storage().header(dst).valid,
        });
    }

    fn set_valid(&mut self, header: HeaderRef, valid: bool, span: Span) {
        let Some(header) = self.header_of(header) else {
            return;
        };
        self.it.storage.header_mut(header).valid = valid;
        self.trace(span, |run| TraceKind::Validity {
            header: run.p.headers[header].name.to_string(),
            valid,
        });
    }
}
