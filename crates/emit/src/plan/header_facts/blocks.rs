//! What is known of many headers, in blocks that points share as long as nothing in them changes.

use std::rc::Rc;

/// What is known of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// It does not hold.
    No,
    /// It holds.
    Yes,
    /// It depends on the packet.
    Maybe,
}

/// Words of a block.
const WORDS: usize = 4;

/// Headers of a block.
const HEADERS: usize = WORDS * 64;

/// A bit for each header of a block.
type Bits = [u64; WORDS];

/// A set of headers.
#[derive(Clone, Debug, Default)]
pub struct HeaderSet(Vec<Bits>);

/// Whether each header is in it, in order.
impl FromIterator<bool> for HeaderSet {
    fn from_iter<I: IntoIterator<Item = bool>>(members: I) -> HeaderSet {
        let mut set = HeaderSet::default();
        for (i, is_member) in members.into_iter().enumerate() {
            if i % HEADERS == 0 {
                set.0.push([0; WORDS]);
            }
            let (word, bit) = place(i);
            set.0[i / HEADERS][word] |= u64::from(is_member) << bit;
        }
        set
    }
}

/// What is known of one fact about each header of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Knowledge {
    yes: Bits,
    /// Disjoint with `yes`.
    maybe: Bits,
}

impl Knowledge {
    const NO: Knowledge = Knowledge {
        yes: [0; WORDS],
        maybe: [0; WORDS],
    };

    fn get(&self, header: usize) -> Known {
        let (word, bit) = place(header);
        match (self.yes[word] >> bit & 1, self.maybe[word] >> bit & 1) {
            (1, _) => Known::Yes,
            (_, 1) => Known::Maybe,
            _ => Known::No,
        }
    }

    fn set(&mut self, header: usize, known: Known) {
        let (word, bit) = place(header);
        self.yes[word] = self.yes[word] & !(1 << bit) | u64::from(known == Known::Yes) << bit;
        self.maybe[word] = self.maybe[word] & !(1 << bit) | u64::from(known == Known::Maybe) << bit;
    }

    /// Yes for all headers of a set.
    fn hold_for(&mut self, set: &Bits) {
        for (i, set) in set.iter().enumerate() {
            self.yes[i] |= set;
            self.maybe[i] &= !set;
        }
    }

    /// What is known when either may have happened.
    fn or(&self, other: &Knowledge) -> Knowledge {
        let mut joined = Knowledge::NO;
        for i in 0..WORDS {
            let differ = self.yes[i] ^ other.yes[i];
            joined.maybe[i] = self.maybe[i] | other.maybe[i] | differ;
            joined.yes[i] = self.yes[i] & !joined.maybe[i];
        }
        joined
    }
}

/// What is known of a block's headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Block {
    valid: Knowledge,
    extracted: Knowledge,
}

/// A fact about each header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fact {
    /// It is valid.
    Valid,
    /// It was extracted.
    Extracted,
}

/// What is known of all headers. A copy costs nothing until one of the two changes, and then a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Blocks(Rc<Vec<Rc<Block>>>);

impl Blocks {
    /// No fact holds of any of so many headers.
    pub(super) fn new(headers: usize) -> Blocks {
        let none = Rc::new(Block {
            valid: Knowledge::NO,
            extracted: Knowledge::NO,
        });
        Blocks(Rc::new(vec![none; headers.div_ceil(HEADERS)]))
    }

    pub(super) fn get(&self, fact: Fact, header: usize) -> Known {
        let block = &self.0[header / HEADERS];
        match fact {
            Fact::Valid => block.valid.get(header),
            Fact::Extracted => block.extracted.get(header),
        }
    }

    pub(super) fn set(&mut self, fact: Fact, header: usize, known: Known) {
        self.change(header / HEADERS, |block| match fact {
            Fact::Valid => block.valid.set(header, known),
            Fact::Extracted => block.extracted.set(header, known),
        });
    }

