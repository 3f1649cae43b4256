//! Automata as tables: a row for each state, a column for each class of bytes.

/// Transition of an automaton at a byte, or at the end of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DocumentTransition<S> {
    /// The next state.
    pub next: S,
    /// Number of the action.
    pub action: u16,
    /// True if a number or a name ends before the byte.
    pub is_behind: bool,
}

impl<S> DocumentTransition<S> {
    /// Returns a step without an action, whose number is 0.
    pub(super) fn to(next: S) -> DocumentTransition<S> {
        DocumentTransition::with(0, next)
    }

    /// Returns a step with the action of this number.
    pub(super) fn with(action: u16, next: S) -> DocumentTransition<S> {
        DocumentTransition {
            next,
            action,
            is_behind: false,
        }
    }

    /// Returns the same step, at which a number or a name ends before the byte.
    pub(super) fn behind(self) -> DocumentTransition<S> {
        DocumentTransition {
            is_behind: true,
            ..self
        }
    }
}

/// Table that `DOCUMENT_...` of `document.h` describes.
#[derive(Debug)]
pub(super) struct Table {
    /// Class of each byte.
    pub classes: [u8; 256],
    /// Steps of each state by class. Two further columns have the byte up to which the state passes over others, and
    /// the step at the end of the text.
    pub steps: Vec<u32>,
    /// Number of columns in a row.
    pub columns: usize,
}

/// Number of bits in a step that hold the index of the next state's row; the action is above them.
const ROW_BITS: u32 = 12;
const BEHIND_BIT: u32 = 16;

/// Builds the automaton of these states, in this order. Bytes that every state treats alike share a class.
pub(super) fn table<S: Copy + PartialEq>(
    states: &[S],
    step: impl Fn(S, Option<u8>) -> DocumentTransition<S>,
    passed_up_to: impl Fn(S) -> u8,
) -> Table {
    let column = |byte: Option<u8>| -> Vec<DocumentTransition<S>> {
        states.iter().map(|&state| step(state, byte)).collect()
    };
    let mut columns: Vec<Vec<DocumentTransition<S>>> = Vec::new();
    let mut classes = [0; 256];
    for byte in 0..=255u8 {
        let here = column(Some(byte));
        let known = columns.iter().position(|known| *known == here);
        let class = known.unwrap_or(columns.len());
        if known.is_none() {
            columns.push(here);
        }
        classes[usize::from(byte)] = class as u8;
    }
    let ends = column(None);
    let width = columns.len() + 2;
    let entry = |step: &DocumentTransition<S>| {
        let next = states.iter().position(|&state| state == step.next);
        let row = (next.unwrap_or(0) * width) as u32;
        row | u32::from(step.action) << ROW_BITS | u32::from(step.is_behind) << BEHIND_BIT
    };
    let mut steps = Vec::new();
    for (row, &state) in states.iter().enumerate() {
        steps.extend(columns.iter().map(|column| entry(&column[row])));
        steps.push(passed_up_to(state).into());
        steps.push(entry(&ends[row]));
    }
    debug_assert!(steps.len() <= 1 << ROW_BITS, "a row's place has its bits");
    Table {
        classes,
        steps,
        columns: width,
    }
}
