//! Documented failures: the trials that may fail on a kernel, with the reasons. Compares a run with them.

use crate::error::Error;
use crate::results::Results;
use crate::trial::{Outcome, Trial};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// Path of the file, from the repository's root.
pub(crate) const FILE: &str = "crates/matrix/expected.toml";
/// Greatest share of STF trials that may fail on a kernel, in percent.
const MOST_PERCENT: usize = 3;
/// Suite that this limit is for.
const LIMITED: &str = "stf";

/// Documented failures on all kernels.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// Each reason, with the trials that fail for it.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// Trials that fail for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refused {
    /// Kernels, by the names on the command line.
    pub kernels: Vec<String>,
    /// Name of the suite.
    pub suite: String,
    /// Names of trials; one that ends in `*` is a prefix.
    pub trials: Vec<String>,
    /// Text that the failure has to contain.
    pub message: String,
    /// Reason, for readers of the documentation.
    pub reason: String,
}

/// Differences between the results and the documentation.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Differences<'a> {
    /// Trials that failed without being documented, or with another message than documented.
    pub failures: Vec<&'a Trial>,
    /// Other differences, in words.
    pub others: Vec<String>,
}

impl Expected {
    /// Reads the repository's file.
    pub(crate) fn read(root: &Path) -> Result<Expected, Error> {
        let path = root.join(FILE);
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        toml::from_str(&text).map_err(|e| Error::new(format!("{}: {e}", path.display())))
    }

    /// Returns the documented reason why a trial fails on a kernel.
    pub(crate) fn of(&self, kernel: &str, suite: &str, trial: &str) -> Option<&Refused> {
        self.refused.iter().find(|refused| {
            refused.suite == suite
                && refused.kernels.iter().any(|k| k == kernel)
                && refused.trials.iter().any(|pattern| fits(pattern, trial))
        })
    }

    /// Compares results with the documentation. A run of `everything` also reports documented failures that did not
    /// occur, and too many failures.
    pub(crate) fn differences<'a>(
        &self,
        results: &'a Results,
        everything: bool,
    ) -> Differences<'a> {
        let mut found = Differences::default();
        let mut refused_of_suite = 0;
        for trial in &results.trials {
            let refused = self.of(&results.kernel, &trial.suite, &trial.name);
            match (refused, trial.outcome) {
                (None, Outcome::Passed) => {}
                (Some(refused), Outcome::Passed) => found.others.push(format!(
                    "{} passes, and is documented not to: {}",
                    trial.full_name(),
                    refused.reason
                )),
                (Some(refused), _) if trial.reason.contains(&refused.message) => {
                    refused_of_suite += usize::from(trial.suite == LIMITED);
                }
                (_, _) => found.failures.push(trial),
            }
        }
        if everything {
            found.others.extend(self.unknown(results));
            let of = results.trials.iter().filter(|t| t.suite == LIMITED).count();
            if refused_of_suite * 100 > of * MOST_PERCENT {
                found.others.push(format!(
                    "{refused_of_suite} of {of} STF trials are documented not to pass: too many"
                ));
            }
        }
        found
    }

    fn unknown(&self, results: &Results) -> Vec<String> {
        let mut unknown = Vec::new();
        for refused in self
            .refused
            .iter()
            .filter(|r| r.kernels.contains(&results.kernel))
        {
            for pattern in &refused.trials {
                let mut of_suite = results.trials.iter().filter(|t| t.suite == refused.suite);
                if !of_suite.any(|trial| fits(pattern, &trial.name)) {
                    unknown.push(format!(
                        "there is no trial {} {pattern}, which is documented not to pass",
                        refused.suite
                    ));
                }
            }
        }
        unknown
    }
}

fn fits(pattern: &str, trial: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => trial.starts_with(beginning),
        None => trial == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[[refused]]
kernels = ["6.1"]
suite = "stf"
trials = ["tc::loops.p4", "veth::*"]
message = "opcode e5"
reason = "no may_goto"
"#;

    /// Returns the failures that differ from the documentation, and the other differences.
    fn differences(
        trials: &[(&str, Outcome, &str)],
        everything: bool,
    ) -> (Vec<String>, Vec<String>) {
        let mut results = Results::new("6.1");
        let trials = trials.iter();
        results.trials = trials
            .map(|(name, outcome, reason)| Trial::new("stf", name, *outcome, reason))
            .collect();
        let expected: Expected = toml::from_str(TEXT).expect("is right");
        let found = expected.differences(&results, everything);
        let failures = found.failures.iter().map(|trial| trial.full_name());
        (failures.collect(), found.others)
    }

    #[test]
    fn what_is_documented_is_no_difference() {
        let documented = ("tc::loops.p4", Outcome::Failed, "unknown opcode e5");
        assert_eq!(
            differences(&[documented, ("tc::a.p4", Outcome::Passed, "")], false),
            Default::default()
        );
    }

    #[test]
    fn a_pass_a_failure_and_another_message_differ() {
        let trials = [
            ("veth::a.p4", Outcome::Passed, ""),
            ("tc::a.p4", Outcome::Hung, "late"),
            ("tc::loops.p4", Outcome::Failed, "other"),
        ];
        let (failures, others) = differences(&trials, false);
        assert_eq!(failures, ["stf tc::a.p4", "stf tc::loops.p4"]);
        assert_eq!(
            others,
            ["stf veth::a.p4 passes, and is documented not to: no may_goto"]
        );
    }

    #[test]
    fn a_whole_run_finds_stale_lines_and_too_many() {
        let documented = ("tc::loops.p4", Outcome::Failed, "unknown opcode e5");
        let (failures, others) = differences(&[documented], true);
        assert_eq!(failures, [""; 0]);
        assert_eq!(
            others,
            [
                "there is no trial stf veth::*, which is documented not to pass",
                "1 of 1 STF trials are documented not to pass: too many"
            ]
        );
    }

    /// Checks that the document has a row for each reason. `make test-kernels` writes the document, so another run is
    /// needed after a change of the file.
    #[test]
    fn every_reason_is_in_the_documentation() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let document = fs::read_to_string(root.join("bench/results/kernels.md")).expect("there");
        for refused in Expected::read(&root).expect("is right").refused {
            let row = document.lines().find(|line| {
                let names = || [&refused.suite, &refused.reason].into_iter();
                let all = names().chain(&refused.kernels).chain(&refused.trials);
                line.starts_with('|') && all.into_iter().all(|text| line.contains(text.as_str()))
            });
            assert!(
                row.is_some(),
                "bench/results/kernels.md has no row of {refused:?}"
            );
        }
    }

    #[test]
    fn the_repositorys_file_is_readable() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let expected = Expected::read(&root).expect("is right");
        for refused in expected.refused {
            assert!(
                crate::suite::Suite::by_name(&refused.suite).is_some(),
                "{refused:?}"
            );
            assert!(
                !refused.message.is_empty() && !refused.reason.is_empty(),
                "{refused:?}"
            );
        }
    }
}
