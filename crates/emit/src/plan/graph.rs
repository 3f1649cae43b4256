//! The parser as a graph: which states are reached, in which order they are written, where the cursor
//! is when they are entered, and what is known about headers there.

use super::flow::Flow;
use ir::analysis::dataflow::{self, reverse_postorder};
use ir::{ExprKind, Parser, Program, State, StateData, Stmt, StmtKind, Target, visit};
use std::collections::HashMap;

/// Where the parser's cursor is, in bytes from the packet's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cursor {
    /// Always there.
    Const(u32),
    /// It depends on the packet; the program keeps it in a variable.
    Variable,
}

impl Cursor {
    /// The cursor after some bytes.
    pub fn plus(self, bytes: u32) -> Cursor {
        match self {
            Cursor::Const(at) => Cursor::Const(at + bytes),
            Cursor::Variable => Cursor::Variable,
        }
    }

    /// The cursor when either may be.
    pub fn or(self, other: Cursor) -> Cursor {
        if self == other {
            self
        } else {
            Cursor::Variable
        }
    }
}

/// What is known of a reachable state.
#[derive(Clone, Debug)]
pub struct StateInfo {
    /// The state.
    pub state: State,
    /// Edges into it.
    pub preds: u32,
    /// It can be reached from itself.
    pub cyclic: bool,
    /// Where the cursor is on entry.
    pub cursor: Cursor,
    /// So many ways lead to it, and from a place each, that where the cursor was is to be forgotten: who
    /// checks the C would follow each of them to the end.
    pub forgets: bool,
    /// What is known about headers on entry.
    pub flow: Option<Flow>,
    /// Indices of states reachable from it by at least one step.
    pub reaches: Vec<bool>,
}

/// The reachable states, in an order in which only loops lead backwards.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The states; the first is the start.
    pub states: Vec<StateInfo>,
    /// The place of each state in the list.
    pub index: HashMap<State, usize>,
    /// What is known about headers when parsing is done.
    pub accepted: Option<Flow>,
}

/// Ways to a state that may be told apart.
const WAYS: u32 = 2;

/// Finds the states at which it is to be forgotten where the cursor was.
fn forget(states: &mut [StateInfo], next: &[Vec<usize>]) {
    let mut ways = vec![0u32; states.len()];
    if let Some(first) = ways.first_mut() {
        *first = 1;
    }
    for (i, info) in states.iter_mut().enumerate() {
        if ways[i] > WAYS && info.cursor == Cursor::Variable && !info.cyclic {
            info.forgets = true;
            ways[i] = 1;
        }
        let mut targets = next[i].clone();
        targets.sort_unstable();
        targets.dedup();
        for n in targets {
            ways[n] = ways[n].saturating_add(ways[i]);
        }
    }
}

impl Graph {
    /// The graph of a parser.
    pub fn new(program: &Program, parser: Parser) -> Graph {
        let data = &program.parsers[parser];
        let order = reverse_postorder(data);
        let index: HashMap<State, usize> = order.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        let next: Vec<Vec<usize>> = order
            .iter()
            .map(|&s| {
                targets(&data.states[s])
                    .into_iter()
                    .filter_map(|t| match t {
                        Target::State(s) => index.get(&s).copied(),
                        _ => None,
                    })
                    .collect()
            })
            .collect();
        let reaches: Vec<Vec<bool>> = (0..order.len()).map(|i| reachable(&next, i)).collect();
        let mut states: Vec<StateInfo> = order
            .iter()
            .enumerate()
            .map(|(i, &state)| StateInfo {
                state,
                preds: next.iter().flatten().filter(|&&n| n == i).count() as u32
                    + u32::from(i == 0),
                cyclic: reaches[i][i],
                cursor: Cursor::Const(0),
                forgets: false,
                flow: None,
                reaches: reaches[i].clone(),
            })
            .collect();
        let mut entry: Vec<Option<Cursor>> = vec![None; states.len()];
        if let Some(first) = entry.first_mut() {
            *first = Some(Cursor::Const(0));
        }
        let mut changed = true;
        while changed {
            changed = false;
            for i in 0..states.len() {
                let Some(at) = entry[i] else { continue };
                let out = walk_cursor(program, &data.states[states[i].state].body, at);
                for &n in &next[i] {
                    let joined = entry[n].map_or(out, |old| old.or(out));
                    if entry[n] != Some(joined) {
                        entry[n] = Some(joined);
                        changed = true;
                    }
                }
            }
        }
        for (info, at) in states.iter_mut().zip(entry) {
            // A loop's states keep the cursor in a variable, so that who checks the C sees one state.
            info.cursor = match at {
                Some(at) if !info.cyclic => at,
                _ => Cursor::Variable,
            };
        }
        forget(&mut states, &next);
        Graph {
            states,
            index,
            accepted: None,
        }
    }

