//! Splits a wide look-ahead of which only parts are read into look-aheads at these parts.
//!
//! Guarantees: no variable of more than 64 bits that only look-aheads write is read in slices alone. A packet that was
//! too short for the whole look-ahead is too short for its parts.

use super::{all_bodies, body_mut, for_each_body};
use crate::visit::{self, Access};
use crate::*;
use cranelift_entity::SecondaryMap;
use std::collections::BTreeMap;

/// Greatest width in bits of look-aheads that are not split: a register holds one, and it is read at once.
const NARROW: u32 = 64;

/// Parts of a variable that are read, by highest and lowest bit, with the variable for each.
type Parts = BTreeMap<(u32, u32), Option<Var>>;

/// Runs the pass.
pub fn run(program: &mut Program) {
    let mut parts = read_in_parts(program);
    for (&var, parts) in &mut parts {
        let VarData { name, span, .. } = program.vars[var].clone();
        // The last byte decides whether the packet is too short.
        if !parts.keys().any(|(_, lo)| *lo == 0) {
            parts.insert((7, 0), None);
        }
        for ((hi, lo), part) in parts {
            *part = Some(program.vars.push(VarData {
                name: format!("{name}_{lo}").into(),
                ty: Type::bit(hi - lo + 1),
                span,
            }));
        }
    }
    if parts.is_empty() {
        return;
    }
    for data in program.exprs.keys() {
        let ExprKind::Slice { base, hi, lo } = program.exprs[data].kind else {
            continue;
        };
        if let ExprKind::Var(var) = program.exprs[base].kind
            && let Some(&Some(part)) = parts.get(&var).and_then(|p| p.get(&(hi, lo)))
        {
            program.exprs[data].kind = ExprKind::Var(part);
        }
    }
    for_each_body(program, |program, body, _| {
        *body = split(program, std::mem::take(body), &parts);
    });
}

/// Returns the variables that only look-aheads write and only slices read, with their parts.
fn read_in_parts(program: &mut Program) -> BTreeMap<Var, Parts> {
    let mut uses = Uses::default();
    for id in all_bodies(program) {
        let body = std::mem::take(body_mut(program, id));
        visit::walk_block(&body, &mut |stmt| uses.stmt(program, stmt));
        *body_mut(program, id) = body;
    }
    for parser in program.parsers.values() {
        for state in parser.states.values() {
            if let Transition::Select { keys, .. } = &state.transition {
                keys.iter().for_each(|&key| uses.expr(program, key));
            }
        }
    }
    for table in program.tables.values() {
        table
            .keys
            .iter()
            .for_each(|key| uses.expr(program, key.expr));
    }
    for action in program.actions.values() {
        action.params.iter().for_each(|&v| uses.whole[v] = true);
    }
    for slot in &program.slots {
        slot.vars.iter().for_each(|(_, v)| uses.whole[*v] = true);
    }
    for list in &program.field_lists {
        list.vars.iter().for_each(|&v| uses.whole[v] = true);
    }
    for routine in program.routines.values() {
        for param in &routine.params {
            if let Param::In(v) | Param::Out(v) | Param::InOut(v) = param {
                uses.whole[*v] = true;
            }
        }
    }
    let Uses {
        whole,
        parts,
        ahead,
    } = uses;
    let wide =
        |var: Var| matches!(program.vars[var].ty, Type::Bits { width, .. } if width > NARROW);
    parts
        .into_iter()
        .filter(|(var, _)| ahead[*var] && !whole[*var] && wide(*var))
        .collect()
}

/// Uses of variables.
#[derive(Default)]
struct Uses {
    /// True for a variable with other uses than the two below.
    whole: SecondaryMap<Var, bool>,
    /// Slices by which each variable is read.
    parts: BTreeMap<Var, Parts>,
    /// True for a variable that a look-ahead writes.
    ahead: SecondaryMap<Var, bool>,
}

impl Uses {
    fn stmt(&mut self, program: &Program, stmt: &Stmt) {
        if let StmtKind::Lookahead {
            place: Place::Var(var),
            skip: 0,
        } = stmt.kind
        {
            self.ahead[var] = true;
            return;
        }
        visit::accesses(program, &stmt.kind, |access| match access {
            Access::Eval(expr) => self.expr(program, expr),
            Access::Read(Place::Var(var)) | Access::Write(Place::Var(var)) => {
                self.whole[var] = true;
            }
            _ => {}
        });
    }

    fn expr(&mut self, program: &Program, expr: Expr) {
        match program.exprs[expr].kind {
            ExprKind::Var(var) => self.whole[var] = true,
            ExprKind::Slice { base, hi, lo } => match program.exprs[base].kind {
                ExprKind::Var(var) => {
                    self.parts.entry(var).or_default().insert((hi, lo), None);
                }
                _ => self.expr(program, base),
            },
            ref kind => visit::operands(kind).for_each(|operand| self.expr(program, operand)),
        }
    }
}

/// Splits the look-aheads of a block. The furthest part comes first: it decides whether the packet is too short.
fn split(program: &Program, block: Block, parts: &BTreeMap<Var, Parts>) -> Block {
    let mut out = Vec::with_capacity(block.len());
    for mut stmt in block {
        for inner in visit::blocks_mut(&mut stmt.kind) {
            *inner = split(program, std::mem::take(inner), parts);
        }
        let whole = match stmt.kind {
            StmtKind::Lookahead {
                place: Place::Var(var),
                skip: 0,
            } => parts.get(&var).map(|parts| (var, parts)),
            _ => None,
        };
        let Some((var, parts)) = whole else {
            out.push(stmt);
            continue;
        };
        let width = program.vars[var].ty.width();
        let mut all: Vec<_> = parts.iter().collect();
        all.sort_by_key(|((hi, lo), _)| (*lo, *hi));
        for (&(hi, _), part) in all {
            let Some(part) = *part else { continue };
            let kind = StmtKind::Lookahead {
                place: Place::Var(part),
                skip: width - 1 - hi,
            };
            out.push(Stmt::new(kind, stmt.span));
        }
    }
    out
}
