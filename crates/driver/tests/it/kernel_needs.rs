//! Recorded kernel features of an object, checked against its instructions and maps.

use bpf::abi::Hook;
use bpf::features::{FLOOR, Feature};
use bpf::uses::{Construct, Use, loads_from};
use driver::Input;
use driver::bpf_target::{Compiled, Request, Trial, compile};
use kernel::features::Kernel;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use std::collections::BTreeSet;
use testkit::files;

const NEWEST: Kernel = Kernel::Version((99, 0));
const OLDEST: Kernel = Kernel::Version(FLOOR);

fn build(program: &str, hook: Option<Hook>, kernel: Kernel) -> Compiled {
    try_build(program, hook, kernel).expect(program)
}

/// Compiles a program. Returns `None` if no such kernel can run it.
fn try_build(program: &str, hook: Option<Hook>, kernel: Kernel) -> Option<Compiled> {
    let file = files::root().join(program);
    let elaborated = driver::elaborate(&Input::file(file)).ok().expect(program);
    let default = driver::hooks::default_hook(&elaborated.program);
    let request = Request {
        kernel,
        trial: Trial::None,
        ..Request::hook(hook.unwrap_or(default))
    };
    compile(&elaborated.program, &elaborated.map, request).ok()
}

/// Returns the features that an object's instructions need. Features of the verifier's tracking show in no
/// instruction.
fn in_object(object: &[u8]) -> BTreeSet<&'static str> {
    // Numbers of helper functions, of the kernel's ABI.
    let helpers = [
        (188, Feature::XdpBytes),
        (189, Feature::XdpBytes),
        (190, Feature::XdpBytes),
        (181, Feature::LoopCalls),
        (163, Feature::CheckMtu),
        (160, Feature::CoarseClock),
        (131, Feature::RingBuffers),
        (113, Feature::ProbeReadKernel),
        (93, Feature::Locks),
    ];
    let file = object::File::parse(object).expect("an object");
    let mut found = BTreeSet::new();
    for section in file.sections().filter(|s| s.kind() == SectionKind::Text) {
        for insn in section.data().expect("code").chunks_exact(8) {
            let immediate = i32::from_le_bytes([insn[4], insn[5], insn[6], insn[7]]);
            match (insn[0], insn[1] >> 4) {
                (0xe5, _) => {
                    found.insert(Feature::MayGoto.name());
                }
                (0x06, _) => {
                    found.insert(Feature::LongJumps.name());
                }
                (0x85, 0) => {
                    let known = helpers.iter().find(|(number, _)| *number == immediate);
                    found.extend(known.map(|(_, feature)| feature.name()));
                }
                _ => {}
            }
        }
    }
    if file
        .symbols()
        .any(|s| s.name() == Ok("bpf_cast_to_kern_ctx"))
    {
        found.insert(Feature::KernelContext.name());
    }
    found
}

/// Returns the recorded features that instructions can show.
fn recorded(compiled: &Compiled) -> BTreeSet<&'static str> {
    let features = compiled.abi.uses.iter().filter_map(|used| used.by);
    let visible = |f: &Feature| !matches!(f, Feature::TrackedSpills | Feature::DeviceMaps);
    features.filter(visible).map(Feature::name).collect()
}

fn examples() -> Vec<String> {
    let programs = files::below("programs", "p4");
    let found: Vec<String> = programs.iter().map(|path| files::short(path)).collect();
    assert!(found.len() > 15, "{found:?}");
    found
}

#[test]
fn what_examples_need_is_recorded_and_nothing_else() {
    for program in examples() {
        for kernel in [NEWEST, OLDEST] {
            let Some(compiled) = try_build(&program, None, kernel) else {
                // The object for the newest kernel must then record a feature that the oldest lacks.
                let newest = build(&program, None, NEWEST).abi;
                assert!(
                    kernel == OLDEST && loads_from(&newest.uses) > FLOOR,
                    "{program}"
                );
                continue;
            };
            let (found, recorded) = (in_object(&compiled.object), recorded(&compiled));
            assert_eq!(found, recorded, "{program} for {kernel:?}");
            let redirects = compiled.abi.ports.devmap.is_some();
            let uses = |c| compiled.abi.uses.iter().any(|used| used.construct == c);
            assert_eq!(uses(Construct::Redirects), redirects, "{program}");
            if kernel == OLDEST {
                assert_eq!(loads_from(&compiled.abi.uses), FLOOR, "{program}");
            }
        }
    }
}

