//! Losses on virtual Ethernet, within a network namespace and across two, and the settings that end them.

use super::*;
use crate::sys::{Link, Prog};
use net::link::{self, End as LinkEnd, Setup};
use net::netns::NetNs;
use net::offloads::{self, Offload};
use std::os::fd::AsFd;
use std::process::Command;

const FORWARDS: PacketsAbi = PacketsAbi {
    redirects: true,
    sends_back: false,
    updates_checksums: false,
    knows_tags: false,
    unsegmented: false,
};
const NATIVE: Use = Use::Runs(Hook::Xdp, Mode::Native);

/// Two namespaces: a pair from one to the other, and a pair within the first. The work is done in the first.
fn with_pairs(work: impl FnOnce([Port; 2]) + Send) {
    let [here, there] = [(); 2].map(|()| NetNs::new().expect("this test needs root"));
    let inside = there.run(|| Command::new("sleep").arg("60").spawn());
    let mut inside = inside.expect("a process in it");
    let done = here.run(|| {
        let far = LinkEnd {
            netns: Some(there.as_fd()),
            ..LinkEnd::here("far")
        };
        link::add_veth(LinkEnd::here("away"), far)?;
        link::add_veth(LinkEnd::here("one"), LinkEnd::here("two"))?;
        let port = |name: &str| Port {
            number: 0,
            name: name.to_owned(),
            index: net::interface::index(name).expect("there"),
        };
        work([port("away"), port("one")]);
        Ok(())
    });
    inside.kill().expect("it runs");
    inside.wait().expect("it ends");
    done.expect("runs");
}

fn kinds(port: &Port, used: Use, packets: PacketsAbi) -> Vec<LossKind> {
    at(port, used, packets)
        .iter()
        .map(|loss| loss.kind)
        .collect()
}

#[test]
fn what_native_programs_lose_on_veth_ends_with_the_settings_of_the_other_end() {
    with_pairs(|ports| {
        for port in ports {
            let losses = at(&port, NATIVE, FORWARDS);
            let found: Vec<LossKind> = losses.iter().map(|loss| loss.kind).collect();
            assert_eq!(found, [LossKind::Tags, LossKind::Checksums, LossKind::Sent]);
            for loss in losses {
                let before = kinds(&port, NATIVE, FORWARDS);
                link_settings::change(
                    loss.at.as_ref().expect("seen"),
                    loss.change.expect("a setting"),
                )
                .expect("changed");
                let after = kinds(&port, NATIVE, FORWARDS);
                assert_eq!(after, before[1..], "{loss:?}");
            }
        }
    });
}

#[test]
fn commands_make_the_settings() {
    with_pairs(|ports| {
        for port in ports {
            for loss in at(&port, NATIVE, FORWARDS) {
                let done = Command::new("sh")
                    .args(["-c", &loss.command().expect("a command")])
                    .status();
                assert!(done.expect("this test needs ethtool").success(), "{loss:?}");
            }
            assert_eq!(kinds(&port, NATIVE, FORWARDS), []);
        }
    });
}

#[test]
fn it_depends_on_the_program_and_on_where_it_runs() {
    with_pairs(|[_, port]| {
        let nothing = PacketsAbi::default();
        assert_eq!(kinds(&port, NATIVE, nothing), []);
        let updates = PacketsAbi {
            updates_checksums: true,
            ..nothing
        };
        assert_eq!(kinds(&port, NATIVE, updates), [LossKind::Checksums]);
        let knows_tags = PacketsAbi {
            knows_tags: true,
            ..nothing
        };
        let generic = Use::Runs(Hook::Xdp, Mode::Generic);
        for used in [NATIVE, generic] {
            assert_eq!(kinds(&port, used, knows_tags), [LossKind::Tags]);
        }
        assert_eq!(kinds(&port, generic, FORWARDS), [LossKind::Long]);
        assert_eq!(kinds(&port, Use::Sends, FORWARDS), [LossKind::Sent]);
        assert_eq!(
            kinds(&port, Use::Runs(Hook::TcIngress, Mode::Tcx), FORWARDS),
            []
        );
    });
}

