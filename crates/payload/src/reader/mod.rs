//! The plain reader, which defines what a schema means.
//!
//! It reads the whole message, front to back, and never panics, whatever the bytes are. Work is bounded: every instance of a repetition takes
//! at least one byte, nesting has the schema's depth, and pointers of names lead to so many labels for each byte.

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

/// One reading.
struct Reader<'s, N> {
    schema: &'s Schema,
    notes: N,
    /// The fields that have been read of the instances that are being read, one behind the other.
    slots: Vec<Option<Slot>>,
    /// The offset in the message of the outermost instance that is being read whose values count only as a whole.
    incomplete: Option<usize>,
    /// Labels and pointers that may still be read behind pointers of DNS names.
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

    /// Forgets the values of an instance that was not read to its end, and counts only as a whole.
    fn forget_incomplete(&mut self) {
        if let Some(from) = self.incomplete.take() {
            self.notes.forget(from);
        }
    }
}

#[cfg(test)]
mod tests;
