//! Recognition of a message by its first bytes, on any port.

use crate::{Pattern, Table};

/// Bytes by which a message is recognised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Signature {
    /// Constant bytes.
    Bytes {
        /// Offset in the payload.
        at: usize,
        /// Bytes at that offset.
        bytes: Vec<u8>,
        /// Further bytes and their offset; a message too short for them is compared as far as it goes.
        and: Option<(usize, Vec<u8>)>,
    },
    /// A regular expression that is anchored at the start.
    Pattern(Beginning),
}

/// Regular expression for the first bytes of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beginning {
    text: String,
    table: Table,
}

impl Beginning {
    /// Returns `None` if the expression may match after the start, or if its automaton has more transitions than a
    /// table.
    pub(crate) fn new(pattern: &Pattern) -> Option<Beginning> {
        let table = pattern.table().ok()?;
        // After a byte with which no match begins, an anchored expression matches nothing any more.
        let is_bound = (0..=255).any(|byte| table.after(table.start, &[byte]) == 0);
        is_bound.then(|| Beginning {
            text: pattern.text().to_string(),
            table,
        })
    }

    /// Returns the expression's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn state(&self, message: &[u8]) -> u16 {
        self.table.after(self.table.start, message)
    }
}

impl Signature {
    pub(crate) fn is_of(&self, message: &[u8]) -> bool {
        match self {
            Signature::Bytes { at, bytes, and } => {
                let rest = message.get(*at..);
                let further = |(at, bytes): &(usize, Vec<u8>)| {
                    let rest = message.get(*at..).unwrap_or_default();
                    rest.iter().zip(bytes).all(|(here, wanted)| here == wanted)
                };
                rest.is_some_and(|rest| rest.starts_with(bytes)) && and.as_ref().is_none_or(further)
            }
            Signature::Pattern(pattern) => pattern.state(message) >= pattern.table.found,
        }
    }

    /// Returns true if the bytes may be the first ones of such a message.
    pub(crate) fn may_follow(&self, message: &[u8]) -> bool {
        match self {
            Signature::Bytes { at, bytes, .. } => {
                *at == 0 && message.len() < bytes.len() && bytes.starts_with(message)
            }
            Signature::Pattern(pattern) => pattern.state(message) != 0 && !self.is_of(message),
        }
    }
}
