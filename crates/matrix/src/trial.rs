//! Trials, and the lines of JSON in which a guest reports them.

use serde::{Deserialize, Serialize};

/// One test, and its result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Trial {
    /// Name of its suite.
    pub suite: String,
    /// Its name in the suite.
    pub name: String,
    /// Outcome of the test.
    pub outcome: Outcome,
    /// Its output, if it did not pass.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Number of instructions that the verifier processed, if the suite reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<u64>,
    /// Variants of the program's code on this kernel, if the suite reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<CodeVariant>,
}

impl Trial {
    /// Makes a trial without such reports. The reason is dropped if it passed.
    pub(crate) fn new(suite: &str, name: &str, outcome: Outcome, reason: &str) -> Trial {
        let reason = if outcome == Outcome::Passed {
            ""
        } else {
            reason
        };
        Trial {
            suite: suite.to_string(),
            name: name.to_string(),
            outcome,
            reason: reason.to_string(),
            verified: None,
            variants: Vec::new(),
        }
    }

    /// Returns its suite's name and its own.
    pub(crate) fn full_name(&self) -> String {
        format!("{} {}", self.suite, self.name)
    }
}

/// Variant of a program's code for a construct that has several lowerings, or that not every kernel supports.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct CodeVariant {
    /// Name of the construct.
    pub construct: String,
    /// Name of the variant.
    pub name: String,
}

/// Outcome of a trial.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The test passed.
    Passed,
    /// The test failed, with a reason.
    Failed,
    /// Its process was killed, since it printed nothing for too long.
    Hung,
    /// Its process ended without a result.
    Crashed,
}

/// Feature of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Feature {
    /// Its name.
    pub name: String,
    /// True if the kernel has it.
    pub there: bool,
    /// Replacement on a kernel that lacks it.
    pub without: String,
}

/// Line of a guest's report.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Event {
    /// The kernel has booted.
    Started {
        /// Its release as `uname -r` prints it.
        release: String,
    },
    /// Feature that the kernel has or lacks, as `onpath doctor` reports it.
    Feature(Feature),
    /// A suite begins.
    Suite {
        /// Its name.
        name: String,
        /// Number of its trials to run.
        trials: usize,
    },
    /// A trial ended.
    Trial(Trial),
    /// A suite could not be started.
    Broken {
        /// Its name.
        name: String,
        /// Reason.
        reason: String,
    },
    /// All suites ended.
    Ended,
}
