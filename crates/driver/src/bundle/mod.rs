//! Bundles: several programs that are loaded and removed together, as a TOML file lists them.
//!
//! [`read`] makes a [`Bundle`] of the file's text, and [`write`] makes the text of a bundle. [`check`] checks its
//! programs together, and [`together`] finds the state that they share. Nothing is compiled or loaded here, and only
//! files of entries are read ([`entries`]). Every error is a diagnostic at its location.

mod check;
mod devices;
pub mod entries;
pub mod errors;
mod keys;
mod ports;
mod read;
mod share;
mod write;

pub use check::{CheckedProgram, check, together};
pub use devices::{check_interfaces, check_room, override_devices};
pub use ports::{PortSpec, Ports};
pub use read::{is_message, read};
pub use settings::At;
pub use write::write;

use crate::frontend::Input;
use crate::hooks::default_hook;
use bpf::abi::Hook;
use diag::{Diagnostics, Span};
use ir::Program;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns true if a file's name is that of a bundle.
pub fn is_bundle(file: &Path) -> bool {
    file.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// The contents of a bundle file. Every path is relative to the folder that the file is in, or absolute.
#[derive(Clone, PartialEq, Debug)]
pub struct Bundle {
    /// Name by which other commands refer to it; `None` takes the file's name.
    pub name: Option<At<String>>,
    /// Its programs, one at least, in the order in which they are attached.
    pub programs: Vec<BundledProgram>,
    /// State that programs have in common.
    pub shares: Vec<Share>,
}

/// A program of a bundle.
#[derive(Clone, PartialEq, Debug)]
pub struct BundledProgram {
    /// Unique in the bundle.
    pub name: At<String>,
    /// The P4 file, or the object that was built of one.
    pub source: At<PathBuf>,
    /// The program, if it is in no file: `source` is how messages name it then.
    pub text: Option<Arc<str>>,
    /// Folders for `#include`.
    pub include: Vec<PathBuf>,
    /// Macros and their values.
    pub define: Vec<(String, Option<String>)>,
    /// C files with extern functions.
    pub externs: Vec<PathBuf>,
    /// Hook at which it is to run; `None` leaves that to the architecture.
    pub hook: Option<At<Hook>>,
    /// Its interfaces and groups.
    pub ports: Ports,
    /// Entries that are put into its tables before it is attached.
    pub entries: Option<Entries>,
}

impl BundledProgram {
    /// Returns the hook at which it runs: the given one, or else the default hook of `program`.
    pub fn hook_of(&self, program: &Program) -> Hook {
        let given = self.hook.as_ref().map(|hook| hook.value);
        given.unwrap_or_else(|| default_hook(program))
    }

    /// Returns its main file with the folders and macros for reading it.
    pub fn input(&self) -> Input {
        Input {
            file: self.source.value.clone(),
            text: self.text.clone(),
            include: self.include.clone(),
            defines: self.define.clone(),
        }
    }
}

impl Bundle {
    /// Returns the location of a program's hook in the file or, if it gives none, of the program's source.
    pub fn hook_span(&self, program: usize) -> Span {
        let member = &self.programs[program];
        member.hook.as_ref().map_or(member.source.span, |h| h.span)
    }
}

/// Gives diagnostics about a whole program a location in the bundle's file. Returns `None` if one of them has a
/// location of its own.
pub fn moved_to(diagnostics: &Diagnostics, at: Span) -> Option<Diagnostics> {
    let mut placed = Diagnostics::new();
    for diagnostic in diagnostics.iter() {
        if !diagnostic.primary.span.is_none() {
            return None;
        }
        let mut diagnostic = diagnostic.clone();
        diagnostic.primary.span = at;
        placed.push(diagnostic);
    }
    Some(placed)
}

/// Entries of a program, by their location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entries {
    /// In a file.
    File(At<PathBuf>),
    /// In the bundle's own file: a line each.
    Lines(Vec<At<String>>),
}

/// State that several programs have in common.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// Name in the file.
    pub name: At<String>,
    /// States that are one, of at least two programs.
    pub of: Vec<SharedBy>,
}

/// A program's part in a [`Share`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedBy {
    /// Index of the program, in [`Bundle::programs`].
    pub program: usize,
    /// The state's control-plane name, or as much of its end as is unique.
    pub state: String,
    /// Its location in the file.
    pub span: Span,
}
