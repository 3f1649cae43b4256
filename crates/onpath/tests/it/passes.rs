//! Tests that the passes preserve a program's behaviour: the interpreter's results are the same before and after each
//! level. Programs are the repository's and random ones, with random entries and packets. Needs no privileges.
//!
//! `ONPATH_TEST_PACKETS` sets the number of packets for each program of the repository, `ONPATH_PASSES_PROGRAMS` the
//! number of random programs, and `ONPATH_PASSES_SEED` the first seed.

use control::{Change, CloneSession, EntryKey, Replica, Store};
use diag::render_plain;
use driver::Input;
use interp::{Interpreter, Options};
use ir::passes::specialize::{self, Contents};
use ir::passes::{self, Level, Rejects, pipeline};
use ir::{OnReject, Program};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::sync::Arc;
use testkit::packets::{self, Packets};
use testkit::{entries, files, generate};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |v| {
        v.parse().unwrap_or_else(|_| panic!("{name}={v}"))
    })
}

fn elaborate(path: &Path) -> Arc<Program> {
    match driver::elaborate(&Input::file(path)) {
        Ok(elaborated) => Arc::new(elaborated.program),
        Err(refused) => panic!("{}", render_plain(&refused.diagnostics, &refused.map)),
    }
}

/// Returns the first packet with another result after the passes. If rejected packets continue, the passes are also
/// tested with rejects as edges.
fn difference(program: &Arc<Program>, level: Level, seed: u64, count: usize) -> Option<String> {
    let found = difference_by(program, level, Rejects::Stay, seed, count);
    if found.is_some() || program.on_reject == OnReject::Stop {
        return found;
    }
    let error = program.slot_var(arch::v1model::STANDARD_METADATA, "parser_error");
    difference_by(program, level, Rejects::Edges(error), seed, count)
}

fn difference_by(
    program: &Arc<Program>,
    level: Level,
    rejects: Rejects,
    seed: u64,
    count: usize,
) -> Option<String> {
    let mut after = Program::clone(program);
    let options = passes::Options {
        level,
        function_params: bpf::FUNCTION_PARAMS,
        follows_iterations: false,
        rejects,
    };
    pipeline(&mut after, &options);
    if let Err(errors) = ir::verify(&after) {
        return Some(format!("the IR does not verify: {errors:?}"));
    }
    let (mut before, mut after) = (interpreter(program), interpreter(&Arc::new(after)));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let filled = entries::choose(program, &mut random);
    if let Err(text) = entries::fill(&filled, &mut before, &mut after) {
        return Some(text);
    }
    connect(&mut before);
    connect(&mut after);
    let walks = Packets::new(program, &filled.key_values());
    for _ in 0..count {
        let packet = walks.packet(&mut random);
        let (mut expected, mut found) = (before.run(1, &packet), after.run(1, &packet));
        if rejects != Rejects::Stay {
            // The interpreter does not know that an edge was a reject.
            for outcome in [&mut expected, &mut found] {
                outcome.rejected = false;
                outcome.parser_error = None;
            }
        }
        if expected != found {
            let hex: String = packet.iter().map(|b| format!("{b:02x}")).collect();
            return Some(format!(
                "{rejects:?}, packet {hex}\n  before {expected:?}\n  after  {found:?}"
            ));
        }
    }
    None
}

fn interpreter(program: &Arc<Program>) -> Interpreter {
    let options = Options {
        steps: packets::STEPS,
        ..Options::default()
    };
    Interpreter::new(Arc::clone(program), options).expect("the interpreter runs it")
}

/// Makes clone sessions and multicast groups with the numbers that programs use.
fn connect(it: &mut Interpreter) {
    let replicas = [Replica { port: 3, rid: 1 }, Replica { port: 4, rid: 2 }];
    for number in 1..10 {
        it.change(Change::Group(number, replicas.to_vec()))
            .expect("a group");
        let session = CloneSession {
            replicas: replicas[..1].to_vec(),
            ..CloneSession::default()
        };
        it.change(Change::Session(number.into(), Some(session.clone())))
            .expect("a session");
    }
}

#[test]
fn on_the_programs_of_the_repository() {
    let count = packets::count();
    for path in ["programs", "tests/stf", "tests/scale"]
        .iter()
        .flat_map(|dir| files::below(dir, "p4"))
    {
        let program = elaborate(&path);
        ir::verify(&program).unwrap_or_else(|e| panic!("{}: {e:?}", files::short(&path)));
        for level in [Level::Lower, Level::Optimize] {
            if let Some(text) = difference(&program, level, 1, count) {
                panic!("{}, {level:?}: {text}", files::short(&path));
            }
        }
    }
}

