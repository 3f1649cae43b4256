//! Whether a binary of `onpath` runs, on real traffic and without clang, programs that were built before.

use super::script;
use crate::built::{BINARIES, PROGRAMS};
use crate::plan::Part;
use crate::trial::Sink;
use std::process::Command;
use std::time::Duration;

/// It takes seconds, and a minute where the machine is emulated.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs the script once a binary.
pub(super) fn run(part: &Part, sink: &mut dyn Sink) {
    for name in &part.trials {
        let mut command = Command::new(&part.binary);
        command
            .arg(part.folder.join(BINARIES).join(name))
            .args(PROGRAMS.map(|(program, _)| part.folder.join(program)))
            // Whatever the machine has: a program that were compiled here would fail.
            .env("ONPATH_CLANG", "/nonexistent");
        script::run(part, name, &mut command, PATIENCE, sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Kind;
    use crate::trial::{Event, Outcome};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_binary_passes_with_the_script() {
        let folder = tempfile::tempdir().expect("a folder");
        let binary = folder.path().join("try");
        let script = "#!/bin/sh\ncd \"$(dirname \"$2\")\" || exit\n\
                      [ \"$1 $2 $3 $ONPATH_CLANG\" = \"$PWD/bin/good $PWD/guard $PWD/ipv4_counter /nonexistent\" ] || { echo \"$1\"; exit 1; }\n";
        std::fs::write(&binary, script).expect("written");
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).expect("set");
        let part = Part {
            suite: "built".to_string(),
            kind: Kind::Built,
            binary,
            folder: folder.path().canonicalize().expect("there"),
            trials: ["good", "bad"].map(String::from).to_vec(),
            others: Vec::new(),
        };
        let mut found = Vec::new();
        run(&part, &mut |event| match event {
            Event::Trial(trial) => found.push((trial.outcome, trial.reason)),
            other => panic!("{other:?}"),
        });
        let bad = format!("{}\n", part.folder.join("bin/bad").display());
        assert_eq!(
            found,
            [(Outcome::Passed, String::new()), (Outcome::Failed, bad)]
        );
    }
}
