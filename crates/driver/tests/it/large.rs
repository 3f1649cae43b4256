//! Programs with hundreds of parser states, which load and which neither Onpath nor clang takes long to compile.
//! Needs root.

use crate::shapes::{self, Switch, conditions, large_maps, program, states, tables};
use bpf::abi::Hook;
use bpf::costs::limits;
use bpf::features::Feature;
use bpf::uses::{Construct, Use};
use bpf::{Outlining, ParseRecord, Report};
use driver::Elaborated;
use driver::bpf_target::{Compiled, Reach, Request, Trial, compile, generate};
use driver::stf::{Case, Prepared, StfTarget, TestResult};
use kernel::features::Kernel;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

fn compiled(elaborated: &Elaborated) -> Compiled {
    let request = Request {
        trial: Trial::Each,
        ..Request::default()
    };
    let compiled = compile(&elaborated.program, &elaborated.map, request);
    compiled.unwrap_or_else(|refused| panic!("{}", diag::render_plain(&refused, &elaborated.map)))
}

/// A debug build of Onpath takes 2 s of the limit, and a release build 0.2 s.
#[test]
#[ignore = "long: make test-all"]
fn hundreds_of_states_load_and_take_seconds() {
    let elaborated = states(400, 400, &[1, 2, 7]);
    let own = elaborated.took;
    let compiled = compiled(&elaborated);
    let own = own + compiled.compiler_time;
    assert!(own < Duration::from_secs(8), "{own:?}");
    assert_eq!(compiled.failed, []);
    assert!(compiled.c_source.contains("nodebug"));
}

/// The time of the facts about variables where paths meet grows linearly with their number. In quadratic time 3,000
/// variables would take more than 30 s; they take less than 2 s.
#[test]
fn thousands_of_variables_take_seconds() {
    let count = 3_000;
    let mut done = String::new();
    for i in 0..count {
        let bit = i % 32;
        let _ = write!(
            done,
            "bit<8> x{i} = 0; if (hdr.h0.rest[{bit}:{bit}] == 1) {{ x{i} = 1; }}"
        );
    }
    for i in 0..count {
        let _ = write!(done, "if (x{i} == 1) {{ hdr.h0.sum = hdr.h0.sum + {i}; }}");
    }
    let state = "    state s0 { packet.extract(hdr.h0); transition accept; }\n";
    let elaborated = program(state, 1, "", &done);
    let begun = Instant::now();
    let generated = generate(&elaborated.program, &elaborated.map, Request::default());
    assert!(generated.is_ok());
    let own = elaborated.took + begun.elapsed();
    assert!(own < Duration::from_secs(15), "{own:?}");
}

/// Facts about a state's own variables end with the state. If they were propagated round the loop, 1,500 states would
/// take 30 s in a debug build; they take 3 s.
#[test]
fn a_loop_of_1500_states_with_variables_of_their_own_takes_seconds() {
    let count = 1500;
    let mut states = String::new();
    for i in 0..count {
        let (one, other) = ((i + 1) % count, (i + 7) % count);
        let (byte, another) = (i % 251, i * 3 % 251 + 1);
        let _ = writeln!(
            states,
            "    state s{i} {{ next_t h = packet.lookahead<next_t>(); packet.advance(8);
             transition select(h.next) {{ {byte}: s{one}; {another}: s{other}; default: accept; }} }}"
        );
    }
    let took = program(&states, 1, "", "").took;
    assert!(took < Duration::from_secs(12), "{took:?}");
}

