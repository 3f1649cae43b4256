//! Every STF test of the repository on every target: the interpreter, the kernel by test run, and the
//! kernel between veth pairs.

mod common;

use libtest_mimic::{Arguments, Failed, Trial};
use onpath::driver::{self, Input};
use onpath::output::text_of;
use onpath::stf::{Case, Prepared, Target, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Programs for an architecture that XDP does not have. Each must be refused there, so that this
/// list stays exact.
const NOT_FOR_XDP: [&str; 10] = [
    "tests/stf/v1model/checksum.p4",
    "tests/stf/v1model/counters.p4",
    "tests/stf/v1model/direct_meter.p4",
    "tests/stf/v1model/egress.p4",
    "tests/stf/v1model/hash.p4",
    "tests/stf/v1model/match_kinds.p4",
    "tests/stf/v1model/meter.p4",
    "tests/stf/v1model/parser_error.p4",
    "tests/stf/v1model/random_digest.p4",
    "tests/stf/v1model/registers.p4",
];

/// A script with this first line has packets shorter than an Ethernet header, which neither a network
/// device nor the kernel's test run takes.
const NEEDS_INTERP: &str = "# needs: interp";

/// The scripts that begin like that; any other is run everywhere.
const SHORT_PACKETS: [&str; 2] = [
    "tests/stf/filter/accept.short.stf",
    "tests/stf/parser/truncated.short.stf",
];

fn main() {
    let args = Arguments::from_args();
    let mut by_program: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for script in ["programs", "tests/stf", "tests/extern"]
        .iter()
        .flat_map(|dir| common::files(dir, "stf"))
    {
        by_program
            .entry(program_of(&script))
            .or_default()
            .push(script);
    }
    let scripts: usize = by_program.values().map(Vec::len).sum();
    let mut trials = vec![Trial::test("there_are_enough", move || {
        enough(scripts, by_program_len())
    })];
    for (program, scripts) in by_program {
        let name = common::short(&program);
        for (way, target) in [
            ("interp", Target::Interp { seed: 1 }),
            ("xdp", Target::XdpFast),
            ("veth", Target::XdpVeth),
        ] {
            let (program, scripts) = (program.clone(), scripts.clone());
            // The interpreter does not run the C of extern functions.
            if way == "interp" && program.with_extension("c").exists() {
                continue;
            }
            let refused = way != "interp" && NOT_FOR_XDP.contains(&name.as_str());
            match (refused, way) {
                (true, "xdp") => trials
                    .push(Trial::test(format!("xdp_refuses::{name}"), move || {
                        is_refused(&program)
                    })),
                (true, _) => {}
                (false, _) => trials.push(Trial::test(format!("{way}::{name}"), move || {
                    passes(&program, &scripts, target)
                })),
            }
        }
    }
    libtest_mimic::run(&args, trials).exit();
}

/// `dir/name.p4` for `dir/name.stf` and `dir/name.case.stf`; in `programs/` the folder's program.
fn program_of(script: &Path) -> PathBuf {
    let stem = script
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let name = stem.split('.').next().expect("a first part");
    let beside = script.with_file_name(format!("{name}.p4"));
    if beside.exists() {
        return beside;
    }
    let folder = script
        .parent()
        .and_then(Path::file_name)
        .expect("a folder")
        .to_string_lossy();
    script.with_file_name(format!("{folder}.p4"))
}

fn by_program_len() -> usize {
    let scripts = ["programs", "tests/stf"]
        .iter()
        .flat_map(|dir| common::files(dir, "stf"));
    scripts
        .map(|s| program_of(&s))
        .collect::<std::collections::BTreeSet<_>>()
        .len()
}

fn enough(scripts: usize, programs: usize) -> Result<(), Failed> {
    if scripts >= 60 && programs >= 25 {
        return Ok(());
    }
    Err(format!("{scripts} scripts over {programs} programs").into())
}

fn prepare(program: &Path, target: Target) -> Result<Prepared, Failed> {
    let elaborated = driver::elaborate(&Input::file(program))
        .map_err(|refused| text_of(&refused.diagnostics, &refused.map))?;
    let externs: Vec<PathBuf> = Some(program.with_extension("c"))
        .filter(|c| c.exists())
        .into_iter()
        .collect();
    Prepared::new(elaborated, target, &externs)
        .map_err(|unfit| text_of(&unfit.diagnostics, &unfit.map).into())
}

fn passes(program: &Path, scripts: &[PathBuf], target: Target) -> Result<(), Failed> {
    let mut prepared = prepare(program, target)?;
    let mut failed = String::new();
    for script in scripts {
        let text = std::fs::read_to_string(script)?;
        let first = text.lines().next().unwrap_or_default().trim();
        let short = first == NEEDS_INTERP;
        if short != SHORT_PACKETS.contains(&common::short(script).as_str()) {
            return Err(format!("{}: not as SHORT_PACKETS says", script.display()).into());
        }
        let left_out = short && !matches!(target, Target::Interp { .. });
        if left_out {
            continue;
        }
        let case = Case {
            name: common::short(script),
            text,
        };
        match prepared.run(&case, None) {
            Verdict::Passed { .. } => {}
            Verdict::Failed { failures, .. } => failed += &failures.join("\n"),
            Verdict::Refused(diagnostics) => failed += &text_of(&diagnostics, prepared.map()),
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(failed.into())
    }
}

fn is_refused(program: &Path) -> Result<(), Failed> {
    let elaborated = driver::elaborate(&Input::file(program))
        .map_err(|refused| text_of(&refused.diagnostics, &refused.map))?;
    match Prepared::new(elaborated, Target::XdpFast, &[]) {
        Ok(_) => Err("XDP takes it: take it off the list".into()),
        Err(unfit) => {
            let text = text_of(&unfit.diagnostics, &unfit.map);
            if text.contains("v1model") {
                Ok(())
            } else {
                Err(text.into())
            }
        }
    }
}
