//! Checks of entry points ([`StmtKind::Entry`]), at which a parser's edges enter the control after the parser.

use super::Errors;
use crate::analysis::dataflow::targets;
use crate::*;
use std::collections::HashSet;

pub(super) fn check(program: &Program, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for (id, data) in &program.routines {
        errors.enter(format!("routine {}", data.name), data.span);
        let reached = reachable(&data.body);
        let is_control = |block: &PipelineBlock| block.body == BlockBody::Control(id);
        let enterable = program.blocks.iter().any(is_control);
        check_body(&data.body, &mut seen, errors, |entry| {
            enterable && reached.contains(&entry)
        });
    }
    for data in program.actions.values() {
        errors.enter(format!("action {}", data.name), data.span);
        check_body(&data.body, &mut seen, errors, |_| false);
    }
    for (id, parser) in &program.parsers {
        let entered = entered_after(program, id);
        for state in parser.states.values() {
            let location = format!("parser {}, state {}", parser.name, state.name);
            errors.enter(location, state.span);
            check_body(&state.body, &mut seen, errors, |_| false);
            for target in targets(&state.transition) {
                if let TransitionTarget::AcceptAt(entry) = target {
                    errors.check(entered.contains(&entry), || {
                        format!("the control after the parser has no {entry}")
                    });
                }
            }
        }
    }
}

/// Checks that each entry point in a body is unique in the program, and that `stands` allows it.
fn check_body(
    body: &Block,
    seen: &mut HashSet<EntryPoint>,
    errors: &mut Errors,
    stands: impl Fn(EntryPoint) -> bool,
) {
    visit::walk_block(body, &mut |stmt| {
        if let StmtKind::Entry(entry) = stmt.kind {
            errors.check(seen.insert(entry), || format!("{entry} stands twice"));
            errors.check(stands(entry), || {
                format!("{entry} stands where no parser can enter")
            });
        }
    });
}

/// Returns the entry points of the control that runs after a parser. If the parser has several uses, returns those that
/// all the controls have in common.
fn entered_after(program: &Program, parser: Parser) -> HashSet<EntryPoint> {
    let mut entries: Option<HashSet<EntryPoint>> = None;
    for (i, block) in program.blocks.iter().enumerate() {
        if block.body != BlockBody::Parser(parser) {
            continue;
        }
        let here = match program.blocks.get(i + 1).map(|next| next.body) {
            Some(BlockBody::Control(control)) => reachable(&program.routines[control].body),
            _ => HashSet::new(),
        };
        entries = Some(match entries {
            Some(others) => others.intersection(&here).copied().collect(),
            None => here,
        });
    }
    entries.unwrap_or_default()
}

/// Returns the entry points at the top level of a body and in branches of `if`.
fn reachable(body: &Block) -> HashSet<EntryPoint> {
    let mut found = HashSet::new();
    let mut open = vec![body];
    while let Some(block) = open.pop() {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Entry(entry) => {
                    found.insert(*entry);
                }
                StmtKind::If {
                    then, otherwise, ..
                } => open.extend([then, otherwise]),
                _ => {}
            }
        }
    }
    found
}
