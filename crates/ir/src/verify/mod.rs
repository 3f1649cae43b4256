//! Verifier: checks that a program satisfies the IR's rules.

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
    /// Entity that has the error (`table C.t`, `parser P, state start`).
    pub location: String,
    /// Description of the error.
    pub message: String,
    /// Location of the statement or entity in the source.
    pub span: Span,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks ids, types, widths, labels, arguments and the positions of statements. Reports every error that it can find.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut errors = Errors::default();
    // The later checks would panic on references to nothing.
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

/// Errors found so far, and the current location.
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
