//! Runs every STF test of the repository on every target: the interpreter, the native target, and each hook of the
//! kernel by test run and between veth pairs. Trials that `make test` ignores run in `make test-all`.

mod native;

use arch::Model;
use arch::tc::Direction;
use bpf::abi::Hook;
use bpf::features::FLOOR;
use bpf::features::Feature;
use bpf::{Outlining, ParseRecord};
use control::repeatable::SEED;
use control::stf::StatementKind;
use diag::{SourceMap, render_plain};
use driver::bpf_target::Reach;
use driver::declared::Need;
use driver::stf::{Case, Prepared, StfTarget, TestResult};
use driver::{Elaborated, Input};
use kernel::features::Kernel;
use kernel::test_run::{LONGEST, LONGEST_IN_FRAGMENTS, shortest};
use layout::Structure;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use testkit::{files, refused, sample};

/// A target to run tests on.
#[derive(Clone, Copy)]
struct Runner {
    name: &'static str,
    hook: Option<Hook>,
    reach: Reach,
    kernel: Kernel,
    /// Outlined functions.
    outline: Option<Outlining>,
    /// True if `make test` runs a quarter of the programs only, as another runner runs all of them at the hook in the
    /// usual variant.
    sampled: bool,
}

/// All runners, the interpreter first. Packets go in the other direction for scripts that ask for it.
const RUNNERS: [Runner; 11] = [
    runner("interp", None, Reach::TestRun, Kernel::This),
    runner("xdp", Some(Hook::Xdp), Reach::TestRun, Kernel::This),
    runner("xdp_6.1", Some(Hook::Xdp), Reach::TestRun, OLDEST),
    outlined("xdp_parts", Hook::Xdp),
    in_programs("xdp_programs", Hook::Xdp),
    runner("veth", Some(Hook::Xdp), Reach::Veth, Kernel::This),
    runner("tc", Some(Hook::TcIngress), Reach::TestRun, Kernel::This),
    runner("tc_6.1", Some(Hook::TcIngress), Reach::TestRun, OLDEST),
    outlined("tc_parts", Hook::TcIngress),
    in_programs("tc_programs", Hook::TcIngress),
    runner("tc_veth", Some(Hook::TcIngress), Reach::Veth, Kernel::This),
];

/// Environment variable with a version of Linux, such as `6.1`, for which the kernel's trials are compiled and not
/// run. Guests then find the objects in the cache.
const COMPILES_FOR: &str = "ONPATH_STF_COMPILES_FOR";

/// Oldest kernel, whose programs use every fallback. In addition, parse results are in a map, and ternary keys are
/// searched by tuple space.
const OLDEST: Kernel = Kernel::Version(FLOOR);

const fn runner(name: &'static str, hook: Option<Hook>, reach: Reach, kernel: Kernel) -> Runner {
    Runner {
        name,
        hook,
        reach,
        kernel,
        outline: None,
        sampled: matches!(kernel, Kernel::Version(_)),
    }
}

/// Returns a runner that outlines functions wherever possible. In addition, tables with exact keys use buckets.
const fn outlined(name: &'static str, hook: Hook) -> Runner {
    Runner {
        outline: Some(Outlining {
            size: 20,
            programs: 1,
        }),
        sampled: true,
        ..runner(name, Some(hook), Reach::TestRun, Kernel::This)
    }
}

/// Returns a runner that outlines functions into three programs, chained by tail calls. In addition, tables of prefixes
/// use the kernel's trie.
const fn in_programs(name: &'static str, hook: Hook) -> Runner {
    Runner {
        sampled: true,
        outline: Some(Outlining {
            size: 20,
            programs: 3,
        }),
        ..runner(name, Some(hook), Reach::TestRun, Kernel::This)
    }
}

