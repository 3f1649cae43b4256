//! Facts about variables, in copy-on-write blocks that points share. A join, and a write to a variable, cost as much as
//! the blocks that differ.

use super::dataflow::Domain;
use super::facts::KnownVar;
use crate::Var;
use std::rc::Rc;

/// Number of variables of a block.
const SIZE: usize = 16;

/// Facts about variables with consecutive numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Block {
    known: [Option<KnownVar>; SIZE],
    /// True if one of them is a copy.
    has_copy: bool,
}

impl Block {
    const UNKNOWN: Block = Block {
        known: [const { None }; SIZE],
        has_copy: false,
    };

    fn is_copy(known: &Option<KnownVar>) -> bool {
        matches!(known, Some(KnownVar::Copy(_)))
    }

    fn set(&mut self, at: usize, known: Option<KnownVar>) {
        self.known[at] = known;
        self.has_copy = self.known.iter().any(Block::is_copy);
    }
}

/// Facts about all variables. A copy shares its blocks; a change copies only the block that it changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct KnownVars(Rc<Vec<Rc<Block>>>);

impl KnownVars {
    /// Returns facts about this many variables, all unknown.
    pub(super) fn unknown(vars: usize) -> KnownVars {
        let blocks = std::iter::repeat_n(Rc::new(Block::UNKNOWN), vars.div_ceil(SIZE));
        KnownVars(Rc::new(blocks.collect()))
    }

    /// Returns facts about as many variables, all unknown.
    pub(super) fn unknown_alike(&self) -> KnownVars {
        KnownVars::unknown(self.0.len() * SIZE)
    }

    /// Returns the fact about a variable.
    pub(super) fn get(&self, var: Var) -> Option<&KnownVar> {
        let (block, at) = place(var);
        self.0.get(block)?.known[at].as_ref()
    }

    /// Sets the fact about a variable, but not those about its copies.
    pub(super) fn set(&mut self, var: Var, known: Option<KnownVar>) {
        if self.get(var) == known.as_ref() {
            return;
        }
        let (block, at) = place(var);
        self.block_mut(block).set(at, known);
    }

    /// Kills the facts that variables are copies of this one.
    pub(super) fn kill_copies(&mut self, var: Var) {
        let copy = Some(KnownVar::Copy(var));
        for block in 0..self.0.len() {
            if !self.0[block].has_copy {
                continue;
            }
            for at in 0..SIZE {
                if self.0[block].known[at] == copy {
                    self.block_mut(block).set(at, None);
                }
            }
        }
    }

    fn block_mut(&mut self, block: usize) -> &mut Block {
        let blocks = Rc::make_mut(&mut self.0);
        // A pass may have created the variable since.
        if blocks.len() <= block {
            blocks.resize(block + 1, Rc::new(Block::UNKNOWN));
        }
        Rc::make_mut(&mut blocks[block])
    }
}

/// Returns the variable's block, and its index there.
fn place(var: Var) -> (usize, usize) {
    let number = var.as_u32() as usize;
    (number / SIZE, number % SIZE)
}

/// A join retains the facts that both operands have.
impl Domain for KnownVars {
    fn join(&mut self, other: &KnownVars) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) {
            return false;
        }
        let mut changed = false;
        for block in 0..self.0.len() {
            let theirs = other.0.get(block);
            if theirs.is_some_and(|theirs| Rc::ptr_eq(&self.0[block], theirs)) {
                continue;
            }
            for at in 0..SIZE {
                let known = &self.0[block].known[at];
                let alike = theirs.is_some_and(|theirs| theirs.known[at] == *known);
                if known.is_some() && !alike {
                    self.block_mut(block).set(at, None);
                    changed = true;
                }
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bits;
    use crate::eval::Value;

    fn value(number: u32) -> Option<KnownVar> {
        Some(KnownVar::Value(Value::Bits(Bits::new(8, number))))
    }

    fn var(number: u32) -> Var {
        Var::from_u32(number)
    }

    #[test]
    fn joined_two_keep_what_both_know() {
        let mut a = KnownVars::unknown(100);
        a.set(var(1), value(1));
        a.set(var(50), value(5));
        let mut b = a.clone();
        assert!(!a.join(&b));
        b.set(var(1), value(2));
        b.set(var(99), value(9));
        assert!(a.join(&b));
        let known = [1, 50, 99].map(|number| a.get(var(number)).cloned());
        assert_eq!(known, [None, value(5), None]);
        assert!(!a.join(&b));
        assert!(b.join(&KnownVars::unknown(0)));
        assert_eq!(b, KnownVars::unknown(100));
    }

    #[test]
    fn a_variable_that_was_made_later_is_unknown_and_can_be_known() {
        let mut a = KnownVars::unknown(1);
        assert_eq!(a.get(var(70)), None);
        a.set(var(70), value(7));
        assert_eq!(a.get(var(70)), value(7).as_ref());
    }

    #[test]
    fn only_copies_are_killed() {
        let copy = |of| Some(KnownVar::Copy(var(of)));
        let mut a = KnownVars::unknown(60);
        a.set(var(3), value(3));
        a.set(var(4), copy(3));
        a.set(var(40), copy(3));
        a.set(var(41), copy(2));
        a.kill_copies(var(3));
        let known = [3, 4, 40, 41].map(|number| a.get(var(number)).cloned());
        assert_eq!(known, [value(3), None, None, copy(2)]);
    }
}
