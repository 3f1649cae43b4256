//! Trials of a test binary: all in one process, then those without a result one by one.

use super::output::{TestStatus, reasons, verdict};
use super::process;
use crate::plan::SuiteTrials;
use crate::trial::{Event, Outcome, Trial};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Longest time between the results of two tests, also under emulation.
const PATIENCE: Duration = Duration::from_secs(600);
/// Greatest number of characters that are kept of a failure's text.
const LONGEST: usize = 16_000;

/// Runs all trials of a part.
pub(super) fn run(part: &SuiteTrials, objects: &Path, sink: &mut dyn FnMut(Event)) {
    let mut together = together(part, objects);
    let mut left: Vec<&String> = part.trials.iter().collect();
    let mut failed = Vec::new();
    let ended = process::run(&mut together, PATIENCE, |line| {
        let Some((name, verdict)) = verdict(line) else {
            return;
        };
        if verdict == TestStatus::Failed {
            failed.push(name.to_string());
        } else if left.iter().any(|n| *n == name) {
            left.retain(|n| *n != name);
            sink(Event::Trial(trial(part, name, Outcome::Passed, "")));
        }
    });
    let text = match ended {
        Ok((_, text)) => text,
        Err(error) => return broken(part, &error, sink),
    };
    for (name, reason) in reasons(&text, &failed) {
        left.retain(|n| **n != name);
        sink(Event::Trial(trial(part, &name, Outcome::Failed, &reason)));
    }
    // The process was killed or crashed before it reported these.
    for name in left {
        match alone(part, objects, name) {
            Ok(trial) => sink(Event::Trial(trial)),
            Err(error) => return broken(part, &error, sink),
        }
    }
}

/// Returns the command that runs all of them in one process.
pub(crate) fn together(part: &SuiteTrials, objects: &Path) -> Command {
    let mut command = command(part, objects);
    command.args(["--exact", "--test-threads", &threads()]);
    for other in &part.others {
        command.args(["--skip", other]);
    }
    command
}

/// Runs a trial in a process of its own.
fn alone(part: &SuiteTrials, objects: &Path, name: &str) -> io::Result<Trial> {
    let mut command = command(part, objects);
    let mut verdicts = BTreeMap::new();
    let (ended, text) = process::run(command.args(["--exact", name]), PATIENCE, |line| {
        if let Some((name, verdict)) = verdict(line) {
            verdicts.insert(name.to_string(), verdict);
        }
    })?;
    let outcome = match (ended, verdicts.get(name)) {
        (Outcome::Passed, Some(TestStatus::Ok | TestStatus::Ignored)) => Outcome::Passed,
        (Outcome::Passed, _) => Outcome::Failed,
        (other, _) => other,
    };
    let mut sections = reasons(&text, &[name.to_string()]);
    let reason = sections.remove(name).unwrap_or(text);
    Ok(trial(part, name, outcome, &reason))
}

fn command(part: &SuiteTrials, objects: &Path) -> Command {
    let mut command = Command::new(&part.binary);
    command
        .current_dir(&part.folder)
        // The matrix also runs the tests that `make test` leaves to `make test-all`.
        .args(["--color", "never", "--include-ignored"])
        // As cargo sets it.
        .env("CARGO_MANIFEST_DIR", &part.folder)
        .env("ONPATH_OBJECT_CACHE", objects);
    command
}

fn threads() -> String {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .to_string()
}

fn trial(part: &SuiteTrials, name: &str, outcome: Outcome, reason: &str) -> Trial {
    let kept: String = reason.chars().take(LONGEST).collect();
    Trial::new(&part.suite, name, outcome, &kept)
}

fn broken(part: &SuiteTrials, error: &io::Error, sink: &mut dyn FnMut(Event)) {
    sink(Event::Broken {
        name: part.suite.clone(),
        reason: format!("could not run `{}`: {error}", part.binary.display()),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;
    use crate::suite::SuiteKind;

    /// Returns the outcomes of three trials, with a script in place of a test binary.
    fn outcomes(script: &str) -> Vec<(String, Outcome, String)> {
        let folder = tempfile::tempdir().expect("a folder");
        let binary = folder.path().join("suite");
        fake::program(&binary, script);
        let part = SuiteTrials {
            suite: "s".to_string(),
            kind: SuiteKind::Tests,
            binary,
            folder: folder.path().to_path_buf(),
            trials: ["a", "b", "c"].map(String::from).to_vec(),
            others: vec!["d".to_string()],
        };
        let mut found = Vec::new();
        let mut sink = |event| match event {
            Event::Trial(t) => found.push((t.name, t.outcome, t.reason)),
            other => panic!("{other:?}"),
        };
        run(&part, Path::new("/objects"), &mut sink);
        found
    }

    fn ended(name: &str, outcome: Outcome, reason: &str) -> (String, Outcome, String) {
        (name.to_string(), outcome, reason.to_string())
    }

    #[test]
    fn one_process_runs_all() {
        let found = outcomes(
            r#"[ "$*" = "--color never --include-ignored --exact --test-threads $(nproc) --skip d" ] || exit 9
               printf 'test a ... ok\ntest b ... FAILED\ntest c ... ok\n\nfailures:\n\n---- b ----\nwhy\n\nfailures:\n    b\n'
               exit 1"#,
        );
        let expected = [
            ended("a", Outcome::Passed, ""),
            ended("c", Outcome::Passed, ""),
            ended("b", Outcome::Failed, "why"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_a_crash_leaves_is_run_one_by_one() {
        let found = outcomes(
            r#"case "$*" in
               *--skip*) echo 'test a ... ok'; echo 'test b ... FAILED'; kill -ABRT $$ ;;
               *"--exact b") printf 'test b ... FAILED\n\nfailures:\n\n---- b stdout ----\nwhy\n\nfailures:\n'; exit 101 ;;
               *"--exact c") echo at the end; kill -SEGV $$ ;;
               esac"#,
        );
        let expected = [
            ended("a", Outcome::Passed, ""),
            ended("b", Outcome::Failed, "why"),
            ended("c", Outcome::Crashed, "at the end\n"),
        ];
        assert_eq!(found, expected);
    }
}
