//! All diagnostics of this crate, one function for each kind, grouped by the phase that reports them.

pub(crate) mod common;
pub(crate) mod grammar;
pub(crate) mod lexical;
pub(crate) mod preprocess;
