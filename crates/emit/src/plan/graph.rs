//! The parser as a graph: its reachable states, the order in which they are emitted, and the cursor at their entry.

use super::cursor::{Cursor, Cursors};
use super::reach::Reach;
use ir::analysis::dataflow::{reverse_postorder, successors};
use ir::{
    Parser, Place, Program, State, StateData, StmtId, StmtKind, Transition, TransitionTarget,
};
use std::collections::HashMap;

/// Properties of a reachable state.
#[derive(Clone, Debug)]
pub struct StateInfo {
    /// The state.
    pub state: State,
    /// Number of edges into it.
    pub preds: u32,
    /// True if it does so little that it is emitted on the one edge that leads to it.
    pub on_edge: bool,
    /// True if it can be reached from itself.
    pub cyclic: bool,
    /// Cursor on entry.
    pub cursor: Cursor,
    /// True if so many paths lead to it, each with its own cursor, that the cursor's value is killed. Otherwise
    /// each would remain a separate path to the end.
    pub kills_cursor: bool,
}

/// Reachable states, in an order in which only loops lead backwards.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The states; the first is the start.
    pub states: Vec<StateInfo>,
    /// Index of each state in the list.
    pub index: HashMap<State, usize>,
    /// Direct successors of each state, by index.
    pub next: Vec<Vec<usize>>,
    /// Reachability between the states, by index.
    pub reach: Reach,
    /// For each statement: the index of the state that contains it, and its position in the body. Statements of
    /// nested blocks are not included.
    pub places: HashMap<StmtId, (usize, usize)>,
    /// Cursor at each point.
    pub cursors: Cursors,
    /// Number of states that can be reached from themselves.
    pub in_loops: usize,
}

/// Greatest number of paths to a state that are kept separate.
const PATHS: u32 = 2;

/// Finds the states at which the cursor's value is killed.
fn kill_cursors(states: &mut [StateInfo], next: &[Vec<usize>]) {
    let mut paths = vec![0u32; states.len()];
    if let Some(first) = paths.first_mut() {
        *first = 1;
    }
    for (i, info) in states.iter_mut().enumerate() {
        if paths[i] > PATHS && info.cursor == Cursor::Variable && !info.cyclic {
            info.kills_cursor = true;
            paths[i] = 1;
        }
        let mut targets = next[i].clone();
        targets.sort_unstable();
        targets.dedup();
        for n in targets {
            paths[n] = paths[n].saturating_add(paths[i]);
        }
    }
}

impl Graph {
    /// Builds the graph of a parser.
    pub fn new(program: &Program, parser: Parser) -> Graph {
        let data = &program.parsers[parser];
        let order = reverse_postorder(data);
        let index: HashMap<State, usize> = order.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        let next: Vec<Vec<usize>> = order
            .iter()
            .map(|&s| {
                let next = successors(&data.states[s].transition).into_iter();
                next.filter_map(|s| index.get(&s).copied()).collect()
            })
            .collect();
        let reach = Reach::new(&next);
        let preds = count_edges(&next);
        let mut states: Vec<StateInfo> = order
            .iter()
            .enumerate()
            .map(|(i, &state)| StateInfo {
                state,
                preds: preds[i],
                on_edge: preds[i] == 1 && i > 0 && enters_after_assignments(&data.states[state]),
                cyclic: reach.contains(i, i),
                cursor: Cursor::Const(0),
                kills_cursor: false,
            })
            .collect();
        let cursors = Cursors::new(program, parser);
        for info in &mut states {
            // A loop's states keep the cursor in a variable, so that all iterations are alike.
            info.cursor = match cursors.at_state(info.state) {
                Some(at) if !info.cyclic => at,
                _ => Cursor::Variable,
            };
        }
        kill_cursors(&mut states, &next);
        let in_loops = states.iter().filter(|info| info.cyclic).count();
        let mut places = HashMap::new();
        for (i, &state) in order.iter().enumerate() {
            let body = data.states[state].body.iter().enumerate();
            places.extend(body.map(|(at, stmt)| (stmt.id, (i, at))));
        }
        Graph {
            states,
            index,
            next,
            reach,
            places,
            cursors,
            in_loops,
        }
    }
}

/// Counts the edges into each state; the start has one from outside.
fn count_edges(next: &[Vec<usize>]) -> Vec<u32> {
    let mut edges = vec![0; next.len()];
    edges.first_mut().into_iter().for_each(|start| *start = 1);
    next.iter().flatten().for_each(|&to| edges[to] += 1);
    edges
}

/// Returns true if a state is one that jump threading inserts between an edge and the control.
fn enters_after_assignments(state: &StateData) -> bool {
    matches!(
        state.transition,
        Transition::To(TransitionTarget::AcceptAt(_))
    ) && state.body.iter().all(|stmt| {
        matches!(
            stmt.kind,
            StmtKind::Assign {
                dst: Place::Var(_),
                ..
            }
        )
    })
}
