//! The integration tests, in one binary: a module a subject.

mod constructs;
mod diagnostics;
mod mutations;
mod programs;
