//! Schemas of messages to C that reads them. Each schema becomes the memory of a message, and functions that read it
//! there and note the positions of the wanted attributes. The code mirrors `payload`'s reader, specialized for these
//! attributes.
//!
//! Calls about the payload copy to memory the part of it that they read ([`calls`]). Messages are one use of it.
//!
//! Nothing here knows where the C will run. The target provides a [`Payload`], and primitives that its headers define
//! as functions or macros. These come before the headers of this crate, beside those of `emit`:
//! - `may_goto(label)`: at the back edge of a loop; jumps to a label if the loop has taken too long, where something
//!   ends such loops. `may_goto_afresh(label)`: the same in a loop of many steps. A verifier of the C may forget all
//!   registers there.
//! - `forget_bounds(number)`, `forget_wide_bounds(number)`: in each iteration of a loop; widens what a verifier of the
//!   C knows about a number of 32 or 64 bits, which keeps its value. `forget_constant(number, unknown)`: the same for
//!   all knowledge about a number of 32 bits; `unknown` is a number that the verifier knows nothing about.
//! - `barrier_var(number)`: keeps the compiler from using another register for a number than the one that was checked.
//! - `unforeseen()`: 64 unpredictable bits, for `document.h`.

pub mod calls;
mod document;
mod ending;
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
pub use ending::deparse;
pub use errors::of_copies;
pub use file::{File, MessageTarget};
pub use message::{Message, Request, SLACK, VARIABLES};
pub use names::RESERVED;
pub use pattern::{Automaton, Bytes, Patterns};
pub use scan::word;
pub use writer::{AT, AttributeMember, MEMORY, any_is_missing, status};

/// Headers of the C: path relative to the include path, and text. They include those of `emit`.
pub const HEADERS: [(&str, &str); 9] = [
    (
        "onpath/document.h",
        include_str!("../include/onpath/document.h"),
    ),
    (
        "onpath/message.h",
        include_str!("../include/onpath/message.h"),
    ),
    ("onpath/name.h", include_str!("../include/onpath/name.h")),
    (
        "onpath/parse_message.h",
        include_str!("../include/onpath/parse_message.h"),
    ),
    ("onpath/quic.h", include_str!("../include/onpath/quic.h")),
    (
        "onpath/quic_constants.h",
        include_str!("../include/onpath/quic_constants.h"),
    ),
    (
        "onpath/quic_keys.h",
        include_str!("../include/onpath/quic_keys.h"),
    ),
    (
        "onpath/quic_packet.h",
        include_str!("../include/onpath/quic_packet.h"),
    ),
    (
        "onpath/stream_bytes.h",
        include_str!("../include/onpath/stream_bytes.h"),
    ),
];
