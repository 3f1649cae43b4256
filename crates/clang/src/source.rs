//! C text to compile, and how to.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// A macro that is defined for long programs. For each instruction clang looks for its file and for its line's text in a list of all the
/// names and texts that the object has, from the beginning. Without the texts, and without lines of what is inlined, it takes half of the time.
pub const LONG: &str = "ONPATH_LONG";
/// A folder that does not exist and cannot: in front of the names of files in the object of a [`LONG`] program.
pub const NOWHERE: &str = "/dev/null";
/// The file that the generated C is compiled as.
pub(crate) const PROGRAM: &str = "prog.c";

/// A C text to compile, and the way to do so.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The C text.
    pub text: &'a str,
    /// Headers that it includes with quotes: name and text.
    pub headers: &'a [(&'a str, &'a str)],
    /// Folders in which it finds others.
    pub include_dirs: &'a [PathBuf],
    /// Macros that are defined as 1.
    pub defines: &'a [&'a str],
    /// The effort of optimising.
    pub effort: Effort,
    /// The reach of jumps.
    pub jumps: Jumps,
}

/// The effort of optimising.
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
    /// Over 32,767 instructions: clang refuses a program with a longer one as [`Cause::TooLong`](crate::Cause::TooLong).
    #[default]
    Short,
    /// As far as there are instructions. It takes Linux 6.6 and clang [`LONG_JUMPS`](crate::LONG_JUMPS).
    Long,
}

/// The files that `#line` directives name.
pub(crate) fn named_files(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("#line ")?;
        rest.split('"').nth(1)
    });
    lines.collect()
}
