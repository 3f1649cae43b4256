//! Lowering of calls about the payload for targets. The parser counts the bits that it consumes, and each call gets the
//! count as its last argument. An attribute can be read only after its message: the call gets that condition as its
//! last argument. A request for the packet's end gets a result in the slot [`ENDING`].

use super::{
    EXTERNS, FIND_NAME, FIND_PATTERN, FIND_URL, GET_BYTES, GET_NUMBER, KEEP, MATCHES_PATTERN,
    MESSAGE, OBJECTS, TRUNCATE, UNCHANGED, reads_message,
};
use diag::Span;
use ir::{
    BinaryOp, Bits, Block, Expr, ExprKind, ExternArg, ExternCall, ExternInst, Place, Program, Slot,
    SlotKind, State, Stmt, StmtKind, Type, Var, VarData, build, visit,
};
use std::collections::HashMap;

/// Externs whose checksums cover the payload.
pub const WITH_PAYLOAD: [&str; 2] = [
    "verify_checksum_with_payload",
    "update_checksum_with_payload",
];

/// Slot of what a program requests for a packet that leaves. It has variables for these requests alone: [`EXCESS`] and [`UNCHANGED`].
pub const ENDING: &str = "ending";
/// Number of bytes that the packet loses at its end.
pub const EXCESS: &str = "excess";

/// Requests for a packet that leaves, each with its variable and the variable's width.
const REQUESTS: [(&str, &str, u32); 2] = [(TRUNCATE, EXCESS, 32), (UNCHANGED, UNCHANGED, 1)];

/// Methods that are about the message that was read last.
const ASKING: [&str; 6] = [
    GET_NUMBER,
    GET_BYTES,
    MATCHES_PATTERN,
    FIND_NAME,
    FIND_PATTERN,
    FIND_URL,
];

/// Calls about the payload that get the offset of its start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// All.
    All,
    /// Those of [`WITH_PAYLOAD`].
    Checksums,
}

/// Makes the parser count, if a call needs it, and adds the arguments to calls.
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
    let requests = requests(program);
    let marks = match calls {
        Calls::All => marks(program),
        Calls::Checksums => HashMap::new(),
    };
    let to = Answers {
        calls,
        parsed,
        requests,
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

/// Adds the slot of the requests that a program makes, if it makes any. Returns their variables.
fn requests(program: &mut Program) -> Vec<(&'static str, Var)> {
    let mut made = Vec::new();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Extern(call) = &stmt.kind
                && call.object.is_none()
            {
                made.push(call.name.clone());
            }
        });
    }
    let made = REQUESTS
        .into_iter()
        .filter(|(name, ..)| made.iter().any(|made| made == name));
    let made: Vec<_> = made
        .map(|(name, var, width)| (name, var, number(program, var, width)))
        .collect();
    if !made.is_empty() {
        let vars = made.iter().map(|(_, name, var)| ((*name).into(), *var));
        program.slots.push(Slot {
            name: ENDING.into(),
            kind: SlotKind::Intrinsic,
            vars: vars.collect(),
            headers: Vec::new(),
        });
    }
    made.into_iter().map(|(name, _, var)| (name, var)).collect()
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

/// Adds a variable of type `bit<width>`.
fn number(program: &mut Program, name: &str, width: u32) -> Var {
    program.vars.push(VarData {
        name: name.into(),
        ty: Type::bit(width),
        span: Span::NONE,
    })
}

/// Adds a variable for each object that reads messages. It is 1 while the object has a message in its memory.
fn marks(program: &mut Program) -> HashMap<ExternInst, Var> {
    let objects = program
        .externs
        .iter()
        .filter(|(_, data)| data.ty == MESSAGE);
    let objects: Vec<ExternInst> = objects.map(|(object, _)| object).collect();
    let mark = |object| (object, number(program, "message_was_read", 1));
    objects.into_iter().map(mark).collect()
}

/// Returns true if a call needs the offset of the payload's start.
fn asks_where(program: &Program, calls: Calls, call: &ExternCall) -> bool {
    let name = call.name.as_str();
    let of_message = |object: ExternInst| {
        let ty = program.externs[object].ty.as_str();
        let reads = reads_message(call) || name == KEEP;
        OBJECTS.contains(&ty) && (ty != MESSAGE || reads)
    };
    match call.object {
        None if WITH_PAYLOAD.contains(&name) => true,
        _ if calls == Calls::Checksums => false,
        Some(object) => of_message(object),
        None => EXTERNS.contains(&name),
    }
}

/// Variables that become the last arguments of calls.
struct Answers {
    calls: Calls,
    /// Number of bits that the parser consumed.
    parsed: Var,
    /// Variable for each request that is made, by the extern's name.
    requests: Vec<(&'static str, Var)>,
    /// Variable for each object that reads messages: 1 if it has one in its memory.
    marks: HashMap<ExternInst, Var>,
}

/// Adds the last arguments to the calls in a block.
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
                let mut requests = to.requests.iter();
                let request =
                    requests.find(|(name, _)| call.object.is_none() && call.name == *name);
                call.result.extend(request.map(|(_, var)| Place::Var(*var)));
                // Keeping bytes overwrites the message's memory.
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

/// Adds to the count after each statement of a parser that consumes bits.
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
