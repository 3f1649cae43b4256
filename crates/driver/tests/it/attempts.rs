//! Attempts at programs that exceed the verifier's limit: neither clang nor the verifier runs in vain. Needs root.

use bpf::abi::Hook;
use bpf::costs::limits;
use diag::SourceMap;
use driver::bpf_target::{Compiled, Refused, Request, Trial, compile, generate};
use driver::{Elaborated, Input};
use kernel::build::Obstacle;
use std::fmt::Write as _;
use telemetry::{Catalogue, Schemas};

const BEGINNING: &str = "\
#include <core.p4>
#include <xdp_model.p4>
header data_t { bit<64> bits; bit<16> sum; }
struct headers_t { data_t data; }
parser prs(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.data); transition accept; }
}
control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
";

const END: &str = "
    }
}
control dep(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.data); } }
xdp(prs(), sw(), dep()) main;
";

/// Returns a program whose control sets `count` variables to 1 or 0. The verifier then follows every combination of
/// them.
fn flags(count: usize) -> Elaborated {
    let mut text = String::from(BEGINNING);
    for i in 0..count {
        let bit = i % 64;
        let _ = write!(
            text,
            "bit<8> x{i} = 0; if (hdr.data.bits[{bit}:{bit}] == 1) {{ x{i} = 1; }}"
        );
    }
    for i in 0..count {
        let add = i * 7 + 1;
        let _ = write!(
            text,
            "if (x{i} == 1) {{ hdr.data.sum = hdr.data.sum + {add}; }}"
        );
    }
    elaborate(&(text + END))
}

fn elaborate(text: &str) -> Elaborated {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("program.p4");
    std::fs::write(&file, text).expect("written");
    driver::elaborate(&Input::file(file))
        .ok()
        .expect("a program")
}

/// Compiles a program by the strategies after the first, whose object was rejected as too large.
fn others(elaborated: &Elaborated) -> Compiled {
    let refused = Refused {
        object: b"the first",
        obstacle: Obstacle::TooLarge,
        reason: "too large",
    };
    let request = Request {
        trial: Trial::Others(refused),
        ..Request::default()
    };
    compile(&elaborated.program, &elaborated.map, request).expect("an object")
}

#[test]
fn what_was_refused_is_neither_compiled_nor_verified_again() {
    let compiled = others(&flags(8));
    assert_eq!(compiled.strategy.name, "parse results in a per-CPU map");
    let failed: Vec<&str> = compiled.failed.iter().map(|f| f.reason.as_str()).collect();
    assert_eq!(failed, ["too large"]);
    assert!(!compiled.is_refused());
}

/// Returns a program without a fast path and loops. Its parse results are in a per-CPU map under the first strategy
/// already.
fn conditions(count: usize) -> Elaborated {
    let mut text = String::from(BEGINNING);
    for i in 0..count {
        let bit = i % 64;
        let _ = write!(
            text,
            "if (hdr.data.bits[{bit}:{bit}] == 1) {{ hdr.data.sum = hdr.data.sum + {i}; }}"
        );
    }
    elaborate(&(text + END))
}

#[test]
fn a_program_in_its_parse_record_is_tried_with_its_variables_there_too() {
    let compiled = others(&conditions(1000));
    let taken = "no fast path, parse results and variables in a per-CPU map";
    assert_eq!(compiled.strategy.name, taken);
    assert_eq!(compiled.failed.len(), 1);
}

/// Returns the program of a query.
fn query(text: &str) -> Elaborated {
    let messages = Schemas::builtin();
    let query = telemetry::compile(text, &Catalogue::new(&messages), &mut SourceMap::new());
    let program = telemetry::program(&query.expect("a query"), text, &messages, 64);
    let input = Input {
        text: Some(program.expect("a program").into()),
        ..Input::file("a query")
    };
    driver::elaborate(&input).ok().expect("a program")
}

/// With `soon`, one function is not compiled first if the verifier is likely to reject it.
#[test]
fn what_is_to_run_soon_is_several_functions_at_once_if_one_is_risky() {
    for text in [
        "count by http.host",
        "mean(http.response_time) by http.host",
    ] {
        let Elaborated { program, map, .. } = query(text);
        let request = Request {
            soon: true,
            trial: Trial::None,
            ..Request::hook(Hook::TcIngress)
        };
        let one = generate(&program, &map, request).expect("C");
        let compiled = compile(&program, &map, request).expect("an object");
        let is_risky = limits::is_risky(&one.report);
        assert_eq!(compiled.strategy.outlines, is_risky, "{text}");
        let failed: Vec<Obstacle> = compiled.failed.iter().map(|f| f.obstacle).collect();
        assert_eq!(failed, vec![Obstacle::TooLong; usize::from(is_risky)]);
    }
}

/// A very long program is outlined from the beginning. One function would take clang many seconds and exceed the
/// verifier's limit further. Several programs are smaller each.
#[test]
fn what_is_too_large_outlined_is_not_tried_as_a_whole_but_in_several_programs() {
    let compiled = others(&conditions(2500));
    let taken = "more programs, all variables in a per-CPU map";
    assert_eq!(compiled.strategy.name, taken);
    assert!(!compiled.is_refused());
    assert_eq!(compiled.decisions.programs, 4);
    let failed: Vec<Obstacle> = compiled.failed.iter().map(|f| f.obstacle).collect();
    assert_eq!(failed, [Obstacle::TooLong, Obstacle::TooLarge]);
}

/// The verifier follows every combination of the flags while they are in registers. They do not fit the stack beside
/// the parse results, so they are moved to a map too.
#[test]
#[ignore = "long: make test-all"]
fn variables_follow_the_parse_results_where_the_stack_has_no_room() {
    let elaborated = flags(200);
    let compiled = compile(&elaborated.program, &elaborated.map, Request::default());
    let compiled = compiled.expect("an object");
    let names: Vec<&str> = compiled.failed.iter().map(|f| f.strategy.name).collect();
    assert_eq!(
        names,
        ["full optimisation", "parse results in a per-CPU map"]
    );
    assert_eq!(
        compiled.strategy.name,
        "parse results and variables in a per-CPU map"
    );
    let verified = kernel::verify(&compiled.object, &compiled.abi, &elaborated.map);
    let processed = verified.instructions.expect("this test needs root");
    assert!(processed <= 40_000, "{processed}");
}

/// Values may saturate between two look-ups, and the verifier follows every combination of them.
#[test]
fn values_computed_on_many_paths_are_forgotten_in_memory() {
    let elaborated = elaborate(include_str!("computed.p4"));
    let compiled = compile(&elaborated.program, &elaborated.map, Request::default());
    let compiled = compiled.expect("an object");
    let failed: Vec<Obstacle> = compiled.failed.iter().map(|f| f.obstacle).collect();
    assert_eq!(failed, [Obstacle::TooLarge]);
    let taken = "no fast path, parse results and variables in a per-CPU map";
    assert_eq!(compiled.strategy.name, taken);
    let verified = kernel::verify(&compiled.object, &compiled.abi, &elaborated.map);
    let processed = verified.instructions.expect("this test needs root");
    assert!(processed <= 50_000, "{processed}");
}
