//! Errors of a measurement.

use diag::{Diagnostic, Diagnostics, SourceMap, render_plain};
use kernel::Failure;
use std::fmt;
use std::io;
use std::path::Path;

/// Reason to stop, in words.
#[derive(Debug)]
pub(crate) struct Error(String);

impl Error {
    /// Makes an error with this text.
    pub(crate) fn new(what: impl Into<String>) -> Error {
        Error(what.into())
    }

    /// Makes an error about a file that could not be read or written.
    pub(crate) fn file(what: &str, path: &Path, error: &io::Error) -> Error {
        Error(format!("could not {what} `{}`: {error}", path.display()))
    }

    /// Makes an error about a program that the compiler rejected.
    pub(crate) fn diagnostics(diagnostics: &Diagnostics, map: &SourceMap) -> Error {
        Error(render_plain(diagnostics, map))
    }

    /// Makes an error about a call that the system refused.
    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Error {
        move |error| Error(format!("{what}: {error}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Box<Diagnostic>> for Error {
    fn from(diagnostic: Box<Diagnostic>) -> Error {
        let help = diagnostic.help.map_or(String::new(), |h| format!(" ({h})"));
        Error(format!("{}{help}", diagnostic.message))
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        let Error(what) = failure.diagnostic.into();
        Error(format!("{what}\n{}", failure.log))
    }
}
