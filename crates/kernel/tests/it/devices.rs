//! Programs on real (virtual) devices: packets in and out, attachments, pins.

use crate::hand_written::*;
use crate::modes::attach_at;
use bpf::abi::Hook;
use control::{Change, Device, Packet, Store, StoreError};
use ir::ExternInst;
use kernel::attachment::{Mode, TcMethod};
use kernel::bundle::{self, LoadedProgram};
use kernel::pins::Pins;
use kernel::port::Port;
use kernel::sys::xdp_on;
use kernel::{HookProg, VethDevice};
use net::netns::NetNs;
use net::{interface, veth};
use std::time::{Duration, Instant};

fn sent(port: u32, bytes: Vec<u8>) -> Packet {
    Packet { port, bytes }
}

#[test]
fn packets_come_out_where_the_program_says() {
    let mut d = VethDevice::new(instance(false), &[0, 1, 2]).expect("this test needs root");
    for (n, action) in [(1, out(2)), (2, PASS)] {
        let key = vec![exact(48, n)];
        d.store_mut()
            .change(Change::Insert(table(0), entry(key, 0, action)))
            .expect("room");
    }
    let started = Instant::now();
    let to = |n| packet(n, 0xff, 0x0800);
    for n in [1, 2, 3, 1, 2] {
        d.send(&sent(0, to(n))).expect("sends");
    }
    assert_eq!(
        d.receive().expect("receives"),
        [
            sent(0, to(2)),
            sent(0, to(2)),
            sent(2, to(1)),
            sent(2, to(1))
        ]
    );
    let took = started.elapsed();
    // A device that does not notice that all packets came waits for two seconds.
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(d.receive().expect("receives"), []);
    let seen = d
        .store()
        .counter(ExternInst::from_u32(0), 0)
        .expect("counts");
    assert_eq!(seen.packets, 5);
}

#[test]
fn more_packets_than_a_socket_holds_come_out_in_order() {
    let mut d = VethDevice::new(instance(false), &[0]).expect("this test needs root");
    d.store_mut()
        .change(Change::SetDefault(table(0), PASS))
        .expect("changeable");
    let all: Vec<Packet> = (0..600).map(|n| sent(0, packet(1, n, 0x0800))).collect();
    for packet in &all {
        d.send(packet).expect("sends");
    }
    assert_eq!(d.receive().expect("receives"), all);
}

#[test]
fn vlan_tags_survive_the_way_through_the_kernel() {
    let mut d = VethDevice::new(instance(false), &[5]).expect("this test needs root");
    d.store_mut()
        .change(Change::SetDefault(table(0), PASS))
        .expect("changeable");
    let mut tagged = packet(1, 0xff, 0x8100);
    tagged[14..18].copy_from_slice(&[0x20, 0x64, 0x08, 0x00]);
    d.send(&sent(5, tagged.clone())).expect("sends");
    assert_eq!(d.receive().expect("receives"), [sent(5, tagged)]);
}

#[test]
fn what_devices_cannot_carry_is_refused() {
    let mut d = VethDevice::new(instance(false), &[0]).expect("this test needs root");
    let short = d.send(&sent(0, vec![0; 13]));
    assert!(matches!(short, Err(StoreError::Unsupported { .. })));
    let elsewhere = d.send(&sent(1, packet(1, 1, 1)));
    assert!(matches!(elsewhere, Err(StoreError::Unsupported { .. })));
}

#[test]
fn an_interface_has_one_program_and_names_are_checked() {
    let missing = interface::index("nosuch0").expect_err("missing");
    assert_eq!(missing.code.0, "E0780");
    let ns = NetNs::new().expect("this test needs root");
    ns.run(|| {
        veth::make_pairs(&[("one".into(), "two".into())])?;
        let index = interface::index("one").expect("there");
        let prog = HookProg::constant(Hook::Xdp, 2)?;
        let attach = |name, index| attach_at(&prog, name, index, TcMethod::Best);
        let first = attach("one", index).expect("free");
        assert_eq!(first.how.mode, Mode::Native);
        let second = attach("one", index).expect_err("occupied");
        assert_eq!(second.code.0, "E0781");
        drop(first);
        // A process that another test starts also has the link's descriptor until it runs its own program.
        let asked = Instant::now();
        while xdp_on(index)?.is_some() && asked.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(xdp_on(index)?, None);
        let lo = interface::index("lo").expect("there");
        let generic = attach("lo", lo).expect("generic works");
        assert_eq!(generic.how.mode, Mode::Generic);
        assert!(generic.how.better_refused.is_some());
        Ok(())
    })
    .expect("runs");
}

#[test]
fn pinned_programs_are_found_changed_and_removed_by_others() {
    let ns = NetNs::new().expect("this test needs root");
    ns.run(|| {
        let pins = Pins::default();
        let name = format!("test-{}", std::process::id());
        veth::make_pairs(&[("one".into(), "two".into())])?;
        let index = interface::index("one").expect("there");
        {
            let members = [LoadedProgram {
                name: "switch".into(),
                instance: instance(false),
                ports: vec![Port {
                    number: 0,
                    name: "one".into(),
                    index,
                }],
                targets: vec![],
            }];
            let begun = pins.begin(&name).expect("the name is free");
            let attached = bundle::attach(&members, TcMethod::Best).expect("free");
            begun.commit(&members, attached).expect("pins");
        }
        assert!(xdp_on(index)?.is_some(), "it outlives the loader");
        let other = HookProg::constant(Hook::Xdp, 2)?;
        let refused = attach_at(&other, "one", index, TcMethod::Best).expect_err("occupied");
        let help = refused.help.expect("help");
        let unload = format!("or end that one with `onpath unload {name}`");
        assert!(
            help.contains("--target tc-ingress") && help.ends_with(&unload),
            "{help}"
        );
        assert_eq!(pins.check_free(&name).expect_err("taken").code.0, "E0783");
        {
            let (record, mut store) = pins.open(&name, None).expect("opens");
            assert_eq!(record.interfaces[0].name, "one");
            store
                .change(Change::Insert(table(0), entry(vec![exact(48, 1)], 0, PASS)))
                .expect("room");
            store
                .change(Change::SetDefault(table(0), out(3)))
                .expect("changeable");
            let rule = entry(vec![exact(16, 1), ir::KeyMatch::Any], 4, PASS);
            store.change(Change::Insert(table(3), rule)).expect("room");
        }
        let (_, store) = pins.open(&name, None).expect("opens");
        assert_eq!(store.entries(table(0)).expect("reads").len(), 1);
        assert_eq!(store.entries(table(3)).expect("reads").len(), 1);
        assert_eq!(store.entries(table(1)).expect("reads")[0].action, out(3));
        assert_eq!(store.default_action(table(0)), Ok(out(3)));
        assert_eq!(
            pins.on_interface(index).map(|r| r.instance),
            Some(name.clone())
        );
        pins.remove(&name).expect("removes");
        assert_eq!(xdp_on(index)?, None);
        assert_eq!(pins.open(&name, None).expect_err("gone").code.0, "E0784");
        assert_eq!(pins.check_free("../x").expect_err("bad").code.0, "E0786");
        Ok(())
    })
    .expect("runs");
}