/// States that also select on a variable could be copied for each of its values to form an automaton, but these
/// cannot. With an attempt for each of them, 4,500 states would take 50 s in a debug build.
#[test]
fn a_loop_of_1500_states_where_a_variable_chooses_takes_seconds() {
    let count = 1500;
    let mut states = String::new();
    for i in 0..count {
        let (one, other) = ((i + 1) % count, (i + 3) % count);
        let (byte, another) = (i % 251, (i + 5) % 251);
        let _ = writeln!(
            states,
            "    state b{i} {{ transition select(last, packet.lookahead<bit<8>>()) {{ (1, {byte}): t{i}; (2, {another}): u{i}; default: accept; }} }}
             state t{i} {{ packet.advance(8); last = 2; transition b{one}; }}
             state u{i} {{ packet.advance(8); last = 1; transition b{other}; }}"
        );
    }
    let took = shapes::elaborate(&format!(
        "#include <core.p4>
#include <ebpf_model.p4>
struct headers_t {{ }}
parser prs(packet_in packet, out headers_t hdr) {{
    bit<8> last = 1;
    state start {{ transition b0; }}
{states}}}
control check(inout headers_t hdr, out bool accept) {{ apply {{ accept = true; }} }}
ebpfFilter(prs(), check()) main;
"
    ))
    .took;
    assert!(took < Duration::from_secs(8), "{took:?}");
}

/// clang is asked for short jumps first, which do not reach far enough.
#[test]
fn a_program_with_more_instructions_than_a_jump_passes_over_takes_long_jumps() {
    let elaborated = states(1000, 12, &[1, 2, 3, 4, 9, 16, 25, 36]);
    let compiled = compiled(&elaborated);
    let longest = compiled.budget.functions.iter().map(|f| f.instructions);
    let longest = longest.max().expect("a function");
    assert!(longest > 32_767, "{longest}");
    let expected = Use {
        construct: Construct::LongJumps,
        by: Some(Feature::LongJumps),
    };
    assert!(compiled.abi.uses.contains(&expected));
    assert!(!limits::needs_long_jumps(&compiled.decisions));
}

/// Name of the strategy for programs that are too long for one function.
const OUTLINED: &str = "several functions, all variables in a per-CPU map";

fn longest(compiled: &Compiled) -> usize {
    let functions = compiled.budget.functions.iter();
    functions
        .map(|f| f.instructions as usize)
        .max()
        .expect("a function")
}

/// As one function it would have 8,193 jumps in sequence, which exceeds the verifier's limit.
#[test]
#[ignore = "long: make test-all"]
fn a_parser_of_1500_states_loads_as_several_functions() {
    let compiled = compiled(&states(1500, 1500, &[1, 2, 7]));
    assert_eq!(compiled.strategy.name, OUTLINED);
    assert!(!compiled.is_refused(), "{:?}", compiled.failed);
    assert!(longest(&compiled) < 4_000, "{}", longest(&compiled));
    assert_eq!(compiled.failed.len(), 1);
}

/// Compiles a program with these outlined functions, and runs an STF test on it. Returns the compiler's report.
fn passes_outlined(elaborated: Elaborated, hook: Hook, outline: Outlining, text: String) -> Report {
    let request = Request {
        outline: Some(outline),
        ..Request::hook(hook)
    };
    let made = generate(&elaborated.program, &elaborated.map, request).expect("C");
    let target = StfTarget::Kernel {
        hook,
        reach: Reach::TestRun,
        kernel: Kernel::This,
        parse_record: ParseRecord::BySize,
        layout: None,
        outline: Some(outline),
    };
    let prepared = Prepared::new(elaborated, target, &[]);
    let mut prepared = prepared.ok().expect("this test needs root");
    let case = Case {
        name: "parts".into(),
        text,
    };
    match prepared.run(&case, None) {
        TestResult::Passed { received: 1, .. } => {}
        other => panic!("{other:?}"),
    }
    made.report
}

/// A parser and its control are chained by tail calls, and a packet goes through all of the programs. The control
/// changes a sum in each header.
#[test]
#[ignore = "long: make test-all"]
fn a_packet_goes_through_several_programs() {
    let outline = Outlining {
        size: 1_000,
        programs: 4,
    };
    // Each leads to the seventh state after it.
    let headers =
        |sum: &str| format!("0200{sum}00000000").repeat(85) + &format!("0900{sum}00000000");
    let text = format!(
        "packet 0 {}\nexpect 0 {} $\n",
        headers("0000"),
        headers("0001")
    );
    let elaborated = states(600, 600, &[1, 2, 7]);
    let report = passes_outlined(elaborated, Hook::Xdp, outline, text);
    assert_eq!(report.programs, 4);
}