impl Runner {
    /// Returns the target for packets of this direction, or `None` if the hook does not see them.
    fn target(self, direction: Direction) -> Option<StfTarget> {
        let seed = SEED;
        let hook = match (self.hook, direction) {
            (None, _) => return Some(StfTarget::Interp { seed, direction }),
            (Some(Hook::Xdp), Direction::Egress) => return None,
            (Some(_), Direction::Egress) => Hook::TcEgress,
            (Some(hook), Direction::Ingress) => hook,
        };
        Some(StfTarget::Kernel {
            hook,
            reach: self.reach,
            kernel: self.kernel,
            // The oldest kernel's verifier needs this most.
            parse_record: match self.kernel {
                Kernel::This => ParseRecord::BySize,
                Kernel::Version(_) => ParseRecord::Always,
            },
            layout: match (self.kernel, self.outline) {
                (Kernel::Version(_), _) => Some(Structure::TupleSpace),
                (Kernel::This, Some(Outlining { programs: 1, .. })) => Some(Structure::Buckets),
                (Kernel::This, Some(_)) => Some(Structure::Trie),
                (Kernel::This, None) => None,
            },
            outline: self.outline,
        })
    }

    /// Returns true if the hook runs programs for this package. All others must be refused.
    fn runs(self, package: &str) -> bool {
        let Some(hook) = self.hook else { return true };
        arch::by_package(package).is_some_and(|arch| arch.places.contains(&hook.place()))
    }
}

/// Programs that run in every variant in `make test` too. Only these reveal faults in priorities, masks and paths of
/// the variants for older kernels.
const IN_EVERY_VARIANT: [&str; 10] = [
    "programs/pdm/ingress.p4",
    "tests/extern/user_functions.p4",
    "tests/stf/control/loops.p4",
    "tests/stf/header/varbit_moves.p4",
    "tests/stf/match/entry_priorities.p4",
    "tests/stf/match/many_rules.p4",
    "tests/stf/match/tuple_space.p4",
    "tests/stf/metrics/groups.p4",
    "tests/stf/v1model/resubmit.p4",
    "tests/stf/v1model/varbit_hashes.p4",
];

/// Scripts with short packets.
const SHORT_PACKETS: [&str; 2] = [
    "tests/stf/filter/accept.short.stf",
    "tests/stf/parser/truncated.short.stf",
];

/// Scripts that do not pass between devices at traffic control, with the kernel's behaviour. Each must fail there, so
/// that this list stays exact.
const OTHERWISE_BETWEEN_DEVICES_AT_TC: [(&str, &str); 2] = [
    (
        "programs/mpls/pop.stf",
        "cuts no packet in front of where it saw a transport header, which a program cannot change",
    ),
    (
        "programs/vlan_stack/depth.stf",
        "drops a packet that ends within its outer VLAN tag before any program sees it",
    ),
];

fn main() {
    let mut args = Arguments::from_args();
    args.test_threads.get_or_insert(testkit::threads());
    let mut by_program: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for script in [
        "programs",
        "tests/stf",
        "tests/stages",
        "tests/scale",
        "tests/extern",
    ]
    .iter()
    .flat_map(|dir| files::below(dir, "stf"))
    {
        by_program
            .entry(program_of(&script))
            .or_default()
            .push(script);
    }
    let compiles_for = std::env::var(COMPILES_FOR).ok().map(|version| {
        let (major, minor) = version.split_once('.').expect("a version of Linux");
        let number = |text: &str| text.parse().expect("a number");
        Kernel::Version((number(major), number(minor)))
    });
    let scripts: usize = by_program.values().map(Vec::len).sum();
    let mut trials = vec![Trial::test("there_are_enough", move || {
        enough(scripts, by_program_len())
    })];
    for (program, scripts) in by_program {
        let name = files::short(&program);
        let (of_native, all) = (program.clone(), scripts.clone());
        trials.push(Trial::test(format!("native::{name}"), move || {
            native::passes(&of_native, &all)
        }));
        for runner in RUNNERS {
            let (program, scripts) = (program.clone(), scripts.clone());
            let always = !runner.sampled || IN_EVERY_VARIANT.contains(&name.as_str());
            let name = format!("{}::{name}", runner.name);
            let for_all = !always && !sample::in_quarter(&name);
            let trial = Trial::test(name, move || {
                passes(&program, &scripts, runner, compiles_for)
            });
            trials.push(trial.with_ignored_flag(for_all));
        }
    }
    libtest_mimic::run(&args, trials).exit();
}

