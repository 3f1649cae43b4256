//! Native and generic XDP: a program that redirects packets runs in the same mode at all its interfaces.

use crate::bundles::BpfFs;
use crate::hand_written::{entry, exact, instance, out, packet, table};
use bpf::abi::Hook;
use control::{Change, Store};
use diag::Diagnostic;
use host::linux::kernel_version;
use kernel::HookProg;
use kernel::attach;
use kernel::attachment::{Attached, Interfaces, Mode, TcMethod};
use kernel::bundle::{self, LoadedProgram};
use kernel::pins::{Pins, PortUse};
use kernel::port::Port;
use kernel::sys::xdp_on;
use net::link::{self, End, Setup};
use net::netns::NetNs;
use net::raw_socket::RawSocket;
use net::{interface, veth};
use std::io;

/// Attaches a program that redirects nothing to one interface.
pub(crate) fn attach_at(
    prog: &HookProg,
    name: &str,
    index: u32,
    method: TcMethod,
) -> Result<Attached, Box<Diagnostic>> {
    let port = Port {
        number: 0,
        name: name.into(),
        index,
    };
    let interfaces = Interfaces {
        order: None,
        redirects: false,
        ports: &[port],
        targets: &[],
    };
    let mut attached = attach::attach(prog, interfaces, method)?;
    Ok(attached.remove(0))
}

/// Runs work in a namespace with the pairs of devices `a` and `b`, and `large`, whose packets are too large for native
/// XDP. Their other ends are `far-a` and so on.
fn in_namespace(work: impl FnOnce() -> io::Result<()> + Send) {
    let ns = NetNs::new().expect("this test needs root");
    ns.run(|| {
        let pairs = ["a", "b"].map(|name| (name.to_string(), format!("far-{name}")));
        veth::make_pairs(&pairs)?;
        let end = |name| End {
            mtu: Some(9000),
            ..End::here(name)
        };
        link::add_veth(end("large"), end("far-large"))?;
        for name in ["large", "far-large"] {
            let silent = Setup {
                no_arp: true,
                no_own_address: true,
                ..Setup::default()
            };
            link::set_up(name, silent)?;
        }
        ["large", "far-large"]
            .iter()
            .try_for_each(|name| link::wait_until_running(name))?;
        work()
    })
    .expect("runs");
}

fn port(number: u32, name: &str) -> Port {
    Port {
        number,
        name: name.into(),
        index: interface::index(name).expect("there"),
    }
}

/// Makes a switch that sends packets to 00:00:00:00:00:01 out of port 1. It runs at these ports, and only sends to the
/// targets.
fn switch(ports: &[(u32, &str)], targets: &[(u32, &str)]) -> [LoadedProgram; 1] {
    let all = |list: &[(u32, &str)]| list.iter().map(|(n, name)| port(*n, name)).collect();
    let mut instance = instance(false);
    let to_one = entry(vec![exact(48, 1)], 0, out(1));
    instance
        .store
        .change(Change::Insert(table(0), to_one))
        .expect("room");
    let members = [LoadedProgram {
        name: "switch".into(),
        instance,
        ports: all(ports),
        targets: all(targets),
    }];
    bundle::connect(&members).expect("connects");
    members
}

/// Tests whether a packet that comes in at `a` goes out at another interface.
fn arrives(at: &str) -> bool {
    let wanted = packet(1, 0xff, 0x0800);
    let to = RawSocket::open(&format!("far-{at}")).expect("opens");
    let from = RawSocket::open("far-a").expect("opens");
    from.send(&wanted).expect("sends");
    to.wait(2000).expect("waits")
        && to
            .receive()
            .expect("receives")
            .is_some_and(|p| p.bytes == wanted)
}

/// Starts the program as the instance `sw`.
fn start(pins: &Pins, members: &[LoadedProgram]) -> Vec<Mode> {
    let begun = pins.begin("sw").expect("free");
    let attached = bundle::attach(members, TcMethod::Best).expect("attaches");
    let modes = attached.iter().map(|a| a.attached.how.mode).collect();
    begun.commit(members, attached).expect("pins");
    modes
}

fn program_at(name: &str) -> bool {
    let seen = xdp_on(interface::index(name).expect("there"));
    seen.expect("asks").is_some()
}

