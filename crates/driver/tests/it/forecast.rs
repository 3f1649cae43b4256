//! Instructions that the verifier processes of large programs of several shapes, against the forecast minimum. Needs
//! root.

use crate::shapes;
use bpf::abi::Hook;
use bpf::costs::forecast::{Construct, Forecast};
use bpf::costs::weights::outline::SIZE;
use driver::bpf_target::{Request, compile, generate};
use driver::{Elaborated, Input};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::files;

/// The verifier's limit, in processed instructions.
const LIMIT: u64 = 1_000_000;

fn forecast(elaborated: &Elaborated) -> Forecast {
    Forecast::of(&driver::optimise(&elaborated.program))
}

/// Stack of a worker, in bytes. In a debug build the passes over such programs need more than a thread's default.
const STACK: usize = 64 << 20;

/// Function that makes a program of one shape.
type MakeProgram = fn() -> Elaborated;

/// Programs near the limit, which are all too long for one function.
const SHAPES: [(&str, MakeProgram); 13] = [
    ("states", || shapes::states(1_600, 1_600, &[1, 2, 7])),
    ("far states", || {
        shapes::states(1_300, 12, &[1, 2, 3, 4, 9, 16, 25, 36])
    }),
    ("wide states", || shapes::wide(1_000, 24, false)),
    ("states alike", || shapes::wide(1_500, 12, true)),
    ("a tree", || shapes::tree(2_500)),
    ("mixed", || shapes::mixed(2_000)),
    ("a chain", || shapes::chain(2_500)),
    ("conditions", || shapes::conditions(2_500)),
    ("alternatives", || shapes::alternatives(3_000)),
    ("actions", || shapes::actions(3_000)),
    ("tables", || shapes::tables(200)),
    ("sparse counters", || shapes::counters(2_000, true)),
    ("counters", || shapes::counters(2_000, false)),
];

/// Returns a complaint if the verifier processes less than five quarters of the forecast minimum. Programs whose
/// paths are all alike are an exception, but no shape has them.
fn complaint(name: &str, shape: MakeProgram) -> Option<String> {
    let elaborated = shape();
    let least = forecast(&elaborated).least();
    let request = Request {
        outline: Some(bpf::Outlining::of(SIZE)),
        ..Request::default()
    };
    let compiled = compile(&elaborated.program, &elaborated.map, request).expect(name);
    let verified = kernel::verify(&compiled.object, &compiled.abi, &elaborated.map);
    let processed = u64::from(verified.instructions.expect(name));
    println!("{name}: {processed} processed; at the least {least} forecast");
    (least * 5 / 4 > processed).then(|| format!("{name}: {least}; {processed} processed\n"))
}

#[test]
fn the_verifier_processes_more_of_a_long_control_than_is_forecast() {
    assert_eq!(complaint("conditions", || shapes::conditions(1_000)), None);
}

#[test]
#[ignore = "long: make test-all"]
fn the_verifier_processes_more_of_every_shape_than_is_forecast() {
    let wrong = Mutex::new(String::new());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((name, shape)) = SHAPES.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(complaint) = complaint(name, *shape) {
                *wrong.lock().expect("held by nobody who failed") += &complaint;
            }
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..workers {
            let worker = std::thread::Builder::new().stack_size(STACK);
            worker.spawn_scoped(scope, work).expect("a thread");
        }
    });
    let wrong = wrong.into_inner().expect("no worker failed");
    assert!(wrong.is_empty(), "{wrong}");
}

/// All programs of the repository load, so their forecasts must be far below the limit.
#[test]
fn no_program_of_the_repository_comes_near() {
    let folders = ["programs", "tests/scale", "tests/stf"].into_iter();
    let programs: Vec<PathBuf> = folders.flat_map(|f| files::below(f, "p4")).collect();
    assert!(programs.len() > 200, "{}", programs.len());
    let mut most = 0;
    for program in programs {
        if let Ok(elaborated) = driver::elaborate(&Input::file(&program)) {
            let least = forecast(&elaborated).least();
            assert!(least < LIMIT / 20, "{}: {least}", program.display());
            most = most.max(least);
        }
    }
    assert!(most > 1_000, "{most}");
}

/// A program that is certainly too large is refused before any C is generated.
#[test]
fn a_parser_far_over_the_limit_is_refused_at_once() {
    let begun = Instant::now();
    let elaborated = shapes::states(33_000, 12, &[1, 2, 3, 4, 9, 16, 25, 36]);
    let front = begun.elapsed();
    let request = Request::hook(Hook::Xdp);
    let refused = compile(&elaborated.program, &elaborated.map, request).expect_err("a refusal");
    let text = diag::render_plain(&refused, &elaborated.map);
    assert!(text.contains("E0745"), "{text}");
    assert!(text.contains("the 33000 states of this parser"), "{text}");
    assert!(text.contains("parser prs("), "{text}");
    assert!(forecast(&elaborated).long().is_some());
    // 8 s without optimisation, 2.5 s with it.
    let own = begun.elapsed();
    assert!(
        own < Duration::from_secs(60),
        "{own:?}, {front:?} of it until IR"
    );
}

/// A program with more headers than the parse record in the per-CPU map can hold is refused, in less than quadratic
/// time.
#[test]
#[ignore = "long: make test-all"]
fn records_that_do_not_fit_are_refused_by_that() {
    let elaborated = shapes::states(6_000, 6_000, &[1, 2, 7]);
    assert!(forecast(&elaborated).long().is_some());
    let refused = compile(&elaborated.program, &elaborated.map, Request::default());
    let refused = refused.expect_err("a refusal");
    let codes: Vec<_> = refused.iter().map(|d| d.code.0).collect();
    assert_eq!(codes, ["E0727"]);
}

/// A program that is certainly too long for one function is outlined at once.
#[test]
#[ignore = "long: make test-all"]
fn what_is_certainly_long_is_several_functions_at_once() {
    let elaborated = shapes::states(9_000, 12, &[1, 2, 3, 4, 9, 16, 25, 36]);
    let forecast = forecast(&elaborated);
    let long = forecast.long().expect("a long program");
    assert!(forecast.least() < LIMIT);
    let request = Request::default();
    let whole = generate(&elaborated.program, &elaborated.map, request).expect("C");
    let real = whole.report.longest_estimate;
    assert!(
        bpf::costs::limits::needs_long_jumps(&whole.report),
        "{real}"
    );
    assert!(long.longest_estimate / 4 < real && real < long.longest_estimate * 4);
    assert!(matches!(
        forecast.most().expect("a share").construct,
        Construct::Parser { states: 9_000, .. }
    ));
}
