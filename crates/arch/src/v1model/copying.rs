//! The pipeline for packets that may be resubmitted or recirculated, and whose copies may differ, for targets. The
//! program's requests to the traffic manager become assignments to the slot [`REQUESTS`].
//!
//! The traffic manager itself is the target's. Its actions between ingress and egress, and the packet or copy that they
//! apply to, are no part of the program. Egress and the blocks after it run once for each copy, with headers and
//! metadata as they were when it was made ([`Program::copies`]). A target assigns all of `standard_metadata` and reads
//! it.

use super::lower::{Fields, assign, bodies_mut};
use crate::payload::Calls;
use diag::Span;
use ir::passes::Rejects;
use ir::{
    Block, Expr, ExprKind, ExternArg, ExternCall, Program, Slot, SlotKind, StmtKind, Type, Var,
    VarData, build, visit,
};

/// Slot of a program's requests. All of them are zero when a packet or copy enters ingress. When it enters egress, all
/// are zero except the pending ones.
pub const REQUESTS: &str = "v1model requests";
/// In [`REQUESTS`]: a clone is to be made, for [`CLONE_SESSION`], with the field list [`CLONE_LIST`].
pub const CLONE: &str = "clone";
/// Session of a clone.
pub const CLONE_SESSION: &str = "clone_session";
/// Number of the field list of a clone.
pub const CLONE_LIST: &str = "clone_list";
/// In [`REQUESTS`]: the packet is to be resubmitted as it was received, with the field list [`RESUBMIT_LIST`].
pub const RESUBMIT: &str = "resubmit";
/// Number of the field list of a resubmitted packet.
pub const RESUBMIT_LIST: &str = "resubmit_list";
/// In [`REQUESTS`]: the packet is to be recirculated as it is deparsed, with the field list [`RECIRCULATE_LIST`].
pub const RECIRCULATE: &str = "recirculate";
/// Number of the field list of a recirculated packet.
pub const RECIRCULATE_LIST: &str = "recirculate_list";
/// In [`REQUESTS`]: the packet is to be truncated to [`TRUNCATE_TO`] bytes.
pub const TRUNCATE: &str = "truncate";
/// Most bytes that a truncated packet has.
pub const TRUNCATE_TO: &str = "truncate_to";

const FLAGS: [&str; 4] = [CLONE, RESUBMIT, RECIRCULATE, TRUNCATE];
const NUMBERS: [&str; 5] = [
    CLONE_SESSION,
    CLONE_LIST,
    RESUBMIT_LIST,
    RECIRCULATE_LIST,
    TRUNCATE_TO,
];

/// An extern that makes a request to the traffic manager.
struct Asking {
    name: &'static str,
    /// Flag that it sets.
    flag: &'static str,
    /// Numbers that it assigns as well, each with the index of the argument that has the value.
    numbers: &'static [(&'static str, usize)],
}

/// All such externs. If two set one flag, messages name the last.
const EXTERNS: [Asking; 5] = [
    Asking {
        name: "clone",
        flag: CLONE,
        numbers: &[(CLONE_SESSION, 1)],
    },
    Asking {
        name: "clone_preserving_field_list",
        flag: CLONE,
        numbers: &[(CLONE_SESSION, 1), (CLONE_LIST, 2)],
    },
    Asking {
        name: "resubmit_preserving_field_list",
        flag: RESUBMIT,
        numbers: &[(RESUBMIT_LIST, 0)],
    },
    Asking {
        name: "recirculate_preserving_field_list",
        flag: RECIRCULATE,
        numbers: &[(RECIRCULATE_LIST, 0)],
    },
    Asking {
        name: "truncate",
        flag: TRUNCATE,
        numbers: &[(TRUNCATE_TO, 0)],
    },
];

/// Returns the first request of a program, as elaborated or for targets, to the traffic manager: the extern's name, and
/// its location. Truncation counts only if there is no other request.
pub fn asks(program: &Program) -> Option<(&'static str, Span)> {
    let asked = all_asked(program);
    let more = asked.iter().find(|(name, _)| *name != "truncate");
    more.or(asked.first()).copied()
}

/// Returns all requests, in order.
pub(super) fn all_asked(program: &Program) -> Vec<(&'static str, Span)> {
    let mut found = Vec::new();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            let name = match &stmt.kind {
                StmtKind::Extern(call) => asked_by(call),
                StmtKind::Assign { dst, .. } => flag_of(program, *dst),
                _ => None,
            };
            found.extend(name.map(|name| (name, stmt.span)));
        });
    }
    found
}

