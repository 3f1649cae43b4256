//! The command line.

use crate::error::Error;
use crate::suite::{SUITES, Suite};
use std::path::PathBuf;

/// The text of `--help`.
pub(crate) const HELP: &str = "\
Runs the tests that concern the kernel on kernels of Debian's packages, each in a machine of its own.

Usage: matrix [OPTIONS]

Options:
  --kernels LIST       kernels, such as \"6.1 6.12 host\"; `host` is the present one, without a machine
  --only SUITE[:TEXT]  only this suite, of it only the trials whose name has this text; may be repeated
  --shard I/N          the I-th of N parts of the trials, from 1
  --smoke              a small part of every suite
  --markdown FILE      writes the table of results as Markdown
  --help               this text

It needs root. Results and logs are in `target/kernels/`.
";

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// `--help`
    Help,
    /// Inside a guest: runs a plan, and writes what happens to a file.
    Guest {
        /// The plan's file.
        plan: PathBuf,
        /// The file of events.
        events: PathBuf,
    },
    /// Runs trials on kernels.
    Run(Run),
}

/// A run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// The names of kernels.
    pub kernels: Vec<String>,
    /// Which trials.
    pub choice: Choice,
    /// Where the table goes besides standard output.
    pub markdown: Option<PathBuf>,
}

/// Which trials.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Choice {
    /// None is all.
    pub only: Vec<Only>,
    /// The part of them.
    pub shard: Shard,
    /// Whether it is a small part of every suite.
    pub smoke: bool,
}

impl Choice {
    /// Whether something of a suite may be among them.
    pub(crate) fn takes_suite(&self, suite: &Suite) -> bool {
        let named = self.only.is_empty() || self.only.iter().any(|only| only.suite == suite.name);
        named && (!self.smoke || !suite.smoke.is_empty())
    }

    /// Whether a trial is among them, apart from the shard.
    pub(crate) fn takes(&self, suite: &Suite, trial: &str) -> bool {
        let mut only = self.only.iter().filter(|only| only.suite == suite.name);
        let named = self.only.is_empty() || only.any(|only| trial.contains(&only.filter));
        named && suite.has(trial) && (!self.smoke || suite.is_smoke(trial))
    }

    /// Whether it is all of them.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Choice::default()
    }
}

/// A suite, and a part of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Only {
    /// The suite.
    pub suite: &'static str,
    /// What the names of trials contain.
    pub filter: String,
}

/// One of equal parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shard {
    index: usize,
    of: usize,
}

impl Default for Shard {
    fn default() -> Shard {
        Shard { index: 0, of: 1 }
    }
}

impl Shard {
    /// Whether it has the trial at this position.
    pub(crate) fn has(self, position: usize) -> bool {
        position % self.of == self.index
    }
}

/// The kernels of a run that names none.
const KERNELS: &str = "6.1 6.12";
/// The present kernel.
pub(crate) const HOST: &str = "host";

/// Reads the arguments behind the program's name.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, Error> {
    let mut arguments = arguments.into_iter();
    let mut run = Run {
        kernels: kernels(KERNELS)?,
        choice: Choice::default(),
        markdown: None,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| Error::new(format!("`{argument}` needs a value; see `--help`")))
        };
        match argument.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "guest" => {
                let (plan, events) = (value()?.into(), value()?.into());
                return Ok(Command::Guest { plan, events });
            }
            "--kernels" => run.kernels = kernels(&value()?)?,
            "--only" => run.choice.only.push(only(&value()?)?),
            "--shard" => run.choice.shard = shard(&value()?)?,
            "--smoke" => run.choice.smoke = true,
            "--markdown" => run.markdown = Some(value()?.into()),
            _ => {
                return Err(Error::new(format!(
                    "unknown argument `{argument}`; see `--help`"
                )));
            }
        }
    }
    Ok(Command::Run(run))
}

