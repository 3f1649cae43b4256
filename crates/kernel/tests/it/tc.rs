//! Programs at traffic control: test runs, devices, attachments.

use crate::hand_written_tc::*;
use crate::modes::attach_at;
use bpf::abi::Hook;
use control::repeatable::RandomLists;
use control::{Change, Device, Packet, Replica, StoreError};
use host::linux::kernel_version;
use kernel::attachment::{Mode, TcMethod};
use kernel::sys::{Side, TcContext, filter};
use kernel::test_run::Fate;
use kernel::{HookProg, TestRun, VethDevice, test_run};
use net::netns::NetNs;
use net::{interface, veth};

fn sent(port: u32, bytes: Vec<u8>) -> Packet {
    Packet { port, bytes }
}

fn device() -> TestRun {
    TestRun::new(instance(Hook::TcIngress, true))
}

#[test]
fn a_test_run_tells_what_becomes_of_a_packet() {
    let mut d = device();
    let mut fate = |what, port| d.run(1, &packet(what, port)).expect("runs").fate;
    assert_eq!(fate(what::PASS, 0), Fate::Pass);
    assert_eq!(fate(what::DROP, 0), Fate::Drop);
    for (what, ingress) in [(what::REDIRECT, false), (what::REDIRECT_INGRESS, true)] {
        assert_eq!(fate(what, 5), Fate::Redirect { port: 5, ingress });
    }
    for what in [what::PASS, what::REDIRECT_INGRESS] {
        d.send(&sent(1, packet(what, 3))).expect("sends");
    }
    d.send(&sent(1, packet(what::DROP, 3))).expect("sends");
    let out = d.receive().expect("receives");
    let passed = sent(1, packet(what::PASS, 3));
    let redirected = sent(3, packet(what::REDIRECT_INGRESS, 3));
    assert_eq!(out, [passed, redirected]);
}

#[test]
fn copies_come_out_before_the_packet() {
    let mut d = device();
    d.store_mut()
        .change(Change::Group(7, Replica::to_ports([3, 1, 2])))
        .expect("room");
    let all = [packet(what::CLONE, 4), packet(what::MULTICAST, 7)];
    for bytes in &all {
        d.send(&sent(0, bytes.clone())).expect("sends");
    }
    let expected: Vec<Packet> = [(4, 0), (0, 0), (3, 1), (1, 1), (2, 1)]
        .map(|(port, n)| sent(port, all[n].clone()))
        .into();
    assert_eq!(d.receive().expect("receives"), expected);
}

#[test]
fn groups_are_changed_as_a_whole_and_have_limits() {
    let mut d = device();
    let ports = |d: &mut TestRun| d.run(0, &packet(what::MULTICAST, 7)).expect("runs").copies;
    d.store_mut()
        .change(Change::Group(7, Replica::to_ports([1, 2, 3])))
        .expect("room");
    d.store_mut()
        .change(Change::Group(7, Replica::to_ports([9])))
        .expect("changes");
    assert_eq!(ports(&mut d), [9]);
    let many: Vec<u32> = (0..33).collect();
    let to = |ports: &[u32]| Replica::to_ports(ports.iter().copied());
    let refused = d
        .store_mut()
        .change(Change::Group(7, to(&many)))
        .expect_err("too many");
    assert!(matches!(refused, StoreError::Invalid { .. }));
    assert!(
        d.store_mut()
            .change(Change::Group(0, Replica::to_ports([1])))
            .is_err()
    );
    assert_eq!(ports(&mut d), [9], "nothing changed");
    d.store_mut()
        .change(Change::Group(7, to(&many[..32])))
        .expect("fits");
    assert_eq!(ports(&mut d), many[..32]);
    d.store_mut()
        .change(Change::Group(8, Replica::to_ports([1])))
        .expect("room for two");
    let full = d
        .store_mut()
        .change(Change::Group(9, Replica::to_ports([1])))
        .expect_err("full");
    assert_eq!(full, StoreError::Full { capacity: 2 });
    d.store_mut()
        .change(Change::Group(7, Replica::to_ports([])))
        .expect("removes");
    assert_eq!(ports(&mut d), [0u32; 0]);
    d.store_mut()
        .change(Change::Group(7, Replica::to_ports([])))
        .expect("is removed already");
}

#[test]
fn a_test_run_has_what_the_kernel_keeps_beside_a_packet() {
    let mut d = device();
    let context = TcContext {
        mark: 41,
        priority: 1,
        gso_segs: 3,
        gso_size: 100,
        ..TcContext::default()
    };
    let packet = packet(what::REPORT, 0);
    let outcome = d.run_in(6, &packet, context).expect("runs");
    assert_eq!(outcome.bytes[6..11], [6, 41, 0, 3, 100]);
    assert_eq!((outcome.context.mark, outcome.context.priority), (42, 3));
    let outcome = d.run(2, &packet).expect("runs");
    assert_eq!(outcome.bytes[6..11], [2, 0, 0, 0, 0], "not kept");
}

