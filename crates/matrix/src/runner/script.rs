//! A trial that is a script: it passes if that ends with status 0.

use super::process::{self, End};
use crate::plan::Part;
use crate::trial::{Event, Outcome, Sink, Trial};
use std::process::Command;
use std::time::Duration;

/// Runs the command of a part's trial, which prints something at least this often.
pub(super) fn run(
    part: &Part,
    name: &str,
    command: &mut Command,
    patience: Duration,
    sink: &mut dyn Sink,
) {
    let (outcome, reason) = match process::run(command, patience, |_| {}) {
        Err(error) => (Outcome::Failed, error.to_string()),
        Ok((End::Succeeded, _)) => (Outcome::Passed, String::new()),
        Ok((End::Failed, text)) => (Outcome::Failed, text),
        Ok((End::Crashed, text)) => (Outcome::Crashed, text),
        Ok((End::Hung, text)) => (Outcome::Hung, text),
    };
    sink.take(Event::Trial(Trial {
        suite: part.suite.clone(),
        name: name.to_string(),
        outcome,
        reason,
        verified: None,
        forms: Vec::new(),
    }));
}