#[test]
fn one_interface_without_native_xdp_decides_for_all() {
    in_namespace(|| {
        let members = switch(&[(0, "a"), (1, "large")], &[]);
        let attached = bundle::attach(&members, TcMethod::Best).expect("attaches");
        let modes = attached.iter().map(|a| a.attached.how.mode);
        assert_eq!(modes.collect::<Vec<_>>(), [Mode::Generic; 2]);
        let why = attached[0]
            .attached
            .how
            .slower
            .as_ref()
            .expect("it is slower");
        assert!(why.reason.contains("would not reach large ("), "{why:?}");
        assert!(attached[1].attached.how.better_refused.is_some());
        assert!(arrives("large"));
        Ok(())
    });
}

#[test]
fn a_target_that_takes_nothing_from_native_xdp_decides_too() {
    in_namespace(|| {
        // A veth takes packets that are redirected to it natively only if its other end is made for that.
        let members = switch(&[(0, "a")], &[(1, "b")]);
        let attached = bundle::attach(&members, TcMethod::Best).expect("attaches");
        assert_eq!(attached[0].attached.how.mode, Mode::Generic);
        let why = attached[0]
            .attached
            .how
            .slower
            .as_ref()
            .expect("it is slower");
        assert!(why.reason.contains("would not reach b ("), "{why:?}");
        assert!(arrives("b"));
        drop(attached);
        let pass = HookProg::constant(Hook::Xdp, 2)?;
        let far = interface::index("far-b").expect("there");
        let _far = attach_at(&pass, "far-b", far, TcMethod::Best).expect("attaches");
        let attached = bundle::attach(&members, TcMethod::Best).expect("attaches");
        // Older kernels do not report it.
        let native = kernel_version() >= (6, 3);
        assert_eq!(attached[0].attached.how.mode == Mode::Native, native);
        assert!(arrives("b"));
        Ok(())
    });
}

#[test]
fn a_port_that_would_lose_packets_of_a_native_program_is_refused() {
    let fs = BpfFs::new("modes");
    in_namespace(|| {
        assert_eq!(start(&fs.pins, &switch(&[(0, "a")], &[])), [Mode::Native]);
        for (name, usage) in [("large", PortUse::Attached), ("b", PortUse::Reached)] {
            let added = fs.pins.add_port("sw", None, &port(1, name), usage);
            let refused = added.expect_err("it would lose packets");
            assert_eq!(refused.code.0, "E0778");
            let message = &refused.message;
            let expected = format!(
                "`sw` runs by native XDP at `a`, from where its packets would not reach `{name}` ("
            );
            assert!(message.contains(&expected), "{message}");
            assert!(message.ends_with("; nothing was changed"), "{message}");
            let help = refused.help.expect("there is one");
            assert!(help.contains("`onpath unload sw`"), "{help}");
            let record = fs.pins.record("sw").expect("reads");
            assert_eq!(record.members[0].ports().count(), 1);
            assert!(!program_at(name));
        }
        let added = fs
            .pins
            .add_port("sw", None, &port(1, "b"), PortUse::Attached);
        added.expect("it has native XDP");
        let record = fs.pins.record("sw").expect("reads");
        assert_eq!(record.members[0].interfaces[1].mode, "native");
        fs.pins.remove("sw").expect("removes");
        Ok(())
    });
}

#[test]
fn a_port_of_a_generic_program_runs_as_the_others() {
    let fs = BpfFs::new("generic");
    in_namespace(|| {
        let members = switch(&[(0, "a"), (2, "large")], &[]);
        assert_eq!(start(&fs.pins, &members), [Mode::Generic; 2]);
        drop(members);
        let added = fs
            .pins
            .add_port("sw", None, &port(1, "b"), PortUse::Reached);
        assert_eq!(added.expect("whatever it takes"), None);
        assert!(arrives("b"));
        fs.pins.remove_port("sw", None, 1).expect("there");
        let added = fs
            .pins
            .add_port("sw", None, &port(1, "b"), PortUse::Attached);
        let how = added.expect("it has generic XDP").expect("it runs there");
        assert_eq!(how.mode, Mode::Generic);
        let why = how.slower.expect("it is slower");
        assert!(why.reason.contains("generic XDP"), "{}", why.reason);
        let record = fs.pins.record("sw").expect("reads");
        assert_eq!(record.members[0].interfaces[2].mode, "generic");
        assert!(arrives("b"));
        fs.pins.remove("sw").expect("removes");
        assert!(!program_at("b"));
        Ok(())
    });
}
