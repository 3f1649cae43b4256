//! Integration tests in one binary, one module per subject.

mod common;
mod language;
mod parser;
mod programs;
mod tables;
mod tc;
mod trace;
mod v1model;
