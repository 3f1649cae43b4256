//! The parser: a labelled block per state, one bounds check per straight-line run.

mod automaton;
mod cursor;
mod extract;
mod search;
mod search_by_iterations;
mod search_densely;
mod skip_ahead;

pub(crate) use cursor::CursorAt;

use crate::emitter::Gen;
use crate::hints::Role;
use crate::locals::LocalKind;
use crate::plan::cursor::{Cursor, const_bits};
use crate::plan::graph::StateInfo;
use crate::target::Target;

use cgen::tree::{Block, Expr as C, Stmt};
use ir::{Bits, ExprKind, Keyset, State, StateData, StmtKind, Transition, TransitionTarget};
use smol_str::SmolStr;
use std::collections::HashMap;

/// Greatest number of states in loops that stay in one function. One function is faster, as long as it does not
/// become too long.
const MOST_TOGETHER: usize = 64;

/// State of the emission of a parser.
pub(crate) struct States {
    labels: HashMap<State, SmolStr>,
    /// Bytes known to be available on entry, for states with one incoming edge.
    avail: HashMap<State, u32>,
    /// The same for states in loops that fill a stack, if their only incoming edge leaves the cursor in its
    /// variables.
    follow: HashMap<State, u32>,
    /// True if the current state is in a loop.
    in_loop: bool,
    /// Index of the current state.
    number: usize,
}

