//! Interpreter against kernel, bit for bit: the repository's programs and random ones, with random
//! packets and random entries.
//!
//! `ONPATH_DIFF_PACKETS` and `ONPATH_DIFF_PROGRAMS` set how much, `ONPATH_DIFF_SEED` where to begin: a
//! failure names the seed that shows it again. `ONPATH_DIFF_KERNEL` names a version of Linux, such as 6.1: the programs then
//! have the forms of that one. `ONPATH_DIFF_SHRINKING` is how many compilations a failure may cost until it is shown; with 0 a long run
//! shows many.

mod compare;
mod fate;

use bpf::abi::Hook;
use bpf::{ParseRecord, Parts};
use compare::{Difference, Forms, Prepared, Unfit, prepare};
use kernel::features::Kernel;
use layout::Structure;
use libtest_mimic::{Arguments, Failed, Trial};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use testkit::generate::{self, Generated, Model};
use testkit::{files, refused};

/// Packets for one choice of entries.
const BATCH: usize = 250;

const HOOKS: [Hook; 3] = [Hook::Xdp, Hook::TcIngress, Hook::TcEgress];

fn name_of(hook: Hook) -> &'static str {
    match hook {
        Hook::Xdp => "xdp",
        Hook::TcIngress => "tc_ingress",
        Hook::TcEgress => "tc_egress",
    }
}

/// Whether a hook has an architecture, by its package.
fn has(hook: Hook, package: &str) -> bool {
    arch::by_package(package).is_some_and(|arch| match hook {
        Hook::Xdp | Hook::TcIngress => arch.places.contains(&hook.place()),
        // What the hook has in common with ingress is compared there.
        Hook::TcEgress => arch.model == arch::Model::Tc,
    })
}

/// Seeds of programs that are always compared: tuple space search, and functions that are cut.
const FORMS: [usize; 2] = [4, 5];
/// Seeds of programs that copy packets which the verifier once refused: in parts, it lost what clang knew of a pointer.
const REFUSED_ONCE: [usize; 1] = [20];
/// Seeds of programs for a switch that were once processed otherwise than by the interpreter: a hash that draws a random number did so only where
/// somebody read it; a packet came that ends within a VLAN tag, which the kernel drops.
const DIFFERED_ONCE: [usize; 2] = [2010, 30013];

