//! Reasons to stop before there are results.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Command, Output};

/// What went wrong, and what to do, in words.
#[derive(Debug)]
pub(crate) struct Error(String);

impl Error {
    /// Any reason.
    pub(crate) fn new(what: impl Into<String>) -> Error {
        Error(what.into())
    }

    /// A file or folder that could not be read, written or made.
    pub(crate) fn file<'a>(what: &'a str, path: &'a Path) -> impl Fn(io::Error) -> Error + 'a {
        move |error| Error(format!("could not {what} `{}`: {error}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a tool prints on its standard output. If it is missing or fails, what it printed as an error.
pub(crate) fn output_of(command: &mut Command) -> Result<String, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| {
        Error(format!(
            "could not run `{name}`: {error}; `scripts/setup-kernels` installs what is missing"
        ))
    })?;
    let Output {
        status,
        stdout,
        stderr,
    } = output;
    if !status.success() {
        let printed = String::from_utf8_lossy(&stderr);
        return Err(Error(format!(
            "`{name}` failed ({status}): {}",
            printed.trim()
        )));
    }
    Ok(String::from_utf8_lossy(&stdout).into_owned())
}
