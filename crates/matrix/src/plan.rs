//! What is to run on each kernel: decided once, on this machine, and given to every guest.

use crate::arguments::Choice;
use crate::binaries::Binaries;
use crate::built;
use crate::drivers;
use crate::error::{Error, output_of};
use crate::packages::Flavour;
use crate::queries;
use crate::suite::{SUITES, Target};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// All that a guest has to know.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// In this order.
    pub suites: Vec<Part>,
    /// The folder of compiled objects.
    pub objects: PathBuf,
    /// `onpath`, which knows what a kernel has.
    pub onpath: PathBuf,
}

/// What of a suite is to run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The suite's name.
    pub suite: String,
    /// How its trials are run.
    pub kind: Kind,
    /// The program.
    pub binary: PathBuf,
    /// Where it is started.
    pub folder: PathBuf,
    /// The names of the trials to run.
    pub trials: Vec<String>,
    /// The names of those that the binary has besides.
    pub others: Vec<String>,
}

/// What a binary is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A test binary, which takes the options of `libtest`.
    Tests,
    /// `onpath`, which reports what the verifier says of a program.
    Loads,
    /// A script that runs programs that were built before.
    Built,
    /// A script that runs such programs at the interfaces of a guest with wires.
    Drivers,
}

impl Plan {
    /// Whether a part of it is run like this.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.suites.iter().any(|part| part.kind == kind)
    }

    /// What needs no wires: all that a machine can do that is no guest.
    pub(crate) fn without_wires(&self) -> Plan {
        self.filtered(|part| part.kind != Kind::Drivers)
    }

    /// What each guest of a kernel is to do, and which of the kernel's packages has the drivers for that.
    pub(crate) fn guests(&self) -> Vec<(Flavour, Plan)> {
        let wires = self.filtered(|part| part.kind == Kind::Drivers);
        let all = [
            (Flavour::Cloud, self.without_wires()),
            (Flavour::Full, wires),
        ];
        let mut guests = Vec::from(all);
        guests.retain(|(_, plan)| !plan.suites.is_empty());
        guests
    }

    fn filtered(&self, takes: impl Fn(&Part) -> bool) -> Plan {
        Plan {
            suites: self.suites.iter().filter(|p| takes(p)).cloned().collect(),
            ..self.clone()
        }
    }

    /// How many trials it has.
    pub(crate) fn len(&self) -> usize {
        self.suites.iter().map(|part| part.trials.len()).sum()
    }
}

/// The trials of all suites that were chosen. What a suite needs besides is made in `folder`.
pub(crate) fn plan(
    root: &Path,
    binaries: &Binaries,
    folder: &Path,
    objects: &Path,
    choice: &Choice,
) -> Result<Plan, Error> {
    let mut position = 0;
    let mut suites = Vec::new();
    for suite in SUITES.iter().filter(|suite| choice.takes_suite(suite)) {
        let binary = binaries.of(suite)?;
        let (kind, binary, folder, names) = match suite.target {
            Target::Loads => (
                Kind::Loads,
                binary.to_path_buf(),
                root.to_path_buf(),
                loads(root, binary)?,
            ),
            Target::Built => {
                let folder = folder.join("built");
                let names = built::prepare(root, binary, objects, &folder)?;
                (Kind::Built, root.join(built::SCRIPT), folder, names)
            }
            Target::Drivers => {
                let folder = folder.join("drivers");
                let names = drivers::prepare(root, binary, objects, &folder)?;
                (Kind::Drivers, root.join(drivers::SCRIPT), folder, names)
            }
            Target::Library | Target::Test(_) => {
                let folder = root.join("crates").join(suite.package);
                let names = tests(binary, &folder)?;
                (Kind::Tests, binary.to_path_buf(), folder, names)
            }
        };
        let mut takes = |name: &String| {
            if !choice.takes(suite, name) {
                return false;
            }
            position += 1;
            choice.shard.has(position - 1)
        };
        let (trials, others): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| takes(name));
        if trials.is_empty() {
            continue;
        }
        suites.push(Part {
            suite: suite.name.to_string(),
            kind,
            binary,
            folder,
            trials,
            others,
        });
    }
    Ok(Plan {
        suites,
        objects: objects.to_path_buf(),
        onpath: binaries.onpath()?.to_path_buf(),
    })
}

/// The names of a binary's tests.
fn tests(binary: &Path, folder: &Path) -> Result<Vec<String>, Error> {
    let listed = output_of(
        Command::new(binary)
            .args(["--list", "--format", "terse"])
            .current_dir(folder),
    )?;
    let names = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(|name| name.trim().to_string()).collect())
}

/// Where the examples are, and the programs of a realistic size; those of queries are made.
const LOADED: [&str; 2] = ["programs", "tests/scale"];

/// Each of them at each hook that its architecture has, as `hook::path`, from the root.
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
        for hook in ["xdp", "tc-ingress", "tc-egress"] {
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

/// The programs in a folder and those in it, in order.
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
