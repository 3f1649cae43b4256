//! Automata, as two loops. One takes eight bytes at a time as long as none of them ends the automaton; the other
//! takes the bytes before the end.
//!
//! A state is the index of its first transition in one array. Transitions are by classes of bytes, so that a byte
//! takes two loads, and only one of them depends on the byte before. One more state, which is never left, stands
//! for the end: it is tested once in eight bytes.

use crate::emitter::Gen;
use crate::hints::Role;
use crate::target::Target;
use crate::values::Value;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use ir::{Automaton, Expr, Place, Var};
use smol_str::SmolStr;

/// Number of bytes taken at a time.
const AT_ONCE: u32 = 8;

/// Transitions, as the arrays hold them.
struct Transitions {
    /// Class of each byte.
    classes: [u8; 256],
    /// Index of the next state, by index of the state plus class. The length is a power of two, by which indices
    /// are masked.
    next: Vec<u64>,
    /// Number of bits by which a state's number is shifted to get its index.
    shift: u32,
    /// Index of the state that stands for the end.
    end: u64,
}

impl Transitions {
    fn of(automaton: &Automaton) -> Transitions {
        let (classes, members) = automaton.classes();
        let shift = members.len().next_power_of_two().ilog2();
        let end = (automaton.rows.len() as u64) << shift;
        let size = (end as usize + (1 << shift)).next_power_of_two();
        let mut next = vec![end; size];
        for state in 0..automaton.rows.len() as u32 {
            for (class, &byte) in members.iter().enumerate() {
                if let Some(to) = automaton.next(state, byte) {
                    next[((state as usize) << shift) + class] = u64::from(to) << shift;
                }
            }
        }
        Transitions {
            classes,
            next,
            shift,
            end,
        }
    }
}

/// Names of the arrays.
struct Arrays {
    classes: SmolStr,
    next: SmolStr,
    mask: u64,
}

impl Arrays {
    /// Returns the index of the state that a byte leads to.
    fn step(&self, place: C, byte: C) -> C {
        let class = C::Ident(self.classes.clone()).index(byte);
        let at = C::bin(BinOp::Add, place, class);
        C::Ident(self.next.clone()).index(C::bin(BinOp::And, at, C::int(self.mask)))
    }
}

/// Variables of the loops: the offset at which they stop, the index of the state, and its index after the bytes of
/// an iteration.
struct Taking {
    stop: C,
    place: C,
    then: C,
    arrays: Arrays,
    /// Condition that one of these bytes ends the automaton.
    ends: C,
}

