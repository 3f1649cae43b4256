//! Tables and value sets as memory that packets search: a map of the target, bit vectors, tuple space search, a multibit trie, buckets or a
//! perfect hash, with default actions and the members of action profiles beside them. `layout` describes it for the control plane.
//!
//! Nothing here knows where the C will run. What differs is a [`Tables`], and primitives that the target's headers define as functions or
//! macros, in front of those of this crate:
//! - `map_find(map, key)`: the address of a map's element at the key of this address; null if there is none.
//! - `zero_after(number)`: 0, which no processor knows before it knows the number, a word that was loaded. What is at an address with it is
//!   loaded later.
//! - `masked_by(number, mask)`: `number & mask` of 64 bits, so that a target that verifies code knows the bound.
//!
//! Its header `onpath/seeds.h` declares `hash_seeds`, a struct whose member `buckets` is a number of 64 bits that outsiders do not know.

mod bit_vectors;
mod buckets;
mod default_action;
mod describe;
mod entries;
mod errors;
mod lookup;
mod multibit_trie;
mod names;
mod one_map;
mod perfect_hash;
mod profile;
mod shared;
mod structure;
mod table;
mod target;
mod tuple_space;
pub mod value_set;

pub use describe::complete;
pub use names::RESERVED;
pub use shared::Shared;
pub use table::{Table, declare};
pub use target::{Tables, TurnCalls};

/// The headers of the C: paths relative to the include path, and texts. They include those of `emit`.
pub const HEADERS: [(&str, &str); 5] = {
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
        header!("perfect_hash.h"),
        header!("tables.h"),
    ]
};
