//! A compiler of this machine, and the variables by which users choose and limit it.

use std::path::PathBuf;

/// The oldest clang whose output is known to load: of what 14 makes the verifier may process thirty times as much.
pub const OLDEST: u32 = 15;
/// The oldest clang that makes [`Jumps::Long`](crate::Jumps::Long) safely: 18 knows `gotol`, but not `may_goto`, which reaches as far as short
/// jumps and is put together by the assembler without a check of that.
pub const LONG_JUMPS: u32 = 19;
/// Names a compiler to use instead of the newest.
pub const CLANG_VARIABLE: &str = "ONPATH_CLANG";
/// Gives how many seconds a compiler may take for a program.
pub const SECONDS_VARIABLE: &str = "ONPATH_CLANG_SECONDS";

/// A compiler on this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clang {
    /// Its file.
    pub path: PathBuf,
    /// Its major version.
    pub version: u32,
}
