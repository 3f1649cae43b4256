//! The integration tests, in one binary: a module a subject.

mod common;
mod mutations;
mod parsers;
mod programs;
