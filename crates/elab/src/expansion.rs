//! Check of a program's size with all calls inlined.
//!
//! Targets inline nearly all calls, so a short program with a small IR may become too large for any target. An example
//! is a chain of thirty functions, each of which calls the next one twice. [`too_large`] finds such programs.

use diag::Span;
use ir::visit::walk_block;
use ir::{Block, Program, Routine, StmtKind};
use std::collections::HashMap;

/// Maximum number of statements of a program with all calls inlined.
pub(crate) const MAX_EXPANDED: u64 = 100_000;

/// Part of a program that makes it larger than [`MAX_EXPANDED`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// Calls of this routine, including the calls in its body.
    Calls(Span),
    /// Statements of no particular call. This is the parser, routine or table with the most statements.
    Statements(Span),
}

/// Returns the cause if a program is larger than [`MAX_EXPANDED`].
pub(crate) fn too_large(program: &Program) -> Option<Cause> {
    let mut sizes = HashMap::new();
    let mut total = 0u64;
    for block in ir::visit::bodies(program) {
        total = total.saturating_add(expanded(program, block, &mut sizes));
    }
    if total <= MAX_EXPANDED {
        return None;
    }
    // Among the routines that are called more than once and make up most of the program, the smallest is nearest to
    // the cause.
    let mut calls: HashMap<Routine, u64> = HashMap::new();
    for block in ir::visit::bodies(program) {
        walk_block(block, &mut |stmt| {
            if let StmtKind::Call(routine, _) = &stmt.kind {
                *calls.entry(*routine).or_default() += 1;
            }
        });
    }
    let is_cause = |routine: &Routine, size: u64| {
        let calls = calls.get(routine).copied().unwrap_or_default();
        calls > 1 && size.saturating_mul(calls) > MAX_EXPANDED / 2
    };
    let cause = sizes
        .iter()
        .filter(|&(routine, &size)| is_cause(routine, size))
        .min_by_key(|&(_, &s)| s);
    Some(match cause {
        Some((&routine, _)) => Cause::Calls(program.routines[routine].span),
        None => Cause::Statements(largest(program, &mut sizes)),
    })
}

/// Returns the location of the parser, routine or table with the most statements.
fn largest(program: &Program, sizes: &mut HashMap<Routine, u64>) -> Span {
    let mut all: Vec<(u64, Span)> = Vec::new();
    for parser in program.parsers.values() {
        let states = parser.states.values();
        let statements = states.map(|state| 1 + expanded(program, &state.body, sizes));
        all.push((statements.fold(0, u64::saturating_add), parser.span));
    }
    for routine in program.routines.values() {
        all.push((expanded(program, &routine.body, sizes), routine.span));
    }
    for table in program.tables.values() {
        let actions = table
            .actions
            .iter()
            .map(|a| &program.actions[a.action].body);
        let statements = actions.map(|body| body.len() as u64).sum();
        all.push((statements, table.span));
    }
    let largest = all.into_iter().max_by_key(|&(size, _)| size);
    largest.map_or(Span::NONE, |(_, span)| span)
}

/// Returns the number of statements of a block with all calls inlined. For a table, it counts the statements at the top
/// level of its actions. The depth is bounded: routines do not recurse, and elaboration bounds the depth of calls.
fn expanded(program: &Program, block: &Block, sizes: &mut HashMap<Routine, u64>) -> u64 {
    let mut size = 0u64;
    walk_block(block, &mut |stmt| {
        let called = match &stmt.kind {
            StmtKind::Call(routine, _) => match sizes.get(routine) {
                Some(&known) => known,
                None => {
                    let found = expanded(program, &program.routines[*routine].body, sizes);
                    sizes.insert(*routine, found);
                    found
                }
            },
            StmtKind::Apply { table, .. } => {
                let actions = &program.tables[*table].actions;
                actions
                    .iter()
                    .map(|a| program.actions[a.action].body.len() as u64)
                    .sum()
            }
            _ => 0,
        };
        size = size.saturating_add(1).saturating_add(called);
    });
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_no_call_is_to_blame_for_are_those_of_the_routine_that_has_most() {
        let statements = |count: u64| "    x = 8w1;\n".repeat(count as usize);
        let text = |most: u64| {
            let (few, many) = (statements(10), statements(most));
            format!(
                "program test reject stop\nvar x: bit<8>\nroutine few block() {{\n{few}}}\nroutine many block() {{\n{many}}}\n"
            )
        };
        let program = |most| ir::text::parse(&text(most)).expect("a program");
        assert_eq!(too_large(&program(MAX_EXPANDED - 10)), None);
        let mut large = program(MAX_EXPANDED - 9);
        let spans = [3, 7].map(|lo| Span { lo, hi: lo + 1 });
        for (routine, span) in large.routines.values_mut().zip(spans) {
            routine.span = span;
        }
        assert_eq!(too_large(&large), Some(Cause::Statements(spans[1])));
    }
}