fn kernels(list: &str) -> Result<Vec<String>, Error> {
    let names: Vec<String> = list.split_whitespace().map(String::from).collect();
    let is_version = |name: &str| {
        let parts: Vec<&str> = name.split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.len() == 2 && parts.iter().all(is_number)
    };
    match names.iter().find(|name| *name != HOST && !is_version(name)) {
        Some(wrong) => Err(Error::new(format!(
            "`{wrong}` is no kernel: write `6.1`, `6.12` or `{HOST}`"
        ))),
        None if names.is_empty() => Err(Error::new("no kernel is named")),
        None => Ok(names),
    }
}

fn only(text: &str) -> Result<Only, Error> {
    let (name, filter) = text.split_once(':').unwrap_or((text, ""));
    let suite = Suite::by_name(name).ok_or_else(|| {
        let names = SUITES.map(|suite| suite.name).join(", ");
        Error::new(format!(
            "there is no suite `{name}`; the suites are {names}"
        ))
    })?;
    Ok(Only {
        suite: suite.name,
        filter: filter.to_string(),
    })
}

fn shard(text: &str) -> Result<Shard, Error> {
    let parts = text
        .split_once('/')
        .and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse().ok()?)));
    match parts {
        Some((i, of)) if (1..=of).contains(&i) => Ok(Shard { index: i - 1, of }),
        _ => Err(Error::new(format!(
            "`{text}` is no shard: `2/5` is the second of five"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Command, String> {
        parse(words.iter().map(|w| (*w).to_string())).map_err(|e| e.to_string())
    }

    fn run(words: &[&str]) -> Run {
        match parsed(words) {
            Ok(Command::Run(run)) => run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_arguments_it_is_everything_on_the_kernels_of_debian() {
        let all = run(&[]);
        assert_eq!(all.kernels, ["6.1", "6.12"]);
        assert!(all.choice.is_everything());
    }

    #[test]
    fn kernels_trials_and_shards_are_chosen() {
        let some = run(&[
            "--kernels",
            " 6.1  host",
            "--only",
            "stf:tc::tests",
            "--shard",
            "2/3",
            "--smoke",
        ]);
        assert_eq!(some.kernels, ["6.1", "host"]);
        let expected = Only {
            suite: "stf",
            filter: "tc::tests".to_string(),
        };
        assert_eq!(some.choice.only, [expected]);
        assert!(some.choice.smoke && !some.choice.is_everything());
        let shard = some.choice.shard;
        assert_eq!((0..7).filter(|n| shard.has(*n)).collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn a_filter_and_a_smoke_test_take_less_of_a_suite() {
        let stf = Suite::by_name("stf").expect("a suite");
        let truth = Suite::by_name("truth").expect("a suite");
        let choice = run(&["--only", "stf:arith"]).choice;
        assert!(choice.takes_suite(stf) && !choice.takes_suite(truth));
        assert!(choice.takes(stf, "tc::tests/stf/arith/a.p4"));
        assert!(!choice.takes(stf, "tc::programs/nat/nat.p4"));
        assert!(!choice.takes(stf, "interp::tests/stf/arith/a.p4"));
        let smoke = run(&["--smoke"]).choice;
        assert!(smoke.takes(stf, "tc::tests/stf/tc/mark.p4"));
        assert!(!smoke.takes(stf, "tc::tests/stf/arith/a.p4"));
        assert!(!smoke.takes_suite(truth));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |words: &[&str]| parsed(words).expect_err("wrong");
        assert!(wrong(&["--kernels", "6"]).contains("`6` is no kernel"));
        assert!(wrong(&["--kernels", ""]).contains("no kernel is named"));
        assert!(wrong(&["--kernels", "../6.1"]).contains("is no kernel"));
        assert!(wrong(&["--only", "all"]).contains("the suites are loads, built, drivers, kernel"));
        assert!(wrong(&["--shard", "0/2"]).contains("is no shard"));
        assert!(wrong(&["--shard", "3/2"]).contains("is no shard"));
        assert!(wrong(&["--shard"]).contains("needs a value"));
        assert!(wrong(&["--fast"]).contains("unknown argument"));
    }
}
