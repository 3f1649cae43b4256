//! Reasons why bytes are not the message that a schema describes.

use super::Found;
use crate::{FieldId, LayoutId, Schema};
use std::fmt;

/// Fault of a malformed message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// The enclosing bytes end within a field.
    Truncated,
    /// A length is negative, or extends beyond the enclosing bytes.
    LengthPastEnd,
    /// Nesting exceeds the schema's limit.
    TooDeep,
    /// A DNS pointer does not lead to an earlier name, so following it might never end.
    PointerLoop,
    /// Bytes that are not allowed at this position.
    Unexpected,
    /// A length that differs from an earlier one, or stands beside chunks.
    Conflict,
}

impl Reason {
    /// All, in a fixed order, so that counters may be indexed by it.
    pub const ALL: [Reason; 6] = [
        Reason::Truncated,
        Reason::LengthPastEnd,
        Reason::TooDeep,
        Reason::PointerLoop,
        Reason::Unexpected,
        Reason::Conflict,
    ];

    /// Returns the reason's name in text.
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

/// Fault of a malformed message, with its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// The fault.
    pub reason: Reason,
    /// Offset in the message.
    pub at: usize,
    /// Field with the fault, as `LAYOUT.FIELD`.
    pub field: String,
    /// Attributes before the fault. A parser that stops at its attribute finds them all the same.
    pub before: Vec<Found>,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reason, at, field) = (self.reason.name(), self.at, &self.field);
        write!(f, "{reason} at byte {at}, in `{field}`")
    }
}

/// Reason why a reading ends early.
#[derive(Debug)]
pub(super) enum Halt {
    /// The message is malformed.
    Fault(Fault),
    /// Nothing more is wanted.
    Done,
}

/// Fault in a field.
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

/// Fault whose field is not known yet. The offset is one in the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stop {
    pub(super) reason: Reason,
    pub(super) at: usize,
}

/// Returns the stop at an offset in the input.
pub(super) fn stop<T>(reason: Reason, at: usize) -> Result<T, Stop> {
    Err(Stop { reason, at })
}
