//! Reachability between the states of a parser.

/// For each state, the states that can be reached from it by at least one step. States are numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Number of words in a state's set.
    words: usize,
    bits: Vec<u64>,
}

impl Reach {
    /// Computes the reachability of a graph, given each state's successors. One round suffices if only the last
    /// states have loops, and the order of the states is one in which only loops lead backwards.
    pub fn new(next: &[Vec<usize>]) -> Reach {
        let words = next.len().div_ceil(64);
        let mut reach = Reach {
            words,
            bits: vec![0; words * next.len()],
        };
        while reach.round(next) {}
        reach
    }

    /// Adds the sets of each state's successors to its own; returns true if a set changed.
    fn round(&mut self, next: &[Vec<usize>]) -> bool {
        let mut news = false;
        let mut own = vec![0; self.words];
        for (from, next) in next.iter().enumerate().rev() {
            let at = from * self.words;
            own.copy_from_slice(&self.bits[at..at + self.words]);
            for &to in next {
                own[to / 64] |= 1 << (to % 64);
                let theirs = &self.bits[to * self.words..][..self.words];
                own.iter_mut().zip(theirs).for_each(|(own, w)| *own |= w);
            }
            let before = &mut self.bits[at..at + self.words];
            news |= *before != own[..];
            before.copy_from_slice(&own);
        }
        news
    }

    /// Returns true if the state `to` can follow `from`, which may be the same state.
    pub fn contains(&self, from: usize, to: usize) -> bool {
        self.bits[from * self.words + to / 64] >> (to % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_reaches_what_follows_it_and_itself_in_a_loop() {
        // 0 → 1 → 2 → 1, 2 → 69, and a chain from 3 on.
        let mut next: Vec<Vec<usize>> = (0..70).map(|i| vec![i + 1]).collect();
        next[2] = vec![1, 69];
        next[69] = vec![];
        let reach = Reach::new(&next);
        let of = |from| {
            (0..70)
                .filter(|&to| reach.contains(from, to))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(0), [1, 2, 69]);
        assert_eq!(of(1), [1, 2, 69]);
        assert_eq!(of(2), [1, 2, 69]);
        assert_eq!(of(66), [67, 68, 69]);
        assert!(of(69).is_empty());
    }
}