/// Returns the program of a script: `dir/name.p4` for `dir/name.stf` and `dir/name.case.stf`, or else the program
/// with the folder's name.
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
    let scripts = ["programs", "tests/stf", "tests/scale"]
        .iter()
        .flat_map(|dir| files::below(dir, "stf"));
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

fn passes(
    program: &Path,
    paths: &[PathBuf],
    runner: Runner,
    compiles_for: Option<Kernel>,
) -> Result<(), Failed> {
    let scripts = paths
        .iter()
        .map(|path| Script::read(path))
        .collect::<Result<Vec<_>, _>>()?;
    let mut failed = String::new();
    let mut compiled = false;
    for direction in [Direction::Ingress, Direction::Egress] {
        let scripts = scripts
            .iter()
            .filter(|s| s.directions.contains(&direction) && s.runs(runner));
        let scripts: Vec<&Script> = scripts.collect();
        let (Some(mut target), false) = (runner.target(direction), scripts.is_empty()) else {
            continue;
        };
        let elaborated = driver::elaborate(&input(program))
            .map_err(|refused| render_plain(&refused.diagnostics, &refused.map))?;
        let package = elaborated.program.arch.to_string();
        if !runner.runs(&package) {
            return is_refused(elaborated, target);
        }
        if let (Some(guests), StfTarget::Kernel { kernel, .. }) = (compiles_for, &mut target) {
            *kernel = guests;
            let _ = Prepared::new(elaborated, target, &externs_of(program));
            compiled = true;
            continue;
        }
        // Without may_goto, the loops over copies that differ and over messages exceed the verifier's limit.
        let lacks_loops = !runner.kernel.features().has(Feature::MayGoto);
        let needs_newer = arch::by_package(&package)
            .is_some_and(|arch| arch.model == Model::Pipeline)
            && arch::v1model::copies_differ(&elaborated.program)
            && lacks_loops;
        let reads_messages = lacks_loops && arch::payload::has_loops(&elaborated.program);
        let changes_payload = arch::payload::is_changed(&elaborated.program);
        let prepared = Prepared::new(elaborated, target, &externs_of(program))
            .map_err(|unfit| render_plain(&unfit.diagnostics, &unfit.map));
        let refused = |hook| match hook {
            Hook::TcIngress if needs_newer => Some("needs Linux 6.9"),
            _ if reads_messages => Some("needs Linux 6.9"),
            Hook::TcIngress | Hook::TcEgress if changes_payload => {
                Some("cannot change the payload")
            }
            Hook::Xdp => refused::at_xdp(program),
            Hook::TcIngress | Hook::TcEgress => None,
        };
        if let Some(what) = runner.hook.and_then(refused) {
            return match prepared {
                Err(why) if why.contains(what) => Ok(()),
                Err(why) => Err(why.into()),
                Ok(_) => Err("it loads: take it out of `testkit::refused`".into()),
            };
        }
        let mut prepared = prepared?;
        for script in scripts {
            let verdict = prepared.run(&script.case, None);
            if let Some(why) = script.otherwise(runner) {
                if matches!(verdict, TestResult::Passed { .. }) {
                    failed += &format!("{} passes; the kernel no longer {why}?", script.case.name);
                }
                continue;
            }
            match verdict {
                TestResult::Passed { .. } => {}
                TestResult::Failed { failures, .. } => failed += &failures.join("\n"),
                TestResult::Refused(ref diagnostics) | TestResult::NotLoaded(ref diagnostics) => {
                    failed += &render_plain(diagnostics, prepared.map(&verdict))
                }
            }
        }
    }
    if compiled {
        // This is an error so that nobody takes it for a test that ran.
        return Err(format!("compiled only, as {COMPILES_FOR} asks").into());
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(failed.into())
    }
}

