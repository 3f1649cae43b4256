//! Functions that stay functions: long scalar functions with several call sites.
//!
//! A target that checks every path through a program would check the paths through a copy for each path that leads to it,
//! and the copies would take room in the processor's caches. A function without branches is one path, and a call may cost more than all of
//! it: processors return from functions slowly where they must not speculate about it.

use crate::*;
use std::collections::HashSet;

/// Statements from which on a function with branches is long.
const LONG: usize = 12;

/// Statements from which on a function without branches is long.
const LONG_STRAIGHT_LINE: usize = 40;

/// Whether calls of a routine, which calls nothing that would be inlined, stay calls, if a function may have so many
/// parameters, results aside.
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

/// The parameters and the result of a scalar function of up to 64 bits; `None` for any other routine.
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

/// What belongs to a function alone.
struct Own<'a> {
    program: &'a Program,
    vars: HashSet<Var>,
}

impl Own<'_> {
    /// Variables that a body sets before anything else are its locals.
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