/// Returns states that each extract a header and lead to the next one. The last leads to the first.
fn round(count: usize, header: &str) -> String {
    let mut states = String::new();
    for i in 0..count {
        let next = (i + 1) % count;
        let _ = writeln!(
            states,
            "    state s{i} {{ packet.extract({header}); transition select({header}.next) {{ 0: s{next}; default: accept; }} }}"
        );
    }
    states
}

/// Returns a packet whose headers take two rounds of a parser's loop, and the bytes after its headers. A packet
/// shorter than an Ethernet header would be dropped.
fn two_rounds() -> (String, String) {
    let left = "5a".repeat(20);
    let sent = format!("{}0900000000000000{left}", "0000000000000000".repeat(230));
    (sent, left)
}

/// A parser's loop that is too long for one function is outlined. Packets go from function to function, and back to
/// the first.
#[test]
fn a_packet_goes_round_a_loop_of_several_functions() {
    let states = round(100, "hdr.h0");
    let elaborated = shapes::program(&states, 1, "", "hdr.h0.sum = hdr.h0.sum + 1;");
    let (sent, left) = two_rounds();
    let text = format!("packet 0 {sent}\nexpect 0 0900000100000000{left} $\n");
    let report = passes_outlined(elaborated, Hook::Xdp, Outlining::of(500), text);
    assert!(report.outlined > 5, "{}", report.outlined);
}

/// The loop over the copies is another loop, in the main function.
#[test]
fn a_packet_goes_round_a_loop_where_packets_are_copied() {
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ bit<8> next; bit<8> other; bit<16> sum; bit<32> rest; }}
struct headers_t {{ h_t h; }}
struct metadata_t {{ @field_list(1) bit<16> kept; }}
parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
    state start {{ transition s0; }}
{}}}
control checks(inout headers_t hdr, inout metadata_t meta) {{ apply {{ }} }}
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
    apply {{
        std.egress_spec = 1;
        meta.kept = 7;
        clone_preserving_field_list(CloneType.I2E, 5, 1);
    }}
}}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
    apply {{ hdr.h.sum = std.instance_type == 1 ? meta.kept : 1; }}
}}
control dep(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.h); }} }}
V1Switch(prs(), checks(), ingress(), egress(), checks(), dep()) main;
",
        round(100, "hdr.h")
    );
    let (sent, left) = two_rounds();
    let test = format!("packet 0 {sent}\nexpect 1 0900000100000000{left} $\n");
    let elaborated = shapes::elaborate(&text);
    let report = passes_outlined(elaborated, Hook::TcIngress, Outlining::of(500), test);
    assert!(report.outlined > 5, "{}", report.outlined);
}

/// A control's loop is outlined too, even if statements in it need the packet's length.
#[test]
fn a_loop_of_a_control_that_counts_bytes_is_several_functions() {
    let mut counted = String::new();
    for i in 0..80 {
        let _ = writeln!(
            counted,
            "            if (turn + {i} == 81) {{ bytes.count({i}); hdr.h.sum = hdr.h.sum + 1; }}"
        );
    }
    let text = shapes::switch(&Switch {
        fields: "bit<8> next; bit<8> other; bit<16> sum; bit<32> rest;",
        local: "counter(80, CounterType.bytes) bytes;",
        ingress: &format!(
            "for (bit<32> turn = 0; turn < (bit<32>)hdr.h.next; turn = turn + 1) {{ {counted} }}"
        ),
        ..Switch::default()
    });
    let left = "5a".repeat(20);
    let test = format!(
        "packet 0 0500000000000000{left}\nexpect 1 0500000300000000{left} $\ncheck_counter ingress.bytes[79] bytes == 28\n"
    );
    let elaborated = shapes::elaborate(&text);
    let report = passes_outlined(elaborated, Hook::TcIngress, Outlining::of(300), test);
    assert!(report.outlined > 5, "{}", report.outlined);
}

/// Each outlined function has short jumps only, so a kernel without long jumps accepts them.
#[test]
#[ignore = "long: make test-all"]
fn a_control_of_5000_conditions_loads_on_any_kernel() {
    let elaborated = conditions(5_000);
    let request = Request {
        kernel: Kernel::Version((6, 1)),
        ..Request::default()
    };
    let compiled = compile(&elaborated.program, &elaborated.map, request).expect("an object");
    assert_eq!(compiled.strategy.name, OUTLINED);
    assert!(!compiled.is_refused(), "{:?}", compiled.failed);
    assert!(compiled.abi.uses.iter().all(|used| used.by.is_none()));
}