impl<T: Target> Gen<'_, T> {
    /// Advances to the byte that ends an automaton, by at most `limit` bytes, or to the end of the visible packet.
    pub(crate) fn automaton(
        &mut self,
        automaton: &Automaton,
        (start, state): (Expr, Var),
        limit: Option<Expr>,
        passed: Option<Var>,
    ) {
        let table = Transitions::of(automaton);
        let arrays = Arrays {
            classes: self.numbers("classes", table.classes.iter().map(|&c| c.into()).collect()),
            mask: table.next.len() as u64 - 1,
            next: self.numbers("transitions", table.next),
        };
        self.file.contents.loops = true;
        self.file.contents.searches = true;
        let (limit, counters) = self.limit(limit);
        let number = lower::scalar(self, start);
        self.start_loop();
        let [stop, place, then] = ["stop", "state", "then"].map(|wish| self.offset_local(wish));
        let from = passed.map(|_| self.offset_local("from"));
        self.stop_at(1, limit, &stop);
        self.hide(&counters);
        if let Some(from) = &from {
            self.set(from.clone(), C::id("off"));
        }
        let first = C::bin(
            BinOp::Shl,
            number.cast(CType::U64),
            C::int(table.shift.into()),
        );
        let first = self.target.see(Role::Varying, first);
        self.set(place.clone(), first);
        let [some, one, done] =
            ["take", "take_one", "taken"].map(|wish| self.file.names.fresh(wish));
        let ends = C::bin(BinOp::Eq, then.clone(), C::int(table.end));
        let taking = Taking {
            stop,
            place: place.clone(),
            then,
            arrays,
            ends,
        };
        self.take_words(&taking, &some, &one);
        self.take_bytes(&taking, &one, &done);
        self.push(Stmt::Label(done));
        let number = C::bin(BinOp::Shr, place, C::int(table.shift.into()));
        self.store(Place::Var(state), Value::Scalar(number));
        self.finish_search(passed, from);
    }

    /// Takes eight bytes at a time. Goes on to `one` if fewer are left or one of them ends the automaton: the end
    /// is then at most eight bytes away. Each iteration has only one path to the next.
    fn take_words(&mut self, taking: &Taking, again: &str, one: &str) {
        let bytes = self.offset_local("bytes");
        let then = &taking.then;
        self.enter_loop_anew();
        self.push(Stmt::Label(again.into()));
        let next = C::id("off").plus(AT_ONCE.into());
        let few = C::bin(BinOp::Gt, next.clone(), taking.stop.clone());
        self.push(Stmt::goto_if(few, one));
        self.follow_in_bounds();
        // `stop` is a number: no pointer was compared with the packet's end.
        self.goto_done_unless_there(AT_ONCE, one);
        self.set(bytes.clone(), C::pure("load_le64", vec![C::id("cur")]));
        self.set(then.clone(), taking.place.clone());
        for byte in 0..AT_ONCE {
            let shifted = C::bin(BinOp::Shr, bytes.clone(), C::int((8 * byte).into()));
            let taken = taking.arrays.step(then.clone(), shifted.cast(CType::U8));
            self.set(then.clone(), taken);
        }
        self.push(Stmt::goto_if(taking.ends.clone(), one));
        self.set(taking.place.clone(), then.clone());
        self.set(C::id("off"), next);
        self.back_edge("reject", again);
        self.exit_loop();
    }

    /// Takes one byte at a time, at most seven, and goes on to `done` at the automaton's end.
    fn take_bytes(&mut self, taking: &Taking, again: &str, done: &str) {
        self.enter_loop_anew();
        self.push(Stmt::Label(again.into()));
        let is_over = C::bin(BinOp::Ge, C::id("off"), taking.stop.clone());
        self.push(Stmt::goto_if(is_over, done));
        self.follow_in_bounds();
        self.goto_done_unless_there(1, done);
        let byte = C::id("cur").index(C::int(0));
        let taken = taking.arrays.step(taking.place.clone(), byte);
        self.set(taking.then.clone(), taken);
        self.push(Stmt::goto_if(taking.ends.clone(), done));
        self.set(taking.place.clone(), taking.then.clone());
        self.set(C::id("off"), C::id("off").plus(1));
        self.back_edge_within(AT_ONCE, again);
        self.exit_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::automaton::ByteTransition;

    #[test]
    fn transitions_are_the_automatons() {
        let step = |first, last, to| ByteTransition { first, last, to };
        let rows = vec![
            vec![step(0, 96, 0), step(97, 97, 1), step(98, 254, 0)],
            vec![step(97, 97, 1), step(98, 98, 2)],
            vec![step(0, 255, 0)],
        ];
        let automaton = Automaton { rows };
        let table = Transitions::of(&automaton);
        assert!(table.next.len().is_power_of_two());
        for state in 0..3 {
            for byte in 0..=u8::MAX {
                let at =
                    (u64::from(state) << table.shift) + u64::from(table.classes[usize::from(byte)]);
                let next = automaton.next(state, byte);
                let next = next.map_or(table.end, |to| u64::from(to) << table.shift);
                assert_eq!(table.next[at as usize], next, "{state} {byte}");
            }
        }
        // No transition leaves the end.
        assert!(
            table.next[table.end as usize..]
                .iter()
                .all(|&next| next == table.end)
        );
    }
}