#[test]
fn time_and_chance_are_given_to_a_test_run() {
    let mut d = TestRun::seeded(instance(Hook::TcEgress, true), 5);
    let mut lists = RandomLists::new(5);
    let mut reported = |d: &mut TestRun| {
        let outcome = d.run(0, &packet(what::REPORT_OBSERVED, 0)).expect("runs");
        let mut now = [0; 8];
        now[3..].copy_from_slice(&outcome.bytes[7..12]);
        assert_eq!(outcome.bytes[6], lists.next_list()[0] as u8);
        u64::from_be_bytes(now)
    };
    assert_eq!(reported(&mut d), 1_000_001_000);
    assert_eq!(reported(&mut d), 1_000_002_000);
    d.wait(5_000_000_000).expect("waits");
    assert_eq!(reported(&mut d), 6_000_003_000);
}

#[test]
fn test_runs_take_packets_of_some_lengths() {
    let mut d = device();
    for (kind, shortest) in [(0x0800, 34), (0x86dd, 54), (0x8100, 14), (0x0001, 14)] {
        let of_length = |length| {
            let mut bytes = packet(what::PASS, 0);
            bytes[12..14].copy_from_slice(&u16::to_be_bytes(kind));
            bytes.resize(length, 7);
            bytes
        };
        for length in [shortest, test_run::LONGEST] {
            let bytes = of_length(length);
            assert_eq!(d.run(0, &bytes).expect("runs").bytes, bytes);
        }
        for length in [0, shortest - 1, 9000] {
            let refused = d.run(0, &of_length(length)).expect_err("refused");
            assert!(refused.to_string().contains("`--fast`"), "{refused}");
        }
    }
}

#[test]
fn between_devices_packets_come_out_where_the_program_says() {
    for hook in [Hook::TcIngress, Hook::TcEgress] {
        let mut d = VethDevice::new(instance(hook, false), &[0, 1, 2]).expect("needs root");
        d.store_mut()
            .change(Change::Group(7, Replica::to_ports([2, 0])))
            .expect("room");
        let all = [
            packet(what::PASS, 0),
            packet(what::DROP, 0),
            packet(what::REDIRECT, 2),
            packet(what::REDIRECT_INGRESS, 1),
            packet(what::CLONE, 1),
            packet(what::MULTICAST, 7),
        ];
        // Copies take another path than packets that are redirected to the other side, and may overtake them.
        let turns: [(_, &[(u32, usize)]); 2] = [
            (0..4, &[(0, 0), (1, 3), (2, 2)]),
            (4..6, &[(0, 4), (0, 5), (1, 4), (2, 5)]),
        ];
        for (turn, expected) in turns {
            for bytes in &all[turn] {
                d.send(&sent(0, bytes.clone())).expect("sends");
            }
            let expected: Vec<Packet> = expected
                .iter()
                .map(|&(port, n)| sent(port, all[n].clone()))
                .collect();
            assert_eq!(d.receive().expect("receives"), expected, "{hook:?}");
        }
        assert_eq!(d.receive().expect("receives"), []);
        d.send(&sent(2, packet(what::REPORT, 0))).expect("sends");
        let reported = d.receive().expect("receives");
        assert_eq!((reported[0].port, reported[0].bytes[6]), (2, 2), "{hook:?}");
    }
}

#[test]
fn between_devices_tags_and_sizes_are_those_of_the_wire() {
    for hook in [Hook::TcIngress, Hook::TcEgress] {
        let mut d = VethDevice::new(instance(hook, false), &[5, 6]).expect("needs root");
        let mut all = Vec::new();
        for what in [what::PASS, what::REDIRECT, what::REDIRECT_INGRESS] {
            let mut tagged = packet(what, 6);
            tagged[12..18].copy_from_slice(&[0x81, 0, 0x20, 0x64, 0x08, 0x00]);
            let mut twice = tagged.clone();
            twice.splice(12..12, [0x88, 0xa8, 0, 5]);
            let mut large = packet(what, 6);
            large.resize(3414, 9);
            let mut small = packet(what, 6);
            small.resize(14, 9);
            all.extend([tagged, twice, large, small]);
        }
        let mut expected = Vec::new();
        for bytes in &all {
            d.send(&sent(5, bytes.clone())).expect("sends");
            let port = if bytes[5] == what::PASS { 5 } else { 6 };
            expected.push(sent(port, bytes.clone()));
        }
        assert_eq!(d.receive().expect("receives"), expected, "{hook:?}");
    }
}

#[test]
fn between_devices_many_packets_keep_their_order() {
    for hook in [Hook::TcIngress, Hook::TcEgress] {
        let mut d = VethDevice::new(instance(hook, false), &[0, 1]).expect("needs root");
        let all: Vec<Packet> = (0..300u16)
            .map(|n| {
                let what = [what::PASS, what::REDIRECT, what::REDIRECT_INGRESS][n as usize % 3];
                let mut bytes = packet(what, 0);
                bytes[20..22].copy_from_slice(&n.to_be_bytes());
                sent(0, bytes)
            })
            .collect();
        for packet in &all {
            d.send(packet).expect("sends");
        }
        let out = d.receive().expect("receives");
        assert_eq!(out.len(), all.len(), "{hook:?}");
        for what in [what::PASS, what::REDIRECT, what::REDIRECT_INGRESS] {
            let of = |all: &[Packet]| -> Vec<Packet> {
                let of = all.iter().filter(|p| p.bytes[5] == what);
                of.cloned().collect()
            };
            assert_eq!(of(&out), of(&all), "{hook:?}");
        }
    }
}

