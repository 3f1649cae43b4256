//! The plain reader, which defines what a schema means.
//!
//! It reads the whole message, front to back, and never panics, whatever the bytes are. Work is bounded: every instance of a repetition takes
//! at least one byte, and nesting has the schema's depth.

mod dns_name;
mod extent;
mod field;
mod input;
mod json;
mod layout;
mod malformed;
mod xml;

use crate::Schema;
use input::Input;

pub use malformed::{Malformed, Reason};

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Number(i128),
    /// Bytes: as they stand in the message, but for DNS names, which are text with dots (RFC 4343, section 2.1, escapes), and joined parts.
    Bytes(Vec<u8>),
}

/// An attribute in a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Its name; one that stands for many has the key or path in the place of `*`.
    pub name: String,
    /// Offset of its first byte in the message. Of bits, the byte of the first.
    pub offset: usize,
    /// Bytes that it takes there; of joined parts, without what stands between them.
    pub length: usize,
    /// What it is.
    pub value: Value,
}

/// Reads a message: its attributes by their offset, or why it is no such message.
pub fn read(schema: &Schema, message: &[u8]) -> Result<Vec<Found>, Box<Malformed>> {
    let mut reader = Reader {
        schema,
        found: Vec::new(),
    };
    let input = Input::whole(message);
    let window = input::Window {
        input: &input,
        end: message.len(),
        depth: 0,
    };
    let done = reader.layout(schema.root, window, 0, 0, None);
    let mut found = reader.found;
    found.sort_by_key(|found| found.offset);
    match done {
        Ok(_) => Ok(found),
        Err(fault) => Err(Box::new(Malformed {
            reason: fault.reason,
            at: fault.at,
            field: fault.field,
            before: found,
        })),
    }
}

/// One reading.
struct Reader<'s> {
    schema: &'s Schema,
    found: Vec<Found>,
}

#[cfg(test)]
mod tests;
