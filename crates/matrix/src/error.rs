//! Errors that stop a run before there are results.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::Command;

/// Description of a fault and its remedy, in words.
#[derive(Debug)]
pub(crate) struct Error(String);

impl Error {
    /// Makes an error with this text.
    pub(crate) fn new(what: impl Into<String>) -> Error {
        Error(what.into())
    }

    /// Makes an error about a file or folder that could not be read, written or made.
    pub(crate) fn file<'a>(what: &'a str, path: &'a Path) -> impl Fn(io::Error) -> Error + 'a {
        move |error| Error(format!("could not {what} `{}`: {error}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a shell command for a script, by its name and its text. Arguments follow.
pub(crate) fn script(name: &str, text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text, name]);
    command
}

/// Returns the standard output of a tool. If the tool is missing or fails, the error has what it printed to standard
/// error.
pub(crate) fn output_of(command: &mut Command) -> Result<String, Error> {
    const HINT: &str = "`scripts/setup-kernels` installs what is missing";
    let name = command.get_program().display().to_string();
    let output = command.output();
    let output = output.map_err(|e| Error(format!("could not run `{name}`: {e}; {HINT}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let (status, printed) = (output.status, printed.trim());
    // The shell's status for a program that does not exist.
    let hint = if status.code() == Some(127) {
        format!("; {HINT}")
    } else {
        String::new()
    };
    Err(Error(format!(
        "`{name}` failed ({status}): {printed}{hint}"
    )))
}
