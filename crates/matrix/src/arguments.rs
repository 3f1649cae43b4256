//! The command line.

use crate::suite::{SUITES, Suite};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::str::FromStr;

/// Runs the tests that concern the kernel on kernels of Debian's packages, each in a machine of its own.
#[derive(Parser, Debug)]
#[command(
    name = "matrix",
    after_help = "It needs root. Results and logs are in `target/kernels/`.",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(crate) struct Arguments {
    /// A subcommand that this program calls itself.
    #[command(subcommand)]
    pub inner: Option<Inner>,
    /// The options of users.
    #[command(flatten)]
    pub run: Run,
}

/// Subcommands that this program calls itself.
#[derive(Subcommand, Debug)]
pub(crate) enum Inner {
    /// Inside a guest: runs a plan, and writes what happens to a file
    #[command(hide = true)]
    Guest {
        /// The plan's file
        plan: PathBuf,
        /// The file of events
        events: PathBuf,
    },
}

/// A run.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// Kernels, such as "6.1 6.12 host"; `host` is the present one, without a machine
    #[arg(long, value_name = "LIST", default_value = "6.1 6.12", value_parser = kernels)]
    pub kernels: Box<[String]>,
    /// Which trials.
    #[command(flatten)]
    pub choice: Choice,
    /// Write the table of results as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

/// Which trials.
#[derive(Args, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Choice {
    /// Only this suite, of it only the trials whose name has this text; may be repeated
    #[arg(long, value_name = "SUITE[:TEXT]")]
    pub only: Vec<Only>,
    /// The I-th of N parts of the trials, from 1
    #[arg(
        long,
        value_name = "I/N",
        default_value = "1/1",
        hide_default_value = true
    )]
    pub shard: Shard,
    /// A small part of every suite
    #[arg(long)]
    pub smoke: bool,
}

impl Choice {
    /// Returns true if a trial of the suite may be chosen.
    pub(crate) fn takes_suite(&self, suite: &Suite) -> bool {
        let named = self.only.is_empty() || self.only.iter().any(|only| only.suite == suite.name);
        named && (!self.smoke || !suite.smoke.is_empty())
    }

    /// Returns true if a trial is chosen, apart from the shard.
    pub(crate) fn takes(&self, suite: &Suite, trial: &str) -> bool {
        let mut only = self.only.iter().filter(|only| only.suite == suite.name);
        let named = self.only.is_empty() || only.any(|only| trial.contains(&only.filter));
        named && suite.has(trial) && (!self.smoke || suite.is_smoke(trial))
    }

    /// Returns true if all trials are chosen.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Choice::default()
    }
}

/// Suite, and a choice of its trials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Only {
    /// Name of the suite.
    pub suite: &'static str,
    /// Text that the names of the trials contain.
    pub filter: String,
}

/// One of several equal parts of all trials.
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
    /// Returns true if it has the trial at this position.
    pub(crate) fn has(self, position: usize) -> bool {
        position % self.of == self.index
    }
}

/// Name of the running kernel in the list of kernels.
pub(crate) const HOST: &str = "host";

fn kernels(list: &str) -> Result<Box<[String]>, String> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_version = |name: &str| {
        let parts = name.split_once('.');
        parts.is_some_and(|(major, minor)| is_number(major) && is_number(minor))
    };
    let names: Box<[String]> = list.split_whitespace().map(String::from).collect();
    match names.iter().find(|name| *name != HOST && !is_version(name)) {
        Some(wrong) => Err(format!(
            "`{wrong}` is no kernel: write `6.1`, `6.12` or `{HOST}`"
        )),
        None if names.is_empty() => Err("no kernel is named".to_string()),
        None => Ok(names),
    }
}

impl FromStr for Only {
    type Err = String;

    fn from_str(text: &str) -> Result<Only, String> {
        let (name, filter) = text.split_once(':').unwrap_or((text, ""));
        let suite = Suite::by_name(name).ok_or_else(|| {
            let names = SUITES.map(|suite| suite.name).join(", ");
            format!("there is no suite `{name}`; the suites are {names}")
        })?;
        Ok(Only {
            suite: suite.name,
            filter: filter.to_string(),
        })
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/');
        match parts.and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse().ok()?))) {
            Some((i, of)) if (1..=of).contains(&i) => Ok(Shard { index: i - 1, of }),
            _ => Err(format!("`{text}` is no shard: `2/5` is the second of five")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Arguments, String> {
        Arguments::try_parse_from([&["matrix"], words].concat()).map_err(|e| e.to_string())
    }

    fn run(words: &[&str]) -> Run {
        parsed(words).expect("is right").run
    }

    #[test]
    fn a_guest_gets_its_files() {
        let Inner::Guest { plan, events } = parsed(&["guest", "/p", "/e"])
            .expect("is right")
            .inner
            .expect("the command");
        assert_eq!((plan, events), ("/p".into(), "/e".into()));
        assert!(run(&["--smoke"]).choice.smoke);
    }

    #[test]
    fn without_arguments_it_is_everything_on_the_kernels_of_debian() {
        let all = run(&[]);
        assert_eq!(*all.kernels, ["6.1", "6.12"]);
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
        assert_eq!(*some.kernels, ["6.1", "host"]);
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
        assert!(wrong(&["--shard"]).contains("a value is required"));
        assert!(wrong(&["--fast"]).contains("unexpected argument '--fast'"));
    }
}
