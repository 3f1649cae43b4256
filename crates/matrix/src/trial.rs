//! What is known of a trial, and the lines of JSON in which a guest reports it.

use serde::{Deserialize, Serialize};

/// One test, and how it ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Trial {
    /// The suite it belongs to.
    pub suite: String,
    /// Its name in the suite.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What it printed, if it did not pass.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The instructions that the verifier processed, where the suite reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<u64>,
    /// The forms that the program's code took on this kernel, where the suite reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<Form>,
}

impl Trial {
    /// One of which the suite reports no more. A reason counts where it did not pass.
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
            forms: Vec::new(),
        }
    }

    /// Its suite's name and its own.
    pub(crate) fn full_name(&self) -> String {
        format!("{} {}", self.suite, self.name)
    }
}

/// How a program's code does something that it could do in several ways, or that not every kernel has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Form {
    /// What it does.
    pub construct: String,
    /// How.
    pub name: String,
}

/// How a trial ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// As it should.
    Passed,
    /// With a reason.
    Failed,
    /// Its process was killed, since it printed nothing for too long.
    Hung,
    /// Its process ended without a result.
    Crashed,
}

/// A feature of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Feature {
    /// Its name.
    pub name: String,
    /// Whether the kernel has it.
    pub there: bool,
    /// What is done without it, of a kernel that lacks it.
    pub without: String,
}

/// A line of a guest's report.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Event {
    /// The kernel runs.
    Started {
        /// As `uname -r` prints it.
        release: String,
    },
    /// What the kernel has or lacks, as `onpath doctor` finds it.
    Feature(Feature),
    /// A suite begins.
    Suite {
        /// Its name.
        name: String,
        /// How many of its trials are to be run.
        trials: usize,
    },
    /// A trial ended.
    Trial(Trial),
    /// A suite that could not be started.
    Broken {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// All suites ended.
    Ended,
}
