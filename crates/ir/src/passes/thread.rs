//! Jump threading from the parser's end into the control.
//!
//! A control often begins with tests of headers' validity, which is known on each edge out of the parser. Such an edge
//! enters the control past the tests that its facts decide, so that only undecided ones remain at run time.
//!
//! Guarantees: an edge to [`TransitionTarget::AcceptAt`] skips at least one test or computation. The parser makes the
//! control's assignments before the entry point on that edge. This pass must run last: other passes create and move
//! statements without regard to entry points.

use super::dce::targets_mut;
use crate::analysis::dataflow::targets;
use crate::analysis::facts::Facts;
use crate::analysis::point_facts::PointFacts;
use crate::*;
use diag::Span;
use smol_str::format_smolstr;
use std::collections::{HashMap, HashSet};

/// Runs the pass.
pub fn run(program: &mut Program) {
    // The state at the control's start is saved for clones, so no edge may bypass it.
    if program.copies {
        return;
    }
    for (parser, control) in parsers_before_controls(program) {
        let point_facts = PointFacts::new(program);
        let mut entries = Entries::new(program, control);
        for state in program.parsers[parser].states.keys().collect::<Vec<_>>() {
            // A control's first tests are mostly of validity. Variables that the parser sets were propagated.
            if let Some(facts) = point_facts.at_transition(parser, state) {
                thread(program, parser, state, &facts.of_headers(), &mut entries);
            }
        }
        let mut body = std::mem::take(&mut program.routines[control].body);
        entries.place(&mut body);
        program.routines[control].body = body;
        // The facts are computed again, with the new entry points.
        program.number_stmts();
    }
}

/// Returns the parsers with the controls that always follow them. A control that follows two parsers, or that runs
/// twice, is omitted.
fn parsers_before_controls(program: &Program) -> Vec<(Parser, Routine)> {
    let bodies = || program.blocks.iter().map(|block| block.body);
    let once = |body| bodies().filter(|&b| b == body).count() == 1;
    let pairs = program
        .blocks
        .windows(2)
        .filter_map(|pair| match (pair[0].body, pair[1].body) {
            (BlockBody::Parser(parser), BlockBody::Control(control))
                if once(pair[0].body) && once(pair[1].body) =>
            {
                Some((parser, control))
            }
            _ => None,
        });
    pairs.collect()
}

/// Position at which a control is entered: before a statement, or at its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    Before(StmtId),
    End,
}

/// Entry points of a control.
struct Entries {
    control: Routine,
    by_place: HashMap<At, EntryPoint>,
    next: u32,
}

impl Entries {
    fn new(program: &Program, control: Routine) -> Entries {
        let mut next = 0;
        for body in visit::bodies(program) {
            visit::walk_block(body, &mut |stmt| {
                if let StmtKind::Entry(entry) = stmt.kind {
                    next = next.max(entry.as_u32() + 1);
                }
            });
        }
        Entries {
            control,
            by_place: HashMap::new(),
            next,
        }
    }

    fn at(&mut self, at: At) -> EntryPoint {
        *self.by_place.entry(at).or_insert_with(|| {
            self.next += 1;
            EntryPoint::from_u32(self.next - 1)
        })
    }

    /// Inserts the entry points into the control.
    fn place(&self, body: &mut Block) {
        self.place_before(body);
        if let Some(&entry) = self.by_place.get(&At::End) {
            body.push(Stmt::new(StmtKind::Entry(entry), Span::NONE));
        }
    }

    fn place_before(&self, block: &mut Block) {
        for mut stmt in std::mem::take(block) {
            if let Some(&entry) = self.by_place.get(&At::Before(stmt.id)) {
                block.push(Stmt::new(StmtKind::Entry(entry), stmt.span));
            }
            for inner in visit::blocks_mut(&mut stmt.kind) {
                self.place_before(inner);
            }
            block.push(stmt);
        }
    }
}

/// Replacement for the start of a control on an edge.
struct Shortcut {
    /// Assignments of known values.
    assigned: Vec<(Var, Value, Span)>,
    to: At,
}

/// Redirects a state's accepting edges past the code that `facts` decide.
fn thread(
    program: &mut Program,
    parser: Parser,
    state: State,
    facts: &Facts,
    entries: &mut Entries,
) {
    let accepts = targets(&program.parsers[parser].states[state].transition)
        .into_iter()
        .any(|target| target == TransitionTarget::Accept);
    if !accepts {
        return;
    }
    let Some(shortcut) = shortcut(program, entries.control, facts) else {
        return;
    };
    let entry = TransitionTarget::AcceptAt(entries.at(shortcut.to));
    let assignments = assignments(program, &shortcut.assigned);
    let states = &mut program.parsers[parser].states;
    let mut data = states[state].clone();
    let always = matches!(data.transition, Transition::To(_));
    for target in targets_mut(&mut data.transition) {
        if *target != TransitionTarget::Accept {
            continue;
        }
        *target = if always || assignments.is_empty() {
            entry
        } else {
            TransitionTarget::State(states.push(StateData {
                name: format_smolstr!("{}.accept", data.name),
                body: assignments.clone(),
                transition: Transition::To(entry),
                rare: data.rare,
                span: data.span,
            }))
        };
    }
    if always {
        data.body.extend(assignments);
    }
    states[state] = data;
}

/// Returns the position up to which `facts` decide everything that a control does; `None` if they decide nothing.
fn shortcut(program: &Program, control: Routine, facts: &Facts) -> Option<Shortcut> {
    let mut decided = false;
    let mut assigned = Vec::new();
    let mut path = vec![program.routines[control].body.iter()];
    let to = loop {
        let Some(block) = path.last_mut() else {
            break At::End;
        };
        let Some(stmt) = block.next() else {
            path.pop();
            continue;
        };
        let value = match stmt.kind {
            StmtKind::Assign {
                dst: Place::Var(_),
                value,
            } if program.ty(value).width() <= 64 => value,
            StmtKind::If { cond, .. } => cond,
            StmtKind::Entry(_) => continue,
            _ => break At::Before(stmt.id),
        };
        let Some(known) = facts.eval(program, value) else {
            break At::Before(stmt.id);
        };
        decided |= eval::constant(program, value).is_none();
        match &stmt.kind {
            StmtKind::If {
                then, otherwise, ..
            } => {
                let holds = known == Value::Bool(true);
                path.push(if holds { then } else { otherwise }.iter());
            }
            StmtKind::Assign {
                dst: Place::Var(var),
                ..
            } => assigned.push((*var, known, stmt.span)),
            _ => {}
        }
    };
    decided.then_some(Shortcut { assigned, to })
}

fn assignments(program: &mut Program, assigned: &[(Var, Value, Span)]) -> Block {
    let mut block = Block::new();
    // The last assignment to a variable holds.
    let mut seen = HashSet::new();
    for (var, value, span) in assigned.iter().rev() {
        if seen.insert(*var) {
            let ty = program.vars[*var].ty;
            block.extend(build::value(program, value, ty, *span).map(|value| {
                let dst = Place::Var(*var);
                Stmt::new(StmtKind::Assign { dst, value }, *span)
            }));
        }
    }
    block.reverse();
    block
}