/// Returns the names of the programs of a side's filters.
fn filters(index: u32, side: Side) -> Vec<String> {
    let all = filter::filters(index, side).expect("reads");
    let name = |f: filter::Filter| f.name.split(':').next().unwrap_or("").to_owned();
    all.into_iter().map(name).collect()
}

/// Tests whether a device has a `clsact` qdisc.
fn has_qdisc(index: u32) -> bool {
    if filter::make_qdisc(index).expect("makes") {
        filter::remove_qdisc(index).expect("removes");
        return false;
    }
    true
}

fn in_namespace(work: impl FnOnce(u32) -> std::io::Result<()> + Send) {
    let ns = NetNs::new().expect("this test needs root");
    ns.run(|| {
        veth::make_pairs(&[("one".into(), "two".into())])?;
        work(interface::index("one").expect("there"))
    })
    .expect("runs");
}

#[test]
fn several_programs_share_a_hook() {
    in_namespace(|index| {
        let prog = HookProg::constant(Hook::TcIngress, -1)?;
        let out = HookProg::constant(Hook::TcEgress, -1)?;
        let first = attach_at(&prog, "one", index, TcMethod::Best).expect("attaches");
        let second = attach_at(&prog, "one", index, TcMethod::Best);
        // The kernel has a program once at a hook.
        assert!(second.is_err() || second.is_ok_and(|s| s.how.mode == Mode::Clsact));
        let other = HookProg::constant(Hook::TcIngress, -1)?;
        let third = attach_at(&other, "one", index, TcMethod::Best).expect("attaches");
        let egress = attach_at(&out, "one", index, TcMethod::Best).expect("attaches");
        let best = if kernel_version() >= (6, 6) {
            Mode::Tcx
        } else {
            Mode::Clsact
        };
        assert_eq!([first.how.mode, third.how.mode, egress.how.mode], [best; 3]);
        assert_eq!(has_qdisc(index), best == Mode::Clsact);
        Ok(())
    });
}

#[test]
fn without_tcx_a_filter_does_the_same_and_is_removed_alone() {
    in_namespace(|index| {
        let prog = HookProg::constant(Hook::TcIngress, -1)?;
        let out = HookProg::constant(Hook::TcEgress, -1)?;
        let first = attach_at(&prog, "one", index, TcMethod::Clsact).expect("attaches");
        let second = attach_at(&out, "one", index, TcMethod::Clsact).expect("attaches");
        assert_eq!([first.how.mode, second.how.mode], [Mode::Clsact; 2]);
        assert_eq!(filters(index, Side::Ingress), ["onpath_gate_new"]);
        assert_eq!(filters(index, Side::Egress), ["onpath_gate_new"]);
        drop(first);
        assert_eq!(filters(index, Side::Ingress), [""; 0]);
        assert!(has_qdisc(index), "the other filter needs it");
        assert_eq!(filters(index, Side::Egress), ["onpath_gate_new"]);
        let third = attach_at(&prog, "one", index, TcMethod::Clsact).expect("attaches");
        drop(second);
        assert!(has_qdisc(index), "the third filter needs it");
        drop(third);
        assert!(!has_qdisc(index), "it came with the first of them");
        let alone = attach_at(&out, "one", index, TcMethod::Clsact).expect("attaches");
        drop(alone);
        assert!(!has_qdisc(index), "it came with the filter");
        // Somebody else's qdisc and filter stay.
        filter::make_qdisc(index)?;
        let theirs = filter::add_filter(prog.prog(), index, Side::Ingress)?;
        let ours = attach_at(&prog, "one", index, TcMethod::Clsact).expect("attaches");
        assert_eq!(filters(index, Side::Ingress), ["constant", "onpath_gate"]);
        drop(ours);
        assert_eq!(filters(index, Side::Ingress), ["constant"]);
        filter::remove_filter(index, Side::Ingress, theirs)?;
        assert!(has_qdisc(index));
        Ok(())
    });
}

#[test]
fn an_interface_that_is_gone_is_said_to_be() {
    in_namespace(|_| {
        for hook in [Hook::Xdp, Hook::TcIngress, Hook::TcEgress] {
            let prog = HookProg::constant(hook, 2)?;
            for way in [TcMethod::Best, TcMethod::Clsact] {
                let refused = attach_at(&prog, "gone0", 0x7fff_fff0, way).expect_err("gone");
                assert_eq!(refused.code.0, "E0794", "{}", refused.message);
            }
        }
        Ok(())
    });
}
