//! Reference reader, which defines the meaning of a schema.
//!
//! It reads the whole message, front to back, and never panics, whatever the bytes are. Its work is bounded: every
//! instance of a repetition takes at least one byte, nesting has the schema's limit, and pointers of names lead to a
//! limited number of labels for each byte.

mod dns_name;
mod extent;
mod field;
mod input;
mod json;
mod layout;
mod lengths;
mod malformed;
mod notes;
mod wanted;
mod xml;

use crate::Schema;
use input::{Input, Window};
use layout::Slot;
use lengths::Seen;
use malformed::Halt;
use notes::{All, Notes};

pub use dns_name::POINTED_TO_A_BYTE;
pub use malformed::{Malformed, Reason};
pub use wanted::{Answer, Taken, Wanted};
pub use xml::MOST_ATTRIBUTES;

/// Value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Number(i128),
    /// Bytes as they stand in the message. DNS names are text with dots and escapes (RFC 4343, section 2.1); joined
    /// parts are concatenated.
    Bytes(Vec<u8>),
}

/// Attribute found in a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Name. In that of a wildcard attribute, the key or path replaces the `*`.
    pub name: String,
    /// Offset of its first byte in the message; for bits, of the byte with the first bit.
    pub offset: usize,
    /// Number of bytes in the message; for joined parts, without the bytes between them.
    pub length: usize,
    /// Its value.
    pub value: Value,
}

/// Reads a message. Returns its attributes in the order of their offsets, or the reason why it is malformed.
pub fn read(schema: &Schema, message: &[u8]) -> Result<Vec<Found>, Box<Malformed>> {
    let mut reader = Reader {
        schema,
        notes: All {
            schema,
            found: Vec::new(),
        },
        slots: Vec::new(),
        incomplete: None,
        pointed_to: 0,
        lengths: Seen::default(),
    };
    let done = reader.message(message);
    let mut found = reader.notes.found;
    found.sort_by_key(|found| found.offset);
    match done {
        Err(Halt::Fault(fault)) => Err(Box::new(Malformed {
            reason: fault.reason,
            at: fault.at,
            field: fault.field(schema),
            before: found,
        })),
        Err(Halt::Done) | Ok(()) => Ok(found),
    }
}

/// State of one reading.
struct Reader<'s, N> {
    schema: &'s Schema,
    notes: N,
    /// Fields already read of the instances that are being read, the outermost instance first.
    slots: Vec<Option<Slot>>,
    /// Offset in the message of the outermost unfinished instance whose values count only as a whole.
    incomplete: Option<usize>,
    /// Number of labels and pointers that may still be read through pointers of DNS names.
    pointed_to: usize,
    lengths: Seen,
}

impl<N: Notes> Reader<'_, N> {
    fn message(&mut self, message: &[u8]) -> Result<(), Halt> {
        let input = Input::whole(message);
        self.pointed_to = POINTED_TO_A_BYTE * message.len();
        let root = self.schema.root;
        let read = self.layout(root, Window::of(&input, 0), 0, 0, None);
        self.forget_incomplete();
        read.map(|_| ())
    }

    /// Forgets the values of an unfinished instance that counts only as a whole.
    fn forget_incomplete(&mut self) {
        if let Some(from) = self.incomplete.take() {
            self.notes.forget(from);
        }
    }
}

#[cfg(test)]
mod tests;
