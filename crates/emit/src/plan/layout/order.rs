//! The order in which headers are read, against the order in which they are emitted.

use super::Emit;
use crate::plan::facts::{CursorStep, Facts};
use crate::plan::graph::Graph;
use crate::plan::rolled::Rolled;
use ir::Header;

/// Positions of emits, and what is read before and after each extract.
pub(super) struct Order {
    /// Each header's emits, in order.
    emits: Vec<Vec<usize>>,
    /// Each header's extracts.
    extracts: Vec<Vec<Extract>>,
    /// Headers that stand for rolled stacks: more elements of these may be read next.
    rolled: Vec<Header>,
}

/// Headers that may be read on the paths through an extract, as positions of their emits.
#[derive(Clone, Copy)]
struct Extract {
    before: Earlier,
    after: Later,
}

/// Greatest position of an emit among the headers that may have been read before, plus 1. It exceeds the number of
/// emits if some of them does not have exactly one.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Earlier(usize);

/// Positions of the emits of the headers that may be read next.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Later {
    /// Least position of a last emit, plus 1; 0 if a header is read and not emitted.
    last: usize,
    /// Greatest position of a last emit but one, plus 1; 0 if each header has one emit.
    second: usize,
}

impl Earlier {
    fn and(self, other: Earlier) -> Earlier {
        Earlier(self.0.max(other.0))
    }
}

impl Later {
    const NOTHING: Later = Later {
        last: usize::MAX,
        second: 0,
    };

    fn and(self, other: Later) -> Later {
        Later {
            last: self.last.min(other.last),
            second: self.second.max(other.second),
        }
    }
}

impl Order {
    pub(super) fn new(facts: &Facts, graph: &Graph, emits: &[Emit], rolled: &Rolled) -> Order {
        let mut order = Order {
            emits: vec![Vec::new(); facts.headers.len()],
            extracts: vec![Vec::new(); facts.headers.len()],
            rolled: rolled.stacks.iter().map(|stack| stack.first).collect(),
        };
        for (at, emit) in emits.iter().enumerate() {
            order.emits[index(emit.header)].push(at);
        }
        let states = &facts.steps;
        let earlier: Vec<Earlier> = states
            .iter()
            .map(|steps| steps.iter().map(|s| order.as_earlier(*s)))
            .map(|steps| steps.fold(Earlier::default(), Earlier::and))
            .collect();
        let later: Vec<Later> = states
            .iter()
            .map(|steps| steps.iter().map(|s| order.as_later(*s)))
            .map(|steps| steps.fold(Later::NOTHING, Later::and))
            .collect();
        let (leads_here, follows) = along(graph, &earlier, &later);
        for (i, steps) in states.iter().enumerate() {
            let mut before = leads_here[i];
            let mut afters = vec![follows[i]];
            for step in steps.iter().skip(1).rev() {
                let after = afters[afters.len() - 1].and(order.as_later(*step));
                afters.push(after);
            }
            for (step, after) in steps.iter().zip(afters.into_iter().rev()) {
                if let CursorStep::Extract(h) = *step {
                    order.extracts[index(h)].push(Extract { before, after });
                }
                before = before.and(order.as_earlier(*step));
            }
        }
        order
    }

    fn as_earlier(&self, step: CursorStep) -> Earlier {
        let only = match step {
            CursorStep::Extract(h) => self.only(h),
            CursorStep::Skip => None,
        };
        Earlier(only.map_or(usize::MAX, |at| at + 1))
    }

    fn as_later(&self, step: CursorStep) -> Later {
        let emits = match step {
            CursorStep::Extract(h) => &self.emits[index(h)][..],
            CursorStep::Skip => &[],
        };
        let from_end = |n: usize| emits.len().checked_sub(n).map_or(0, |i| emits[i] + 1);
        Later {
            last: from_end(1),
            second: from_end(2),
        }
    }

    /// Returns the position of a header's only emit; `None` if it does not have exactly one.
    pub(super) fn only(&self, h: Header) -> Option<usize> {
        match self.emits[index(h)][..] {
            [at] => Some(at),
            _ => None,
        }
    }

    /// Returns the position of a header's last emit.
    pub(super) fn last(&self, h: Header) -> Option<usize> {
        self.emits[index(h)].last().copied()
    }

    /// Returns true if everything read after a header is emitted after `at`, and only once by the emits from `from`
    /// on.
    pub(super) fn later_are_behind(&self, h: Header, at: usize, from: usize) -> bool {
        let extracts = self.extracts[index(h)].iter();
        let mut after = extracts.map(|extract| extract.after);
        let least = at + usize::from(!self.rolled.contains(&h));
        after.all(|later| later.last > least && later.second <= from)
    }

    /// Returns true if everything read before a header is emitted before `at`, and only once.
    pub(super) fn earlier_are_before(&self, h: Header, at: usize) -> bool {
        let mut extracts = self.extracts[index(h)].iter();
        extracts.all(|extract| extract.before.0 <= at)
    }
}

/// Computes what may be read before and after each state. Each state passes its values on to its neighbours, until
/// a fixpoint is reached.
fn along(graph: &Graph, earlier: &[Earlier], later: &[Later]) -> (Vec<Earlier>, Vec<Later>) {
    let mut before = vec![Earlier::default(); earlier.len()];
    let mut after = vec![Later::NOTHING; later.len()];
    let mut news = true;
    while news {
        news = false;
        for (i, next) in graph.next.iter().enumerate() {
            let passed = before[i].and(earlier[i]);
            for &n in next {
                let known = before[n].and(passed);
                news |= known != before[n];
                before[n] = known;
            }
        }
        for (i, next) in graph.next.iter().enumerate().rev() {
            let learnt = next.iter().map(|&n| after[n].and(later[n]));
            let known = learnt.fold(after[i], Later::and);
            news |= known != after[i];
            after[i] = known;
        }
    }
    (before, after)
}

fn index(h: Header) -> usize {
    h.as_u32() as usize
}
