//! The trials that a kernel may refuse, with the documented reason; and how a run differs from that.

use crate::error::Error;
use crate::results::Results;
use crate::trial::Outcome;
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// The file, from the repository's root.
pub(crate) const FILE: &str = "crates/matrix/expected.toml";
/// The most STF trials that a kernel may refuse, in percent.
const MOST_PERCENT: usize = 3;
/// The suite that this limit is for.
const LIMITED: &str = "stf";

/// What kernels lack.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// Each reason, with the trials that do not pass for it.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// Trials that do not pass, for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refused {
    /// The kernels, by the names that they are asked for by.
    pub kernels: Vec<String>,
    /// The suite.
    pub suite: String,
    /// Names of trials; one that ends in `*` is the beginning of names.
    pub trials: Vec<String>,
    /// Text that the failure has to contain.
    pub message: String,
    /// Why, for readers of the documentation.
    pub reason: String,
}

/// A difference between what is documented and what happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Difference {
    /// A trial failed that is not documented, or with another message.
    Fails {
        /// Which.
        trial: String,
        /// What it printed.
        reason: String,
    },
    /// A trial passed that is documented not to.
    Passes {
        /// Which.
        trial: String,
        /// The documented reason.
        reason: String,
    },
    /// A documented trial that was not among those of a whole run.
    Unknown {
        /// As documented.
        trial: String,
    },
    /// Too much is documented.
    TooMany {
        /// Trials that are refused.
        refused: usize,
        /// All trials of the suite.
        of: usize,
    },
}

impl Expected {
    /// Reads the repository's.
    pub(crate) fn read(root: &Path) -> Result<Expected, Error> {
        let path = root.join(FILE);
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        Expected::parse(&text).map_err(|e| Error::new(format!("{}: {e}", path.display())))
    }

    fn parse(text: &str) -> Result<Expected, toml::de::Error> {
        toml::from_str(text)
    }

    /// The documented reason why a trial does not pass on a kernel.
    pub(crate) fn of(&self, kernel: &str, suite: &str, trial: &str) -> Option<&Refused> {
        self.refused.iter().find(|refused| {
            refused.suite == suite
                && refused.kernels.iter().any(|k| k == kernel)
                && refused.trials.iter().any(|pattern| fits(pattern, trial))
        })
    }

    /// What differs. Of a run of `everything` also what is documented and did not occur.
    pub(crate) fn differences(&self, results: &Results, everything: bool) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut refused_of_suite = 0;
        for trial in &results.trials {
            let name = format!("{} {}", trial.suite, trial.name);
            match (
                self.of(&results.kernel, &trial.suite, &trial.name),
                trial.outcome,
            ) {
                (None, Outcome::Passed) => {}
                (Some(refused), Outcome::Passed) => found.push(Difference::Passes {
                    trial: name,
                    reason: refused.reason.clone(),
                }),
                (Some(refused), _) if trial.reason.contains(&refused.message) => {
                    refused_of_suite += usize::from(trial.suite == LIMITED);
                }
                (_, _) => found.push(Difference::Fails {
                    trial: name,
                    reason: trial.reason.clone(),
                }),
            }
        }
        if everything {
            found.extend(self.unknown(results));
            let of = results.trials.iter().filter(|t| t.suite == LIMITED).count();
            if refused_of_suite * 100 > of * MOST_PERCENT {
                found.push(Difference::TooMany {
                    refused: refused_of_suite,
                    of,
                });
            }
        }
        found
    }

    fn unknown(&self, results: &Results) -> Vec<Difference> {
        let of_kernel = self
            .refused
            .iter()
            .filter(|r| r.kernels.contains(&results.kernel));
        let patterns =
            of_kernel.flat_map(|refused| refused.trials.iter().map(|p| (&refused.suite, p)));
        let occurs = |suite: &String, pattern: &str| {
            let mut trials = results.trials.iter();
            trials.any(|trial| trial.suite == *suite && fits(pattern, &trial.name))
        };
        patterns
            .filter(|(suite, pattern)| !occurs(suite, pattern))
            .map(|(suite, pattern)| Difference::Unknown {
                trial: format!("{suite} {pattern}"),
            })
            .collect()
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
    use crate::trial::Trial;

    const TEXT: &str = r#"
[[refused]]
kernels = ["6.1"]
suite = "stf"
trials = ["tc::loops.p4", "veth::*"]
message = "opcode e5"
reason = "no may_goto"
"#;

    fn differences(trials: &[(&str, Outcome, &str)], everything: bool) -> Vec<Difference> {
        let mut results = Results::new("6.1");
        results
            .trials
            .extend(trials.iter().map(|(name, outcome, reason)| Trial {
                suite: "stf".to_string(),
                name: (*name).to_string(),
                outcome: *outcome,
                reason: (*reason).to_string(),
                verified: None,
                forms: Vec::new(),
            }));
        Expected::parse(TEXT)
            .expect("is right")
            .differences(&results, everything)
    }

    #[test]
    fn what_is_documented_is_no_difference() {
        let documented = ("tc::loops.p4", Outcome::Failed, "unknown opcode e5");
        assert_eq!(
            differences(&[documented, ("tc::a.p4", Outcome::Passed, "")], false),
            []
        );
    }

    #[test]
    fn a_pass_a_failure_and_another_message_differ() {
        let trials = [
            ("veth::a.p4", Outcome::Passed, ""),
            ("tc::a.p4", Outcome::Hung, "late"),
            ("tc::loops.p4", Outcome::Failed, "other"),
        ];
        let fails = |trial: &str, reason: &str| Difference::Fails {
            trial: trial.to_string(),
            reason: reason.to_string(),
        };
        let passes = Difference::Passes {
            trial: "stf veth::a.p4".to_string(),
            reason: "no may_goto".to_string(),
        };
        let expected = [
            passes,
            fails("stf tc::a.p4", "late"),
            fails("stf tc::loops.p4", "other"),
        ];
        assert_eq!(differences(&trials, false), expected);
    }

    #[test]
    fn a_whole_run_finds_stale_lines_and_too_many() {
        let documented = ("tc::loops.p4", Outcome::Failed, "unknown opcode e5");
        let unknown = Difference::Unknown {
            trial: "stf veth::*".to_string(),
        };
        let too_many = Difference::TooMany { refused: 1, of: 1 };
        assert_eq!(differences(&[documented], true), [unknown, too_many]);
    }

    /// `make test-kernels` writes the document; a line that is added or changed needs another run.
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
