//! Functions that are not inlined: long scalar functions with several call sites.
//!
//! A verifier that checks every path would check the paths through a copy once for each path that leads to it, and
//! copies would occupy instruction cache. A function without branches is a single path, and a call may cost more than
//! its body: returns are slow on processors that must not speculate about them.

use crate::*;
use std::collections::HashSet;

/// Number of statements from which on a function with branches is long.
const LONG: usize = 12;

/// Number of statements from which on a function without branches is long.
const LONG_STRAIGHT_LINE: usize = 40;

/// Returns true if calls of a routine with `sites` call sites remain calls. The routine must contain no calls to
/// inline; a function may have up to `most` parameters, without results.
pub fn stays(program: &Program, routine: Routine, sites: u32, most: usize) -> bool {
    if sites < 2 || program.routines[routine].kind != RoutineKind::Function {
        return false;
    }
    let Some((params, result)) = scalar_signature(program, routine) else {
        return false;
    };
    if params.len() > most {
        return false;
    }
    let mut own = Own {
        program,
        vars: params.into_iter().chain([result]).collect(),
    };
    let body = &program.routines[routine].body;
    own.collect(body);
    let mut statements = 0;
    let mut has_branches = false;
    let mut plain = true;
    visit::walk_block(body, &mut |stmt| {
        statements += 1;
        has_branches |= matches!(stmt.kind, StmtKind::If { .. } | StmtKind::Switch { .. });
        plain &= own.is_plain(&stmt.kind);
    });
    let long = match has_branches {
        true => LONG,
        false => LONG_STRAIGHT_LINE,
    };
    plain && statements >= long
}

/// Returns the parameters and the result of a scalar function, each of up to 64 bits; `None` for any other routine.
pub fn scalar_signature(program: &Program, routine: Routine) -> Option<(Vec<Var>, Var)> {
    let number = |var: &Var| {
        let ty = program.vars[*var].ty;
        !matches!(ty, Type::Varbit(_)) && (1..=64).contains(&ty.width())
    };
    let (Param::Out(result), params) = program.routines[routine].params.split_last()? else {
        return None;
    };
    let params = params
        .iter()
        .map(|param| match param {
            Param::In(var) if number(var) => Some(*var),
            _ => None,
        })
        .collect::<Option<Vec<Var>>>()?;
    (!params.is_empty() && number(result)).then_some((params, *result))
}

/// Variables that belong to a function alone.
struct Own<'a> {
    program: &'a Program,
    vars: HashSet<Var>,
}

impl Own<'_> {
    /// Adds a body's locals: the variables that it sets before anything else.
    fn collect(&mut self, body: &Block) {
        for stmt in body {
            let StmtKind::Assign {
                dst: Place::Var(var),
                value,
            } = stmt.kind
            else {
                return;
            };
            if !self.reads_own(value) {
                return;
            }
            self.vars.insert(var);
        }
    }

    fn reads_own(&self, expr: Expr) -> bool {
        let mut own = true;
        visit::walk_expr(self.program, expr, &mut |data| match data.kind {
            ExprKind::Var(var) => own &= self.vars.contains(&var),
            ExprKind::Field(..) | ExprKind::IsValid(_) => own = false,
            _ => own &= data.ty.width() <= 64,
        });
        own
    }

    fn is_plain(&self, kind: &StmtKind) -> bool {
        match kind {
            StmtKind::Assign {
                dst: Place::Var(var),
                value,
            } => self.vars.contains(var) && self.reads_own(*value),
            StmtKind::If { cond, .. } => self.reads_own(*cond),
            StmtKind::Switch { on, .. } => self.reads_own(*on),
            StmtKind::Labeled(..) | StmtKind::Break(_) | StmtKind::Return => true,
            _ => false,
        }
    }
}
