//! Every diagnostic of this crate, one function per kind, grouped by who finds it.

pub(crate) mod common;
pub(crate) mod grammar;
pub(crate) mod lexical;
pub(crate) mod preprocess;
