//! IR to C for any target: where headers live, parsers, deparsers, controls, actions, tables.
//!
//! [`stage()`] makes the function of one stage of a program ([`ir::Stage`]); [`joined()`] joins several stages.
//! Target-specific code comes from the [`Target`]: the look-up in a table, the call of an extern, the verdict on a
//! packet. The C calls the functions of [`HEADERS`] and a few primitives on packets. The target's own headers
//! define these under the names that [`Target`] lists.
//!
//! Nothing here knows where the C will run.

pub mod access;
mod block;
pub mod calls;
mod chosen;
mod copies;
mod deparser;
mod emitter;
mod entries;
pub mod errors;
mod externs;
mod function;
mod gathered;
mod hash;
mod headers;
mod hints;
mod joined;
pub mod locals;
mod loops;
pub mod memory;
pub mod names;
pub mod native;
mod parser;
pub mod plan;
pub mod record;
mod region;
mod rolled;
mod select;
mod sizes;
mod snapshot;
mod source;
mod stage;
pub mod table;
mod target;
mod user_function;
pub mod values;

pub use block::packet_length;
pub use emitter::{File, Gen};
pub use function::Function;
pub use hints::{Event, Forms, Hints, Role};
pub use joined::{Joined, joined};
pub use stage::{Code, stage};
pub use target::{Limits, Lookups, Reserved, Target};
pub use user_function::UserFunction;

/// Headers that the C of a target may include: path relative to the include path, and text.
pub const HEADERS: [(&str, &str); 9] = {
    macro_rules! header {
        ($name:literal) => {
            (
                concat!("onpath/", $name),
                include_str!(concat!("../include/onpath/", $name)),
            )
        };
    }
    [
        header!("arith.h"),
        header!("checksum.h"),
        header!("gathered.h"),
        header!("hash.h"),
        header!("packet.h"),
        header!("search.h"),
        header!("types.h"),
        header!("unverified.h"),
        header!("wide.h"),
    ]
};
