//! Copies parser states on which paths with different headers meet, one for each set of headers.
//!
//! After such a state, the validity of headers and the cursor's position depend on the packet. In a copy both are
//! known, and so they are on its edge into the control (see [`super::thread`]).
//!
//! Guarantees: in a parser that was split, all paths to a state have the same valid headers and the same cursor, as far
//! as these can be known. A parser with a loop is not split. Neither is one that would grow by more than [`MOST`], or
//! that precedes so much code that more paths would burden a verifier that follows each ([`MOST_BEHIND`]).

use super::{dce, inline};
use crate::analysis::dataflow::{reverse_postorder, successors, targets};
use crate::analysis::facts::Facts;
use crate::analysis::point_facts;
use crate::*;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use smol_str::format_smolstr;

/// Greatest growth of a parser, in statements and cases.
const MOST: usize = 12;

/// Cost of an extraction with variable length in statements: it is bounded and checked in several steps.
const VARBIT: usize = 8;

/// Greatest product of the number of statements outside of parsers and the number of additional accepting states.
const MOST_BEHIND: usize = 64;

/// Runs the pass.
pub fn run(program: &mut Program) {
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        if let Some(copies) = plan(program, parser) {
            rebuild(program, parser, &copies);
        }
    }
}

/// Facts at a state's start.
#[derive(Clone, PartialEq)]
struct Known {
    headers: Facts,
    /// Offset from the packet's start in bits, if known.
    cursor: Option<u32>,
}

/// A state with the facts at its start.
#[derive(Clone, PartialEq)]
struct Copy {
    state: State,
    known: Known,
}

struct Copies {
    copies: Vec<Copy>,
    /// For each copy, the copies to which the targets of its transition lead, or `None` for a target that is not a
    /// state. The list is `None` if the end of the copy's body is unreachable.
    targets: Vec<Option<Vec<Option<usize>>>>,
}

/// Returns the copies of states; `None` if there is one of each, or too many.
fn plan(program: &Program, parser: Parser) -> Option<Copies> {
    let data = &program.parsers[parser];
    if loops(data) {
        return None;
    }
    let mut seen: SecondaryMap<State, bool> = SecondaryMap::new();
    let (mut more, mut more_ends) = (0, 0);
    let mut plan = Copies {
        copies: vec![Copy {
            state: data.start,
            known: at_start(program, parser),
        }],
        targets: Vec::new(),
    };
    while let Some(Copy { state, known }) = plan.copies.get(plan.targets.len()).cloned() {
        let data = &data.states[state];
        if std::mem::replace(&mut seen[state], true) {
            more += size(data);
            more_ends += usize::from(targets(&data.transition).contains(&TransitionTarget::Accept));
        }
        if more > MOST {
            return None;
        }
        let after = after(program, data, known);
        let leads = after.map(|known| {
            let lead = |target| match target {
                TransitionTarget::State(state) => {
                    let known = known.clone();
                    Some(plan.number(Copy { state, known }))
                }
                _ => None,
            };
            targets(&data.transition).into_iter().map(lead).collect()
        });
        plan.targets.push(leads);
    }
    let few = more_ends * statements_behind(program) <= MOST_BEHIND;
    (more > 0 && few).then_some(plan)
}

impl Copies {
    /// Returns the index of a copy, which is added if there is none like it.
    fn number(&mut self, copy: Copy) -> usize {
        let known = self.copies.iter().position(|other| *other == copy);
        known.unwrap_or_else(|| {
            self.copies.push(copy);
            self.copies.len() - 1
        })
    }
}

/// Returns true if the parser has a loop.
fn loops(parser: &ParserData) -> bool {
    let order = reverse_postorder(parser);
    let mut seen: SecondaryMap<State, bool> = SecondaryMap::new();
    order.iter().any(|&state| {
        seen[state] = true;
        let next = successors(&parser.states[state].transition);
        next.into_iter().any(|next| seen[next])
    })
}

/// Returns the facts at a parser's start: no header is valid when a packet arrives; after another block nothing is
/// known.
fn at_start(program: &Program, parser: Parser) -> Known {
    let mut headers = Facts::unknown(program);
    if program.blocks.first().map(|block| block.body) == Some(BlockBody::Parser(parser)) {
        for header in program.headers.keys() {
            headers.set_valid(program, HeaderRef::Header(header), Some(false));
        }
    }
    Known {
        headers,
        cursor: Some(0),
    }
}

/// Returns the facts at a state's transition; `None` if it is unreachable.
fn after(program: &Program, state: &StateData, before: Known) -> Option<Known> {
    let headers = point_facts::after_state(program, &state.body, before.headers)?.of_headers();
    let cursor = before.cursor.and_then(|at| moved(program, &state.body, at));
    Some(Known { headers, cursor })
}

/// Returns the cursor after statements, if it is known.
fn moved(program: &Program, body: &[Stmt], mut cursor: u32) -> Option<u32> {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Extract {
                varbit: Some(_), ..
            } => return None,
            StmtKind::Extract { header, .. } => {
                cursor = cursor.checked_add(program.header_layout(*header)?.fixed_width())?;
            }
            StmtKind::Advance(by) => {
                let Some(Value::Bits(by)) = eval::constant(program, *by) else {
                    return None;
                };
                cursor = cursor.checked_add(u32::try_from(by.to_u64()?).ok()?)?;
            }
            StmtKind::Search { .. } | StmtKind::Automaton { .. } => return None,
            kind => {
                for block in visit::blocks(kind) {
                    if moved(program, block, 0) != Some(0) {
                        return None;
                    }
                }
            }
        }
    }
    Some(cursor)
}

/// Returns the number of statements outside of parsers.
fn statements_behind(program: &Program) -> usize {
    let mut count = 0;
    let routines = program.routines.values().map(|routine| &routine.body);
    let actions = program.actions.values().map(|action| &action.body);
    for body in routines.chain(actions) {
        visit::walk_block(body, &mut |_| count += 1);
    }
    count
}

/// Returns the cost of a copy of a state.
fn size(state: &StateData) -> usize {
    let mut size = 1;
    visit::walk_block(&state.body, &mut |stmt| {
        size += match stmt.kind {
            StmtKind::Extract {
                varbit: Some(_), ..
            } => VARBIT,
            _ => 1,
        };
    });
    size + match &state.transition {
        Transition::To(_) => 0,
        Transition::Select { cases, .. } => cases.len(),
    }
}

fn rebuild(program: &mut Program, parser: Parser, plan: &Copies) {
    let old = std::mem::take(&mut program.parsers[parser].states);
    let mut seen: SecondaryMap<State, u32> = SecondaryMap::new();
    let mut states = PrimaryMap::new();
    for (copy, leads) in plan.copies.iter().zip(&plan.targets) {
        let mut state = old[copy.state].clone();
        seen[copy.state] += 1;
        if seen[copy.state] > 1 {
            state.name = format_smolstr!("{}.{}", state.name, seen[copy.state]);
            // Labels are unique in a parser.
            inline::fresh_labels(program, &mut state.body);
        }
        dce::lead_to_copies(&mut state.transition, leads.as_deref());
        states.push(state);
    }
    let data = &mut program.parsers[parser];
    data.states = states;
    data.start = State::from_u32(0);
}