fn main() {
    let args = Arguments::from_args();
    // As many as an emulated guest of the matrix takes in minutes.
    let packets = number("ONPATH_DIFF_PACKETS", 60);
    let programs = number("ONPATH_DIFF_PROGRAMS", 3);
    let seed = number("ONPATH_DIFF_SEED", 1);
    let mut trials = Vec::new();
    for file in ["programs", "tests/stf", "tests/stages", "tests/scale"]
        .iter()
        .flat_map(|dir| files::below(dir, "p4"))
    {
        for hook in HOOKS {
            let file = file.clone();
            let name = format!("{}::{}", name_of(hook), files::short(&file));
            // The kernel takes a second for a packet whose program has no end; the STF tests have a few.
            let is_long = name.contains("tests/stf/parser/endless");
            let trial = Trial::test(name, move || written(&file, hook, packets, seed as u64));
            trials.push(trial.with_ignored_flag(is_long));
        }
    }
    let with = |kept: &[usize]| -> BTreeSet<usize> {
        (seed..seed + programs)
            .chain(kept.iter().copied())
            .collect()
    };
    for hook in HOOKS {
        for seed in with(&FORMS) {
            let seed = seed as u64;
            let name = format!("random::{}::{seed}", name_of(hook));
            let model = match hook {
                Hook::Xdp => Model::Xdp,
                Hook::TcIngress | Hook::TcEgress => Model::Tc,
            };
            trials.push(Trial::test(name, move || {
                random(seed, hook, model, packets)
            }));
        }
    }
    for hook in [Hook::Xdp, Hook::TcIngress] {
        for seed in with(&DIFFERED_ONCE) {
            let seed = seed as u64;
            let name = format!("random::v1model_{}::{seed}", name_of(hook));
            trials.push(Trial::test(name, move || {
                random(seed, hook, Model::V1, packets)
            }));
        }
    }
    for seed in with(&REFUSED_ONCE) {
        let seed = seed as u64;
        trials.push(Trial::test(format!("random::copies::{seed}"), move || {
            random(seed, Hook::TcIngress, Model::Copies, packets)
        }));
    }
    libtest_mimic::run(&args, trials).exit();
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// The kernel whose forms programs have.
fn kernel() -> Kernel {
    let Ok(text) = std::env::var("ONPATH_DIFF_KERNEL") else {
        return Kernel::This;
    };
    let version = text
        .split_once('.')
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    Kernel::Version(version.unwrap_or_else(|| panic!("`{text}` is no version, such as 6.1")))
}

/// A program of the repository.
fn written(file: &Path, hook: Hook, packets: usize, seed: u64) -> Result<(), Failed> {
    let scripts = scripts_of(file);
    let forms = Forms {
        kernel: kernel(),
        parse_record: ParseRecord::BySize,
        layout: None,
        parts: None,
    };
    let prepared = match prepare(file, hook, forms) {
        Err(Unfit::OtherModel) => return Ok(()),
        Err(Unfit::Refused(why))
            if hook == Hook::Xdp
                && refused::at_xdp(file).is_some_and(|what| why.contains(what)) =>
        {
            return Ok(());
        }
        Err(Unfit::Refused(why)) => return Err(format!("refused: {why}").into()),
        Err(Unfit::Broken(text)) => return Err(text.into()),
        Ok(prepared) => prepared,
    };
    compare(&prepared, seed, packets, &scripts).map_err(|(seed, d)| {
        format!("ONPATH_DIFF_SEED={seed}, packet {}: {}", d.number, d.text).into()
    })
}

/// A program's STF tests: in `programs/` all of its folder, elsewhere those that begin with its name.
fn scripts_of(file: &Path) -> Vec<PathBuf> {
    let stem = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let folder = file.parent().unwrap_or(file);
    let first = |script: &Path| {
        let name = script
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        name.split('.').next().map(str::to_owned)
    };
    files::below(&files::short(folder), "stf")
        .into_iter()
        .filter(|script| alone(file) || first(script).as_deref() == Some(&stem))
        .collect()
}

/// Whether a program has its folder for itself.
fn alone(file: &Path) -> bool {
    file.parent().and_then(Path::file_name) == file.file_stem()
}

/// All packets in batches, each with entries of its own.
fn compare(
    prepared: &Prepared,
    seed: u64,
    packets: usize,
    scripts: &[PathBuf],
) -> Result<(), (u64, Difference)> {
    for batch in 0..packets.div_ceil(BATCH) as u64 {
        let seed = seed.wrapping_add(batch << 32);
        prepared
            .compare(seed, BATCH.min(packets), scripts)
            .map_err(|d| (seed, d))?;
    }
    Ok(())
}

/// A generated program; a difference is shrunk.
fn random(seed: u64, hook: Hook, model: Model, packets: usize) -> Result<(), Failed> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let program = generate::program(model, &mut generator);
    let packets = packets.min(2 * BATCH);
    let check = |program: &Generated| check(program, hook, seed, packets);
    let Err(first) = check(&program) else {
        return Ok(());
    };
    // Shrinking may take longer than somebody waits.
    eprintln!("seed {seed}, which is shrunk now: {first}");
    let (program, text) = shrink(program, first, check);
    Err(format!("seed {seed}: {text}\n{}", program.text()).into())
}

/// What is wrong with a program, if something is.
fn check(program: &Generated, hook: Hook, seed: u64, packets: usize) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = dir.path().join("random.p4");
    std::fs::write(&file, program.text()).map_err(|e| e.to_string())?;
    // What the parser leaves, half of them keep in memory.
    let parse_record = match seed % 2 {
        0 => ParseRecord::Always,
        _ => ParseRecord::BySize,
    };
    // A quarter each of what is searched by masks, of what has prefixes, and of exact keys.
    let layout = match seed % 4 {
        0 => Some(Structure::TupleSpace),
        1 => Some(Structure::MultibitTrie),
        2 => Some(Structure::Buckets),
        _ => None,
    };
    // A fifth is cut wherever it can be, some of it into several programs.
    let programs = 1 + (seed / 5 % 3) as usize;
    let parts = seed
        .is_multiple_of(5)
        .then_some(Parts { size: 20, programs });
    let forms = Forms {
        kernel: kernel(),
        parse_record,
        layout,
        parts,
    };
    match prepare(&file, hook, forms) {
        Ok(prepared) => compare(&prepared, seed, packets, &[]).map_err(|(_, d)| d.text),
        // The generator makes nothing that the hook does not have: a refusal would prove nothing.
        Err(Unfit::OtherModel) => Err("not compiled: it is for another hook".into()),
        Err(Unfit::Refused(why)) => Err(format!("not compiled: {why}")),
        Err(Unfit::Broken(text)) => Err(format!("not compiled: {text}")),
    }
}

/// Takes away what is not needed for the program to go wrong in the same way.
fn shrink(
    program: Generated,
    first: String,
    check: impl Fn(&Generated) -> Result<(), String>,
) -> (Generated, String) {
    let kind = |text: &str| text.starts_with("not compiled");
    let (mut program, mut text) = (program, first);
    let mut left = number("ONPATH_DIFF_SHRINKING", 150);
    'again: loop {
        for candidate in generate::smaller(&program) {
            if left == 0 {
                return (program, text);
            }
            left -= 1;
            match check(&candidate) {
                Err(other) if kind(&other) == kind(&text) => {
                    (program, text) = (candidate, other);
                    continue 'again;
                }
                _ => {}
            }
        }
        return (program, text);
    }
}
