//! Compiles on this machine the programs that guests would compile: under emulation, clang takes ten times as long.
//!
//! The STF suite has a mode for that. For measurements, command-line sessions and programs that are only loaded, it
//! runs `onpath build`.

use crate::plan::{GuestPlan, HOOKS, SuiteTrials, p4_files};
use crate::suite::SuiteKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Suite that can compile its trials' programs without running them, for the version of Linux in the variable below.
const STF: &str = "stf";
const COMPILES_FOR: &str = "ONPATH_STF_COMPILES_FOR";

/// Programs that `onpath pdm` compiles; several suites share them.
const MEASUREMENT: [(&str, &str); 2] = [
    ("<onpath>/pdm/egress.p4", "tc-egress"),
    ("<onpath>/pdm/ingress.p4", "tc-ingress"),
];
const MEASURING: [&str; 3] = ["states", "truth", "cli"];

/// Suite of command-line sessions. They name programs by paths relative to their own folder, and the objects contain
/// these paths. The list below has folders from which the same programs have the same paths, and the folder of programs
/// relative to each.
const SESSIONS: &str = "cli";
const OF_SESSIONS: [(&str, &str); 2] = [("crates/onpath/tests/cli/files", ""), (".", "programs")];

/// Program to compile for a hook.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Object {
    /// Working directory of the compiler.
    folder: PathBuf,
    /// Path of the program, as the compiler gets it.
    program: PathBuf,
    hook: &'static str,
}

/// Compiles the programs that a plan's trials need on this version of Linux. Errors are ignored: they occur again in
/// the trial.
pub(crate) fn run(plan: &GuestPlan, version: &str) {
    for part in &plan.suites {
        if part.suite == STF {
            finish(crate::runner::together(part, &plan.objects).env(COMPILES_FOR, version));
        }
        for object in objects(part) {
            let Ok(folder) = tempfile::tempdir() else {
                return;
            };
            let mut command = Command::new(&plan.onpath);
            command
                .current_dir(&object.folder)
                .arg("build")
                .arg(&object.program)
                .args(["--target", object.hook, "--kernel", version, "-o"])
                .arg(folder.path())
                .env("ONPATH_OBJECT_CACHE", &plan.objects);
            finish(&mut command);
        }
    }
}

/// Returns the programs that a part's trials compile.
fn objects(part: &SuiteTrials) -> Vec<Object> {
    let mut objects = Vec::new();
    let mut add = |folder: &Path, program: &Path, hook| {
        let (folder, program) = (folder.to_path_buf(), program.to_path_buf());
        objects.push(Object {
            folder,
            program,
            hook,
        });
    };
    if part.kind == SuiteKind::Loads {
        // Each program is named by its absolute path.
        for (hook, program) in part
            .trials
            .iter()
            .filter_map(|trial| trial.split_once("::"))
        {
            let known = HOOKS.into_iter().find(|known| *known == hook);
            known
                .into_iter()
                .for_each(|hook| add(&part.folder, &part.folder.join(program), hook));
        }
    }
    let root = part.folder.join("../..");
    if MEASURING.contains(&part.suite.as_str()) {
        for (program, hook) in MEASUREMENT {
            add(&root, Path::new(program), hook);
        }
    }
    if part.suite == SESSIONS {
        for (folder, programs) in OF_SESSIONS {
            let folder = root.join(folder);
            for program in p4_files(&folder.join(programs)).unwrap_or_default() {
                let name = program.strip_prefix(&folder).unwrap_or(&program);
                HOOKS.into_iter().for_each(|hook| add(&folder, name, hook));
            }
        }
    }
    objects
}

/// Runs a command, unless the run should end.
fn finish(command: &mut Command) {
    if !crate::interrupt::is_requested() {
        let quiet = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let _ = quiet.status();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    fn part(suite: &str, folder: &Path, trials: &[&str]) -> SuiteTrials {
        SuiteTrials {
            suite: suite.to_string(),
            kind: SuiteKind::Tests,
            binary: suite.into(),
            folder: folder.to_path_buf(),
            trials: trials.iter().map(|trial| (*trial).to_string()).collect(),
            others: Vec::new(),
        }
    }

    #[test]
    fn measurements_and_sessions_find_their_programs_compiled() {
        let folder = tempfile::tempdir().expect("a folder");
        let crates = folder.path().join("crates/onpath");
        for (folder, program) in [("tests/cli/files", "own.p4"), ("../../programs/a", "a.p4")] {
            let folder = crates.join(folder);
            std::fs::create_dir_all(&folder).expect("made");
            std::fs::write(folder.join(program), "").expect("written");
        }
        let of = |suite: &str| -> Vec<String> {
            let objects = objects(&part(suite, &crates, &["one"]));
            let shown = objects.iter().map(|object| {
                assert!(object.folder.is_dir());
                format!("{} {}", object.program.display(), object.hook)
            });
            shown.collect()
        };
        let pdm = [
            "<onpath>/pdm/egress.p4 tc-egress",
            "<onpath>/pdm/ingress.p4 tc-ingress",
        ];
        assert_eq!(of("truth"), pdm);
        assert_eq!(of("states"), pdm);
        assert_eq!(of("kernel"), [""; 0]);
        let sessions = of("cli");
        assert_eq!(sessions[..2], pdm);
        let rest = ["own.p4 xdp", "own.p4 tc-ingress", "own.p4 tc-egress"];
        assert_eq!(sessions[2..5], rest);
        assert_eq!(sessions[5], "programs/a/a.p4 xdp");
        assert_eq!(sessions.len(), 8);
    }

    #[test]
    fn what_loads_is_compiled_for_its_hook() {
        let root = Path::new("/root");
        let part = SuiteTrials {
            kind: SuiteKind::Loads,
            ..part("loads", root, &["xdp::a/b.p4", "tc-egress::c.p4"])
        };
        let object = |program: &str, hook| Object {
            folder: root.to_path_buf(),
            program: root.join(program),
            hook,
        };
        assert_eq!(
            objects(&part),
            [object("a/b.p4", "xdp"), object("c.p4", "tc-egress")]
        );
    }

    #[test]
    fn the_suite_of_scripts_compiles_its_own_trials() {
        let folder = tempfile::tempdir().expect("a folder");
        let binary = folder.path().join("binary");
        let script = format!(
            "echo \"$*, $ONPATH_STF_COMPILES_FOR $ONPATH_OBJECT_CACHE\" >> {}/log\n",
            folder.path().display()
        );
        fake::program(&binary, &script);
        let stf = SuiteTrials {
            binary,
            others: vec!["veth::b.p4".to_string()],
            ..part("stf", folder.path(), &["xdp::a.p4", "veth::a.p4"])
        };
        let plan = GuestPlan {
            suites: vec![stf],
            objects: "/objects".into(),
            onpath: "/onpath".into(),
        };
        run(&plan, "6.1");
        let log = std::fs::read_to_string(folder.path().join("log")).expect("it ran");
        assert!(log.contains("--exact"), "{log}");
        assert!(log.ends_with("--skip veth::b.p4, 6.1 /objects\n"), "{log}");
    }
}
