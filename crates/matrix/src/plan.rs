//! Plan of the trials to run on each kernel. It is made once, on this machine, and given to every guest.

use crate::arguments::Choice;
use crate::built;
use crate::error::{Error, output_of};
use crate::packages::Flavour;
use crate::queries;
use crate::suite::{SUITES, SuiteKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Input of a guest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct GuestPlan {
    /// Suites, in the order in which they run.
    pub suites: Vec<SuiteTrials>,
    /// The folder of compiled objects.
    pub objects: PathBuf,
    /// Path of `onpath`, which probes the kernel's features.
    pub onpath: PathBuf,
}

/// Trials of a suite that are to run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SuiteTrials {
    /// Name of the suite.
    pub suite: String,
    /// Kind of its trials.
    pub kind: SuiteKind,
    /// Path of the program that runs them.
    pub binary: PathBuf,
    /// Working directory of the program.
    pub folder: PathBuf,
    /// Names of the trials to run.
    pub trials: Vec<String>,
    /// Names of the binary's other trials.
    pub others: Vec<String>,
}

impl GuestPlan {
    /// Returns the plan with only the suites that need wires, or only the others, which the host can run too.
    pub(crate) fn with_wires(&self, wires: bool) -> GuestPlan {
        let suites = self.suites.iter();
        let suites = suites.filter(|part| (part.kind == SuiteKind::Drivers) == wires);
        GuestPlan {
            suites: suites.cloned().collect(),
            ..self.clone()
        }
    }

    /// Returns the plan of each guest of a kernel, with the package that has the drivers for it.
    pub(crate) fn guests(&self) -> Vec<(Flavour, GuestPlan)> {
        let all = [(Flavour::Cloud, false), (Flavour::Full, true)];
        let guests = all.map(|(flavour, wires)| (flavour, self.with_wires(wires)));
        guests
            .into_iter()
            .filter(|(_, plan)| !plan.suites.is_empty())
            .collect()
    }

    /// Returns the full names of its trials.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.suites.iter().flat_map(|part| {
            let names = part.trials.iter();
            names.map(move |name| format!("{} {name}", part.suite))
        })
    }
}

/// Plans the chosen trials of all suites. Each suite has a binary. Other files that suites need are made in `folder`.
pub(crate) fn plan(
    root: &Path,
    binaries: &BTreeMap<&'static str, PathBuf>,
    folder: &Path,
    objects: &Path,
    choice: &Choice,
) -> Result<GuestPlan, Error> {
    let mut position = 0;
    let mut plan = GuestPlan {
        suites: Vec::new(),
        objects: objects.to_path_buf(),
        onpath: binaries["loads"].clone(),
    };
    for suite in SUITES.iter().filter(|suite| choice.takes_suite(suite)) {
        let binary = &binaries[suite.name];
        let scripted = folder.join(suite.name);
        let script = root.join(format!("scripts/try-{}", suite.name));
        let (binary, folder, names) = match suite.kind {
            SuiteKind::Loads => (binary.clone(), root.to_path_buf(), loads(root, binary)?),
            SuiteKind::Built => {
                built::prepare(root, binary, objects, &scripted)?;
                let names = built::binaries(root, binary, &scripted)?;
                (script, scripted, names)
            }
            SuiteKind::Drivers => {
                built::prepare(root, binary, objects, &scripted)?;
                let listed = output_of(Command::new(&script).arg("--list"))?;
                (script, scripted, listed.lines().map(String::from).collect())
            }
            SuiteKind::Tests => {
                let folder = root.join("crates").join(suite.package);
                let names = tests(binary, &folder)?;
                (binary.clone(), folder, names)
            }
        };
        let mut takes = |name: &String| {
            let takes = choice.takes(suite, name);
            position += usize::from(takes);
            takes && choice.shard.has(position - 1)
        };
        let (trials, others): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| takes(name));
        if !trials.is_empty() {
            plan.suites.push(SuiteTrials {
                suite: suite.name.to_string(),
                kind: suite.kind,
                binary,
                folder,
                trials,
                others,
            });
        }
    }
    Ok(plan)
}

/// Returns the names of a binary's tests.
fn tests(binary: &Path, folder: &Path) -> Result<Vec<String>, Error> {
    let mut list = Command::new(binary);
    list.args(["--list", "--format", "terse"])
        .current_dir(folder);
    let listed = output_of(&mut list)?;
    let names = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(|name| name.trim().to_string()).collect())
}

/// Folders of the examples and of programs of a realistic size. Programs of queries are generated.
const LOADED: [&str; 2] = ["programs", "tests/scale"];

/// Hooks that programs are loaded at.
pub(crate) const HOOKS: [&str; 3] = ["xdp", "tc-ingress", "tc-egress"];

/// Returns a name for each program at each hook that its architecture supports: `hook::path`, from the root.
fn loads(root: &Path, onpath: &Path) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    let mut programs = Vec::new();
    for folder in LOADED {
        for program in p4_files(&root.join(folder))? {
            let short = program.strip_prefix(root).unwrap_or(&program);
            programs.push(short.display().to_string());
        }
    }
    programs.extend(queries::prepare(root, onpath)?);
    for short in programs {
        for hook in HOOKS {
            let mut command = Command::new(onpath);
            command
                .args(["build", &short, "--emit", "c", "--target", hook])
                .current_dir(root);
            if output_of(&mut command).is_ok() {
                names.push(format!("{hook}::{short}"));
            }
        }
    }
    if names.is_empty() {
        return Err(Error::new("no program compiles at any hook"));
    }
    Ok(names)
}

/// Returns the programs below a folder, sorted.
pub(crate) fn p4_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).map_err(Error::file("read", &folder))? {
            let path = entry.map_err(Error::file("read", &folder))?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "p4") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