/// The cases give, for every construct, the features that its lowerings use on the newest and on the oldest kernel.
#[test]
fn every_construct_is_recorded_in_the_variant_that_its_code_has() {
    use Construct::*;
    let goto = Some(Feature::MayGoto);
    let cases = [
        ("tests/stf/parser/tlv_loop.p4", Hook::Xdp, Loops, goto, None),
        (
            "tests/stf/match/tuple_space.p4",
            Hook::Xdp,
            MaskSearch,
            goto,
            Some(Feature::LoopCalls),
        ),
        (
            "tests/stf/header/varbit_moves.p4",
            Hook::Xdp,
            Bounds,
            Some(Feature::TrackedSpills),
            None,
        ),
        (
            "tests/stf/header/varbit_moves.p4",
            Hook::Xdp,
            MovedHeaders,
            Some(Feature::XdpBytes),
            Some(Feature::XdpBytes),
        ),
        (
            "tests/stf/tc/checksums.p4",
            Hook::TcIngress,
            TransportChecksums,
            Some(Feature::KernelContext),
            Some(Feature::ProbeReadKernel),
        ),
        (
            "tests/traffic/address.p4",
            Hook::TcIngress,
            Addressed,
            Some(Feature::ProbeReadKernel),
            Some(Feature::ProbeReadKernel),
        ),
        (
            "programs/nat/nat.p4",
            Hook::TcIngress,
            ChangedPackets,
            Some(Feature::LoopCalls),
            Some(Feature::LoopCalls),
        ),
        (
            "tests/stf/flow_state/interface_size.p4",
            Hook::TcEgress,
            Mtu,
            Some(Feature::CheckMtu),
            Some(Feature::CheckMtu),
        ),
        (
            "tests/stf/flow_state/ageing.p4",
            Hook::Xdp,
            IdleTime,
            Some(Feature::CoarseClock),
            Some(Feature::CoarseClock),
        ),
        (
            "tests/stf/flow_state/ageing.p4",
            Hook::Xdp,
            FlowState,
            Some(Feature::Locks),
            Some(Feature::Locks),
        ),
        (
            "programs/router/router.p4",
            Hook::Xdp,
            Redirects,
            Some(Feature::DeviceMaps),
            Some(Feature::DeviceMaps),
        ),
        (
            "tests/stf/v1model/payload_checksum.p4",
            Hook::TcIngress,
            Payload,
            Some(Feature::LoopCalls),
            Some(Feature::LoopCalls),
        ),
        (
            "tests/stf/v1model/payload_checksum.p4",
            Hook::Xdp,
            PayloadAtXdp,
            Some(Feature::XdpBytes),
            Some(Feature::XdpBytes),
        ),
        (
            "tests/stf/v1model/varbit_hashes.p4",
            Hook::TcIngress,
            Varbits,
            Some(Feature::LoopCalls),
            Some(Feature::LoopCalls),
        ),
        (
            "tests/stf/v1model/shared_state.p4",
            Hook::Xdp,
            AtomicRegisters,
            Some(Feature::Locks),
            Some(Feature::Locks),
        ),
        (
            "tests/stf/v1model/meter.p4",
            Hook::Xdp,
            Meters,
            Some(Feature::Locks),
            Some(Feature::Locks),
        ),
        (
            "tests/stf/v1model/digests.p4",
            Hook::TcIngress,
            Digests,
            Some(Feature::RingBuffers),
            Some(Feature::RingBuffers),
        ),
    ];
    let mut left: BTreeSet<Construct> = Construct::ALL.into_iter().collect();
    // Long jumps need a program of tens of thousands of instructions, which `large.rs` has.
    left.remove(&LongJumps);
    let copies = build("tests/stf/v1model/resubmit.p4", None, NEWEST);
    let used = Use {
        construct: Copies,
        by: goto,
    };
    assert!(copies.abi.uses.contains(&used), "{:?}", copies.abi.uses);
    left.remove(&Copies);
    let messages = build("tests/stf/payload/dns.p4", Some(Hook::Xdp), NEWEST);
    for (construct, by) in [(Messages, goto), (PayloadAtXdp, Some(Feature::XdpBytes))] {
        assert!(messages.abi.uses.contains(&Use { construct, by }));
    }
    left.remove(&Messages);
    for (program, hook, construct, newest, oldest) in cases {
        for (kernel, by) in [(NEWEST, newest), (OLDEST, oldest)] {
            let compiled = build(program, Some(hook), kernel);
            let used = Use { construct, by };
            let uses = &compiled.abi.uses;
            assert!(uses.contains(&used), "{program}: {used:?} in {uses:?}");
            let found = in_object(&compiled.object);
            assert!(
                found.is_subset(&recorded(&compiled)),
                "{program}: {found:?} but {uses:?}"
            );
            let visible = by.filter(|f| !matches!(f, Feature::TrackedSpills | Feature::DeviceMaps));
            assert!(
                visible.is_none_or(|f| found.contains(f.name())),
                "{program}: {found:?}"
            );
        }
        left.remove(&construct);
    }
    assert!(left.is_empty(), "{left:?}");
}
