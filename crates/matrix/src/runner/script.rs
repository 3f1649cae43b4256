//! Runs the suites whose trials are scripts, `built` and `drivers`. A script checks that a prebuilt program runs on
//! real traffic, without clang.

use super::process;
use crate::built::BINARIES;
use crate::plan::SuiteTrials;
use crate::suite::SuiteKind;
use crate::trial::{Event, Trial};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time limit of a trial. A trial takes seconds, or half a minute under emulation. A failing one takes several minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs the script once for each trial. The trial passes if the script ends with status 0.
pub(super) fn run(part: &SuiteTrials, onpath: &Path, sink: &mut dyn FnMut(Event)) {
    for name in &part.trials {
        let mut command = Command::new(&part.binary);
        if part.kind == SuiteKind::Built {
            let files = [&format!("{BINARIES}/{name}"), "guard", "ipv4_counter"];
            command.args(files.map(|file| part.folder.join(file)));
        } else {
            command.arg(onpath).arg(&part.folder).arg(name);
        }
        // Hides any clang of the machine: a program that is compiled here would fail.
        command.env("ONPATH_CLANG", "/nonexistent");
        let (outcome, text) = process::finish(&mut command, PATIENCE);
        sink(Event::Trial(Trial::new(&part.suite, name, outcome, &text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;
    use crate::trial::Outcome;

    /// Returns the outcomes of two trials. The script passes a trial with these arguments, where `#` stands for the
    /// folder.
    fn outcomes(kind: SuiteKind, trials: [&str; 2], arguments: &str) -> [(Outcome, String); 2] {
        let folder = tempfile::tempdir().expect("a folder");
        let binary = folder.path().join("try");
        let arguments = arguments.replace('#', &folder.path().display().to_string());
        let script = format!(
            "[ \"$* $ONPATH_CLANG\" = \"{arguments} /nonexistent\" ] || {{ echo \"${{1##*/}}\"; exit 1; }}\n"
        );
        fake::program(&binary, &script);
        let part = SuiteTrials {
            suite: "s".to_string(),
            kind,
            binary,
            folder: folder.path().to_path_buf(),
            trials: trials.map(String::from).to_vec(),
            others: Vec::new(),
        };
        let mut found = Vec::new();
        run(&part, Path::new("/onpath"), &mut |event| match event {
            Event::Trial(trial) => found.push((trial.outcome, trial.reason)),
            other => panic!("{other:?}"),
        });
        found.try_into().expect("two")
    }

    #[test]
    fn a_binary_and_a_driver_pass_with_their_scripts() {
        let passed = (Outcome::Passed, String::new());
        let failed = |printed: &str| (Outcome::Failed, format!("{printed}\n"));
        let built = "#/bin/good #/guard #/ipv4_counter";
        let found = outcomes(SuiteKind::Built, ["good", "bad"], built);
        assert_eq!(found, [passed.clone(), failed("bad")]);
        let found = outcomes(SuiteKind::Drivers, ["many-q", "one"], "/onpath # many-q");
        assert_eq!(found, [passed, failed("onpath")]);
    }
}