#[test]
fn packets_that_are_sent_back_need_a_program_at_the_other_end() {
    with_pairs(|[away, port]| {
        let back = PacketsAbi {
            sends_back: true,
            ..FORWARDS
        };
        for port in [&away, &port] {
            let found = kinds(port, NATIVE, back);
            assert_eq!(
                found,
                [
                    LossKind::Tags,
                    LossKind::Checksums,
                    LossKind::Sent,
                    LossKind::Back
                ]
            );
        }
        let pass = Prog::constant_xdp(2).expect("loads");
        let other = net::interface::index("two").expect("there");
        let _link = Link::attach_xdp(&pass, other, XdpMode::Native).expect("attached");
        link::set_up("two", Setup::default()).expect("up");
        assert_eq!(
            kinds(&port, NATIVE, back),
            [LossKind::Tags, LossKind::Checksums]
        );
    });
}

#[test]
fn packets_have_one_segment_where_the_kernel_cannot_segment_them() {
    with_pairs(|ports| {
        let unsegmented = PacketsAbi {
            unsegmented: true,
            ..FORWARDS
        };
        for (port, hook) in ports.iter().zip([Hook::TcIngress, Hook::TcEgress]) {
            offloads::set(&port.name, Offload::Gro, hook == Hook::TcIngress).expect("set");
            let used = Use::Runs(hook, Mode::Tcx);
            let losses = at(port, used, unsegmented);
            let merged = usize::from(hook == Hook::TcIngress);
            assert_eq!(losses.len(), 1 + merged, "{losses:?}");
            for loss in losses {
                assert_eq!(loss.kind, LossKind::Segments);
                let own = loss.at.as_ref().is_some_and(|at| at.name == port.name);
                assert_eq!(
                    own,
                    hook == Hook::TcEgress
                        || loss
                            .change
                            .is_some_and(|change| change.gso_max_segs.is_none())
                );
                let done = Command::new("sh")
                    .args(["-c", &loss.command().expect("a command")])
                    .status();
                assert!(
                    done.expect("this test needs ip and ethtool").success(),
                    "{loss:?}"
                );
            }
            assert_eq!(kinds(port, used, unsegmented), []);
        }
    });
}

#[test]
fn generic_xdp_sends_on_no_packets_that_are_still_to_be_segmented() {
    with_pairs(|ports| {
        let generic = Use::Runs(Hook::Xdp, Mode::Generic);
        let passes = PacketsAbi::default();
        assert_eq!(kinds(&ports[0], generic, passes), []);
        let losses = at(&ports[0], generic, FORWARDS);
        let kinds_of = |losses: &[Loss]| losses.iter().map(|l| l.kind).collect::<Vec<_>>();
        assert_eq!(kinds_of(&losses), [LossKind::Long]);
        let command = losses[0].command().expect("a command");
        let done = Command::new("sh").args(["-c", &command]).status();
        assert!(done.expect("this test needs ip").success(), "{command}");
        assert_eq!(kinds(&ports[0], generic, FORWARDS), []);
    });
}

#[test]
fn names_are_words_of_commands_and_nothing_else() {
    for name in ["eth0", "veth-1.2@x", "/run/netns/a"] {
        assert_eq!(quoted(name), name);
    }
    for name in ["a;id", "$(id)", "`id`", "a'b", "", "a\u{1b}b", "*"] {
        let line = format!("printf %s {}", quoted(name));
        let output = Command::new("sh")
            .args(["-c", &line])
            .output()
            .expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), name);
    }
}

#[test]
fn an_end_that_cannot_be_seen_is_asked_for() {
    let [here, there] = [(); 2].map(|()| NetNs::new().expect("this test needs root"));
    let found = here.run(|| {
        let far = LinkEnd {
            netns: Some(there.as_fd()),
            ..LinkEnd::here("far")
        };
        link::add_veth(LinkEnd::here("away"), far)?;
        let index = net::interface::index("away").expect("there");
        let port = Port {
            number: 0,
            name: "away".to_owned(),
            index,
        };
        Ok(at(&port, NATIVE, FORWARDS))
    });
    let found = found.expect("runs");
    assert_eq!(found.len(), 3, "{found:?}");
    for loss in found {
        assert_eq!(loss.at, None);
        let command = loss.command().expect("a command");
        assert!(command.starts_with("ethtool -K IF "), "{loss:?}");
    }
}
