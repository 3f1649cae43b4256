//! Diagnostics of plots. Code E1145.

use diag::Diagnostic;
use std::io;

/// A plot's file that cannot be written.
pub fn unwritable(path: &str, error: &io::Error) -> Box<Diagnostic> {
    let what = format!(
        "`{path}` could not be written: {}",
        diag::system_message(error)
    );
    Diagnostic::failure(
        "E1145",
        what,
        "`--svg` writes a file beside it first, and then puts that in its place: the folder must be there and be writable",
    )
}
