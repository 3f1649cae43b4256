//! Automata: a loop that takes eight bytes at a time as long as none of them ends it, and one that takes the bytes before the end.
//!
//! A state is the place of its first transition in one array, whose transitions are by classes of bytes, so that a byte takes two loads, of
//! which only one waits for the byte before it. Nothing leads out of one more state, which stands for the end: it is looked for once in
//! eight bytes.

use crate::emitter::Gen;
use crate::hints::Role;
use crate::target::Target;
use crate::values::Value;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use ir::{Automaton, Expr, Place, Var};
use smol_str::SmolStr;

/// Bytes that are taken at a time.
const AT_ONCE: u32 = 8;

/// The transitions as arrays hold them.
struct Transitions {
    /// Of every byte its class.
    classes: [u8; 256],
    /// By place of a state and class the place of the next one. As many as a power of two, which places are masked by.
    next: Vec<u64>,
    /// By how many bits a state's number is shifted to be its place.
    shift: u32,
    /// The place of the state that stands for the end.
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

/// The arrays' names.
struct Arrays {
    classes: SmolStr,
    next: SmolStr,
    mask: u64,
}

impl Arrays {
    /// The place that a byte leads to.
    fn step(&self, place: C, byte: C) -> C {
        let class = C::Ident(self.classes.clone()).index(byte);
        let at = C::bin(BinOp::Add, place, class);
        C::Ident(self.next.clone()).index(C::bin(BinOp::And, at, C::int(self.mask)))
    }
}

/// What the loops have: where they stop, the place of the state, and that of the one behind the bytes that a turn looks at.
struct Taking {
    stop: C,
    place: C,
    then: C,
    arrays: Arrays,
    /// One of these bytes ends the automaton.
    ends: C,
}

impl<T: Target> Gen<'_, T> {
    /// Moves on to the byte that ends an automaton, at most by so many bytes, or to the packet's end, as far as it can be seen.
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

    /// Takes eight bytes at a time, and goes on to `one` where there are not so many, or one of them ends the automaton: at most eight
    /// bytes before its end. Each turn has one path on only.
    fn take_words(&mut self, taking: &Taking, again: &str, one: &str) {
        let bytes = self.offset_local("bytes");
        let then = &taking.then;
        self.enter_loop_anew();
        self.push(Stmt::Label(again.into()));
        let next = C::id("off").plus(AT_ONCE.into());
        let few = C::bin(BinOp::Gt, next.clone(), taking.stop.clone());
        self.push(Stmt::goto_if(few, one));
        self.follow_in_bounds();
        // The place where it stops is a number, which no pointer was compared with.
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

    /// Takes one byte at a time, and goes on to `done` where the automaton ends. They are less than eight.
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
    use ir::automaton::Step;

    #[test]
    fn transitions_are_the_automatons() {
        let step = |first, last, to| Step { first, last, to };
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
        // Nothing leads out of the end.
        assert!(
            table.next[table.end as usize..]
                .iter()
                .all(|&next| next == table.end)
        );
    }
}
