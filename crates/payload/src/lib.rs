//! Messages of applications in the payload of packets.
//!
//! A [`Schema`] describes a message as data: its layouts, the extent of each field, and the *attributes*, the values
//! that a user may ask for. Schemas are written in TOML ([`load`]); those of common protocols are built in
//! ([`builtin`]).
//! [`read`] is the reference reader, which defines the meaning of a schema. It returns each attribute with its offset,
//! or the reason why the bytes are malformed. Parsers generated from a schema must agree with it.
//! [`Wanted`] reads some attributes of many messages. [`read_up_to`] does what programs in the data plane do, and
//! [`Schema::asked`] resolves a name in such a program.
//! [`Pattern`] is a regular expression as an automaton, which programs run on an attribute.
//! [`chunks`] passes over the chunks of a body.
//! [`plan`] answers by which technique a target finds an attribute, and whether it fits.
//! `keys` lists every key of the TOML form once; the checks and [`json_schema`] are both derived from it.

mod asked;
pub mod builtin;
mod chars;
pub mod chunks;
mod exchange;
mod expression;
mod keys;
mod outcome;
mod pattern;
pub mod plan;
mod reader;
mod recognise;
mod schema;
mod text;

pub use asked::{Asked, AttributeKind, Only, Site, Unasked};
pub use chars::{CharSet, NoSet};
pub use exchange::{Exchange, Side, Sides};
pub use expression::{Comparison, Condition, Linear};
pub use outcome::{Status, read_up_to};
pub use pattern::{PATTERN_LIMIT, Pattern, PatternError, Table, UNION_LIMIT, Union};
pub use reader::{
    Answer, Found, MOST_ATTRIBUTES, Malformed, POINTED_TO_A_BYTE, Reason, Taken, Value, Wanted,
    read,
};
pub use recognise::{Beginning, Signature};
pub use schema::{
    Answers, Attribute, CaseKey, Cases, Contents, Extent, FieldId, Key, LayoutId, Lengths, Limits,
    MOST_ANSWERS, MessageField, MessageLayout, Next, Order, Repeat, Schema, Traits, Transport,
    Which,
};
pub use text::{lint, load};

/// Returns the JSON Schema of a schema's TOML form, for editors that complete and check such files.
pub fn json_schema() -> serde_json::Value {
    settings::json_schema(&keys::FORM, "Onpath message schema")
}
