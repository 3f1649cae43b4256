//! Checksums that cover what the parser left: the parser counts how far it got, and each call has it as its last argument, in
//! bits.

use diag::Span;
use ir::{
    BinaryOp, Block, Expr, ExprKind, ExternArg, Place, Program, State, Stmt, StmtKind, Type, Var,
    VarData, build, visit,
};

/// The externs whose checksums cover the payload.
pub const WITH_PAYLOAD: [&str; 2] = [
    "verify_checksum_with_payload",
    "update_checksum_with_payload",
];

/// Has the parser count, if a call needs it.
pub(super) fn lower(program: &mut Program) {
    let calls = super::lower::bodies_mut(program).any(|body| {
        let mut found = false;
        visit::walk_block(body, &mut |stmt| found |= covers_payload(&stmt.kind));
        found
    });
    if !calls {
        return;
    }
    let parsed = program.vars.push(VarData {
        name: "parsed".into(),
        ty: Type::bit(32),
        span: Span::NONE,
    });
    let count = build::var(program, parsed, Span::NONE);
    for body in super::lower::bodies_mut(program) {
        visit::walk_block_mut(body, &mut |stmt| {
            if let StmtKind::Extern(call) = &mut stmt.kind
                && WITH_PAYLOAD.contains(&call.name.as_str())
            {
                call.args.push(ExternArg::In(vec![count]));
            }
        });
    }
    let parsers: Vec<_> = program.parsers.keys().collect();
    for parser in parsers {
        let states: Vec<State> = program.parsers[parser].states.keys().collect();
        for state in states {
            let body = std::mem::take(&mut program.parsers[parser].states[state].body);
            let body = counted(program, body, parsed);
            program.parsers[parser].states[state].body = body;
        }
    }
}

fn covers_payload(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Extern(call) => {
            call.object.is_none() && WITH_PAYLOAD.contains(&call.name.as_str())
        }
        _ => false,
    }
}

/// A parser's statements, each that moves on followed by what adds to the count.
fn counted(program: &mut Program, block: Block, parsed: Var) -> Block {
    let mut out = Vec::with_capacity(block.len());
    for mut stmt in block {
        for inner in visit::blocks_mut(&mut stmt.kind) {
            *inner = counted(program, std::mem::take(inner), parsed);
        }
        let span = stmt.span;
        let mut by: Vec<Expr> = Vec::new();
        match &stmt.kind {
            StmtKind::Extract { header, varbit } => {
                let layout = program.header_layout(*header);
                let fixed = layout.map_or(0, |layout| layout.fixed_width());
                by.push(build::u32(program, fixed, span));
                by.extend(*varbit);
            }
            StmtKind::Advance(bits) => by.push(*bits),
            _ => {}
        }
        out.push(stmt);
        for bits in by {
            let before = build::var(program, parsed, span);
            let sum = ExprKind::Binary(BinaryOp::Add, before, bits);
            let value = build::make(program, sum, Type::bit(32), span);
            let dst = Place::Var(parsed);
            out.push(Stmt::new(StmtKind::Assign { dst, value }, span));
        }
    }
    out
}
