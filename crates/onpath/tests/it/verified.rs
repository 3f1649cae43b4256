//! Bounds on the instructions that this kernel's verifier processes of the larger programs, in the variant for this
//! kernel and in the one for the oldest. Needs root.

use bpf::abi::Hook;
use bpf::features::FLOOR;
use diag::{SourceMap, render_plain};
use driver::Input;
use driver::bpf_target::{self, Request};
use driver::strategy::{STRATEGIES, Strategy};
use kernel::features::Kernel;
use telemetry::{Catalogue, Schemas};
use testkit::files;

/// Returns the instructions that the verifier processes of a program of the repository. The first strategy must
/// succeed.
fn verified(program: &str, hook: Hook, kernel: Kernel) -> u32 {
    let input = Input::file(files::root().join(program));
    verified_of(&input, program, hook, kernel)
}

/// Returns the instructions that the verifier processes of any program. The first strategy must succeed.
fn verified_of(input: &Input, program: &str, hook: Hook, kernel: Kernel) -> u32 {
    let (strategy, processed) = strategy_of(input, program, hook, kernel);
    assert_eq!(strategy, &STRATEGIES[0], "{program}");
    processed
}

/// Returns the strategy by which a program loads, and the instructions that the verifier processes.
fn strategy_of(
    input: &Input,
    program: &str,
    hook: Hook,
    kernel: Kernel,
) -> (&'static Strategy, u32) {
    let elaborated = driver::elaborate(input).ok().expect(program);
    let request = Request {
        kernel,
        ..Request::hook(hook)
    };
    let compiled = bpf_target::compile(&elaborated.program, &elaborated.map, request);
    let compiled =
        compiled.unwrap_or_else(|refused| panic!("{}", render_plain(&refused, &elaborated.map)));
    let verified = kernel::verify(&compiled.object, &compiled.abi, &elaborated.map);
    let processed = verified.instructions.expect("this test needs root");
    (compiled.strategy, processed)
}

#[test]
fn pdm_stays_quick_to_verify() {
    let oldest = Kernel::Version(FLOOR);
    for (program, hook, kernel, most) in [
        (
            "programs/pdm/egress.p4",
            Hook::TcEgress,
            Kernel::This,
            25_000,
        ),
        ("programs/pdm/egress.p4", Hook::TcEgress, oldest, 27_000),
        (
            "programs/pdm/ingress.p4",
            Hook::TcIngress,
            Kernel::This,
            55_000,
        ),
        ("programs/pdm/ingress.p4", Hook::TcIngress, oldest, 62_000),
    ] {
        let processed = verified(program, hook, kernel);
        assert!(processed <= most, "{program} for {kernel:?}: {processed}");
    }
}

/// The bounds are for the programs of a realistic size, at XDP and at traffic control. Each is little above the
/// present number.
#[test]
fn realistic_programs_stay_quick_to_verify() {
    let bounds = [
        ("campus", None, 60_000),
        ("cgnat", Some(61_000), 61_000),
        ("classifier", Some(9_000), 16_000),
        ("fabric", Some(23_000), 30_000),
        ("gtp_user_plane", Some(10_000), 17_000),
        ("load_balancer", Some(17_000), 17_000),
        ("router", Some(16_000), 23_000),
        ("srv6", Some(14_000), 23_000),
        ("tcp_options", Some(6_000), 30_000),
        ("telemetry", None, 20_000),
        ("vxlan_gateway", Some(6_000), 13_000),
    ];
    let mut exceeded = String::new();
    for (name, at_xdp, at_tc) in bounds {
        let program = format!("tests/scale/{name}.p4");
        let at_xdp = at_xdp.map(|most| (Hook::Xdp, most));
        for (hook, most) in at_xdp.into_iter().chain([(Hook::TcIngress, at_tc)]) {
            let processed = verified(&program, hook, Kernel::This);
            if processed > most {
                exceeded += &format!("{program} at {hook:?}: {processed} of {most}\n");
            }
        }
    }
    assert!(exceeded.is_empty(), "{exceeded}");
    let bounded = bounds.map(|(name, ..)| format!("tests/scale/{name}.p4"));
    for program in files::below("tests/scale", "p4") {
        let name = files::short(&program);
        let known = bounded.contains(&name);
        assert!(known, "{name} has no bound");
    }
}

