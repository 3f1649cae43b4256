//! Why bytes are not the message that a schema describes.

use super::Found;
use crate::{FieldId, LayoutId, Schema};
use std::fmt;

/// What is wrong with a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// The bytes around a field end within it.
    Truncated,
    /// A length reaches beyond the bytes around the field, or is negative.
    LengthPastEnd,
    /// Too much is nested.
    TooDeep,
    /// A DNS pointer does not lead further to the front, so that following it may never end.
    PointerLoop,
    /// Bytes that cannot stand here.
    Unexpected,
    /// A length that differs from one in front of it, or stands beside chunks.
    Conflict,
}

impl Reason {
    /// All, in a fixed order: counters may be indexed by it.
    pub const ALL: [Reason; 6] = [
        Reason::Truncated,
        Reason::LengthPastEnd,
        Reason::TooDeep,
        Reason::PointerLoop,
        Reason::Unexpected,
        Reason::Conflict,
    ];

    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Truncated => "truncated",
            Reason::LengthPastEnd => "length past the end",
            Reason::TooDeep => "nested too deep",
            Reason::PointerLoop => "pointer loop",
            Reason::Unexpected => "unexpected bytes",
            Reason::Conflict => "conflicting lengths",
        }
    }
}

/// Why and where a message is malformed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// What is wrong.
    pub reason: Reason,
    /// Offset in the message.
    pub at: usize,
    /// In which field, as `LAYOUT.FIELD`.
    pub field: String,
    /// The attributes further to the front, which a parser that stops at its attribute finds all the same.
    pub before: Vec<Found>,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reason, at, field) = (self.reason.name(), self.at, &self.field);
        write!(f, "{reason} at byte {at}, in `{field}`")
    }
}

/// Why a reading ends early.
#[derive(Debug)]
pub(super) enum Halt {
    /// The message is malformed.
    Fault(Fault),
    /// Nothing more is wanted.
    Done,
}

/// What is wrong with a message, and in which field.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) reason: Reason,
    pub(super) at: usize,
    pub(super) place: (LayoutId, FieldId),
}

impl Fault {
    pub(super) fn field(&self, schema: &Schema) -> String {
        let (layout, field) = self.place;
        let layout = &schema.layouts[layout];
        format!("{}.{}", layout.name, layout.fields[field].name)
    }
}

/// As [`Fault`], where the field is not known yet; the offset is one in the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stop {
    pub(super) reason: Reason,
    pub(super) at: usize,
}

/// Stops at an offset in the input.
pub(super) fn stop<T>(reason: Reason, at: usize) -> Result<T, Stop> {
    Err(Stop { reason, at })
}
