//! Tests that the examples and the programs of a realistic size load when older clangs compile them. The trials of a
//! clang that is not installed are ignored; `make test-clangs` installs those that Debian has. With ONPATH_BLESS=1 a
//! run of all trials writes the table of processed instructions.

use bpf::abi::Hook;
use clang::{CLANG_VARIABLE, Clang, OLDEST};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::sync::{Arc, Mutex};
use testkit::files;

/// Older clangs. All other tests use the newest that is installed.
const OLDER: [u32; 2] = [OLDEST, 16];

/// Divisor of the verifier's limit, which gives the maximum for these programs. A user's larger program still fits
/// then.
const PART_OF_LIMIT: u64 = 2;

/// Instructions that the verifier processed of each program, by hook and clang.
type Processed = BTreeMap<(&'static str, u32), BTreeMap<String, u64>>;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let installed = clang::installed();
    let processed = Arc::new(Mutex::new(Processed::default()));
    let mut trials = Vec::new();
    for version in OLDER {
        let clang = installed.iter().find(|clang| clang.version == version);
        for hook in Hook::ALL {
            let (clang, processed) = (clang.cloned(), Arc::clone(&processed));
            let name = format!("clang-{version}::{}", hook.name());
            let trial = Trial::ignorable_test(name, move || {
                let Some(clang) = clang else {
                    return Ok(Completion::ignored_with(format!(
                        "clang-{version} is not installed; `make test-clangs` installs it"
                    )));
                };
                let taken = all_load(&clang, hook)?;
                let mut processed = processed.lock().map_err(|e| e.to_string())?;
                processed.insert((hook.name(), version), taken);
                Ok(Completion::Completed)
            });
            // These trials are for `make test-clangs`, and take minutes.
            trials.push(trial.with_ignored_flag(true));
        }
    }
    let all = trials.len();
    let conclusion = libtest_mimic::run(&args, trials);
    let mut processed = processed.lock().expect("no trial panicked");
    if std::env::var_os("ONPATH_BLESS").is_some() && processed.len() == all {
        let newest = installed.first().expect("a clang");
        for hook in Hook::ALL {
            let taken = all_load(newest, hook).expect("what the newest clang compiles loads");
            processed.insert((hook.name(), newest.version), taken);
        }
        let path = files::root().join("bench/results/clangs.md");
        std::fs::write(path, document(&processed)).expect("the table is written");
    }
    conclusion.exit_code()
}

/// Returns the processed instructions of each program that the hook runs. Fails with the programs that do not load,
/// and why.
fn all_load(clang: &Clang, hook: Hook) -> Result<BTreeMap<String, u64>, Failed> {
    let mut taken = BTreeMap::new();
    let mut failed = String::new();
    for program in programs() {
        let name = files::short(&program);
        match verified(clang, hook, &program) {
            Ok(Some(instructions)) => {
                taken.insert(name, instructions);
            }
            Ok(None) => {}
            Err(why) => failed += &format!("{name}: {why}\n"),
        }
    }
    if taken.len() < 20 {
        failed += &format!("only {} programs load\n", taken.len());
    }
    match failed.is_empty() {
        true => Ok(taken),
        false => Err(failed.into()),
    }
}

fn programs() -> Vec<PathBuf> {
    let folders = ["programs", "tests/scale"].into_iter();
    folders
        .flat_map(|folder| files::below(folder, "p4"))
        .collect()
}

/// Returns the processed instructions of a program, or `None` if the hook does not run it.
fn verified(clang: &Clang, hook: Hook, program: &Path) -> Result<Option<u64>, String> {
    let built = build(clang, hook, program, &["--report", "--json"]);
    let printed = String::from_utf8_lossy(&built.stdout);
    if !built.status.success() {
        let refused = !build(clang, hook, program, &["--emit", "c"])
            .status
            .success();
        return match refused {
            true => Ok(None),
            false => Err(format!(
                "{printed}{}",
                String::from_utf8_lossy(&built.stderr)
            )),
        };
    }
    let report: Value = serde_json::from_str(&printed).map_err(|e| e.to_string())?;
    let verifier = &report["verifier"];
    let numbers = (
        verifier["instructions"].as_u64(),
        verifier["limit"].as_u64(),
    );
    match (verifier["accepted"].as_bool(), numbers) {
        (Some(true), (Some(taken), Some(limit))) if taken <= limit / PART_OF_LIMIT => {
            Ok(Some(taken))
        }
        _ => Err(verifier.to_string()),
    }
}

fn build(clang: &Clang, hook: Hook, program: &Path, how: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onpath"));
    command
        .arg("build")
        .arg(program)
        .args(["--target", hook.name()])
        .args(how)
        .env(CLANG_VARIABLE, &clang.path);
    command.output().expect("onpath runs")
}

fn document(processed: &Processed) -> String {
    let clangs: BTreeSet<u32> = processed.keys().map(|(_, version)| *version).collect();
    let columns = Hook::ALL.into_iter().flat_map(|hook| {
        let clangs = clangs.iter();
        clangs.map(move |version| (hook.name(), *version))
    });
    let columns: Vec<_> = columns.collect();
    let mut text = format!(
        "# Instructions that the verifier processed, by clang\n\n{}. Written by `make test-clangs`.\n\n| program |",
        lab::Machine::this()
    );
    for (hook, version) in &columns {
        text += &format!(" {hook}, clang {version} |");
    }
    text += &format!("\n|---|{}\n", "---|".repeat(columns.len()));
    for program in programs() {
        let name = files::short(&program);
        text += &format!("| {name} |");
        for column in &columns {
            let taken = processed.get(column).and_then(|taken| taken.get(&name));
            let taken = taken.map_or(String::new(), u64::to_string);
            text += &format!(" {taken} |");
        }
        text += "\n";
    }
    text
}
