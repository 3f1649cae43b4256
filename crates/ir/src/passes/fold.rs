//! Constant folding and algebraic simplification of expressions. Removes branches, switches and selects with a known
//! outcome, and unnecessary statements and labels.
//!
//! Guarantees: no `if` or `switch` on a constant, no statement after a jump, no labelled block without a break to its
//! label, no `if` whose first arm is empty.

use super::for_each_body;
use crate::rewrite::{Nothing, Rewriter};
use crate::*;

/// Runs the pass.
pub fn run(program: &mut Program) {
    for_each_body(program, |program, body, _| {
        let block = std::mem::take(body);
        *body = fold_block(program, block);
    });
    let mut keys = Vec::new();
    for (id, table) in &program.tables {
        keys.extend(table.keys.iter().enumerate().map(|(i, k)| (id, i, k.expr)));
    }
    for (table, i, expr) in keys {
        program.tables[table].keys[i].expr = Rewriter::new(program, Nothing).expr(expr);
    }
    for id in program.parsers.keys() {
        let mut states = std::mem::take(&mut program.parsers[id].states);
        for state in states.values_mut() {
            fold_transition(program, &mut state.transition);
            if block_ends(program, &state.body) {
                // Never taken.
                state.transition = Transition::To(TransitionTarget::Reject);
            }
        }
        program.parsers[id].states = states;
    }
}

fn fold_block(program: &mut Program, block: Block) -> Block {
    let mut out = Vec::with_capacity(block.len());
    for stmt in block {
        fold_stmt(program, stmt, &mut out);
        if block_ends(program, &out) {
            break;
        }
    }
    out
}

/// Returns true if no statement after this one runs in its block.
fn ends(program: &Program, kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return | StmtKind::Exit => true,
        StmtKind::If {
            then, otherwise, ..
        } => block_ends(program, then) && block_ends(program, otherwise),
        StmtKind::Switch { cases, default, .. } => {
            let mut blocks = cases.iter().map(|(_, block)| block);
            block_ends(program, default) && blocks.all(|block| block_ends(program, block))
        }
        StmtKind::Verify { cond, .. } => eval::constant(program, *cond) == Some(Value::Bool(false)),
        kind => visit::in_place(kind).is_some_and(|block| block_ends(program, block)),
    }
}

fn block_ends(program: &Program, block: &Block) -> bool {
    block.last().is_some_and(|last| ends(program, &last.kind))
}

fn fold_stmt(program: &mut Program, mut stmt: Stmt, out: &mut Block) {
    visit::map_stmt(&mut stmt.kind, &mut Rewriter::new(program, Nothing));
    let span = stmt.span;
    let kind = match stmt.kind {
        StmtKind::Assign { dst, value } => {
            let same = match (dst, &program.exprs[value].kind) {
                (Place::Var(v), ExprKind::Var(w)) => v == *w,
                (Place::Field(h, f), ExprKind::Field(k, g)) => {
                    f == *g && build::same_header(program, h, *k)
                }
                _ => false,
            };
            if same {
                return;
            }
            StmtKind::Assign { dst, value }
        }
        StmtKind::CopyHeader { dst, src } if build::same_header(program, dst, src) => return,
        StmtKind::If {
            cond,
            then,
            otherwise,
        } => match eval::constant(program, cond) {
            Some(Value::Bool(true)) => return out.extend(fold_block(program, then)),
            Some(_) => return out.extend(fold_block(program, otherwise)),
            None => {
                let then = fold_block(program, then);
                let otherwise = fold_block(program, otherwise);
                match (then.is_empty(), otherwise.is_empty()) {
                    (true, true) => return,
                    (true, false) => StmtKind::If {
                        cond: build::not(program, cond),
                        then: otherwise,
                        otherwise: then,
                    },
                    _ => StmtKind::If {
                        cond,
                        then,
                        otherwise,
                    },
                }
            }
        },
        StmtKind::Switch { on, cases, default } => {
            if let Some(value) = eval::constant(program, on) {
                let value = value.to_bits();
                let chosen = cases
                    .into_iter()
                    .find(|(values, _)| values.contains(&value));
                let block = chosen.map_or(default, |(_, block)| block);
                return out.extend(fold_block(program, block));
            }
            let default = fold_block(program, default);
            let mut cases: Vec<_> = cases
                .into_iter()
                .map(|(values, block)| (values, fold_block(program, block)))
                .collect();
            if default.is_empty() {
                cases.retain(|(_, block)| !block.is_empty());
            }
            if cases.is_empty() {
                return out.extend(default);
            }
            StmtKind::Switch { on, cases, default }
        }
        StmtKind::Labeled(label, block) => {
            let mut block = fold_block(program, block);
            if strip_tail(&mut block, label) {
                block = fold_block(program, block);
            }
            if !breaks(&block, label) {
                return out.extend(block);
            }
            StmtKind::Labeled(label, block)
        }
        StmtKind::Loop(label, block) => {
            let block = fold_block(program, block);
            // A loop that always ends in its first iteration is not a loop.
            if let Some(Stmt {
                kind: StmtKind::Break(at_end),
                ..
            }) = block.last()
                && *at_end == label
                && !continues(&block, label)
            {
                let mut block = block;
                block.pop();
                if strip_tail(&mut block, label) {
                    block = fold_block(program, block);
                }
                if !breaks(&block, label) {
                    return out.extend(block);
                }
                StmtKind::Labeled(label, block)
            } else {
                StmtKind::Loop(label, block)
            }
        }
        StmtKind::PopFront(_, 0) => return,
        StmtKind::Verify { cond, error } => match eval::constant(program, cond) {
            Some(Value::Bool(true)) => return,
            _ => StmtKind::Verify { cond, error },
        },
        mut kind => {
            for inner in visit::blocks_mut(&mut kind) {
                *inner = fold_block(program, std::mem::take(inner));
            }
            if let Some(block) = super::atomic::without(&mut kind) {
                return out.extend(block);
            }
            kind
        }
    };
    out.push(Stmt::new(kind, span));
}

