//! Compares the native target with the interpreter, bit for bit: the repository's programs and random ones, with random
//! packets and random entries that change.

use arch::Model as Meaning;
use control::{Device, Packet, StoreError};
use diag::SourceMap;
use driver::{Input, elaborate};
use interp::{Interpreter, Options};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use testkit::generate::{self, Model};
use testkit::packets::{self, Packets};
use testkit::{changes, entries, files, inputs, relay, sample, state};

/// Number of random programs of each model.
const PROGRAMS: u64 = 6;

/// Elaborates a program. Returns it with its sources.
fn program(input: Input) -> Option<(Arc<ir::Program>, SourceMap)> {
    let input = Input {
        include: vec![relay::folder()],
        ..input
    };
    let elaborated = elaborate(&input).ok()?;
    Some((Arc::new(elaborated.program), elaborated.map))
}

/// Compares the results of a program. Returns an error with the reason if the target refuses it.
fn compare(
    name: &str,
    (program, map): (Arc<ir::Program>, SourceMap),
    seed: u64,
    record: bool,
) -> Result<(), String> {
    let options = native::Options {
        record,
        ..native::Options::default()
    };
    let built = native::build(&program, &map, &options)
        .map_err(|d| d.iter().map(|d| d.message.clone()).collect::<String>())?;
    let mut target = built.start().expect("a program that starts");
    let options = Options {
        steps: packets::STEPS,
        ..Options::default()
    };
    let mut reference = Interpreter::new(Arc::clone(&program), options).expect("the interpreter");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut filled = entries::choose(&program, &mut random);
    let walks = Packets::new(&program, &filled.key_values());
    let packets: Vec<Vec<u8>> = (0..packets::count())
        .map(|_| walks.packet(&mut random))
        .collect();
    inputs::aim(&mut filled, &program, &packets, &mut random);
    let at = || format!("{name}, seed {seed}, record {record}");
    let same = |what: Result<(), String>| what.unwrap_or_else(|e| panic!("{}: {e}", at()));
    same(entries::fill(&filled, &mut reference, target.store_mut()));
    for (number, bytes) in packets.iter().enumerate() {
        if number == packets.len() / 2 {
            let stores = (&mut reference, target.store_mut());
            same(changes::change(
                &mut filled,
                &program,
                &mut random,
                stores.0,
                stores.1,
            ));
        }
        let packet = Packet {
            port: random.random_range(0..4),
            bytes: bytes.clone(),
        };
        match reference.send(&packet) {
            // The interpreter gives up sooner, but its clock has advanced.
            Err(StoreError::Endless { .. }) => {}
            sent => sent.expect("the interpreter takes it"),
        }
        target.send(&packet).expect("the program takes it");
        let [expected, found] = [&mut reference as &mut dyn Device, &mut target]
            .map(|device| device.receive().expect("packets"));
        assert_eq!(
            expected,
            found,
            "{}, packet {number}: {packet:02x?}\n{}",
            at(),
            built.c
        );
    }
    same(state::compare(&reference, target.store()));
    Ok(())
}

#[test]
fn a_quarter_of_the_programs_of_the_repository_does_the_same_natively() {
    let compared = compare_all(sample::in_quarter);
    assert!(compared > 40, "only {compared} programs were compared");
}

#[test]
#[ignore = "long: make test-all"]
fn the_others_do_the_same_natively() {
    let compared = compare_all(|name| !sample::in_quarter(name));
    assert!(compared > 120, "only {compared} programs were compared");
}

/// Compares programs of the repository, every other one with a parse record in memory. Returns the number of those that
/// run natively.
fn compare_all(wanted: impl Fn(&str) -> bool) -> usize {
    let mut compared = 0;
    let folders = ["programs", "tests/stf", "tests/stages"];
    let files = folders.iter().flat_map(|dir| files::below(dir, "p4"));
    for (number, file) in files.enumerate() {
        let name = files::short(&file);
        if !wanted(&name) {
            continue;
        }
        let Some(program) = program(Input::file(&file)) else {
            continue;
        };
        match compare(&name, program, 1, number % 2 == 0) {
            Ok(()) => compared += 1,
            Err(why) => assert!(why.contains("the native target has no"), "{name}: {why}"),
        }
    }
    compared
}

#[test]
fn random_programs_do_the_same_natively() {
    for model in [Model::Xdp, Model::V1] {
        for seed in 0..PROGRAMS {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let text = generate::program(model, &mut random).text();
            let input = Input {
                file: "random.p4".into(),
                text: Some(text.as_str().into()),
                ..Input::default()
            };
            let program = program(input).expect("a program");
            let sends_to_groups = arch::by_package(&program.0.arch)
                .is_some_and(|arch| arch.model == Meaning::Pipeline)
                && !arch::v1model::ways(&program.0).is_empty();
            let refused = compare(&text, program, seed, seed % 2 == 0);
            assert_eq!(refused.is_err(), sends_to_groups, "{refused:?}: {text}");
        }
    }
}
