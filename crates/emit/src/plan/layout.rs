//! Comparison of the emitted layout with the extracted one.
//!
//! Some headers are emitted last by the deparser and were read last by the parser, in the same order and with
//! nothing between. They stay where they are in memory together with the payload: the *retained suffix*. Only
//! headers emitted before it may have to move, by as much as the packet's head does. If the parser's order is the
//! emitted one, even these stay in place until the program touches a header's presence.

mod order;

use super::HeaderStorage;
use super::facts::{CursorStep, Facts};
use super::graph::Graph;
use super::rolled::Rolled;
use crate::errors;
use crate::target::Target;
use diag::{Diagnostic, Diagnostics};
use ir::{Block, Header, HeaderRef, Program, Routine, StmtId, StmtKind, visit};
use order::Order;

/// A header that the deparser emits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Emit {
    /// The header.
    pub header: Header,
    /// True if the statement always runs.
    pub always: bool,
    /// Emit statement of the program.
    pub stmt: StmtId,
}

/// Difference between the layouts.
#[derive(Clone, Debug, Default)]
pub struct DeparserLayout {
    /// All emits in order, without those of headers that are never valid.
    pub emits: Vec<Emit>,
    /// Number of emits before the retained suffix.
    pub relocated: usize,
    /// Number of emits, at most `relocated`, whose headers never move, whatever grows or shrinks after them: all
    /// that is read before them is emitted before them. 0 unless the packet's front can stay in place.
    pub fixed: usize,
    /// True if the parser moves over bytes that are not in the retained suffix.
    pub prefix_steps: bool,
    /// True if nothing moves unless the program changes a header's presence, or a header that lives in variables.
    pub fixed_if_untouched: bool,
}

impl DeparserLayout {
    /// Compares the layouts.
    ///
    /// # Errors
    ///
    /// A diagnostic if it cannot be known which headers are emitted.
    pub fn new<T: Target>(
        program: &Program,
        target: &T,
        facts: &Facts,
        graph: &Graph,
        deparser: Routine,
        (storages, rolled): (&[HeaderStorage], &Rolled),
    ) -> Result<DeparserLayout, Diagnostics> {
        let mut emits = Vec::new();
        collect(
            target.name(),
            &program.routines[deparser].body,
            true,
            &mut emits,
        )?;
        // The run of a rolled stack's elements is emitted by its first.
        emits.retain(|e: &Emit| rolled.representative(e.header) == e.header);
        let of = |h: Header| &facts.headers[h.as_u32() as usize];
        emits.retain(|e| !of(e.header).sites.is_empty() || of(e.header).replaced);

        let order = Order::new(facts, graph, &emits, rolled);
        let in_packet = |h: Header| match storages[h.as_u32() as usize] {
            HeaderStorage::Packet => true,
            HeaderStorage::Rolled => rolled.element(h).is_some(),
            HeaderStorage::Fields => false,
        };

        let mut relocated = emits.len();
        while relocated > 0 {
            let at = relocated - 1;
            let e = emits[at];
            let f = of(e.header);
            let once = order.only(e.header) == Some(at);
            let plain = in_packet(e.header) && e.always && once && !f.invalidated;
            if !plain || !order.later_are_behind(e.header, at, at) {
                break;
            }
            relocated -= 1;
        }
        let fixed = match target.limits().front_stays {
            false => 0,
            true => (0..relocated)
                .take_while(|&at| {
                    let h = emits[at].header;
                    let once = order.only(h) == Some(at);
                    let plain = in_packet(h) && !of(h).invalidated;
                    emits[at].always && once && plain && order.earlier_are_before(h, at)
                })
                .count(),
        };
        let retained = |h: Header| order.last(h).is_some_and(|last| last >= relocated);
        let prefix_steps = facts.steps.iter().flatten().any(|s| match s {
            CursorStep::Extract(h) => !retained(*h),
            CursorStep::Skip => true,
        });
        let all_read_is_emitted = facts.steps.iter().flatten().all(|s| match s {
            CursorStep::Extract(h) => {
                let once = !of(*h).repeated || rolled.element(*h).is_some();
                once && order.only(*h).is_some()
            }
            CursorStep::Skip => false,
        });
        let fixed_if_untouched = all_read_is_emitted
            && emits.iter().all(|e| e.always)
            && (emits.iter().enumerate()).all(|(at, e)| order.later_are_behind(e.header, at, 0));
        Ok(DeparserLayout {
            emits,
            relocated,
            fixed,
            prefix_steps,
            fixed_if_untouched,
        })
    }

    /// Returns true if the deparser never has anything to do.
    pub fn is_empty(&self) -> bool {
        self.relocated == 0 && !self.prefix_steps
    }

    /// Returns true if a header is emitted before the retained suffix, or is read and not emitted.
    pub fn moves(&self, h: Header) -> bool {
        !self.emits[self.relocated..].iter().any(|e| e.header == h)
    }
}

fn collect(
    target: &str,
    block: &Block,
    always: bool,
    emits: &mut Vec<Emit>,
) -> Result<(), Box<Diagnostic>> {
    let mut left = false;
    for stmt in block {
        match &stmt.kind {
            StmtKind::Emit(HeaderRef::Header(h)) => emits.push(Emit {
                header: *h,
                always: always && !left,
                stmt: stmt.id,
            }),
            StmtKind::Emit(_) => return Err(Box::new(errors::dynamic_emit(target, stmt.span))),
            StmtKind::Loop(_, body) if emits_any(body) => {
                return Err(Box::new(errors::dynamic_emit(target, stmt.span)));
            }
            StmtKind::Return | StmtKind::Exit => left = true,
            _ => {
                for inner in visit::blocks(&stmt.kind) {
                    collect(target, inner, false, emits)?;
                    visit::walk_block(inner, &mut |s| {
                        left |= matches!(
                            s.kind,
                            StmtKind::Return | StmtKind::Exit | StmtKind::Break(_)
                        );
                    });
                }
            }
        }
    }
    Ok(())
}

fn emits_any(block: &Block) -> bool {
    let mut any = false;
    visit::walk_block(block, &mut |s| any |= matches!(s.kind, StmtKind::Emit(_)));
    any
}
