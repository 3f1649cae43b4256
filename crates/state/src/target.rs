//! The trait of a target that keeps state between packets, beyond [`Memory`].

use crate::held::Held;
use crate::layouts::Shared;
use cgen::tree::{Expr as C, Type as CType};
use emit::Gen;
use emit::memory::Memory;
use emit::record::Record;
use ir::Var;
use smol_str::SmolStr;

/// A kind of state of which a target may have to note that a program has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Used {
    /// Flows, in sets with locks.
    Flows,
    /// Meters.
    Meters,
    /// Registers whose cells have locks.
    LockedRegisters,
    /// Records in a ring.
    Records,
}

/// Emits the read of an input late, where it is needed, and gives its value.
pub type LateInput<T> = fn(&mut Gen<'_, T>) -> C;

/// A target with what this crate's code asks for.
pub trait State: Memory {
    /// The struct of a lock in an element of a map: four bytes.
    const LOCK: &'static str;

    /// State that the functions of a file have in common.
    fn shared(file: &mut Self::File) -> &mut Shared;

    /// The locks that are held at this point, and what else is known of state.
    fn held(&mut self) -> &mut Held;

    /// Notes that the program has state of this kind.
    fn note(_g: &mut Gen<'_, Self>, _used: Used) {}

    /// Takes a lock, whose address is given. Until it is given back, only functions of the headers are called.
    fn take_lock(lock: C) -> C {
        C::call("take_lock", vec![lock])
    }

    /// Gives a lock back, whose address is given.
    fn give_lock_back(lock: C) -> C {
        C::call("give_lock_back", vec![lock])
    }

    /// The way to add an element to a map at a key that has none, both by their addresses; where there is one, it stays. `None` where packets add no elements
    /// since memory that nobody has written costs nothing: there is one for each index then.
    const INSERT: Option<fn(map: &SmolStr, key: C, value: C) -> C> = None;

    /// Memory for a record of so many bytes in a ring, whose address is given; null if there is no room.
    fn reserve(ring: C, size: C) -> C {
        C::call("ring_reserve", vec![ring, size])
    }

    /// Hands a record over.
    fn submit(record: C) -> C {
        C::call("ring_submit", vec![record])
    }

    /// The time by which unused flows end, in nanoseconds: a few milliseconds late, if that is cheaper.
    fn flow_time(_g: &mut Gen<'_, Self>) -> C {
        C::call("now_ns", Vec::new())
    }

    /// Hides a way's number from a target that verifies code, which would otherwise check all later paths once for each number.
    fn anywhere(way: C) -> C {
        way
    }

    /// True if counters are raised by functions of their own, which a target that verifies code checks once.
    fn counts_by_functions(_g: &Gen<'_, Self>) -> bool {
        false
    }

    /// True if a function of its own adds, here, to the figures of groups with keys of so many words.
    fn figures_by_functions(g: &Gen<'_, Self>, _words: u32) -> bool {
        g.is_in_loop()
    }

    /// Gives the reader of a variable that is read where it is needed instead of before the parser; `None` for other variables. The
    /// reader calls a function, so it must not run while a lock is held.
    fn late_input(_g: &Gen<'_, Self>, _var: Var) -> Option<LateInput<Self>> {
        None
    }
}

/// The member with a lock.
pub(crate) const LOCK: &str = "lock";

/// Adds a lock to a struct.
pub(crate) fn add_lock<T: State>(record: &mut Record) {
    record.add(CType::Struct(T::LOCK.into()), LOCK, 4, 4, "");
}
