//! Schemas of messages to C that reads them: for each schema the memory of a message, and functions that read it there and note where the
//! attributes are that are asked for. The code is that of `payload`'s reader, specialized for these attributes.
//!
//! Calls about the payload, of which messages are a part, copy as much of it to memory as is looked at ([`calls`]).
//!
//! Nothing here knows where the C will run. What differs is a [`Payload`], and primitives that the target's headers define as functions or macros, in
//! front of those of this crate, beside those of `emit`:
//! - `may_goto(label)`: at the back edge of a loop; goes to a label if the loop has taken too long, where something ends such loops.
//!   `may_goto_afresh(label)`: the same in a loop of many steps, after which a verifier of the C need know nothing that they left in registers.
//! - `forget_bounds(number)`, `forget_wide_bounds(number)`: in each turn of a loop; has a verifier of the C know less of a number of 32 or 64 bits,
//!   which stays what it is. `forget_constant(number, unknown)`: nothing of one of 32 bits; of `unknown` it knows nothing.
//! - `barrier_var(number)`: keeps the compiler from using another register for a number than the one that was checked.
//! - `unforeseen()`: 64 bits that nobody can foresee, for `document.h`.

pub mod calls;
mod document;
mod errors;
mod file;
mod instance;
mod layout;
mod message;
mod names;
mod needs;
mod nested;
mod pattern;
mod place;
mod recognise;
mod scan;
pub mod tables;
mod writer;

pub use calls::{Payload, Reads};
pub use errors::of_copies;
pub use file::{File, Target};
pub use message::{Message, Request, SLACK, VARIABLES};
pub use names::RESERVED;
pub use pattern::{Automaton, Bytes, Patterns};
pub use scan::word;
pub use writer::{AT, MEMORY, Member, any_is_missing, status};

/// The headers of the C: paths relative to the include path, and texts. They include those of `emit`.
pub const HEADERS: [(&str, &str); 3] = [
    (
        "onpath/document.h",
        include_str!("../include/onpath/document.h"),
    ),
    (
        "onpath/message.h",
        include_str!("../include/onpath/message.h"),
    ),
    (
        "onpath/parse_message.h",
        include_str!("../include/onpath/parse_message.h"),
    ),
];
