//! The passes change nothing that a packet meets: the interpreter gives the same before and after each
//! level, on the repository's programs and on random ones, with random entries and packets. Needs no
//! privileges.
//!
//! `ONPATH_PASSES_PROGRAMS` sets how many random programs, `ONPATH_PASSES_SEED` where to begin.

#[path = "../differential/entries.rs"]
mod entries;
#[path = "../differential/generate/mod.rs"]
mod generate;
#[path = "../differential/packets.rs"]
mod packets;

use crate::common;
use diag::render_plain;
use driver::Input;
use interp::{Interpreter, Options};
use ir::Program;
use ir::passes::{self, Level, pipeline};
use packets::Packets;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::sync::Arc;

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

/// The first packet that meets something else after the passes.
fn difference(program: &Arc<Program>, level: Level, seed: u64, count: usize) -> Option<String> {
    let mut after = Program::clone(program);
    let options = passes::Options {
        level,
        function_params: bpf::FUNCTION_PARAMS,
    };
    pipeline(&mut after, &options);
    if let Err(errors) = ir::verify(&after) {
        return Some(format!("the IR does not verify: {errors:?}"));
    }
    let new = |program: &Arc<Program>| {
        Interpreter::new(Arc::clone(program), Options::default()).expect("the interpreter runs it")
    };
    let (mut before, mut after) = (new(program), new(&Arc::new(after)));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let filled = entries::choose(program, &mut random);
    if let Err(text) = entries::fill(&filled, &mut before, &mut after) {
        return Some(text);
    }
    let packets = Packets::new(program, &filled.key_values());
    for _ in 0..count {
        let packet = packets.packet(&mut random);
        let (expected, found) = (before.run(1, &packet), after.run(1, &packet));
        if expected != found {
            let hex: String = packet.iter().map(|b| format!("{b:02x}")).collect();
            return Some(format!(
                "packet {hex}\n  before {expected:?}\n  after  {found:?}"
            ));
        }
    }
    None
}

#[test]
fn on_the_programs_of_the_repository() {
    for path in ["programs", "tests/stf", "tests/scale"]
        .iter()
        .flat_map(|dir| common::files(dir, "p4"))
    {
        let program = elaborate(&path);
        ir::verify(&program).unwrap_or_else(|e| panic!("{}: {e:?}", common::short(&path)));
        for level in [Level::Lower, Level::Optimize] {
            if let Some(text) = difference(&program, level, 1, 200) {
                panic!("{}, {level:?}: {text}", common::short(&path));
            }
        }
    }
}

#[test]
fn on_random_programs() {
    let first = setting("ONPATH_PASSES_SEED", 1);
    for seed in first..first + setting("ONPATH_PASSES_PROGRAMS", 60) {
        let model = match seed % 2 {
            0 => generate::Model::Xdp,
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
