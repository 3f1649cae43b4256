//! Propagates known values of variables, copies and known validity to their reads.
//!
//! Guarantees: an expression does not read what [`PointFacts`] knows at its position. A header that is valid is not
//! made valid again, one that is invalid not made invalid again, and an invalid one not emitted. Folding simplifies the
//! results.

use super::{all_bodies, body_mut};
use crate::analysis::facts::{Facts, KnownVar};
use crate::analysis::point_facts::PointFacts;
use crate::rewrite::{Leaves, Rewriter};
use crate::*;
use diag::Span;

/// Runs the pass.
pub fn run(program: &mut Program) {
    let point_facts = PointFacts::new(program);
    for id in all_bodies(program) {
        let mut body = std::mem::take(body_mut(program, id));
        block(program, &point_facts, &mut body, false);
        *body_mut(program, id) = body;
    }
    for table in program.tables.keys().collect::<Vec<_>>() {
        let Some(facts) = point_facts.at_key(table) else {
            continue;
        };
        for i in 0..program.tables[table].keys.len() {
            let expr = program.tables[table].keys[i].expr;
            program.tables[table].keys[i].expr = Rewriter::new(program, Inserter(facts)).expr(expr);
        }
    }
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        for state in program.parsers[parser].states.keys().collect::<Vec<_>>() {
            let Some(facts) = point_facts.at_transition(parser, state) else {
                continue;
            };
            let mut transition = program.parsers[parser].states[state].transition.clone();
            Rewriter::new(program, Inserter(facts)).transition(&mut transition);
            program.parsers[parser].states[state].transition = transition;
        }
    }
}

fn block(program: &mut Program, point_facts: &PointFacts, stmts: &mut Block, in_atomic: bool) {
    let mut useless = Vec::with_capacity(stmts.len());
    for stmt in stmts.iter_mut() {
        let mut nothing = false;
        if let Some(facts) = point_facts.before(stmt) {
            nothing = is_useless(program, facts, &stmt.kind);
            // The keys in an atomic block remain equal (see `passes::atomic`).
            let key = in_atomic.then(|| flow_key(program, &stmt.kind)).flatten();
            visit::map_stmt(&mut stmt.kind, &mut Rewriter::new(program, Inserter(facts)));
            if let (Some(key), StmtKind::Extern(call)) = (key, &mut stmt.kind)
                && let Some(arg) = call.args.get_mut(key.0)
            {
                *arg = key.1;
            }
        }
        let in_atomic = in_atomic || matches!(stmt.kind, StmtKind::Atomic(_));
        for inner in visit::blocks_mut(&mut stmt.kind) {
            block(program, point_facts, inner, in_atomic);
        }
        useless.push(nothing);
    }
    let mut useless = useless.into_iter();
    stmts.retain(|_| !useless.next().unwrap_or(false));
}

/// Returns the key of a call on shared state, if it consists of variables, and the index of that argument.
fn flow_key(program: &Program, kind: &StmtKind) -> Option<(usize, ExternArg)> {
    let (_, at) = atomic::keyed_call(program, kind)?;
    let StmtKind::Extern(call) = kind else {
        return None;
    };
    let arg = call.args.get(at)?;
    let ExternArg::In(key) = arg else {
        return None;
    };
    let plain = |&e: &Expr| matches!(program.exprs[e].kind, ExprKind::Var(_));
    key.iter().all(plain).then(|| (at, arg.clone()))
}

/// Returns true if a header is an element of a stack that stays rolled.
fn is_rolled(program: &Program, header: HeaderRef) -> bool {
    let HeaderRef::Header(h) = header else {
        return false;
    };
    let stacks = &program.stacks;
    stacks
        .values()
        .any(|stack| stack.rolled && stack.elems.contains(&h))
}

fn is_useless(program: &Program, facts: &Facts, kind: &StmtKind) -> bool {
    match *kind {
        StmtKind::SetValid(header) => facts.is_valid(program, header) == Some(true),
        StmtKind::SetInvalid(header) => facts.is_valid(program, header) == Some(false),
        // A rolled stack is emitted as a whole.
        StmtKind::Emit(header) => {
            facts.is_valid(program, header) == Some(false) && !is_rolled(program, header)
        }
        StmtKind::Assign {
            dst: Place::Var(var),
            value,
        } => match facts.var(var) {
            // A redundant store of zero remains: a target prefers a variable that is live from its first use to one
            // that is live from the packet's start.
            Some(KnownVar::Value(known)) => {
                *known != Value::zero(program.vars[var].ty)
                    && facts.eval(program, value).as_ref() == Some(known)
            }
            Some(KnownVar::Copy(origin)) => program.exprs[value].kind == ExprKind::Var(*origin),
            None => false,
        },
        _ => false,
    }
}

struct Inserter<'a>(&'a Facts);

impl Leaves for Inserter<'_> {
    fn var(&mut self, program: &mut Program, var: Var) -> Option<Expr> {
        match self.0.var(var)? {
            KnownVar::Value(value) => {
                build::value(program, value, program.vars[var].ty, Span::NONE)
            }
            KnownVar::Copy(origin) => Some(build::var(program, *origin, Span::NONE)),
        }
    }

    fn valid(&mut self, program: &mut Program, header: HeaderRef) -> Option<bool> {
        self.0.is_valid(program, header)
    }
}
