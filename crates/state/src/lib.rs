//! Emits state between packets as C: flows in sets with locks, metrics by group, registers, meters, counters, records
//! in ring buffers, and the keyed hash. The maps that hold the state are described as data (crate `layout`).
//!
//! Nothing here knows where the C will run. Targets differ in their [`StateTarget`], and in primitives that their
//! headers define as functions or macros, before the headers of this crate:
//! - `map_find(map, key)`: the address of a map's element at a key; null if there is none.
//! - `VALUE_LOCK`, `take_lock(lock)`, `give_lock_back(lock)`: the type of a lock in an element of a map, and the
//!   functions that acquire and release it.
//! - `ring_reserve(ring, size)`: memory for a record in a ring buffer; null if there is no room.
//! - `ordered_memory`: true if look-ups may read a set of flows without its lock (`onpath/flow_state.h`).
//! - `SET_AT_LOADING`: the attribute of data that is set before the program runs, and then constant.
//! - `now_ns()`, `random_u32()`, `this_processor()`: the clock in nanoseconds, 32 random bits, the number of the core.
//! - `barrier_var(number)`: keeps the compiler from using another copy of a number than the one that was checked.
//! - `paths_meet()`, if `ONPATH_LARGE` is defined: marks a point where a checker should forget which path led there.

mod analysis;
mod atomic;
mod calls;
mod counter;
mod direct;
mod errors;
mod flow_state;
mod held;
mod keys;
mod layouts;
mod lookups;
mod meter;
mod metrics;
mod names;
pub mod random;
mod records;
mod register;
mod target;

pub use atomic::atomic;
pub use calls::call;
pub use flow_state::home;
pub use held::Held;
pub use layouts::Shared;
pub use lookups::InMemory;
pub use names::RESERVED;
pub use target::{LateInput, StateTarget, Used};

/// Headers of the C: paths relative to the include path, and texts. They include headers of `emit`.
pub const HEADERS: [(&str, &str); 10] = {
    macro_rules! header {
        ($name:literal) => {
            (
                concat!("onpath/", $name),
                include_str!(concat!("../include/onpath/", $name)),
            )
        };
    }
    [
        header!("counter.h"),
        header!("digest.h"),
        header!("flow_state.h"),
        header!("keys.h"),
        header!("log.h"),
        header!("meter.h"),
        header!("metrics.h"),
        header!("random.h"),
        header!("seeds.h"),
        header!("siphash.h"),
    ]
};
