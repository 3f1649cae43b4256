//! Checks that a program keeps the IR's rules.
//!
//! Elaboration and every pass must produce programs that pass. An error is always a compiler bug,
//! never the user's error.

mod calls;
mod code;
mod entities;
mod entries;

use crate::Program;
use diag::Span;
use std::fmt;

/// A rule that a program breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// In which entity (`table C.t`, `parser P, state start`).
    pub location: String,
    /// What is wrong.
    pub message: String,
    /// The source text of the statement or entity.
    pub span: Span,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks ids, types, widths, labels, arguments and where statements stand; finds every error it can.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut errors = Errors::default();
    // What refers to nothing would make the later checks fall over.
    entities::ids(program, &mut errors);
    if errors.list.is_empty() {
        entities::check(program, &mut errors);
        code::check(program, &mut errors);
    }
    if errors.list.is_empty() {
        calls::check(program, &mut errors);
        entries::check(program, &mut errors);
    }
    if errors.list.is_empty() {
        Ok(())
    } else {
        Err(errors.list)
    }
}

/// What was found so far, and where the check is.
#[derive(Default)]
struct Errors {
    list: Vec<VerifyError>,
    location: String,
    span: Span,
}

impl Errors {
    fn enter(&mut self, location: String, span: Span) {
        self.location = location;
        self.span = span;
    }

    fn add(&mut self, message: impl Into<String>) {
        self.list.push(VerifyError {
            location: self.location.clone(),
            message: message.into(),
            span: self.span,
        });
    }

    fn check(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.add(message());
        }
    }
}

#[cfg(test)]
mod tests;
