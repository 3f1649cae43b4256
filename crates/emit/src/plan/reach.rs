//! Which states of a parser can follow which.

/// For each state, the states that can be reached from it by at least one step; states are numbers from 0.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Words of a state's set.
    words: usize,
    bits: Vec<u64>,
}

impl Reach {
    /// Of a graph, by each state's successors. It takes one round where only the last states have loops, if the order of the
    /// states is one in which only loops lead backwards.
    pub fn new(next: &[Vec<usize>]) -> Reach {
        let words = next.len().div_ceil(64);
        let mut reach = Reach {
            words,
            bits: vec![0; words * next.len()],
        };
        while reach.round(next) {}
        reach
    }

    /// What each state's successors reach, it reaches; whether that is news.
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

    /// Whether one state can follow another, which may be itself.
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
