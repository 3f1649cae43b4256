//! Reasons why a unit was not started.

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

/// Reason why a unit was not started. Nothing of it is left.
#[derive(Debug)]
pub enum NotStarted {
    /// Something is wrong with the unit, or with this machine.
    Wrong(Report),
    /// The unit is valid, but cannot run at its hook or on this kernel.
    Unfit(Report),
    /// The kernel refuses a program.
    Rejected(Box<Rejected>),
    /// The options do not fit the unit.
    Unsuited(Unsuited),
    /// It runs already: the same programs, with the same options, at the same interfaces.
    Unchanged {
        /// The instance's name.
        name: String,
    },
    /// The system failed, in a way that has no diagnostic code.
    Failed(String),
}

/// A program that the kernel refuses.
#[derive(Debug)]
pub struct Rejected {
    /// The reason, with its location in the P4 program if that is known.
    pub report: Report,
    /// The verifier's log; empty if the refusal was not the verifier's.
    pub log: String,
    /// The version of Linux that the object was built for, if that is newer than this one.
    pub made_for: Option<Version>,
}

/// Options that do not fit the unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unsuited {
    /// An option for programs at tc, but none runs there.
    NothingAtTc {
        /// The instance's name.
        name: String,
        /// The flag that asks for it.
        flag: &'static str,
    },
    /// Interfaces in place of a bundle's, for the reason given.
    Devices(String),
    /// Specialization of a program that is compiled already.
    NoText {
        /// The object.
        object: PathBuf,
    },
}

impl NotStarted {
    /// Returns the reason for errors in these texts.
    pub(super) fn wrong(diagnostics: impl Into<Diagnostics>, texts: &SourceMap) -> NotStarted {
        NotStarted::Wrong(Report::new(diagnostics, texts))
    }

    /// Returns the reason for errors in these texts that another hook or kernel would not report.
    pub(super) fn unfit(diagnostics: impl Into<Diagnostics>, texts: &SourceMap) -> NotStarted {
        NotStarted::Unfit(Report::new(diagnostics, texts))
    }
}

impl From<Box<Diagnostic>> for NotStarted {
    /// Returns the reason for an error without a text.
    fn from(diagnostic: Box<Diagnostic>) -> NotStarted {
        NotStarted::wrong(diagnostic, &SourceMap::new())
    }
}
