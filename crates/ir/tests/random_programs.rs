//! Random programs behave the same before and after passes, packet for packet, in the interpreter.

mod generate;

use interp::{Interpreter, Outcome};
use ir::Program;
use ir::passes::{self, Level, Options};
use std::sync::Arc;

/// Number of programs, enough to find most bugs in seconds. `ONPATH_RANDOM_PROGRAMS` sets another number,
/// `ONPATH_RANDOM_FROM` the first one.
const PROGRAMS: u64 = 300;
const PACKETS: u64 = 12;

#[test]
fn passes_do_not_change_what_random_programs_do() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let from = number("ONPATH_RANDOM_FROM").unwrap_or(0);
    let count = number("ONPATH_RANDOM_PROGRAMS").unwrap_or(PROGRAMS);
    for seed in from..from + count {
        check(seed);
    }
}

fn check(seed: u64) {
    let text = generate::program(seed);
    let program = ir::text::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    if let Err(errors) = ir::verify(&program) {
        panic!("seed {seed}: {errors:?}\n{text}");
    }
    let again =
        ir::text::parse(&program.to_string()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    assert_eq!(again.to_string(), program.to_string(), "seed {seed}");
    let packets: Vec<_> = (0..PACKETS).map(|i| generate::packet(seed, i)).collect();
    let expected = run(&program, &packets);
    for level in [Level::Lower, Level::Optimize] {
        let mut changed = program.clone();
        let options = Options {
            level,
            function_params: 5,
            follows_iterations: false,
            rejects: ir::passes::Rejects::Stay,
        };
        passes::pipeline(&mut changed, &options);
        let got = run(&changed, &packets);
        for ((packet, expected), got) in packets.iter().zip(&expected).zip(&got) {
            assert!(
                expected == got,
                "seed {seed}, {level:?}, packet {packet:02x?}:\nbefore {expected:02x?}\nafter {got:02x?}\n{text}\n=== after\n{changed}"
            );
        }
    }
}

fn run(program: &Program, packets: &[Vec<u8>]) -> Vec<Outcome> {
    let program = Arc::new(program.clone());
    let mut interpreter = Interpreter::new(program, interp::Options::default())
        .unwrap_or_else(|e| panic!("{:?}", e.iter().collect::<Vec<_>>()));
    packets.iter().map(|p| interpreter.run(7, p)).collect()
}
