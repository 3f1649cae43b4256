//! Properties of an architecture's model that elaboration passes on.

use crate::support::{Outcome, compile};
use arch::{Architecture, BlockKind, Slot};
use interp::trace::TraceKind;
use interp::{Interpreter, Options};
use ir::{BlockBody, Effect, OnReject, SlotKind, StmtKind, visit};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

const HEAD: &str = "\
#include <core.p4>
header h_t { bit<8> a; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; }
";

/// A program for each architecture.
const PROGRAMS: [(&Architecture, &str); 6] = [
    (
        &arch::ebpf::ARCHITECTURE,
        "#include <ebpf_model.p4>
parser p(packet_in packet, out headers_t hdr) { state start { transition reject; } }
control c(inout headers_t hdr, out bool accept) { apply { accept = true; } }
ebpfFilter(p(), c()) main;",
    ),
    (
        &arch::xdp::ARCHITECTURE,
        "#include <xdp_model.p4>
parser p(packet_in packet, out headers_t hdr) { state start { transition reject; } }
control c(inout headers_t hdr, in xdp_input i, out xdp_output o) {
    apply { o.output_port = csum_replace2(1, 2, 3) ++ (BPF_KTIME_GET_NS() ^ BPF_PERF_EVENT_OUTPUT())[15:0]; }
}
control d(in headers_t hdr, packet_out packet) { apply { } }
xdp(p(), c(), d()) main;",
    ),
    (
        &arch::tc::ARCHITECTURE,
        "#include <tc_model.p4>
parser p(packet_in packet, out headers_t hdr) { state start { transition reject; } }
control c(inout headers_t hdr, in tc_input i, inout tc_output o) { apply { } }
control d(in headers_t hdr, packet_out packet) { apply { } }
tc(p(), c(), d()) main;",
    ),
    (
        &arch::tap::ARCHITECTURE,
        "#include <tap_model.p4>
parser p(packet_in packet, out headers_t hdr) { state start { transition reject; } }
control c(in headers_t hdr, in tap_input i) { apply { } }
tap(p(), c()) main;",
    ),
    (
        &arch::v1model::ARCHITECTURE,
        "#include <v1model.p4>
parser p(packet_in packet, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { transition reject; }
}
control v(inout headers_t hdr, inout meta_t m) { apply { } }
control i(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control e(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control k(inout headers_t hdr, inout meta_t m) { apply { } }
control d(packet_out packet, in headers_t hdr) { apply { } }
V1Switch(p(), v(), i(), e(), k(), d()) main;",
    ),
    (
        &testkit::relay::ARCHITECTURE,
        "#include <relay_model.p4>
parser p(packet_in packet, out headers_t hdr, inout meta_t m) { state start { transition reject; } }
control c(inout headers_t hdr, inout meta_t m, in relay_input i, inout relay_output o) { apply { } }
control d(in headers_t hdr, packet_out packet) { apply { } }
relay(p(), c(), d(), p(), c(), d()) main;",
    ),
];

fn program(text: &str) -> ir::Program {
    match compile("test.p4", &format!("{HEAD}{text}")) {
        Outcome::Program(program, _) => *program,
        Outcome::Refused(_, why) | Outcome::Unchecked(why) | Outcome::Broken(why) => {
            panic!("{why}")
        }
    }
}

#[test]
fn the_program_states_what_its_architecture_does() {
    let of_all = arch::all().map(|arch| arch.name);
    let tested: BTreeSet<_> = PROGRAMS.iter().map(|(arch, _)| arch.name).collect();
    assert_eq!(tested, of_all.collect());
    for (arch, text) in PROGRAMS {
        let program = program(text);
        assert_eq!(program.arch, arch.package);
        assert_eq!(program.on_reject, arch.on_reject, "{}", arch.name);
        let blocks: Vec<_> = program
            .blocks
            .iter()
            .map(|block| {
                let kind = match block.body {
                    BlockBody::Parser(_) => BlockKind::Parser,
                    BlockBody::Control(_) => BlockKind::Control,
                    BlockBody::Deparser(_) => BlockKind::Deparser,
                };
                (block.name.as_str(), kind)
            })
            .collect();
        let expected: Vec<_> = arch.blocks().map(|b| (b.name, b.kind)).collect();
        assert_eq!(blocks, expected);
        let slots: Vec<_> = program
            .slots
            .iter()
            .map(|slot| (slot.name.as_str(), slot.kind))
            .collect();
        let mut expected = Vec::new();
        for slot in arch.blocks().flat_map(|b| b.params) {
            let slot = match *slot {
                Slot::Program(name) => (name, SlotKind::Program),
                Slot::Intrinsic(name) => (name, SlotKind::Intrinsic),
                Slot::PacketIn | Slot::PacketOut => continue,
            };
            if !expected.contains(&slot) {
                expected.push(slot);
            }
        }
        assert_eq!(slots, expected);
    }
}

/// Returns the calls of extern functions, with their effects.
fn calls(text: &str) -> Vec<(String, Effect)> {
    let program = program(text);
    let mut calls = Vec::new();
    for body in visit::bodies(&program) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Extern(call) = &stmt.kind {
                calls.push((call.name.to_string(), call.effect));
            }
        });
    }
    calls
}

