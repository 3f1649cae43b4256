//! The repository's programs and random ones: the native target against the interpreter, bit for bit.

use crate::run::{self, Fate};
use crate::target::{self, Contents, Output};
use control::{Change, Store};
use diag::{Diagnostics, SourceMap};
use interp::{Disposition, Interpreter, Options};
use ir::{Bits, Program};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use testkit::generate::Model;
use testkit::packets::{self, Packets};
use testkit::{entries, files, generate, golden, inputs};

/// Random programs.
const PROGRAMS: usize = 12;

fn elaborate(text: String) -> Option<(Program, SourceMap)> {
    let loader = golden::includes().with("test.p4", text);
    let mut map = SourceMap::new();
    let parsed = syntax::parse(&mut map, &loader, "test.p4", &[]);
    let module = sema::check(&parsed.program, &map).module?;
    let (program, _) = elab::elaborate(&module).ok()?;
    Some((program, map))
}

/// The interpreter with random entries, what is in its tables, and the values of the entries' keys.
fn reference(
    program: &Arc<Program>,
    random: &mut ChaCha8Rng,
) -> (Interpreter, Contents, Vec<Bits>) {
    let options = Options {
        steps: packets::STEPS,
        ..Options::default()
    };
    let mut reference = Interpreter::new(Arc::clone(program), options).expect("the interpreter");
    let mut filled = entries::choose(program, random);
    let walks = Packets::new(program, &filled.key_values());
    let packets: Vec<Vec<u8>> = (0..60).map(|_| walks.packet(random)).collect();
    inputs::aim(&mut filled, program, &packets, random);
    for (table, entry) in &filled.entries {
        // What it refuses, as a second entry with the same match, is in neither.
        let _ = reference.change(Change::Insert(*table, entry.clone()));
    }
    for (table, action) in &filled.defaults {
        let _ = reference.change(Change::SetDefault(*table, action.clone()));
    }
    let mut contents = Contents::default();
    for table in program.tables.keys() {
        let entries = reference.entries(table).expect("entries");
        contents.entries.insert(table, entries);
        let default = reference.default_action(table).expect("a default action");
        contents.defaults.insert(table, default);
    }
    (reference, contents, filled.key_values())
}

fn native(
    program: &Program,
    map: &SourceMap,
    contents: Contents,
    record: bool,
) -> Result<Output, Diagnostics> {
    let mut optimised = program.clone();
    let options = ir::passes::Options {
        level: ir::passes::Level::Optimize,
        function_params: 6,
        follows_turns: false,
        rejects: ir::passes::Rejects::Stay,
    };
    ir::passes::pipeline(&mut optimised, &options);
    target::compile(&optimised, map, Rc::new(contents), record)
}

/// The interpreter's outcome, in the native target's form.
fn fate(outcome: interp::Outcome, is_filter: bool) -> Fate {
    let (verdict, port) = match outcome.disposition {
        Disposition::Drop if is_filter => (0, 0),
        Disposition::Pass if is_filter => (1, 0),
        Disposition::Aborted => (0, 0),
        Disposition::Drop => (1, 0),
        Disposition::Pass => (2, 0),
        Disposition::Tx => (3, 0),
        Disposition::Redirect(port) => (4, port),
        other => panic!("no verdict of these architectures: {other}"),
    };
    let bytes = outcome.packets.into_iter().next();
    Fate {
        verdict,
        port,
        bytes: bytes.map(|p| p.bytes).unwrap_or_default(),
    }
}

/// What of the native target's answer can be compared: a packet that is gone has no bytes, and only a redirected one
/// a port.
fn comparable(mut found: Fate, is_filter: bool) -> Fate {
    let lives = found.verdict >= if is_filter { 1 } else { 2 };
    if !lives {
        found.bytes.clear();
    }
    if found.verdict != 4 {
        found.port = 0;
    }
    found
}

/// Compares a program; gives why the target refuses it, if it does.
fn compare(
    name: &str,
    program: Program,
    map: &SourceMap,
    seed: u64,
    record: bool,
) -> Result<(), String> {
    let program = Arc::new(program);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut reference, contents, keys) = reference(&program, &mut random);
    let output = native(&program, map, contents, record)
        .map_err(|d| d.iter().map(|d| d.message.clone()).collect::<String>())?;
    let folder = tempfile::tempdir().expect("a folder");
    let executable = run::build(folder.path(), &output);
    let walks = Packets::new(&program, &keys);
    let packets: Vec<(u32, Vec<u8>)> = (0..packets::count())
        .map(|_| (random.random_range(0..4), walks.packet(&mut random)))
        .collect();
    let (fates, counts) = run::run(&executable, &packets);
    let arch = arch::by_package(&program.arch).expect("its architecture");
    let is_filter = arch.model == arch::Model::Filter;
    for (i, ((port, bytes), found)) in packets.iter().zip(fates).enumerate() {
        let expected = fate(reference.run(*port, bytes), is_filter);
        let found = comparable(found, is_filter);
        assert_eq!(
            expected, found,
            "{name}, seed {seed}, record {record}, packet {i} on port {port}: {bytes:02x?}\n{}",
            output.c_source
        );
    }
    let mut at = 0;
    for (counter, size) in output.counters {
        for index in 0..size as usize {
            let expected = reference.counter(counter, index as u64).expect("a counter");
            let what = &program.externs[counter].name;
            assert_eq!(
                expected.packets,
                counts[at + index],
                "{name}: {what}[{index}]"
            );
        }
        at += size as usize;
    }
    Ok(())
}

#[test]
fn programs_of_two_stages_do_the_same_natively() {
    for file in files::below("tests/stages", "p4") {
        let name = files::short(&file);
        for record in [false, true] {
            assert_eq!(compare_file(&file, &name, record), Ok(()), "{name}");
        }
    }
}

#[test]
fn the_programs_of_the_repository_do_the_same_natively() {
    compare_every_other(0, false);
}

#[test]
fn those_that_keep_parse_results_in_memory_do_the_same_natively() {
    compare_every_other(1, true);
}

/// Compares every other program of the repository, from the one of this number on.
fn compare_every_other(first: usize, record: bool) {
    let mut compared = 0;
    let files = ["programs", "tests/stf"];
    let files = files.iter().flat_map(|dir| files::below(dir, "p4"));
    for file in files.skip(first).step_by(2) {
        let name = files::short(&file);
        match compare_file(&file, &name, record) {
            Ok(()) => compared += 1,
            Err(why) => println!("{name}: {why}"),
        }
    }
    assert!(compared > 30, "only {compared} programs were compared");
}

fn compare_file(file: &Path, name: &str, record: bool) -> Result<(), String> {
    let text = std::fs::read_to_string(file).expect("a program");
    let (program, map) = elaborate(text).ok_or("not a program by itself")?;
    compare(name, program, &map, 1, record)
}

#[test]
fn random_programs_do_the_same_natively() {
    let programs = (0..).map(|seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (seed, generate::program(Model::Xdp, &mut random))
    });
    // The target keeps no state of flows, and no figures.
    let stateless = programs.filter(|(_, p)| p.flows.is_none() && !p.figures);
    for (seed, program) in stateless.take(PROGRAMS) {
        let text = program.text();
        let (program, map) = elaborate(text.clone()).expect("a program");
        let refused = compare(&text, program, &map, seed, seed % 2 == 0);
        assert_eq!(refused, Ok(()), "{text}");
    }
}