/// Hand-written C for the same task (`bench/xdp/vxlan.c`) takes 162. The search of a table's buckets takes some 400 more,
/// which the kernel's hash map does not.
#[test]
fn a_small_tunnel_is_quick_to_verify() {
    for kernel in [Kernel::This, Kernel::Version(FLOOR)] {
        let processed = verified("tests/stf/protocol/vxlan.p4", Hook::Xdp, kernel);
        assert!(processed <= 800, "for {kernel:?}: {processed}");
    }
}

#[test]
fn a_loop_costs_no_more_than_one_iteration() {
    let program = "tests/stf/control/many_iterations.p4";
    let processed = verified(program, Hook::Xdp, Kernel::This);
    assert!(processed <= 1_000, "{processed}");
}

/// If the verifier processes every iteration, each has only one path, so the cost is that of a packet's maximum
/// number of iterations.
#[test]
fn an_automaton_is_quick_to_verify() {
    for (kernel, most) in [(Kernel::This, 1_200), (Kernel::Version(FLOOR), 250_000)] {
        let processed = verified("programs/payload/automaton.p4", Hook::Xdp, kernel);
        assert!(processed <= most, "for {kernel:?}: {processed}");
    }
}

#[test]
fn a_stack_of_ten_unions_is_quick_to_verify_on_the_oldest_kernel() {
    let program = "tests/scale/tcp_options.p4";
    for (hook, most) in [(Hook::Xdp, 20_000), (Hook::TcIngress, 60_000)] {
        let processed = verified(program, hook, Kernel::Version(FLOOR));
        assert!(processed <= most, "at {hook:?}: {processed}");
    }
}

/// A query on messages reads up to 64 messages of a packet, in a loop that the verifier must not process iteration by
/// iteration. Nor must it process every combination of the attributes in a message and of the conditions and metrics.
#[test]
fn queries_on_messages_stay_quick_to_verify() {
    let queries = [
        ("count by http.host", 69_000),
        (
            "top(10, http.host), distinct(http.path) by http.header.a, flow",
            97_000,
        ),
        ("count, bytes by http.host, http.method", 75_000),
        (
            "count by http.host, http.path, http.method, http.status where http.method == \"POST\" and not http.path starts with \"/api\"",
            83_000,
        ),
        (
            "distinct(http.host), histogram(http.status), rate, count by http.reason, http.target, http.content_length, tcp.dst_port \
             where http.path starts with \"GET\"",
            126_000,
        ),
        (
            "bytes by http.content_length where http.header.user-agent in [\"a\", \"bc\", \"def\"] or http.method == \"abcdef\" \
             or tcp.dst_port in [80, 443]",
            71_000,
        ),
        (
            "top(10, http.method), min(http.status), bytes, count by http.host where http.query.q == \"abcdef\" or tcp.dst_port in [80, 443]",
            69_000,
        ),
        (
            "distinct(http.host), distinct(http.query.q), distinct(http.header.user-agent), distinct(http.path), rate, bytes",
            120_000,
        ),
        ("count by redis.command, redis.key", 10_000),
        ("count, distinct(ip.src) by tls.sni, tls.version", 37_000),
    ];
    let mut exceeded = String::new();
    for (text, most) in queries {
        let processed = verified_of(&program_of(text), text, Hook::TcIngress, Kernel::This);
        if processed > most {
            exceeded += &format!("{text}: {processed} of {most}\n");
        }
    }
    assert!(exceeded.is_empty(), "{exceeded}");
}

/// The loop that pairs requests and responses is outlined at XDP, as it would exceed the verifier's limit as part of one
/// function. At traffic control it is just within the limit.
#[test]
fn queries_on_response_times_are_several_functions() {
    let queries = [
        ("mean(http.response_time) by http.path", 65_000),
        (
            "histogram(http.response_time), top(5, http.path), distinct(http.host) by http.status, ip.src where http.method == \"GET\"",
            125_000,
        ),
    ];
    for (text, most) in queries {
        for hook in [Hook::Xdp, Hook::TcIngress, Hook::TcEgress] {
            let (strategy, processed) = strategy_of(&program_of(text), text, hook, Kernel::This);
            let most = if strategy.outlines { most } else { 500_000 };
            assert!(hook != Hook::Xdp || strategy.outlines, "{text}");
            assert!(processed <= most, "{text}: {processed}");
        }
    }
}

/// Returns the program of a query.
fn program_of(text: &str) -> Input {
    let schemas = Schemas::builtin();
    let query = telemetry::compile(text, &Catalogue::new(&schemas), &mut SourceMap::new());
    let query = query.expect("a query");
    let program = telemetry::program(&query, text, &schemas, 4096).expect("a program");
    Input {
        text: Some(program.into()),
        ..Input::file("query")
    }
}
