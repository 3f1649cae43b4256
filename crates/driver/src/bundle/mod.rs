//! Bundles: several programs that are loaded and removed together. A TOML file describes a bundle.
//!
//! [`read`] parses the text of such a file, and [`write`] prints one. [`check`] checks the programs of a bundle against
//! each other, and [`together`] finds the state that they share. Nothing is compiled or loaded here. The only files
//! that are read are those with entries ([`entries`]). Every error is a diagnostic at its location.

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
use control::name_set::NamedRules;
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
    /// Name by which other commands refer to the bundle. If it is `None`, the file's name is used.
    pub name: Option<At<String>>,
    /// Programs in the order in which they are attached, at least one.
    pub programs: Vec<BundledProgram>,
    /// State that programs have in common.
    pub shares: Vec<Share>,
}

/// A program of a bundle.
#[derive(Clone, PartialEq, Debug)]
pub struct BundledProgram {
    /// Name, unique in the bundle.
    pub name: At<String>,
    /// P4 file, or object that was built from one.
    pub source: At<PathBuf>,
    /// Text of a program that is in no file. `source` is then only the name that messages use.
    pub text: Option<Arc<str>>,
    /// Folders for `#include`.
    pub include: Vec<PathBuf>,
    /// Macros and their values.
    pub define: Vec<(String, Option<String>)>,
    /// C files with extern functions.
    pub externs: Vec<PathBuf>,
    /// Hook at which the program runs. `None` means the default hook of its architecture.
    pub hook: Option<At<Hook>>,
    /// Interfaces of its ports, and its multicast groups.
    pub ports: Ports,
    /// Entries that are inserted into its tables before it is attached.
    pub entries: Option<Entries>,
}

impl BundledProgram {
    /// Returns the hook at which the program runs: the given one, or else the default hook of `program`.
    pub fn hook_of(&self, program: &Program) -> Hook {
        let given = self.hook.as_ref().map(|hook| hook.value);
        given.unwrap_or_else(|| default_hook(program))
    }

    /// Returns the program's source with the include folders and macros to read it.
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
    /// Returns the location of a program's hook in the bundle's file. If the file gives no hook, returns the location
    /// of the program's source.
    pub fn hook_span(&self, program: usize) -> Span {
        let member = &self.programs[program];
        member.hook.as_ref().map_or(member.source.span, |h| h.span)
    }
}

/// Gives diagnostics about a whole program, which have no location, a location in the bundle's file. Returns `None` if
/// one of them has a location already.
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

/// Source of a program's entries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entries {
    /// Entries file.
    File(At<PathBuf>),
    /// Lines in the bundle's own file, one for each entry.
    Lines(Vec<At<String>>),
    /// Rules and a text that are in no file.
    Made(Arc<MadeEntries>),
}

/// Entries that a command made.
#[derive(PartialEq, Eq, Debug)]
pub struct MadeEntries {
    /// Their name in messages.
    pub name: String,
    /// Rules of name sets.
    pub rules: Vec<NamedRules>,
    /// Lines with all other entries.
    pub text: Arc<str>,
}

/// State that several programs have in common.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// Name of the shared state in the file.
    pub name: At<String>,
    /// States that are the same one, from at least two programs.
    pub of: Vec<SharedBy>,
}

/// One program's state in a [`Share`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedBy {
    /// Index of the program, in [`Bundle::programs`].
    pub program: usize,
    /// Control-plane name of the state, or any unique suffix of it.
    pub state: String,
    /// Its location in the file.
    pub span: Span,
}