/// Removes breaks to a label from the tail positions of the block that it labels. Returns true if there were any.
fn strip_tail(block: &mut Block, label: Label) -> bool {
    let Some(last) = block.last_mut() else {
        return false;
    };
    match &mut last.kind {
        StmtKind::Break(to) if *to == label => {
            block.pop();
            true
        }
        kind if matches!(
            kind,
            StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::Labeled(..)
        ) || visit::in_place(kind).is_some() =>
        {
            let mut any = false;
            for inner in visit::blocks_mut(kind) {
                any |= strip_tail(inner, label);
            }
            any
        }
        _ => false,
    }
}

fn breaks(block: &Block, label: Label) -> bool {
    let mut found = false;
    visit::walk_block(block, &mut |stmt| {
        found |= matches!(stmt.kind, StmtKind::Break(l) | StmtKind::Continue(l) if l == label);
    });
    found
}

fn continues(block: &Block, label: Label) -> bool {
    let mut found = false;
    visit::walk_block(block, &mut |stmt| {
        found |= matches!(stmt.kind, StmtKind::Continue(l) if l == label);
    });
    found
}

/// Folds a transition: removes select cases that cannot match, and those after a case that always matches.
fn fold_transition(program: &mut Program, transition: &mut Transition) {
    Rewriter::new(program, Nothing).transition(transition);
    let Transition::Select { keys, cases } = transition else {
        return;
    };
    let known: Vec<_> = keys
        .iter()
        .map(|&key| {
            let signed = types::is_signed(program.ty(key));
            (eval::constant(program, key).map(|v| v.to_bits()), signed)
        })
        .collect();
    let mut kept: Vec<SelectCase> = Vec::new();
    for case in cases.drain(..) {
        match case_matches(program, &case.keysets, &known) {
            Some(false) => {}
            sure => {
                kept.push(case);
                if sure == Some(true) {
                    break;
                }
            }
        }
    }
    if let Some(first) = kept.first()
        && case_matches(program, &first.keysets, &known) == Some(true)
    {
        *transition = Transition::To(first.target);
        return;
    }
    *cases = kept;
}

/// Returns true if a case always matches, false if it never does, and `None` if that is unknown.
fn case_matches(
    program: &Program,
    keysets: &[Keyset],
    mut known: &[(Option<Bits>, bool)],
) -> Option<bool> {
    let mut sure = Some(true);
    for keyset in keysets {
        let covered = match keyset {
            Keyset::ValueSet(set) => program.value_sets[*set].fields.len(),
            _ => 1,
        };
        let found = match (keyset, &known[0]) {
            (Keyset::Any, _) => Some(true),
            (Keyset::Mask(_, mask), _) if mask.is_zero() => Some(true),
            (Keyset::ValueSet(_), _) | (_, (None, _)) => None,
            (keyset, (Some(value), signed)) => Some(keyset_holds(keyset, value, *signed)),
        };
        match found {
            Some(false) => return Some(false),
            None => sure = None,
            Some(true) => {}
        }
        known = &known[covered..];
    }
    sure
}

fn keyset_holds(keyset: &Keyset, value: &Bits, signed: bool) -> bool {
    match keyset {
        Keyset::Any | Keyset::ValueSet(_) => true,
        Keyset::Value(expected) => expected == value,
        Keyset::Mask(expected, mask) => {
            expected.value() & mask.value() == value.value() & mask.value()
        }
        Keyset::Range(lo, hi) => {
            let value = value.to_int(signed);
            lo.to_int(signed) <= value && value <= hi.to_int(signed)
        }
    }
}
