//! Compiles on this machine what guests would compile: clang takes ten times as long where the processor is emulated.
//!
//! STF tests by test run leave the objects of the oldest kernel's forms behind wherever they run; those between devices,
//! whose redirects are real, do so for the present kernel alone.

use crate::plan::{Kind, Part, Plan};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The beginnings of the names of trials between devices, with the hooks that they are compiled for. Few are for packets
/// that go out, but PDM is, which takes longest.
const BETWEEN_DEVICES: [(&str, &[&str]); 2] = [
    ("veth::", &["xdp"]),
    ("tc_veth::", &["tc-ingress", "tc-egress"]),
];

/// A program, for a hook.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Object {
    program: String,
    hook: &'static str,
}

/// Compiles what a plan's trials on this version of Linux need. What does not compile fails again in its trial.
pub(crate) fn run(plan: &Plan, version: &str) {
    for part in plan.suites.iter().filter(|part| part.kind == Kind::Tests) {
        for object in objects(part) {
            if crate::interrupt::is_requested() {
                return;
            }
            compile(plan, part, &object, version);
        }
    }
}

/// The objects of a part's trials between devices.
fn objects(part: &Part) -> Vec<Object> {
    let mut objects = Vec::new();
    for (beginning, hooks) in BETWEEN_DEVICES {
        let programs = part.trials.iter();
        for program in programs.filter_map(|trial| trial.strip_prefix(beginning)) {
            objects.extend(hooks.iter().map(|hook| Object {
                program: program.to_string(),
                hook,
            }));
        }
    }
    objects
}

fn compile(plan: &Plan, part: &Part, object: &Object, version: &str) {
    // The absolute path, as the STF tests name it.
    let program: PathBuf = part.folder.join("../..").join(&object.program);
    let (Ok(program), Ok(folder)) = (program.canonicalize(), tempfile::tempdir()) else {
        return;
    };
    let mut command = Command::new(&plan.onpath);
    command
        .current_dir(&part.folder)
        .arg("build")
        .arg(program)
        .args(["--hook", object.hook, "--kernel", version, "-o"])
        .arg(folder.path())
        .env("ONPATH_OBJECT_CACHE", &plan.objects)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _ = command.status();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_runs_between_devices_is_compiled_for_the_kernel() {
        let folder = tempfile::tempdir().expect("a folder");
        let crates = folder.path().join("crates/onpath");
        std::fs::create_dir_all(&crates).expect("made");
        for program in ["a.p4", "b.p4"] {
            std::fs::write(folder.path().join(program), "").expect("written");
        }
        let onpath = folder.path().join("onpath");
        let script = format!(
            "#!/bin/sh\necho \"$1 ${{2##*/}} $3 $4 $5 $6 $7 $ONPATH_OBJECT_CACHE\" >> {}/log\n",
            folder.path().display()
        );
        std::fs::write(&onpath, script).expect("written");
        std::fs::set_permissions(&onpath, std::fs::Permissions::from_mode(0o755)).expect("set");
        let part = Part {
            suite: "stf".to_string(),
            kind: Kind::Tests,
            binary: "stf".into(),
            folder: crates,
            trials: ["xdp::a.p4", "veth::a.p4", "tc_veth::b.p4"]
                .map(String::from)
                .to_vec(),
            others: Vec::new(),
        };
        let plan = Plan {
            suites: vec![part],
            objects: "/objects".into(),
            onpath,
        };
        run(&plan, "6.1");
        let log = std::fs::read_to_string(folder.path().join("log")).expect("it ran");
        assert_eq!(
            log,
            "build a.p4 --hook xdp --kernel 6.1 -o /objects\nbuild b.p4 --hook tc-ingress --kernel 6.1 -o /objects\n\
             build b.p4 --hook tc-egress --kernel 6.1 -o /objects\n"
        );
    }
}
