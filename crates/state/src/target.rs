//! Trait of a target that keeps state between packets, beyond [`Memory`].

use crate::held::Held;
use crate::layouts::Shared;
use cgen::tree::{Expr as C, Type as CType};
use emit::Gen;
use emit::memory::Memory;
use emit::record::Record;
use ir::Var;
use smol_str::SmolStr;

/// Kind of state whose use a target may have to record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Used {
    /// Flows, in sets with locks.
    Flows,
    /// Meters.
    Meters,
    /// Registers whose cells have locks.
    LockedRegisters,
    /// Records in a ring buffer.
    Records,
}

/// Reader of a late input: emits the read where it is needed, and returns the value.
pub type LateInput<T> = fn(&mut Gen<'_, T>) -> C;

/// Target with the properties that this crate's code needs.
pub trait StateTarget: Memory {
    /// Name of the struct of a lock in an element of a map: four bytes.
    const LOCK: &'static str;

    /// Returns the state that the functions of a file share.
    fn shared(file: &mut Self::File) -> &mut Shared;

    /// Returns the facts about state at this point, with the locks that are held.
    fn held(&mut self) -> &mut Held;

    /// Records that the program has state of this kind.
    fn note(_g: &mut Gen<'_, Self>, _used: Used) {}

    /// Returns the call that takes a lock. `lock` is its address. Until it is released, only functions of the headers
    /// are called.
    fn take_lock(lock: C) -> C {
        C::call("take_lock", vec![lock])
    }

    /// Returns the call that releases a lock. `lock` is its address.
    fn give_lock_back(lock: C) -> C {
        C::call("give_lock_back", vec![lock])
    }

    /// Inserts an element into a map, given the addresses of key and value. An existing element is kept. `None` if
    /// packets need not insert elements, since each index has one from the start: a target whose untouched memory costs
    /// nothing.
    const INSERT: Option<fn(map: &SmolStr, key: C, value: C) -> C> = None;

    /// Returns memory for a record of `size` bytes in a ring buffer; null if there is no room. `ring` is its address.
    fn reserve(ring: C, size: C) -> C {
        C::call("ring_reserve", vec![ring, size])
    }

    /// Returns the call that submits a record.
    fn submit(record: C) -> C {
        C::call("ring_submit", vec![record])
    }

    /// Returns the time by which idle flows are evicted, in nanoseconds. It may be a few milliseconds late if that is
    /// cheaper.
    fn flow_time(_g: &mut Gen<'_, Self>) -> C {
        C::call("now_ns", Vec::new())
    }

    /// Hides a way's number from a checker, which would otherwise check all later paths once for each number.
    fn anywhere(way: C) -> C {
        way
    }

    /// Returns true if counters are incremented by functions of their own, which a checker checks once.
    fn counts_by_functions(_g: &Gen<'_, Self>) -> bool {
        false
    }

    /// Returns true if the metrics of groups with keys of `words` words are updated by a function of their own, at this
    /// point.
    fn metrics_by_functions(g: &Gen<'_, Self>, _words: u32) -> bool {
        g.is_in_loop()
    }

    /// Returns the reader of a variable that is read where it is needed instead of before the parser. `None` for other
    /// variables. The reader calls a function, so it must not run while a lock is held.
    fn late_input(_g: &Gen<'_, Self>, _var: Var) -> Option<LateInput<Self>> {
        None
    }
}

/// Name of the member that is a lock.
pub(crate) const LOCK: &str = "lock";

/// Adds a lock to a struct.
pub(crate) fn add_lock<T: StateTarget>(record: &mut Record) {
    record.add(CType::Struct(T::LOCK.into()), LOCK, 4, 4, "");
}
