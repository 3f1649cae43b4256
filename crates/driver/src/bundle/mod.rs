//! Bundles: several programs that are loaded and removed as one, as a TOML file names them.
//!
//! [`read`] makes a [`Bundle`] of the file's text, [`write`] a text of a bundle, and [`check`] finds what is wrong with programs together, and
//! [`together`] the state that they have in common. They are pure: nothing is compiled or loaded here, files of entries alone are read ([`entries`]), and every error is a
//! diagnostic at its location.

mod check;
mod devices;
pub mod entries;
pub mod errors;
mod keys;
mod ports;
mod read;
mod share;
mod write;

pub use check::{Part, check, together};
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

/// Whether a file is a bundle, by its name.
pub fn is_bundle(file: &Path) -> bool {
    file.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// The contents of a bundle file. Every path is relative to the folder that the file is in, or absolute.
#[derive(Clone, PartialEq, Debug)]
pub struct Bundle {
    /// What the other commands know it by; `None` leaves that to the file's name.
    pub name: Option<At<String>>,
    /// Its programs, one at least, in the order in which they are attached.
    pub programs: Vec<Member>,
    /// State that programs have in common.
    pub shares: Vec<Share>,
}

/// A program of a bundle.
#[derive(Clone, PartialEq, Debug)]
pub struct Member {
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
    /// Where it is to run; `None` leaves that to the architecture.
    pub hook: Option<At<Hook>>,
    /// Its interfaces and groups.
    pub ports: Ports,
    /// What goes into its tables before it is attached.
    pub entries: Option<Entries>,
}

impl Member {
    /// The hook at which it runs, as a program from its text.
    pub fn hook_of(&self, program: &Program) -> Hook {
        let given = self.hook.as_ref().map(|hook| hook.value);
        given.unwrap_or_else(|| default_hook(program))
    }

    /// How its text is read.
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
    /// Where a hook that does not run a program is given, or else the program is named.
    pub fn hook_span(&self, program: usize) -> Span {
        let member = &self.programs[program];
        member.hook.as_ref().map_or(member.source.span, |h| h.span)
    }
}

/// Diagnostics that are about a whole program, at a location in the bundle's file instead; `None` if one of
/// them has a location of its own.
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

/// Where entries are.
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
    /// What the file calls it.
    pub name: At<String>,
    /// Whose state it is, two at least.
    pub of: Vec<SharedBy>,
}

/// A program's part in a [`Share`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedBy {
    /// Which of [`Bundle::programs`].
    pub program: usize,
    /// The state's control-plane name, or as much of its end as is unique.
    pub state: String,
    /// Its location in the file.
    pub span: Span,
}