/// Returns the input for a program, which may be for an architecture of the tests.
fn input(program: &Path) -> Input {
    Input {
        include: vec![testkit::relay::folder()],
        ..Input::file(program)
    }
}

/// Returns the C file of a program's extern functions, if it is beside the program.
fn externs_of(program: &Path) -> Vec<PathBuf> {
    let beside = Some(program.with_extension("c")).filter(|c| c.exists());
    beside.into_iter().collect()
}

/// A script, with the declarations in its first lines.
struct Script {
    case: Case,
    directions: &'static [Direction],
    short: bool,
    not_by_devices: bool,
    packets: Vec<Vec<u8>>,
}

impl Script {
    /// Returns true if this runner can run the script.
    fn runs(&self, runner: Runner) -> bool {
        let Some(hook) = runner.hook else { return true };
        match runner.reach {
            Reach::TestRun => {
                // At traffic control the kernel's test run has one page for a packet.
                let longest = match hook {
                    Hook::Xdp => LONGEST_IN_FRAGMENTS,
                    Hook::TcIngress | Hook::TcEgress => LONGEST,
                };
                let taken =
                    |packet: &Vec<u8>| (shortest(hook, packet)..=longest).contains(&packet.len());
                self.packets.iter().all(taken)
            }
            Reach::Veth => !self.short && !self.not_by_devices,
        }
    }

    /// Returns the kernel's behaviour if it differs from the script's expectation.
    fn otherwise(&self, runner: Runner) -> Option<&'static str> {
        if runner.reach != Reach::Veth || runner.hook != Some(Hook::TcIngress) {
            return None;
        }
        let mut list = OTHERWISE_BETWEEN_DEVICES_AT_TC.iter();
        let (_, why) = list.find(|(name, _)| *name == self.case.name)?;
        Some(why)
    }

    fn read(path: &Path) -> Result<Script, Failed> {
        let text = std::fs::read_to_string(path)?;
        let name = files::short(path);
        let declared = driver::declared::declared(&text)
            .map_err(|e| format!("{name}: {}: {}: it may be {:?}", e.word, e.value, e.known))?;
        let short = declared.need == Some(Need::Interpreter);
        if short != SHORT_PACKETS.contains(&name.as_str()) {
            return Err(format!("{name}: SHORT_PACKETS disagrees").into());
        }
        let directions = declared.directions;
        let not_by_devices = matches!(declared.need, Some(Need::VirtualTime | Need::OneProcessor));
        let packets = packets(&text);
        Ok(Script {
            case: Case { name, text },
            directions,
            short,
            not_by_devices,
            packets,
        })
    }
}

/// Returns the packets that a script sends.
fn packets(script: &str) -> Vec<Vec<u8>> {
    let mut map = SourceMap::new();
    let Some(file) = map.add("script", script) else {
        return Vec::new();
    };
    let statements = control::stf::parse(&map, file).0.statements;
    let packets = statements.into_iter().filter_map(|s| match s.kind {
        StatementKind::Packet { bytes, .. } => Some(bytes),
        _ => None,
    });
    packets.collect()
}

/// Checks that a program for another architecture is refused, and that the refusal names the right one.
fn is_refused(elaborated: Elaborated, target: StfTarget) -> Result<(), Failed> {
    let model = arch::by_package(&elaborated.program.arch).map_or("", |arch| arch.name);
    match Prepared::new(elaborated, target, &[]) {
        Ok(_) => Err("the hook takes it: say so in `Runner::runs`".into()),
        Err(unfit) => {
            let text = render_plain(&unfit.diagnostics, &unfit.map);
            if text.contains(model) {
                Ok(())
            } else {
                Err(text.into())
            }
        }
    }
}
