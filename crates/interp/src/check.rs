//! Checks that refuse a program before its first packet.

use crate::errors;
use crate::interpreter::Supplied;
use cranelift_entity::SecondaryMap;
use diag::{Diagnostics, Span};
use externs::Meaning;
use ir::{Block, Expr, ExternCall, Program, Routine, Stmt, StmtKind, visit};
use std::collections::HashMap;

/// Deepest expression that runs within a thread's stack, with room to spare.
const EXPR_DEPTH: usize = 400;
/// Deepest nesting of statements, including that of the routines and actions they run.
const STMT_DEPTH: usize = 1000;

/// Reports everything in a program that the interpreter does not support.
pub(crate) fn check(program: &Program, supplied: &Supplied) -> Diagnostics {
    let mut checker = Checker {
        program,
        supplied,
        diagnostics: Diagnostics::new(),
    };
    checker.expressions();
    checker.objects();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| checker.stmt(stmt));
    }
    checker.nesting();
    checker.diagnostics
}

struct Checker<'p> {
    program: &'p Program,
    supplied: &'p Supplied,
    diagnostics: Diagnostics,
}

impl Checker<'_> {
    /// Computes the depth of every expression, operands first, and reports expressions that are too deep.
    fn expressions(&mut self) {
        let exprs = &self.program.exprs;
        let mut depths: SecondaryMap<Expr, usize> = SecondaryMap::new();
        let mut open: Vec<Expr> = Vec::new();
        for root in exprs.keys() {
            open.push(root);
            while let Some(&expr) = open.last() {
                let known = open.len();
                let operands = || visit::operands(&exprs[expr].kind);
                open.extend(operands().filter(|&e| depths[e] == 0));
                if open.len() > known {
                    continue;
                }
                open.pop();
                let depth = 1 + operands().map(|e| depths[e]).max().unwrap_or(0);
                if depth == EXPR_DEPTH + 1 && depths[expr] == 0 {
                    let error = errors::too_deep("expressions", EXPR_DEPTH, exprs[expr].span);
                    self.diagnostics.push(error);
                }
                depths[expr] = depth;
            }
        }
    }

    /// Reports extern objects whose type the interpreter does not implement.
    fn objects(&mut self) {
        for object in self.program.externs.values() {
            if !matches!(
                externs::find(&object.ty).map(|e| e.meaning),
                Some(Meaning::Object { .. })
            ) {
                let error = errors::unknown_extern(&object.ty, object.span);
                self.diagnostics.push(error);
            }
        }
    }

    /// Reports blocks of the pipeline whose statements nest too deep.
    fn nesting(&mut self) {
        let program = self.program;
        let states = program.parsers.values().flat_map(|p| p.states.values());
        let mut roots: Vec<&Block> = states.map(|state| &state.body).collect();
        let routines = program
            .blocks
            .iter()
            .filter_map(|block| block.body.routine());
        roots.extend(routines.map(|routine| &program.routines[routine].body));
        let mut known = HashMap::new();
        for root in roots {
            if let Err(TooDeep(at)) = depth(program, root, STMT_DEPTH, &mut known) {
                let error = errors::too_deep("statements", STMT_DEPTH, at);
                self.diagnostics.push(error);
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Extern(call) = &stmt.kind {
            self.call(call, stmt.span);
        }
    }

    fn call(&mut self, call: &ExternCall, at: Span) {
        let error = match call.object {
            Some(object) => {
                let data = &self.program.externs[object];
                // An object of an unknown type was reported already, at its declaration.
                match externs::find(&data.ty) {
                    Some(_) if externs::find_method(&data.ty, &call.name).is_none() => {
                        errors::unknown_extern(&format!("{}.{}", data.ty, call.name), at)
                    }
                    _ => return,
                }
            }
            None => match externs::find(&call.name).map(|e| e.meaning) {
                Some(Meaning::Function(_)) => return,
                None if self.supplied.contains_key(&call.name) => return,
                Some(Meaning::Object { .. }) | None => errors::unknown_extern(&call.name, at),
            },
        };
        self.diagnostics.push(error);
    }
}

/// Location of a statement that is nested too deep.
struct TooDeep(Span);

/// Returns the nesting depth of a block, or an error if it exceeds `left`. `known` holds the depths of routines already
/// measured.
fn depth(
    program: &Program,
    block: &Block,
    left: usize,
    known: &mut HashMap<Routine, usize>,
) -> Result<usize, TooDeep> {
    let mut deepest = 0;
    for stmt in block {
        let Some(left) = left.checked_sub(1) else {
            return Err(TooDeep(stmt.span));
        };
        for inner in visit::blocks(&stmt.kind) {
            deepest = deepest.max(depth(program, inner, left, known)?);
        }
        match &stmt.kind {
            StmtKind::Call(routine, _) => {
                let found = match known.get(routine) {
                    Some(&found) => found,
                    None => depth(program, &program.routines[*routine].body, left, known)?,
                };
                known.insert(*routine, found);
                if found > left {
                    return Err(TooDeep(stmt.span));
                }
                deepest = deepest.max(found);
            }
            StmtKind::Apply { table, .. } => {
                for action in &program.tables[*table].actions {
                    let body = &program.actions[action.action].body;
                    deepest = deepest.max(depth(program, body, left, known)?);
                }
            }
            _ => {}
        }
    }
    Ok(deepest + 1)
}