impl<T: Target> Gen<'_, T> {
    /// Emits the parser's states. The code after them runs if the parser accepts.
    pub(crate) fn parser(&mut self) {
        let plan = self.plan;
        let data = &self.p.parsers[plan.parser];
        let mut states = States {
            labels: HashMap::new(),
            avail: HashMap::new(),
            follow: HashMap::new(),
            in_loop: false,
            number: 0,
        };
        for info in plan.graph.states.iter().filter(|info| !info.on_edge) {
            let name = format!("parse_{}", data.states[info.state].name.replace('.', "_"));
            let label = self.file.names.fresh(&name);
            states.labels.insert(info.state, label);
        }
        self.regions.parser(true);
        for (number, info) in plan.graph.states.iter().enumerate() {
            if info.on_edge {
                continue;
            }
            states.number = number;
            let facts = plan.points.at_state(info.state);
            if facts.is_none() {
                continue;
            }
            self.now_at(facts);
            states.in_loop = info.cyclic;
            let state = &data.states[info.state];
            self.line(state.span);
            if let Some(label) = states.labels.get(&info.state) {
                self.push(Stmt::Label(label.clone()));
            }
            // A state with one predecessor inherits its knowledge of the packet's bounds.
            let joins = self.joins(info);
            if !joins {
                self.regions.bounds_known();
            }
            self.ask_bounds();
            self.cursor = match info.cursor {
                Cursor::Const(at) => CursorAt {
                    variable: false,
                    delta: at,
                    avail: match joins {
                        true => 0,
                        false => states.avail.get(&info.state).copied().unwrap_or(0),
                    },
                },
                Cursor::Variable if states.follow.contains_key(&info.state) => CursorAt {
                    variable: true,
                    delta: 0,
                    avail: states.follow[&info.state],
                },
                Cursor::Variable => {
                    self.cursor = CursorAt::variable();
                    if joins {
                        let kept = self.local(LocalKind::Cursor);
                        self.set_offset(kept);
                    } else if info.kills_cursor {
                        let offset = self.unknown_offset();
                        self.set_offset(offset);
                    }
                    self.follow_offset(info.cyclic || info.kills_cursor || self.in_record());
                    CursorAt::variable()
                }
            };
            let asks_last = self.fits_in_time(state).is_some();
            self.run(&state.body[..state.body.len() - usize::from(asks_last)]);
            if let (false, Some(facts)) = (
                self.header_facts.dead,
                plan.points.at_transition(info.state),
            ) {
                self.now_at(Some(facts));
                self.kill_computed();
                self.transition(state, &mut states);
            }
        }
        self.regions.parser(false);
        self.push(Stmt::Label("accept".into()));
        self.forget();
    }

    /// Returns true if a state begins as a join of several paths, each of which leaves the cursor in memory.
    fn joins(&self, info: &StateInfo) -> bool {
        let is_kept_whole = info.cyclic && !self.cuts_loops();
        let is_cut = self.plan.forms.cut_after.is_some() && !is_kept_whole && info.preds > 0;
        self.in_record() && (info.preds > 1 || is_cut)
    }

    /// Returns true if states of loops may be in different functions. This requires that iterations are not counted
    /// in a variable, and that there are so many states that speed matters less.
    fn cuts_loops(&self) -> bool {
        self.plan.forms.iteration_limit.is_none() && self.plan.graph.in_loops > MOST_TOGETHER
    }

    fn transition(&mut self, state: &StateData, states: &mut States) {
        match &state.transition {
            Transition::To(target) => {
                let jump = self.edge(*target, states);
                self.out.extend(jump);
            }
            Transition::Select { keys, cases } => match self.fits_in_time(state) {
                Some((bytes, there, short)) => self.branch_short(bytes, there, short, states),
                None => self.select(keys, cases, states),
            },
        }
    }

    /// Matches a state that ends with a test whether a number of bytes is left. Returns the number, the target if
    /// they are left, and the target if they are not.
    fn fits_in_time(&self, state: &StateData) -> Option<(u32, TransitionTarget, TransitionTarget)> {
        let Transition::Select { keys, cases } = &state.transition else {
            return None;
        };
        let (&StmtKind::Fits { bits, fits }, [key], [there, short]) =
            (&state.body.last()?.kind, &keys[..], &cases[..])
        else {
            return None;
        };
        let asks = self.p.exprs[*key].kind == ExprKind::Var(fits)
            && there.keysets == [Keyset::Value(Bits::new(1, 1u32))]
            && short.keysets == [Keyset::Any];
        let bytes = const_bits(self.p, bits)?.div_ceil(8);
        let followed = u64::from(bytes) <= self.target.limits().offset;
        (asks && followed).then_some((bytes, there.target, short.target))
    }

    /// Emits a branch on whether a number of bytes is left. If so, they need not be checked again.
    fn branch_short(
        &mut self,
        bytes: u32,
        there: TransitionTarget,
        short: TransitionTarget,
        states: &mut States,
    ) {
        let before = self.cursor.clone();
        let end = before.delta + bytes;
        if end > before.avail {
            let label = self.file.names.fresh("short");
            let end_of_bytes = before.base().plus(end.into());
            self.push(Stmt::MayJump {
                name: "goto_if_short".into(),
                args: vec![end_of_bytes, C::id("data_end")],
                label: label.clone(),
            });
            self.cursor.avail = end;
            let facts = self.header_facts.clone();
            let jump = self.edge(there, states);
            self.out.extend(jump);
            self.header_facts = facts;
            self.cursor = before;
            self.push(Stmt::Label(label));
            let jump = self.edge(short, states);
            self.out.extend(jump);
        } else {
            let jump = self.edge(there, states);
            self.out.extend(jump);
        }
    }

    /// Returns the jump to a target, with the assignments on that edge.
    pub(crate) fn edge(&mut self, target: TransitionTarget, states: &mut States) -> Block {
        match target {
            TransitionTarget::Accept => vec![Stmt::Goto("accept".into())],
            TransitionTarget::AcceptAt(entry) => self.enter(entry),
            TransitionTarget::Reject => vec![Stmt::Goto("reject".into())],
            TransitionTarget::Rare => vec![Stmt::Goto("rare".into())],
            TransitionTarget::State(next) => {
                let graph = &self.plan.graph;
                let Some(&i) = graph.index.get(&next) else {
                    return vec![Stmt::Goto("reject".into())];
                };
                let info = &graph.states[i];
                let data = &self.p.parsers[self.plan.parser].states[next];
                if let (true, Transition::To(target)) = (info.on_edge, &data.transition) {
                    let facts = self.header_facts.clone();
                    return self.block(|g| {
                        g.run(&data.body);
                        let jump = g.edge(*target, states);
                        g.out.extend(jump);
                        g.header_facts = facts;
                    });
                }
                let (preds, cyclic, cursor) = (info.preds, info.cyclic, info.cursor);
                let label = states.labels.get(&next).cloned().unwrap_or_default();
                if preds == 1 && matches!(cursor, Cursor::Const(_)) {
                    states.avail.insert(next, self.cursor.avail);
                }
                let was_variable = self.cursor.variable;
                let filling = self.plan.rolled.bound(next);
                if preds == 1 && filling.is_some() && was_variable && self.cursor.delta == 0 {
                    states.follow.insert(next, self.cursor.avail);
                }
                let joins = self.joins(info);
                let in_loop = states.in_loop;
                let backwards = i <= states.number;
                self.block(|g| {
                    if cursor == Cursor::Variable {
                        let mut offset = g.offset();
                        if joins {
                            let kept = g.local(LocalKind::Cursor);
                            g.set(kept, offset.clone());
                            offset = C::id("off");
                        } else if cyclic && !was_variable {
                            // See `unknown_offset`.
                            offset = g.target.see(Role::Varying, offset);
                        }
                        g.set_offset(offset);
                    }
                    if cyclic && !in_loop {
                        g.hide(g.plan.carried.by_state(next));
                    }
                    if let (Some(stack), true) = (filling, in_loop) {
                        match backwards {
                            true => {
                                g.file.contents.loops = true;
                                g.back_edge_filling(stack, &label);
                            }
                            // Every iteration passes a back edge, which is counted.
                            false => g.push(Stmt::Goto(label)),
                        }
                    } else if cyclic && in_loop {
                        g.file.contents.loops = true;
                        g.back_edge("reject", &label);
                    } else {
                        g.push(Stmt::Goto(label));
                    }
                })
            }
        }
    }
}
