//! Dead code elimination: removes computations of unread values, and unreachable code.
//!
//! Guarantees: no assignment to, copy into or validity change of storage that is dead by [`Liveness`], and no call
//! without effect that writes only such storage. Tables do not report unused results. Parsers have no unreachable
//! states.

use super::{all_bodies, body_mut};
use crate::analysis::dataflow::reverse_postorder;
use crate::analysis::liveness::Liveness;
use crate::visit::Access;
use crate::*;
use cranelift_entity::{PrimaryMap, SecondaryMap};

/// Runs the pass.
pub fn run(program: &mut Program) {
    for parser in program.parsers.values_mut() {
        drop_states(parser);
    }
    let live = Liveness::new(program);
    for id in all_bodies(program) {
        let mut body = std::mem::take(body_mut(program, id));
        block(program, &live, &mut body);
        *body_mut(program, id) = body;
    }
}

fn block(program: &Program, live: &Liveness, stmts: &mut Block) {
    let mut keep = Vec::with_capacity(stmts.len());
    for stmt in stmts.iter_mut() {
        keep.push(!is_dead(program, live, stmt));
        trim(program, live, stmt);
        for inner in visit::blocks_mut(&mut stmt.kind) {
            block(program, live, inner);
        }
    }
    let mut keep = keep.into_iter();
    stmts.retain(|_| keep.next().unwrap_or(true));
}

fn is_dead(program: &Program, live: &Liveness, stmt: &Stmt) -> bool {
    match stmt.kind {
        StmtKind::CopyHeader { dst, .. } => !headers(program, dst).iter().any(|&h| {
            let layout = &program.header_types[program.headers[h].ty];
            live.valid(stmt, h) || (0..layout.fields.len()).any(|f| live.field(stmt, h, f as u32))
        }),
        StmtKind::SetValid(header) | StmtKind::SetInvalid(header) => !headers(program, header)
            .iter()
            .any(|&h| live.valid(stmt, h)),
        ref kind if visit::only_writes(kind) => {
            let mut written = false;
            visit::accesses(program, kind, |access| match access {
                Access::Write(place) => written |= place_lives(program, live, stmt, place),
                Access::WriteHeader(_) | Access::SetValidity(..) => written = true,
                Access::Eval(_) | Access::Read(_) | Access::ReadHeader(_) => {}
            });
            !written
        }
        _ => false,
    }
}

/// Removes unused results.
fn trim(program: &Program, live: &Liveness, stmt: &mut Stmt) {
    let (mut drop_hit, mut drop_action, mut drop_result) = (false, false, false);
    match &stmt.kind {
        StmtKind::Apply { hit, action, .. } => {
            drop_hit = hit.is_some_and(|var| !live.var(stmt, var));
            drop_action = action.is_some_and(|var| !live.var(stmt, var));
        }
        StmtKind::Extern(call) => {
            drop_result = !call
                .result
                .iter()
                .any(|&p| place_lives(program, live, stmt, p));
        }
        _ => {}
    }
    match &mut stmt.kind {
        StmtKind::Apply { hit, action, .. } => {
            *hit = hit.filter(|_| !drop_hit);
            *action = action.filter(|_| !drop_action);
        }
        StmtKind::Extern(call) if drop_result => call.result.clear(),
        _ => {}
    }
}

fn place_lives(program: &Program, live: &Liveness, stmt: &Stmt, place: Place) -> bool {
    match place {
        Place::Var(var) => live.var(stmt, var),
        Place::Field(header, field) => headers(program, header)
            .iter()
            .any(|&h| live.field(stmt, h, field)),
    }
}

fn headers(program: &Program, header: HeaderRef) -> Vec<Header> {
    match header {
        HeaderRef::Header(header) => vec![header],
        HeaderRef::Element(stack, _) => program.stacks[stack].elems.clone(),
    }
}

/// Removes unreachable states and renumbers the others in the same order.
fn drop_states(parser: &mut ParserData) {
    let mut reached: SecondaryMap<State, bool> = SecondaryMap::new();
    for state in reverse_postorder(parser) {
        reached[state] = true;
    }
    if parser.states.keys().all(|state| reached[state]) {
        return;
    }
    let mut new: SecondaryMap<State, Option<State>> = SecondaryMap::new();
    let mut states = PrimaryMap::new();
    for (id, data) in std::mem::take(&mut parser.states) {
        if reached[id] {
            new[id] = Some(states.push(data));
        }
    }
    let rename = |state: &mut State| {
        if let Some(id) = new[*state] {
            *state = id;
        }
    };
    rename(&mut parser.start);
    for data in states.values_mut() {
        for target in targets_mut(&mut data.transition) {
            if let TransitionTarget::State(state) = target {
                rename(state);
            }
        }
    }
    parser.states = states;
}

/// Redirects a transition to copies of states: for each target the number of its copy, or `None` if the target is not a
/// state. `leads` is `None` for a transition that is never taken.
pub(super) fn lead_to_copies(transition: &mut Transition, leads: Option<&[Option<usize>]>) {
    let Some(leads) = leads else {
        *transition = Transition::To(TransitionTarget::Reject);
        return;
    };
    for (target, lead) in targets_mut(transition).into_iter().zip(leads) {
        if let Some(lead) = lead {
            *target = TransitionTarget::State(State::from_u32(*lead as u32));
        }
    }
}

/// Returns a transition's targets, mutable, in order.
pub(super) fn targets_mut(transition: &mut Transition) -> Vec<&mut TransitionTarget> {
    match transition {
        Transition::To(target) => vec![target],
        Transition::Select { cases, .. } => cases.iter_mut().map(|c| &mut c.target).collect(),
    }
}