    /// What is known when either may have happened; whether that is less.
    pub(super) fn join(&mut self, other: &Blocks) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) {
            return false;
        }
        let mut changed = false;
        for (at, theirs) in other.0.iter().enumerate() {
            if !Rc::ptr_eq(&self.0[at], theirs) {
                changed |= self.change(at, |block| {
                    block.valid = block.valid.or(&theirs.valid);
                    block.extracted = block.extracted.or(&theirs.extracted);
                });
            }
        }
        changed
    }

    /// Of a set's headers those that are valid were extracted.
    pub(super) fn valid_means_extracted(&mut self, set: &HeaderSet) {
        for (at, set) in set.0.iter().enumerate() {
            self.change(at, |block| {
                let mut both = block.valid.yes;
                both.iter_mut()
                    .zip(set)
                    .for_each(|(valid, set)| *valid &= set);
                block.extracted.hold_for(&both);
            });
        }
    }

    /// Changes a block, if that makes a difference, and whether it does.
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

/// The word and the bit of a header in its block.
fn place(header: usize) -> (usize, usize) {
    (header % HEADERS / 64, header % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: usize = 699;

    fn all(blocks: &Blocks, fact: Fact, known: Known) -> Vec<usize> {
        let is = |&header: &usize| blocks.get(fact, header) == known;
        (0..=LAST).filter(is).collect()
    }

    #[test]
    fn what_changes_in_a_copy_does_not_change_in_the_other() {
        let before = Blocks::new(LAST + 1);
        let mut after = before.clone();
        after.set(Fact::Valid, LAST, Known::Yes);
        after.set(Fact::Extracted, 64, Known::Maybe);
        assert_eq!(all(&after, Fact::Valid, Known::Yes), [LAST]);
        assert_eq!(all(&after, Fact::Extracted, Known::Maybe), [64]);
        assert!(all(&after, Fact::Extracted, Known::Yes).is_empty());
        assert_eq!(before, Blocks::new(LAST + 1));
        after.set(Fact::Extracted, 64, Known::No);
        after.set(Fact::Valid, LAST, Known::No);
        assert_eq!(after, before);
    }

    #[test]
    fn a_change_copies_its_block_and_what_is_none_copies_nothing() {
        let before = Blocks::new(LAST + 1);
        let mut after = before.clone();
        after.set(Fact::Valid, 300, Known::No);
        assert!(Rc::ptr_eq(&before.0, &after.0));
        after.set(Fact::Valid, 300, Known::Yes);
        let shared = |at: usize| Rc::ptr_eq(&before.0[at], &after.0[at]);
        assert_eq!([0, 1, 2].map(shared), [true, false, true]);
    }

    #[test]
    fn joined_paths_know_what_both_know() {
        let start = Blocks::new(LAST + 1);
        let (mut a, mut b) = (start.clone(), start);
        a.set(Fact::Valid, 1, Known::Yes);
        b.set(Fact::Valid, 1, Known::Yes);
        a.set(Fact::Valid, 2, Known::Yes);
        b.set(Fact::Valid, 300, Known::Yes);
        b.set(Fact::Valid, LAST, Known::Maybe);
        assert!(a.join(&b));
        assert_eq!(all(&a, Fact::Valid, Known::Yes), [1]);
        assert_eq!(all(&a, Fact::Valid, Known::Maybe), [2, 300, LAST]);
        assert!(!a.join(&b));
    }

    #[test]
    fn only_members_are_extracted_because_they_are_valid() {
        let mut blocks = Blocks::new(LAST + 1);
        for (header, known) in [
            (3, Known::Yes),
            (LAST, Known::Yes),
            (300, Known::Yes),
            (5, Known::Maybe),
        ] {
            blocks.set(Fact::Valid, header, known);
        }
        blocks.set(Fact::Extracted, 3, Known::Maybe);
        let members = (0..=LAST).map(|header| header != 300);
        blocks.valid_means_extracted(&members.collect());
        assert_eq!(all(&blocks, Fact::Extracted, Known::Yes), [3, LAST]);
        assert!(all(&blocks, Fact::Extracted, Known::Maybe).is_empty());
    }
}