    /// Finds what is known about headers at each state.
    pub fn find_flows(&mut self, program: &Program, parser: Parser, only_extracted: &[bool]) {
        let data = &program.parsers[parser];
        let mut entry: Vec<Flow> = vec![Flow::unreached(program); self.states.len()];
        let mut accepted = Flow::unreached(program);
        if let Some(first) = entry.first_mut() {
            *first = Flow::start(program);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for i in 0..self.states.len() {
                if entry[i].dead {
                    continue;
                }
                let state = &data.states[self.states[i].state];
                let mut out = entry[i].clone();
                out.run(program, &state.body);
                out.valid_means_there(only_extracted);
                for target in targets(state) {
                    let place = match target {
                        Target::State(s) => match self.index.get(&s) {
                            Some(&n) => &mut entry[n],
                            None => continue,
                        },
                        Target::Accept => &mut accepted,
                        Target::Reject | Target::Rare => continue,
                    };
                    let mut joined = place.clone();
                    joined.join(&out);
                    if joined != *place {
                        *place = joined;
                        changed = true;
                    }
                }
            }
        }
        for (info, flow) in self.states.iter_mut().zip(entry) {
            info.flow = Some(flow);
        }
        self.accepted = Some(accepted);
    }
}

/// Where a state may go.
pub fn targets(state: &StateData) -> Vec<Target> {
    dataflow::targets(&state.transition)
}

fn reachable(next: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    let mut todo = next[from].clone();
    while let Some(i) = todo.pop() {
        if !std::mem::replace(&mut seen[i], true) {
            todo.extend(&next[i]);
        }
    }
    seen
}

/// The cursor after a block.
pub fn walk_cursor(program: &Program, block: &[Stmt], mut at: Cursor) -> Cursor {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Extract { header, varbit } => {
                at = match varbit {
                    Some(_) => Cursor::Variable,
                    None => at.plus(header_bytes(program, *header)),
                };
            }
            StmtKind::Advance(by) => {
                at = match const_bits(program, *by) {
                    Some(bits) if bits % 8 == 0 => at.plus(bits / 8),
                    _ => Cursor::Variable,
                };
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                at = walk_cursor(program, then, at).or(walk_cursor(program, otherwise, at));
            }
            _ => {
                for inner in visit::blocks(&stmt.kind) {
                    if walk_cursor(program, inner, at) != at {
                        at = Cursor::Variable;
                    }
                }
            }
        }
    }
    at
}

/// Bytes of a header's fixed part.
pub fn header_bytes(program: &Program, header: ir::HeaderRef) -> u32 {
    program
        .header_layout(header)
        .map_or(0, |l| l.fixed_width() / 8)
}

/// The value of a constant small enough for a packet.
pub fn const_bits(program: &Program, e: ir::Expr) -> Option<u32> {
    match &program.exprs[e].kind {
        ExprKind::Const(bits) => bits
            .to_u64()
            .and_then(|v| u32::try_from(v).ok())
            .filter(|v| *v < 1 << 19),
        _ => None,
    }
}
