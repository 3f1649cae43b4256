//! The integration tests, in one binary: one module for each subject.

mod architectures;
mod depth;
mod digests;
mod field_lists;
mod golden;
mod labels;
mod mutate;
mod oracle;
mod programs;
mod support;
mod warnings;
