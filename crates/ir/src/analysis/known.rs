//! Three-valued facts about many items, in copy-on-write blocks that points share.

use super::dataflow::Domain;
use std::rc::Rc;

/// Truth value of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// It does not hold.
    No,
    /// It holds.
    Yes,
    /// It depends on the packet.
    Maybe,
}

/// Number of words of a block.
const WORDS: usize = 4;

/// Number of items of a block.
const SIZE: usize = WORDS * 64;

/// Set of a block's items, one bit each.
type Bits = [u64; WORDS];

/// Set of items, by index.
#[derive(Clone, Debug, Default)]
pub struct Members(Vec<Bits>);

/// Collects the membership of each item, in order.
impl FromIterator<bool> for Members {
    fn from_iter<I: IntoIterator<Item = bool>>(members: I) -> Members {
        let mut set = Members::default();
        for (i, is_member) in members.into_iter().enumerate() {
            if i % SIZE == 0 {
                set.0.push([0; WORDS]);
            }
            let (word, bit) = place(i);
            set.0[i / SIZE][word] |= u64::from(is_member) << bit;
        }
        set
    }
}

/// Truth values for the items of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Block {
    yes: Bits,
    /// Disjoint with `yes`.
    maybe: Bits,
}

impl Block {
    const NO: Block = Block {
        yes: [0; WORDS],
        maybe: [0; WORDS],
    };

    fn get(&self, thing: usize) -> Known {
        let (word, bit) = place(thing);
        match (self.yes[word] >> bit & 1, self.maybe[word] >> bit & 1) {
            (1, _) => Known::Yes,
            (_, 1) => Known::Maybe,
            _ => Known::No,
        }
    }

    fn set(&mut self, thing: usize, known: Known) {
        let (word, bit) = place(thing);
        self.yes[word] = self.yes[word] & !(1 << bit) | u64::from(known == Known::Yes) << bit;
        self.maybe[word] = self.maybe[word] & !(1 << bit) | u64::from(known == Known::Maybe) << bit;
    }

    /// Joins two blocks: items on whose values they differ become [`Known::Maybe`].
    fn or(&self, other: &Block) -> Block {
        let mut joined = Block::NO;
        for i in 0..WORDS {
            let differ = self.yes[i] ^ other.yes[i];
            joined.maybe[i] = self.maybe[i] | other.maybe[i] | differ;
            joined.yes[i] = self.yes[i] & !joined.maybe[i];
        }
        joined
    }
}

/// Truth values of one fact for each of many items, by index. A copy shares its blocks; a change copies only the block
/// that it changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Knowledge(Rc<Vec<Rc<Block>>>);

impl Knowledge {
    /// Returns the same value for all of `things` items.
    pub fn new(things: usize, known: Known) -> Knowledge {
        let mut block = Block::NO;
        (0..SIZE).for_each(|thing| block.set(thing, known));
        // Blocks are shared until one of them changes.
        let blocks = std::iter::repeat_n(Rc::new(block), things.div_ceil(SIZE));
        Knowledge(Rc::new(blocks.collect()))
    }

    /// Returns the value for an item.
    pub fn get(&self, thing: usize) -> Known {
        self.0[thing / SIZE].get(thing)
    }

    /// Sets the value for an item.
    pub fn set(&mut self, thing: usize, known: Known) {
        self.change(thing / SIZE, |block| block.set(thing, known));
    }

    /// Kills the facts about items that are not members.
    pub fn keep(&mut self, members: &Members) {
        for (at, members) in members.0.iter().enumerate() {
            self.change(at, |block| {
                for (i, member) in members.iter().enumerate() {
                    block.yes[i] &= member;
                    block.maybe[i] |= !member;
                }
            });
        }
    }