/// Returns the contents of each table of an interpreter.
fn contents(it: &Interpreter) -> Vec<(ir::Table, Contents)> {
    let tables = it.program().tables.keys();
    let contents = |table| Contents {
        generation: it.changes(table),
        entries: it.entries(table).expect("reads"),
        default_action: it.default_action(table).expect("reads"),
    };
    tables.map(|table| (table, contents(table))).collect()
}

/// Specializes a program to random entries, and then changes these. Returns the number of tables that were compiled
/// in, or the first packet with another result.
fn specialized(program: &Arc<Program>, seed: u64, count: usize) -> Result<usize, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let filled = entries::choose(program, &mut random);
    let mut before = interpreter(program);
    entries::fill(&filled, &mut before, &mut interpreter(program))?;
    let mut special = Program::clone(program);
    let outcome = specialize::run(&mut special, &contents(&before));
    let options = passes::Options {
        level: Level::Optimize,
        function_params: bpf::FUNCTION_PARAMS,
        follows_iterations: false,
        rejects: ir::passes::Rejects::Stay,
    };
    pipeline(&mut special, &options);
    let mut after = interpreter(&Arc::new(special));
    entries::fill(&filled, &mut after, &mut interpreter(program))?;
    let walks = Packets::new(program, &filled.key_values());
    for _ in 0..2 {
        for _ in 0..count {
            let packet = walks.packet(&mut random);
            let (expected, found) = (before.run(1, &packet), after.run(1, &packet));
            if expected != found {
                let hex: String = packet.iter().map(|b| format!("{b:02x}")).collect();
                return Err(format!(
                    "packet {hex}\n  before {expected:?}\n  after  {found:?}"
                ));
            }
        }
        for (table, entry) in &filled.entries {
            for it in [&mut before, &mut after] {
                let _ = it.change(Change::Remove(*table, EntryKey::of(entry)));
            }
        }
    }
    Ok(outcome.iter().filter(|(_, done)| done.is_ok()).count())
}

#[test]
fn specialized_programs_do_the_same_and_follow_changes() {
    let mut compiled_in = 0;
    for path in ["programs", "tests/stf"]
        .iter()
        .flat_map(|dir| files::below(dir, "p4"))
    {
        let found = specialized(&elaborate(&path), 1, 50);
        compiled_in += found.unwrap_or_else(|text| panic!("{}: {text}", files::short(&path)));
    }
    for seed in 1..=setting("ONPATH_PASSES_PROGRAMS", 60) / 2 {
        let model = match seed % 2 {
            0 => generate::Model::Xdp,
            _ => generate::Model::Tc,
        };
        let generated = generate::program(model, &mut ChaCha8Rng::seed_from_u64(seed));
        let file = tempfile::Builder::new().suffix(".p4").tempfile();
        let file = file.expect("a temporary file");
        std::fs::write(file.path(), generated.text()).expect("the program is written");
        let found = specialized(&elaborate(file.path()), seed, 50);
        compiled_in += found.unwrap_or_else(|text| panic!("seed {seed}: {text}"));
    }
    assert!(compiled_in > 50, "{compiled_in} tables");
}

#[test]
fn on_random_programs() {
    let first = setting("ONPATH_PASSES_SEED", 1);
    for seed in first..first + setting("ONPATH_PASSES_PROGRAMS", 80) {
        let model = match seed % 4 {
            0 => generate::Model::Xdp,
            1 => generate::Model::V1,
            2 => generate::Model::Copies,
            _ => generate::Model::Tc,
        };
        let generated = generate::program(model, &mut ChaCha8Rng::seed_from_u64(seed));
        let Some(text) = on_generated(&generated, seed) else {
            continue;
        };
        let (smallest, text) = shrink(generated, text, seed);
        panic!("ONPATH_PASSES_SEED={seed}\n{}\n{text}", smallest.text());
    }
}

fn on_generated(generated: &generate::Generated, seed: u64) -> Option<String> {
    let file = tempfile::Builder::new()
        .suffix(".p4")
        .tempfile()
        .expect("a temporary file");
    std::fs::write(file.path(), generated.text()).expect("the program is written");
    difference(&elaborate(file.path()), Level::Optimize, seed, 150)
}

fn shrink(
    mut program: generate::Generated,
    mut text: String,
    seed: u64,
) -> (generate::Generated, String) {
    while let Some((smaller, found)) = generate::smaller(&program)
        .into_iter()
        .find_map(|smaller| on_generated(&smaller, seed).map(|text| (smaller, text)))
    {
        (program, text) = (smaller, found);
    }
    (program, text)
}
