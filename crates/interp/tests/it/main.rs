//! The integration tests, in one binary: a module a subject.

mod common;
mod language;
mod parser;
mod programs;
mod tables;
mod tc;
mod trace;
mod v1model;