    /// Makes the fact hold for those members for which `other` holds.
    pub fn hold_where(&mut self, other: &Knowledge, members: &Members) {
        for (at, (other, members)) in other.0.iter().zip(&members.0).enumerate() {
            self.change(at, |block| {
                for (i, member) in members.iter().enumerate() {
                    let holds = other.yes[i] & member;
                    block.yes[i] |= holds;
                    block.maybe[i] &= !holds;
                }
            });
        }
    }

    /// Changes a block, copying it only if the change makes a difference. Returns true if it does.
    fn change(&mut self, at: usize, how: impl FnOnce(&mut Block)) -> bool {
        let mut block = *self.0[at];
        how(&mut block);
        let differs = block != *self.0[at];
        if differs {
            Rc::make_mut(&mut self.0)[at] = Rc::new(block);
        }
        differs
    }
}

/// Joined, two facts become [`Known::Maybe`] for the items on which they differ.
impl Domain for Knowledge {
    fn join(&mut self, other: &Knowledge) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) {
            return false;
        }
        let mut changed = false;
        for (at, theirs) in other.0.iter().enumerate() {
            if !Rc::ptr_eq(&self.0[at], theirs) {
                changed |= self.change(at, |block| *block = block.or(theirs));
            }
        }
        changed
    }
}

/// Returns an item's word in its block, and its bit there.
fn place(thing: usize) -> (usize, usize) {
    (thing % SIZE / 64, thing % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: usize = 699;

    fn all(knowledge: &Knowledge, known: Known) -> Vec<usize> {
        let is = |&thing: &usize| knowledge.get(thing) == known;
        (0..=LAST).filter(is).collect()
    }

    #[test]
    fn what_changes_in_a_copy_does_not_change_in_the_other() {
        let before = Knowledge::new(LAST + 1, Known::No);
        let mut after = before.clone();
        after.set(LAST, Known::Yes);
        after.set(64, Known::Maybe);
        assert_eq!(all(&after, Known::Yes), [LAST]);
        assert_eq!(all(&after, Known::Maybe), [64]);
        assert_eq!(before, Knowledge::new(LAST + 1, Known::No));
        after.set(64, Known::No);
        after.set(LAST, Known::No);
        assert_eq!(after, before);
    }

    #[test]
    fn a_change_copies_its_block_and_what_is_none_copies_nothing() {
        let before = Knowledge::new(LAST + 1, Known::No);
        let mut after = before.clone();
        after.set(300, Known::No);
        assert!(Rc::ptr_eq(&before.0, &after.0));
        after.set(300, Known::Yes);
        let shared = |at: usize| Rc::ptr_eq(&before.0[at], &after.0[at]);
        assert_eq!([0, 1, 2].map(shared), [true, false, true]);
    }

    #[test]
    fn joined_paths_know_what_both_know() {
        let start = Knowledge::new(LAST + 1, Known::No);
        let (mut a, mut b) = (start.clone(), start);
        a.set(1, Known::Yes);
        b.set(1, Known::Yes);
        a.set(2, Known::Yes);
        b.set(300, Known::Yes);
        b.set(LAST, Known::Maybe);
        assert!(a.join(&b));
        assert_eq!(all(&a, Known::Yes), [1]);
        assert_eq!(all(&a, Known::Maybe), [2, 300, LAST]);
        assert!(!a.join(&b));
    }

    #[test]
    fn a_fact_holds_of_the_members_of_which_another_does() {
        let mut valid = Knowledge::new(LAST + 1, Known::No);
        for (thing, known) in [
            (3, Known::Yes),
            (LAST, Known::Yes),
            (300, Known::Yes),
            (5, Known::Maybe),
        ] {
            valid.set(thing, known);
        }
        let mut extracted = Knowledge::new(LAST + 1, Known::No);
        extracted.set(3, Known::Maybe);
        let members = (0..=LAST).map(|thing| thing != 300);
        extracted.hold_where(&valid, &members.collect());
        assert_eq!(all(&extracted, Known::Yes), [3, LAST]);
        assert!(all(&extracted, Known::Maybe).is_empty());
    }
}