/// With the variables on the stack, the verifier finds too many paths. With outlined functions, the loop over the
/// copies stays in the main function.
#[test]
fn a_program_of_1000_conditions_that_copies_packets_loads_as_one_function_and_as_several() {
    let mut done = String::new();
    for i in 0..1_000 {
        let bit = i % 32;
        let _ = writeln!(
            done,
            "if (hdr.h.rest[{bit}:{bit}] == 1) {{ hdr.h.sum = hdr.h.sum + {i}; }}"
        );
    }
    let text = shapes::switch(&Switch {
        fields: "bit<32> rest; bit<32> sum;",
        metadata: "@field_list(1) bit<16> kept;",
        ingress: &format!(
            "meta.kept = (bit<16>) hdr.h.rest; clone_preserving_field_list(CloneType.I2E, 5, 1); {done}"
        ),
        egress: "if (std.instance_type == 1) { hdr.h.sum = (bit<32>) meta.kept; }",
        ..Switch::default()
    });
    let elaborated = shapes::elaborate(&text);
    for outline in [
        None,
        Some(Outlining::of(bpf::costs::weights::outline::SIZE)),
    ] {
        let request = Request {
            outline,
            ..Request::hook(Hook::TcIngress)
        };
        let compiled = compile(&elaborated.program, &elaborated.map, request).expect("an object");
        assert!(!compiled.is_refused(), "{:?}", compiled.failed);
        assert_eq!(compiled.failed.is_empty(), outline.is_some());
        assert_eq!(compiled.decisions.outlined > 1, outline.is_some());
        assert_eq!(compiled.decisions.programs, 1);
    }
}

/// The tables' maps are inner maps of an outer map. Its type must be described even if functions have no debug
/// information.
#[test]
fn a_long_program_with_more_maps_than_the_kernel_allows_loads() {
    let compiled = compiled(&tables(100));
    assert!(compiled.c_source.contains("nodebug"));
    assert!(compiled.decisions.inner_maps > 64);
    assert!(!compiled.is_refused(), "{:?}", compiled.failed);
    assert_eq!(compiled.failed, []);
}

/// Maps are made smaller for a trial, except the arrays in an outer map.
#[test]
fn a_hundred_large_maps_are_tried() {
    let compiled = compiled(&large_maps(50));
    assert!(compiled.decisions.inner_maps > 36);
    assert!(!compiled.is_refused(), "{:?}", compiled.failed);
}

/// The same holds for maps of any purpose.
#[test]
fn seventy_large_maps_of_any_kind_are_tried() {
    let kinds = [
        ("counter(5000, CounterType.packets) x{};", "x{}.count(0);"),
        ("register<bit<32>>(5000) x{};", "x{}.write(0, 1);"),
        (
            "table x{} { key = { hdr.h.rest : exact; } actions = { NoAction; } size = 5000; }",
            "x{}.apply();",
        ),
        (
            "direct_counter(CounterType.packets) y{}; table x{} { key = { hdr.h.rest : ternary; } actions = { NoAction; } \
             counters = y{}; size = 5000; }",
            "x{}.apply();",
        ),
    ];
    for (declared, used) in kinds {
        let each = |text: &str| -> String {
            (0..70)
                .map(|i| text.replace("{}", &i.to_string()) + "\n")
                .collect()
        };
        let text = shapes::switch(&Switch {
            fields: "bit<32> rest;",
            local: &each(declared),
            ingress: &each(used),
            ..Switch::default()
        });
        let compiled = compiled(&shapes::elaborate(&text));
        assert!(compiled.decisions.inner_maps > 0, "{declared}");
        assert!(!compiled.is_refused(), "{declared}: {:?}", compiled.failed);
    }
}

#[test]
fn of_short_programs_debuggers_find_the_variables() {
    let compiled = compiled(&states(10, 10, &[1, 2, 7]));
    assert!(!compiled.c_source.contains("nodebug"));
}
