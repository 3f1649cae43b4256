//! Automata over the bytes of a packet, built from parser states that read one byte each.

/// Transition table of an automaton: state and byte to next state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    /// For each state, the bytes with a transition, in ascending order. The automaton stops at any other byte.
    pub rows: Vec<Vec<ByteTransition>>,
}

/// Range of bytes on which a state has transitions to the same next state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ByteTransition {
    /// First byte.
    pub first: u8,
    /// Last byte.
    pub last: u8,
    /// Index of the next state.
    pub to: u32,
}

impl Automaton {
    /// Greatest number of states. With one state more and 256 classes of bytes, the index of a transition still has 16
    /// bits.
    pub const MOST_STATES: usize = 255;

    /// Builds an automaton from rows that give each state's next state for every byte.
    pub fn new(rows: &[[Option<u32>; 256]]) -> Automaton {
        let steps = |row: &[Option<u32>; 256]| {
            let mut steps: Vec<ByteTransition> = Vec::new();
            for (byte, to) in (0..=u8::MAX).zip(row) {
                let Some(to) = *to else { continue };
                match steps.last_mut() {
                    Some(step) if step.to == to && step.last.checked_add(1) == Some(byte) => {
                        step.last = byte;
                    }
                    _ => steps.push(ByteTransition {
                        first: byte,
                        last: byte,
                        to,
                    }),
                }
            }
            steps
        };
        Automaton {
            rows: rows.iter().map(steps).collect(),
        }
    }

    /// Returns the next state on a byte; `None` if the automaton stops there.
    pub fn next(&self, state: u32, byte: u8) -> Option<u32> {
        let row = self.rows.get(state as usize)?;
        let step = row.iter().find(|step| byte <= step.last)?;
        (step.first <= byte).then_some(step.to)
    }

    /// Divides the bytes into classes with equal transitions from every state. Returns the class of each byte, and a
    /// byte of each class.
    pub fn classes(&self) -> ([u8; 256], Vec<u8>) {
        let mut classes = [0; 256];
        let mut members: Vec<(u8, Vec<Option<u32>>)> = Vec::new();
        for byte in 0..=u8::MAX {
            let all = 0..self.rows.len() as u32;
            let column: Vec<Option<u32>> = all.map(|state| self.next(state, byte)).collect();
            let known = members.iter().position(|(_, own)| *own == column);
            let class = known.unwrap_or_else(|| {
                members.push((byte, column));
                members.len() - 1
            });
            classes[usize::from(byte)] = class as u8;
        }
        (classes, members.into_iter().map(|(byte, _)| byte).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(first: u8, last: u8, to: u32) -> ByteTransition {
        ByteTransition { first, last, to }
    }

    #[test]
    fn bytes_in_a_row_that_lead_to_one_state_are_one_step() {
        let mut rows = [[Some(0); 256], [None; 256]];
        rows[0][b'a' as usize] = Some(1);
        rows[0][255] = None;
        rows[1][0] = Some(0);
        rows[1][255] = Some(1);
        let automaton = Automaton::new(&rows);
        let first = vec![step(0, 96, 0), step(97, 97, 1), step(98, 254, 0)];
        assert_eq!(
            automaton.rows,
            [first, vec![step(0, 0, 0), step(255, 255, 1)]]
        );
        for (state, row) in rows.iter().enumerate() {
            for (byte, to) in (0..=u8::MAX).zip(row) {
                assert_eq!(automaton.next(state as u32, byte), *to, "{state} {byte}");
            }
        }
    }

    #[test]
    fn bytes_that_differ_for_no_state_are_of_one_class() {
        let rows = vec![vec![step(0, 9, 1), step(10, 255, 0)], vec![step(5, 20, 0)]];
        let (classes, members) = Automaton { rows }.classes();
        assert_eq!(members, [0, 5, 10, 21]);
        assert_eq!(
            (classes[4], classes[9], classes[20], classes[255]),
            (0, 1, 2, 3)
        );
    }
}
