//! Compares elaboration with an oracle: a slow evaluator of HIR that follows the specification's text, and shares
//! no code with elaboration. The interpreter and the kernel both run the result of elaboration, so no test that
//! compares these two can find a fault of elaboration.
//!
//! `ONPATH_ORACLE_PROGRAMS=100000 cargo test --release -p elab --test it oracle` runs more programs, and
//! `ONPATH_ORACLE_SEED=N` begins with another one.

mod call;
mod directed;
mod expr;
mod machine;
mod packet;
mod place;
mod program;
mod stmt;
mod table;
mod value;

use crate::support::{Numbers, root, show};
use diag::{Diagnostics, SourceMap};
use interp::{Interpreter, Options};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use syntax::MemoryLoader;

/// A program, checked and in the interpreter.
struct Program {
    module: hir::Module,
    interpreter: Interpreter,
}

impl Program {
    /// Compiles a program; `None` if elaboration refuses it because a callee that exits is given bits of a value.
    fn new(loader: &MemoryLoader, text: &str) -> Option<Program> {
        let loader = loader.clone().with("test.p4", text);
        let mut map = SourceMap::new();
        let parsed = syntax::parse(&mut map, &loader, "test.p4", &[]);
        let reported = |diagnostics: &Diagnostics| format!("{}\n{text}", show(diagnostics, &map));
        assert!(
            !parsed.diagnostics.has_errors(),
            "{}",
            reported(&parsed.diagnostics)
        );
        let checked = sema::check(&parsed.program, &map);
        let module = checked
            .module
            .unwrap_or_else(|| panic!("{}", reported(&checked.diagnostics)));
        let program = match elab::elaborate(&module) {
            Ok((program, _)) => program,
            Err(why) if why.iter().all(|d| d.code.0 == "E0590") => return None,
            Err(why) => panic!("{}", reported(&why)),
        };
        if let Err(errors) = ir::verify(&program) {
            panic!("{errors:?}\n{program}\n{text}");
        }
        let interpreter = Interpreter::new(Arc::new(program), Options::default());
        Some(Program {
            module,
            interpreter: interpreter.unwrap_or_else(|why| panic!("{}", reported(&why))),
        })
    }

    /// Runs a packet; returns the packet that comes out of the interpreter, and the oracle's.
    fn run(&mut self, packet: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let outcome = self.interpreter.run(0, packet);
        let [sent] = &outcome.packets[..] else {
            panic!("{:?}", outcome.disposition);
        };
        (sent.bytes.clone(), packet::run(&self.module, packet))
    }
}

/// Returns the files that every program includes, without parts that take time to read and that no program uses.
fn loader() -> MemoryLoader {
    let mut loader = MemoryLoader::new();
    for name in ["core.p4", "xdp_model.p4"] {
        let text = std::fs::read_to_string(root().join("p4include").join(name)).unwrap();
        let unused = |line: &&str| line.starts_with("//") || line.contains("<ebpf_model.p4>");
        let lines: Vec<&str> = text.lines().filter(|line| !unused(line)).collect();
        loader = loader.with(name, lines.join("\n"));
    }
    loader
}

/// A number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Compares a random program on two packets; returns true if it was accepted.
fn check(loader: &MemoryLoader, seed: u64) -> bool {
    let mut numbers = Numbers::new(seed);
    let text = packet::complete(&program::random(&mut numbers));
    let about = |packet: &[u8]| format!("ONPATH_ORACLE_SEED={seed}, packet {packet:02x?}\n{text}");
    let compiled = catch_unwind(|| Program::new(loader, &text));
    let Some(mut program) = compiled.unwrap_or_else(|_| panic!("{}", about(&[]))) else {
        return false;
    };
    for _ in 0..2 {
        let mut byte = || match numbers.below(2) {
            0 => numbers.below(5) as u8,
            _ => numbers.below(256) as u8,
        };
        let packet: Vec<u8> = (0..packet::LENGTH).map(|_| byte()).collect();
        let ran = catch_unwind(AssertUnwindSafe(|| program.run(&packet)));
        let (interpreted, right) = ran.unwrap_or_else(|_| panic!("{}", about(&packet)));
        assert!(
            interpreted == right,
            "{}\ninterpreter {interpreted:02x?}\noracle      {right:02x?}",
            about(&packet)
        );
    }
    true
}

#[test]
fn elaboration_keeps_the_meaning_of_random_programs() {
    let count = setting("ONPATH_ORACLE_PROGRAMS", 1500);
    let first = setting("ONPATH_ORACLE_SEED", 1);
    let loader = &loader();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Each thread takes every n-th program.
    let share = |thread: usize| {
        let seeds = (first..first + count).skip(thread).step_by(threads);
        seeds.filter(|&seed| check(loader, seed)).count()
    };
    let accepted: usize = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|t| scope.spawn(move || share(t)))
            .collect();
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let refused = count - accepted as u64;
    println!("{accepted} programs, {refused} refused");
    assert!(
        refused <= count / 10 + 1,
        "{refused} of {count} were refused"
    );
}