/// Returns the program, and how its passes treat packets that the parser rejects.
pub(super) fn of(program: &Program) -> (Program, Rejects) {
    let mut program = program.clone();
    let error = program.slot_var(super::STANDARD_METADATA, "parser_error");
    let fields = Fields::of(&program);
    fields.lower_marks(&mut program);
    fields.lower_checks(&mut program);
    // Nothing else of the payload can be read of a copy.
    crate::payload::lower(&mut program, Calls::Checksums);
    let requests = add_slot(&mut program);
    lower_requests(&mut program, &requests);
    program.copies = true;
    program.number_stmts();
    (program, Rejects::Edges(error))
}

/// Adds the slot of the requests. Returns its variables.
fn add_slot(program: &mut Program) -> Vec<(&'static str, Var)> {
    let mut var = |name: &'static str, ty| {
        let data = VarData {
            name: name.into(),
            ty,
            span: Span::NONE,
        };
        (name, program.vars.push(data))
    };
    let flags = FLAGS.map(|name| var(name, Type::Bool));
    let numbers = NUMBERS.map(|name| var(name, Type::bit(32)));
    let requests: Vec<_> = flags.into_iter().chain(numbers).collect();
    let vars = requests.iter().map(|(name, var)| ((*name).into(), *var));
    program.slots.push(Slot {
        name: REQUESTS.into(),
        kind: SlotKind::Intrinsic,
        vars: vars.collect(),
        headers: Vec::new(),
    });
    requests
}

fn lower_requests(program: &mut Program, requests: &[(&'static str, Var)]) {
    // Make the casts of arguments to the type of the variables first, since the statements are changed in place
    // afterwards.
    let mut casts = Vec::new();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Extern(call) = &stmt.kind
                && asked_by(call).is_some()
            {
                casts.extend(call.args.iter().flat_map(values).copied());
            }
        });
    }
    casts.retain(|&arg| matches!(program.ty(arg), Type::Bits { .. }));
    let mut number = |arg| build::make(program, ExprKind::Cast(arg), Type::bit(32), Span::NONE);
    let casts: Vec<(Expr, Expr)> = casts.iter().map(|&arg| (arg, number(arg))).collect();
    let zero = build::u32(program, 0, Span::NONE);
    let yes = build::make(program, ExprKind::Bool(true), Type::Bool, Span::NONE);
    let var = |name: &str| requests.iter().find(|(known, _)| *known == name);
    let lower = |call: &ExternCall, span: Span| -> Option<Block> {
        let Asking { flag, numbers, .. } =
            EXTERNS.iter().find(|asking| is_call(call, asking.name))?;
        let mut set = vec![assign(var(flag)?.1, yes)];
        for (number, place) in *numbers {
            let given = call
                .args
                .get(*place)
                .map(values)
                .unwrap_or_default()
                .first();
            let cast = given.and_then(|given| casts.iter().find(|(arg, _)| arg == given));
            set.push(assign(var(number)?.1, cast?.1));
        }
        if *flag == CLONE && numbers.len() == 1 {
            set.push(assign(var(CLONE_LIST)?.1, zero));
        }
        for stmt in &mut set {
            stmt.span = span;
        }
        Some(set)
    };
    for body in bodies_mut(program) {
        replace(body, &lower);
    }
}

fn replace(block: &mut Block, lower: &dyn Fn(&ExternCall, Span) -> Option<Block>) {
    for mut stmt in std::mem::take(block) {
        for inner in visit::blocks_mut(&mut stmt.kind) {
            replace(inner, lower);
        }
        let lowered = match &stmt.kind {
            StmtKind::Extern(call) => lower(call, stmt.span),
            _ => None,
        };
        match lowered {
            Some(lowered) => block.extend(lowered),
            None => block.push(stmt),
        }
    }
}

fn values(arg: &ExternArg) -> &[Expr] {
    match arg {
        ExternArg::In(values) => values,
        _ => &[],
    }
}

fn is_call(call: &ExternCall, name: &str) -> bool {
    call.object.is_none() && call.name == name
}

fn asked_by(call: &ExternCall) -> Option<&'static str> {
    let found = EXTERNS.iter().find(|asking| is_call(call, asking.name));
    found.map(|asking| asking.name)
}

/// Returns the extern whose call became an assignment to this l-value.
fn flag_of(program: &Program, dst: ir::Place) -> Option<&'static str> {
    let ir::Place::Var(var) = dst else {
        return None;
    };
    let flag = FLAGS
        .into_iter()
        .find(|flag| program.slot_var(REQUESTS, flag) == Some(var))?;
    let mut setting = EXTERNS.iter().rev().filter(|asking| asking.flag == flag);
    setting.next().map(|asking| asking.name)
}
