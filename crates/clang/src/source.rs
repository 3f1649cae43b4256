//! C text to compile, and options for that.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Macro that is defined for long programs. For each instruction, clang searches its file and the text of its line in
/// a list of all names and texts of the object, from the beginning. Without the texts, and without lines of inlined
/// code, it takes half of the time.
pub const LONG: &str = "ONPATH_LONG";
/// Path of a folder that cannot exist. It precedes the names of files in the object of a [`LONG`] program.
pub const NOWHERE: &str = "/dev/null";
/// Name of the file that the generated C is compiled as.
pub(crate) const PROGRAM: &str = "prog.c";

/// C text to compile, with options.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The C text.
    pub text: &'a str,
    /// Headers that it includes with quotes: name and text.
    pub headers: &'a [(&'a str, &'a str)],
    /// Include folders, for all other headers.
    pub include_dirs: &'a [PathBuf],
    /// Macros that are defined as 1.
    pub defines: &'a [&'a str],
    /// Effort of optimisation.
    pub effort: Effort,
    /// The reach of jumps.
    pub jumps: Jumps,
}

/// Effort of optimisation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Effort {
    /// `-O2`
    #[default]
    Full,
    /// `-O1`
    Reduced,
}

/// The reach of jumps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Jumps {
    /// Up to 32,767 instructions: clang refuses a program with a longer jump as
    /// [`Cause::TooLong`](crate::Cause::TooLong).
    #[default]
    Short,
    /// Any distance. It takes Linux 6.6 and clang [`LONG_JUMPS`](crate::LONG_JUMPS).
    Long,
}

/// Returns the files that `#line` directives name.
pub(crate) fn named_files(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("#line ")?;
        rest.split('"').nth(1)
    });
    lines.collect()
}
