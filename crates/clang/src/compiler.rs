//! A compiler of this machine, and the variables by which users choose and limit it.

use std::path::PathBuf;

/// Oldest clang whose output is known to load. The verifier may process thirty times as many instructions of the
/// output of 14.
pub const OLDEST: u32 = 15;
/// Oldest clang that makes [`Jumps::Long`](crate::Jumps::Long) safely. Version 18 knows `gotol`, but not `may_goto`.
/// The latter reaches only as far as short jumps, and the assembler of 18 does not check that.
pub const LONG_JUMPS: u32 = 19;
/// Variable that names a compiler to use instead of the newest.
pub const CLANG_VARIABLE: &str = "ONPATH_CLANG";
/// Variable with the number of seconds that a compiler may take for a program.
pub const SECONDS_VARIABLE: &str = "ONPATH_CLANG_SECONDS";

/// A compiler on this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clang {
    /// Path of its file.
    pub path: PathBuf,
    /// Compiler's major version.
    pub version: u32,
}
