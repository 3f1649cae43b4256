//! Replaces stack elements at constant indices by their headers, and lowers pushes and pops to copies.
//!
//! Guarantees: if a [`HeaderRef::Element`] has a constant index, the index is out of bounds, and the statement could
//! not be removed (such as a call of an extern). No pushes remain, and only pops of rolled stacks.

use super::for_each_body;
use crate::rewrite::{Leaves, Rewriter};
use crate::*;
use diag::Span;

/// Runs the pass.
pub fn run(program: &mut Program) {
    for_each_body(program, |program, body, _| {
        let block = std::mem::take(body);
        *body = settle(program, block);
    });
    for table in program.tables.keys().collect::<Vec<_>>() {
        for i in 0..program.tables[table].keys.len() {
            let expr = program.tables[table].keys[i].expr;
            program.tables[table].keys[i].expr = Rewriter::new(program, Settle).expr(expr);
        }
    }
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        for state in program.parsers[parser].states.keys().collect::<Vec<_>>() {
            let mut transition = program.parsers[parser].states[state].transition.clone();
            Rewriter::new(program, Settle).transition(&mut transition);
            program.parsers[parser].states[state].transition = transition;
        }
    }
}

/// Substitution of stack elements at constant indices. Out of bounds, fields are zero and headers invalid.
struct Settle;

impl Leaves for Settle {
    fn header(&mut self, program: &mut Program, header: HeaderRef) -> HeaderRef {
        match element(program, header) {
            Element::Is(header) => HeaderRef::Header(header),
            Element::Unknown | Element::Nothing => header,
        }
    }

    fn field(&mut self, program: &mut Program, header: HeaderRef, field: u32) -> Option<Expr> {
        if element(program, header) != Element::Nothing {
            return None;
        }
        let ty = program.field_type(header, field)?;
        build::value(program, &Value::zero(ty), ty, Span::NONE)
    }

    fn valid(&mut self, program: &mut Program, header: HeaderRef) -> Option<bool> {
        (element(program, header) == Element::Nothing).then_some(false)
    }
}

#[derive(PartialEq)]
enum Element {
    Is(Header),
    /// Out of bounds.
    Nothing,
    Unknown,
}

fn element(program: &Program, header: HeaderRef) -> Element {
    let (stack, index) = match header {
        HeaderRef::Header(header) => return Element::Is(header),
        HeaderRef::Element(stack, index) => (stack, index),
    };
    match eval::constant(program, index) {
        Some(Value::Bits(bits)) => {
            let index = bits.to_u64().and_then(|i| usize::try_from(i).ok());
            let elems = &program.stacks[stack].elems;
            match index.and_then(|i| elems.get(i)) {
                Some(&header) => Element::Is(header),
                None => Element::Nothing,
            }
        }
        _ => Element::Unknown,
    }
}

fn settle(program: &mut Program, block: Block) -> Block {
    let mut out = Vec::with_capacity(block.len());
    for mut stmt in block {
        visit::map_stmt(&mut stmt.kind, &mut Rewriter::new(program, Settle));
        for inner in visit::blocks_mut(&mut stmt.kind) {
            let taken = std::mem::take(inner);
            *inner = settle(program, taken);
        }
        stmt_out(program, stmt, &mut out);
    }
    out
}

fn stmt_out(program: &mut Program, stmt: Stmt, out: &mut Block) {
    let span = stmt.span;
    let nothing = |header| element(program, header) == Element::Nothing;
    match stmt.kind {
        StmtKind::Assign {
            dst: Place::Field(header, _),
            ..
        }
        | StmtKind::CopyHeader { dst: header, .. }
        | StmtKind::SetValid(header)
        | StmtKind::SetInvalid(header)
        | StmtKind::Emit(header)
            if nothing(header) => {}
        StmtKind::CopyHeader { dst, src } if nothing(src) => {
            build::clear(program, dst, span, out);
        }
        StmtKind::Extract { header, .. } if nothing(header) => {
            let error = program.errors.iter().position(|e| e == "StackOutOfBounds");
            let Some(error) = error else {
                // Without `core.p4` the error has no name here; the statement does the same.
                out.push(stmt);
                return;
            };
            let mut push = |kind, ty| program.exprs.push(ExprData { kind, ty, span });
            let kind = StmtKind::Verify {
                cond: push(ExprKind::Bool(false), Type::Bool),
                error: push(ExprKind::Member(error as u32), Type::Error),
            };
            out.push(Stmt::new(kind, span));
        }
        StmtKind::PopFront(ref stacks, _) if program.stacks[stacks[0]].rolled => out.push(stmt),
        StmtKind::PushFront(stacks, by) => {
            for &stack in &stacks {
                shift(program, stack, by, true, span, out);
            }
            move_next(program, &stacks, by, true, span, out);
        }
        StmtKind::PopFront(stacks, by) => {
            for &stack in &stacks {
                shift(program, stack, by, false, span, out);
            }
            move_next(program, &stacks, by, false, span, out);
        }
        _ => out.push(stmt),
    }
}

fn shift(program: &mut Program, stack: Stack, by: u32, up: bool, span: Span, out: &mut Block) {
    let elems = program.stacks[stack].elems.clone();
    let by = (by as usize).min(elems.len());
    let moves = elems.len() - by;
    let copy = |dst: usize, src: usize| {
        let kind = StmtKind::CopyHeader {
            dst: HeaderRef::Header(elems[dst]),
            src: HeaderRef::Header(elems[src]),
        };
        Stmt::new(kind, span)
    };
    let freed = if up {
        out.extend((0..moves).rev().map(|i| copy(i + by, i)));
        0..by
    } else {
        out.extend((0..moves).map(|i| copy(i, i + by)));
        moves..elems.len()
    };
    for i in freed {
        build::clear(program, HeaderRef::Header(elems[i]), span, out);
    }
}

/// Adds `by` to the next index, up to the stack's size, if `up`. Otherwise subtracts it, down to 0.
fn move_next(
    program: &mut Program,
    stacks: &[Stack],
    by: u32,
    up: bool,
    span: Span,
    out: &mut Block,
) {
    let Some(&stack) = stacks.first() else {
        return;
    };
    let size = program.stacks[stack].elems.len() as u32;
    let next = program.stacks[stack].next;
    let ty = Type::bit(32);
    let now = build::var(program, next, span);
    let amount = build::u32(program, by, span);
    let (op, bound, end, step) = if up {
        let bound = size.saturating_sub(by);
        (BinaryOp::Ge, bound, size, BinaryOp::Add)
    } else {
        (BinaryOp::Lt, by, 0, BinaryOp::Sub)
    };
    let bound = build::u32(program, bound, span);
    let end = build::u32(program, end, span);
    let cond = build::make(program, ExprKind::Binary(op, now, bound), Type::Bool, span);
    let moved = build::make(program, ExprKind::Binary(step, now, amount), ty, span);
    let value = build::make(program, ExprKind::Mux(cond, end, moved), ty, span);
    let dst = Place::Var(next);
    let kind = StmtKind::Assign { dst, value };
    out.push(Stmt::new(kind, span));
}
