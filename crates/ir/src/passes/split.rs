//! Parser states that paths with different headers lead to are copied, one for each set of headers.
//!
//! Where such paths meet, it depends on the packet which headers are valid and where the cursor is, for everything that
//! follows. A copy knows both, and so does the edge out of it into the control (see [`super::thread`]).
//!
//! Guarantees: in a parser that was split, all paths to a state come with the same headers and the same cursor, as far as
//! these can be known. Only where that costs little: a parser with a loop stays as it is, and so does one that would grow by
//! more than [`MOST`], or that is before so much code that a verifier which follows each path should not find more of them
//! ([`MOST_BEHIND`]).

use super::{dce, inline};
use crate::analysis::dataflow::{reverse_postorder, successors, targets};
use crate::analysis::facts::Facts;
use crate::analysis::point_facts;
use crate::*;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use smol_str::format_smolstr;

/// By so much, in statements and cases, a parser may grow.
const MOST: usize = 12;

/// What an extraction whose length varies counts for: it is bounded and checked in several steps.
const VARBIT: usize = 8;

/// So many statements may stand behind the parser, once for each state more that accepts.
const MOST_BEHIND: usize = 64;

/// Runs the pass.
pub fn run(program: &mut Program) {
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        if let Some(copies) = plan(program, parser) {
            rebuild(program, parser, &copies);
        }
    }
}

/// What is known where a state begins.
#[derive(Clone, PartialEq)]
struct Known {
    headers: Facts,
    /// Bits from the packet's start, if that is known.
    cursor: Option<u32>,
}

/// A state with what is known where it begins.
#[derive(Clone, PartialEq)]
struct Copy {
    state: State,
    known: Known,
}

struct Copies {
    copies: Vec<Copy>,
    /// For each copy, which copies the targets of its transition are, `None` for those that are no states; `None` if its
    /// body does not end.
    targets: Vec<Option<Vec<Option<usize>>>>,
}

/// Which copies of states there are; `None` if one of each, or too many.
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
            more_ends += usize::from(targets(&data.transition).contains(&Target::Accept));
        }
        if more > MOST {
            return None;
        }
        let after = after(program, data, known);
        let leads = after.map(|known| {
            let lead = |target| match target {
                Target::State(state) => {
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
    /// The number of a copy, which is one more if there is none like it.
    fn number(&mut self, copy: Copy) -> usize {
        let known = self.copies.iter().position(|other| *other == copy);
        known.unwrap_or_else(|| {
            self.copies.push(copy);
            self.copies.len() - 1
        })
    }
}

/// Whether a state can be reached from itself.
fn loops(parser: &ParserData) -> bool {
    let order = reverse_postorder(parser);
    let mut seen: SecondaryMap<State, bool> = SecondaryMap::new();
    order.iter().any(|&state| {
        seen[state] = true;
        let next = successors(&parser.states[state].transition);
        next.into_iter().any(|next| seen[next])
    })
}

/// Where a packet arrives no header is valid; of a parser behind another block nothing is known.
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

/// What is known where a state's transition is taken; nothing if it never is.
fn after(program: &Program, state: &StateData, before: Known) -> Option<Known> {
    let headers = point_facts::after_state(program, &state.body, before.headers)?.of_headers();
    let cursor = before.cursor.and_then(|at| moved(program, &state.body, at));
    Some(Known { headers, cursor })
}

/// The cursor behind statements, if it is known.
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

/// The statements of all that is no parser.
fn statements_behind(program: &Program) -> usize {
    let mut count = 0;
    let routines = program.routines.values().map(|routine| &routine.body);
    let actions = program.actions.values().map(|action| &action.body);
    for body in routines.chain(actions) {
        visit::walk_block(body, &mut |_| count += 1);
    }
    count
}

/// What a copy of a state costs.
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
