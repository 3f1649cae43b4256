//! Warnings that need whole bodies. They run on the HIR of a program without errors.

mod reachable;
mod uninitialised;
mod unused;

use crate::checker::Checker;

/// Runs all these warnings.
pub(crate) fn run(checker: &mut Checker<'_>) {
    unused::run(checker);
    reachable::run(checker);
    uninitialised::run(checker);
}
