//! Reasons for which a unit does not run.

use bpf::features::Version;
use diag::{Diagnostic, Diagnostics, SourceMap};
use std::path::PathBuf;

/// Errors, with the texts that they are about.
#[derive(Debug)]
pub struct Report {
    /// The errors, and warnings among them.
    pub diagnostics: Diagnostics,
    /// Their texts.
    pub texts: SourceMap,
}

impl Report {
    /// Errors in these texts.
    pub(super) fn new(diagnostics: impl Into<Diagnostics>, texts: &SourceMap) -> Report {
        Report {
            diagnostics: diagnostics.into(),
            texts: texts.clone(),
        }
    }
}

/// The reason for which a unit does not run. Nothing of it is left.
#[derive(Debug)]
pub enum NotStarted {
    /// Something is wrong with what is to run, or on this machine.
    Wrong(Report),
    /// It is right, but not for where it is to run.
    Unfit(Report),
    /// The kernel refuses a program.
    Rejected(Box<Rejected>),
    /// The options do not go with what is to run.
    Unsuited(Unsuited),
    /// It runs already: the same programs, with the same options, at the same interfaces.
    Unchanged {
        /// The instance's name.
        name: String,
    },
    /// The system fails, in a way that has no code.
    Failed(String),
}

/// A program that the kernel refuses.
#[derive(Debug)]
pub struct Rejected {
    /// The reason, at its place in the P4 program where that is known.
    pub report: Report,
    /// The verifier's log; empty if the refusal was not the verifier's.
    pub log: String,
    /// The version of Linux that the object was built for, if that is newer than this one.
    pub made_for: Option<Version>,
}

/// Options that do not go with what is to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unsuited {
    /// Something for programs at tc, and none runs there.
    NothingAtTc {
        /// The instance's name.
        name: String,
        /// The flag that asks for it.
        flag: &'static str,
    },
    /// Interfaces in place of a bundle's, for the reason given.
    Devices(String),
    /// Specialization, and this program is compiled already.
    NoText {
        /// The object.
        object: PathBuf,
    },
}

impl NotStarted {
    /// Errors that are wrong in these texts.
    pub(super) fn wrong(diagnostics: impl Into<Diagnostics>, texts: &SourceMap) -> NotStarted {
        NotStarted::Wrong(Report::new(diagnostics, texts))
    }

    /// Errors that show in these texts, of what another place could run.
    pub(super) fn unfit(diagnostics: impl Into<Diagnostics>, texts: &SourceMap) -> NotStarted {
        NotStarted::Unfit(Report::new(diagnostics, texts))
    }
}

impl From<Box<Diagnostic>> for NotStarted {
    /// An error that is about no text.
    fn from(diagnostic: Box<Diagnostic>) -> NotStarted {
        NotStarted::wrong(diagnostic, &SourceMap::new())
    }
}
