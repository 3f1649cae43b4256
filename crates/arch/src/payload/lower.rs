//! What calls about the payload become for targets: the parser counts how far it got, and each call has it as its last argument, in
//! bits. An attribute of a message can only be had if one was read before: the call has that as its last argument.

use super::{EXTERNS, GET_BYTES, GET_NUMBER, KEEP, MATCHES_PATTERN, MESSAGE, reads_message};
use diag::Span;
use ir::{
    BinaryOp, Bits, Block, Expr, ExprKind, ExternArg, ExternCall, ExternInst, Place, Program,
    State, Stmt, StmtKind, Type, Var, VarData, build, visit,
};
use std::collections::HashMap;

/// The externs whose checksums cover the payload.
pub const WITH_PAYLOAD: [&str; 2] = [
    "verify_checksum_with_payload",
    "update_checksum_with_payload",
];

/// The methods that are about the message that was read last.
const ASKING: [&str; 3] = [GET_NUMBER, GET_BYTES, MATCHES_PATTERN];

/// The calls about the payload that are to know where it begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// All.
    All,
    /// Those of [`WITH_PAYLOAD`].
    Checksums,
}

/// Has the parser count, if a call needs it.
pub(crate) fn lower(program: &mut Program, calls: Calls) {
    let needed = visit::bodies(program).any(|body| {
        let mut found = false;
        visit::walk_block(body, &mut |stmt| {
            found |=
                matches!(&stmt.kind, StmtKind::Extern(call) if asks_where(program, calls, call));
        });
        found
    });
    if !needed {
        return;
    }
    let parsed = number(program, "parsed", 32);
    let marks = match calls {
        Calls::All => marks(program),
        Calls::Checksums => HashMap::new(),
    };
    let to = Answers {
        calls,
        parsed,
        marks,
    };
    let bodies: Vec<Body> = program
        .routines
        .keys()
        .map(Body::Routine)
        .chain(program.actions.keys().map(Body::Action))
        .collect();
    for body in bodies {
        let block = std::mem::take(body.of(program));
        *body.of(program) = answered(program, block, &to);
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

/// A body of statements outside of parsers.
#[derive(Clone, Copy)]
enum Body {
    Routine(ir::Routine),
    Action(ir::Action),
}

impl Body {
    fn of(self, program: &mut Program) -> &mut Block {
        match self {
            Body::Routine(routine) => &mut program.routines[routine].body,
            Body::Action(action) => &mut program.actions[action].body,
        }
    }
}

/// A new variable that is a number.
fn number(program: &mut Program, name: &str, width: u32) -> Var {
    program.vars.push(VarData {
        name: name.into(),
        ty: Type::bit(width),
        span: Span::NONE,
    })
}

/// For each object that reads messages a variable that is 1 once it did, and has the message in its memory.
fn marks(program: &mut Program) -> HashMap<ExternInst, Var> {
    let objects = program
        .externs
        .iter()
        .filter(|(_, data)| data.ty == MESSAGE);
    let objects: Vec<ExternInst> = objects.map(|(object, _)| object).collect();
    let mark = |object| (object, number(program, "message_was_read", 1));
    objects.into_iter().map(mark).collect()
}

/// Whether a call needs to know where the payload begins.
fn asks_where(program: &Program, calls: Calls, call: &ExternCall) -> bool {
    let name = call.name.as_str();
    let of_message = |object: ExternInst| {
        (reads_message(call) || name == KEEP) && program.externs[object].ty == MESSAGE
    };
    match call.object {
        None if WITH_PAYLOAD.contains(&name) => true,
        _ if calls == Calls::Checksums => false,
        Some(object) => of_message(object),
        None => EXTERNS.contains(&name),
    }
}

/// The last arguments of calls.
struct Answers {
    calls: Calls,
    /// The place that the parser got to.
    parsed: Var,
    /// For each object that reads messages, whether it did.
    marks: HashMap<ExternInst, Var>,
}

/// Statements whose calls have what they need as their last argument.
fn answered(program: &mut Program, block: Block, to: &Answers) -> Block {
    let mut out = Vec::with_capacity(block.len());
    for mut stmt in block {
        for inner in visit::blocks_mut(&mut stmt.kind) {
            *inner = answered(program, std::mem::take(inner), to);
        }
        let span = stmt.span;
        let mut then = None;
        if let StmtKind::Extern(call) = &mut stmt.kind {
            let mark = call
                .object
                .and_then(|object| to.marks.get(&object))
                .copied();
            if asks_where(program, to.calls, call) {
                call.args
                    .push(ExternArg::In(vec![build::var(program, to.parsed, span)]));
                // Keeping bytes takes the memory of the message.
                let is_read = u32::from(call.name != KEEP);
                then = mark.map(|mark| (mark, is_read));
            } else if let Some(mark) = mark.filter(|_| ASKING.contains(&call.name.as_str())) {
                call.args
                    .push(ExternArg::In(vec![build::var(program, mark, span)]));
            }
        }
        out.push(stmt);
        if let Some((mark, is_read)) = then {
            let is_read = ExprKind::Const(Bits::new(1, is_read));
            let value = build::make(program, is_read, Type::bit(1), span);
            let dst = Place::Var(mark);
            out.push(Stmt::new(StmtKind::Assign { dst, value }, span));
        }
    }
    out
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