#[test]
fn pure_and_isolated_is_what_the_declaration_calls_so() {
    let call = |name: &str, effect| (name.to_owned(), effect);
    assert_eq!(
        calls(PROGRAMS[1].1),
        [
            call("csum_replace2", Effect::None),
            call("BPF_KTIME_GET_NS", Effect::Outside),
            call("BPF_PERF_EVENT_OUTPUT", Effect::Any)
        ]
    );
}

#[test]
fn a_hash_that_draws_a_random_number_is_not_pure() {
    let empty =
        "control i(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }";
    for (algorithm, effect) in [("crc16", Effect::None), ("random", Effect::Outside)] {
        let hash = format!("hash(m.m, HashAlgorithm.{algorithm}, 8w0, {{ hdr.h.a }}, 8w9);");
        let text = PROGRAMS[4].1.replace(
            empty,
            &empty.replace("apply { }", &format!("apply {{ {hash} }}")),
        );
        assert_eq!(calls(&text), [("hash".to_owned(), effect)], "{algorithm}");
    }
}

#[test]
fn headers_do_not_go_from_stage_to_stage() {
    let text = PROGRAMS[5].1.replace("meta_t m", "headers_t m");
    match compile("test.p4", &format!("{HEAD}{text}")) {
        Outcome::Refused(_, why) => {
            assert!(why.contains("`meta` goes from stage to stage"), "{why}");
        }
        _ => panic!("it has a header"),
    }
}

/// Checks that the passes treat a rejected packet as the interpreter does.
#[test]
fn a_rejected_packet_is_handled_as_the_model_defines() {
    for (arch, text) in PROGRAMS {
        let mut interpreter =
            Interpreter::new(Arc::new(program(text)), Options::default()).unwrap();
        let blocks = Rc::new(RefCell::new(0));
        let sink = Rc::clone(&blocks);
        interpreter.trace_to(Some(Box::new(move |event| {
            if let TraceKind::Block { .. } = event.kind {
                *sink.borrow_mut() += 1;
            }
        })));
        interpreter.run(1, &[1, 2, 3]);
        let expected = match arch.on_reject {
            OnReject::Stop => 1,
            OnReject::Continue => arch.blocks().count(),
        };
        assert_eq!(*blocks.borrow(), expected, "{}", arch.name);
    }
}

/// A package of the program's own that only has the name of an architecture's.
#[test]
fn a_package_with_blocks_of_another_kind_is_not_the_architectures() {
    let ebpf = |package: &str, main: &str| {
        format!(
            "{HEAD}
parser p(packet_in packet, out headers_t hdr) {{ state start {{ transition accept; }} }}
control c(inout headers_t hdr, out bool accept) {{ apply {{ accept = true; }} }}
parser parse<H>(packet_in packet, out H hdr);
control filter<H>(inout H hdr, out bool accept);
{package}
{main} main;"
        )
    };
    for (package, main, message) in [
        (
            "package ebpfFilter<H>(filter<H> f, parse<H> p);",
            "ebpfFilter(c(), p())",
            "`prs` is a control instead of a parser",
        ),
        (
            "package ebpfFilter<H>(parse<H> p, @optional filter<H> f);",
            "ebpfFilter(p())",
            "`f` is given no parser or control",
        ),
        (
            "package ebpfFilter<H>(parse<H> p, bit<8> n);",
            "ebpfFilter(p(), 8)",
            "`n` is given no parser or control",
        ),
        (
            "package ebpfFilter<H>(parse<H> p);",
            "ebpfFilter(p())",
            "it has 1 block instead of 2",
        ),
    ] {
        match compile("test.p4", &ebpf(package, main)) {
            Outcome::Refused(all, why) => {
                assert!(all.iter().all(|d| d.code.0 == "E0603"), "{why}");
                assert!(why.contains(message), "{why}");
            }
            Outcome::Program(..) => panic!("{package}: accepted"),
            Outcome::Unchecked(why) | Outcome::Broken(why) => panic!("{why}"),
        }
    }
}
