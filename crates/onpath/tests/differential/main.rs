//! Comparison of interpreter and kernel, bit for bit: the repository's programs and random ones, with random packets
//! and random entries.
//!
//! `ONPATH_DIFF_PACKETS` and `ONPATH_DIFF_PROGRAMS` set the numbers of packets and programs, and `ONPATH_DIFF_SEED`
//! the first seed. A failure names the seed that reproduces it. `ONPATH_DIFF_KERNEL` names a version of Linux, such
//! as 6.1, whose lowerings the programs then have. `ONPATH_DIFF_SHRINKING` is the maximum number of compilations to
//! shrink a failure; with 0 a long run shows many failures.

mod compare;
mod fate;

use bpf::abi::Hook;
use bpf::{Outlining, ParseRecord};
use compare::{Difference, Prepared, Unfit, Variants, prepare};
use kernel::features::Kernel;
use layout::Structure;
use libtest_mimic::{Arguments, Failed, Trial};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use testkit::generate::{self, Generated, Model};
use testkit::{files, refused};

/// Number of packets for one choice of entries.
const BATCH: usize = 250;

const HOOKS: [Hook; 3] = [Hook::Xdp, Hook::TcIngress, Hook::TcEgress];

fn name_of(hook: Hook) -> &'static str {
    match hook {
        Hook::Xdp => "xdp",
        Hook::TcIngress => "tc_ingress",
        Hook::TcEgress => "tc_egress",
    }
}

/// Returns true if a hook runs the architecture of a package.
fn has(hook: Hook, package: &str) -> bool {
    arch::by_package(package).is_some_and(|arch| match hook {
        Hook::Xdp | Hook::TcIngress => arch.places.contains(&hook.place()),
        // The architectures that it shares with ingress are compared there.
        Hook::TcEgress => arch.model == arch::Model::Tc,
    })
}

/// Seeds of programs that are always compared: tuple space search, and outlined functions.
const FORMS: [usize; 2] = [4, 5];
/// Seeds of programs that copy packets and that the verifier once rejected: with outlined functions, it lost a
/// pointer's bounds that clang relied on.
const REFUSED_ONCE: [usize; 1] = [20];
/// Seeds of `v1model` programs that once differed from the interpreter. In one, a hash drew a random number only if
/// its result was read. In the other, a packet ended within a VLAN tag, which the kernel drops.
const DIFFERED_ONCE: [usize; 2] = [2010, 30013];

fn main() {
    let args = Arguments::from_args();
    // An emulated guest of the matrix takes minutes for this many.
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
            // The kernel takes a second for a packet whose program never ends. The STF tests have a few of these.
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

/// Returns the kernel whose lowerings the programs have.
fn kernel() -> Kernel {
    let Ok(text) = std::env::var("ONPATH_DIFF_KERNEL") else {
        return Kernel::This;
    };
    let version = text
        .split_once('.')
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    Kernel::Version(version.unwrap_or_else(|| panic!("`{text}` is no version, such as 6.1")))
}

/// Compares a program of the repository.
fn written(file: &Path, hook: Hook, packets: usize, seed: u64) -> Result<(), Failed> {
    let scripts = scripts_of(file);
    let variants = Variants {
        kernel: kernel(),
        parse_record: ParseRecord::BySize,
        layout: None,
        outline: None,
    };
    let prepared = match prepare(file, hook, variants) {
        Err(Unfit::OtherModel) => return Ok(()),
        Err(Unfit::Refused(why))
            if hook == Hook::Xdp
                && refused::at_xdp(file).is_some_and(|what| why.contains(what)) =>
        {
            return Ok(());
        }
        Err(Unfit::Refused(why))
            if hook != Hook::Xdp && why.contains("cannot change the payload") =>
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

/// Returns a program's STF tests: all of its folder if it is alone there, and else those that begin with its name.
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

/// Returns true if a program is alone in its folder, which then has its name.
fn alone(file: &Path) -> bool {
    file.parent().and_then(Path::file_name) == file.file_stem()
}

/// Compares all packets in batches, each with its own entries.
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

/// Words of the kernel about a program with more paths than its verifier follows.
const TOO_LARGE: &str = "BPF program is too large";

/// Compares a generated program. A program that differs is shrunk.
fn random(seed: u64, hook: Hook, model: Model, packets: usize) -> Result<(), Failed> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let program = generate::program(model, &mut generator);
    let packets = packets.min(2 * BATCH);
    let check = |program: &Generated| check(program, hook, seed, packets);
    let Err(first) = check(&program) else {
        return Ok(());
    };
    // A smaller program would load, and each takes the verifier seconds to refuse.
    if first.contains(TOO_LARGE) {
        return Err(format!("seed {seed}: {first}").into());
    }
    // This is printed now, as shrinking may take long.
    eprintln!("seed {seed}, which is shrunk now: {first}");
    let (program, text) = shrink(program, first, check);
    Err(format!("seed {seed}: {text}\n{}", program.text()).into())
}

/// Compares a generated program, in a variant that the seed chooses.
fn check(program: &Generated, hook: Hook, seed: u64, packets: usize) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = dir.path().join("random.p4");
    std::fs::write(&file, program.text()).map_err(|e| e.to_string())?;
    // Half of the programs keep their parse results in a map.
    let parse_record = match seed % 2 {
        0 => ParseRecord::Always,
        _ => ParseRecord::BySize,
    };
    // A quarter of the programs each has another structure for masks, for prefixes and for exact keys.
    let layout = match seed % 4 {
        0 => Some(Structure::TupleSpace),
        1 => Some(Structure::Trie),
        2 => Some(Structure::Buckets),
        _ => None,
    };
    // A fifth of the programs is outlined wherever possible, some of them into several programs.
    let programs = 1 + (seed / 5 % 3) as usize;
    let outline = seed
        .is_multiple_of(5)
        .then_some(Outlining { size: 20, programs });
    let variants = Variants {
        kernel: kernel(),
        parse_record,
        layout,
        outline,
    };
    match prepare(&file, hook, variants) {
        Ok(prepared) => compare(&prepared, seed, packets, &[]).map_err(|(_, d)| d.text),
        // The generator makes only programs that the hook supports, as a refused program would test nothing.
        Err(Unfit::OtherModel) => Err("not compiled: it is for another hook".into()),
        Err(Unfit::Refused(why)) => Err(format!("not compiled: {why}")),
        Err(Unfit::Broken(text)) => Err(format!("not compiled: {text}")),
    }
}

/// Shrinks a program as long as it fails in the same way.
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
