//! C of extern functions that runs on this machine instead of in the kernel. Codes E0824 and E0825.

use super::clang::first_error;
use crate::clang::Clang;
use diag::Diagnostic;

/// The compiler refused the user's C, or what calls it.
pub fn refused(clang: &Clang, output: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0824",
        format!(
            "clang {} refused the C of the extern functions for the interpreter: {}",
            clang.version,
            first_error(output)
        ),
        "the interpreter runs this C on the machine itself, without the kernel's helpers and maps: correct the file, or run the \
         test in the kernel (`--target xdp`)",
    )
}

/// The object cannot be loaded, most likely for a function that it does not have.
pub fn not_loaded(why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0825",
        format!("the C of the extern functions cannot be loaded: {why}"),
        "define each extern function that the program calls in a file given by `--extern`, with the name that it has in P4",
    )
}
