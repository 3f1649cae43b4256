//! Emits tables and value sets as memory that packets search: a map of the target, bit vectors, tuple space search, a
//! multibit trie, buckets or a perfect hash. Name sets and pattern sets have maps of their own. Default actions and the members of action
//! profiles are stored beside them. `layout` describes the memory for the control plane.
//!
//! Nothing here knows where the C will run. Targets differ in their [`Tables`], and in primitives that their headers
//! define as functions or macros, before the headers of this crate:
//! - `map_find(map, key)`: the address of a map's element at a key, whose address is given; null if there is none.
//! - `zero_after(number)`: 0, computed from a loaded word so that no processor knows it earlier. A load from an address
//!   that includes it is ordered after the load of the word.
//! - `masked_by(number, mask)`: `number & mask` of 64 bits, in a form from which a checker derives the bound.
//! - `barrier_var(pointer)`: a barrier to the compiler, which keeps what follows from moving before it.
//! - `may_goto(label)` and `forget_bounds(number)`: hints to a checker of loops without a bound.
//!
//! The header `onpath/seeds.h` must declare `hash_seeds`, a struct whose member `buckets` is a secret number of 64
//! bits.

mod bit_vectors;
mod buckets;
mod budget;
mod default_action;
mod describe;
mod entries;
mod errors;
mod lookup;
mod multibit_trie;
pub mod name_set;
mod names;
mod one_map;
pub mod pattern_set;
mod perfect_hash;
mod profile;
mod shared;
mod structure;
mod table;
mod target;
mod text;
mod tuple_space;
pub mod value_set;

pub use budget::Budget;
pub use describe::complete;
pub use names::RESERVED;
pub use shared::Shared;
pub use table::{Table, declare};
pub use target::{IterationCalls, Tables};
pub use text::Text;

/// Headers of the C: paths relative to the include path, and texts. They include headers of `emit`.
pub const HEADERS: [(&str, &str); 7] = {
    macro_rules! header {
        ($name:literal) => {
            (
                concat!("onpath/", $name),
                include_str!(concat!("../include/onpath/", $name)),
            )
        };
    }
    [
        header!("bit_vectors.h"),
        header!("buckets.h"),
        header!("multibit_trie.h"),
        header!("name_set.h"),
        header!("pattern_set.h"),
        header!("perfect_hash.h"),
        header!("tables.h"),
    ]
};
