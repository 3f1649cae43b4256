//! Packets, and parts of them, that programs miss or lose at interfaces as they are set up, with the settings that end it.
//!
//! A native XDP program has a packet's bytes and nothing else. What the kernel or the device keeps beside them is lost when
//! the packet leaves by the program: a VLAN tag that was taken out, and what is known of a transport checksum that nobody
//! has computed yet. Generic XDP sees as little, but keeps it. Between virtual Ethernet devices both are usual, since nothing is
//! transmitted there that had to be complete: the sender's end decides. Such a device takes packets from XDP only if
//! its other end takes them in the form in which XDP hands them on; and of those that are sent back, the kernel lets that end
//! know only if it has a program itself (`veth_xdp_flush`).
//!
//! At traffic control nothing of that is lost. But packets come there that are still to be segmented, and the kernel can do that behind
//! headers that it knows only.

use crate::attach::Mode;
use crate::bundle::Port;
use crate::link_settings::{self, Change, Place, Settings};
use crate::offloads::Offloads;
use crate::peer::{self, Peer};
use crate::probe::kernel_version;
use crate::sys::{XdpMode, XdpSeen};
use crate::xdp::Driver;
use crate::{netns, sys};
use bpf::abi::{Hook, PacketsAbi};
use std::borrow::Cow;

/// The kinds of loss.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// VLAN tags that are beside the packets.
    Tags,
    /// Transport checksums that are still to be computed.
    Checksums,
    /// Packets that a program sends to an interface that takes none.
    Sent,
    /// Packets that a program sends back, of which the other end takes no notice until others come.
    Back,
    /// Packets that are still to be segmented.
    Segments,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [
        Kind::Tags,
        Kind::Checksums,
        Kind::Sent,
        Kind::Back,
        Kind::Segments,
    ];
}

/// Something that is lost at an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    /// The kind.
    pub kind: Kind,
    /// The interface at which a program runs, or to which it sends.
    pub interface: String,
    /// The interface whose settings end it. `None`: the other end of the pair, which is not to be seen from here.
    pub at: Option<Place>,
    /// The settings; `None` if none ends it.
    pub change: Option<Change>,
}

impl Loss {
    /// The command for a shell that makes the settings; for an interface that is not to be seen, the one to give where that is,
    /// with `IF` for its name.
    pub fn command(&self) -> Option<String> {
        let change = self.change?;
        let at = self.at.as_ref();
        let name = at.map_or("IF".into(), |at| quoted(&at.name));
        let mut command = match change.gso_max_segs {
            Some(segments) => format!("ip link set dev {name} gso_max_segs {segments}"),
            None => format!("ethtool -K {name}"),
        };
        for (_, setting, on) in change.offloads.each() {
            command += &format!(" {setting} {}", if on { "on" } else { "off" });
        }
        Some(match self.at.as_ref().and_then(entered) {
            Some(path) => format!("nsenter --net={} {command}", quoted(&path)),
            None => command,
        })
    }
}

/// A word for a shell. Others may name interfaces and namespaces, and the kernel lets them use a shell's signs.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._@+/:-".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")).into(),
    }
}

/// The path of the network namespace of a place, if it is another one than this thread's.
fn entered(place: &Place) -> Option<String> {
    let is_here = place.netns == 0 || netns::current().is_ok_and(|here| here == place.netns);
    let path = netns::path_of(place.netns).filter(|_| !is_here)?;
    Some(path.to_string_lossy().into_owned())
}

/// Use of an interface by a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// It runs there, at this hook in this mode.
    Runs(Hook, Mode),
    /// It only sends there, and runs natively elsewhere.
    Sends,
}

/// The losses of a program at an interface of this thread's namespace. An end that is not to be seen is taken to be as the kernel makes
/// it.
pub fn at(port: &Port, used: Use, packets: PacketsAbi) -> Vec<Loss> {
    let found = match used {
        Use::Runs(Hook::Xdp, mode) => at_xdp(&End::of(port), Some(mode), packets),
        Use::Sends => at_xdp(&End::of(port), None, packets),
        Use::Runs(_, _) if !packets.unsegmented => Vec::new(),
        Use::Runs(Hook::TcEgress, _) => at_egress(&End::of(port)),
        Use::Runs(Hook::TcIngress, _) => at_ingress(&End::of(port)),
    };
    let loss = |(kind, at, change)| Loss {
        kind,
        interface: port.name.clone(),
        at,
        change,
    };
    found.into_iter().map(loss).collect()
}

type Found = Vec<(Kind, Option<Place>, Option<Change>)>;

/// By XDP in this mode; `None` is where a native program only sends.
fn at_xdp(end: &End, mode: Option<Mode>, packets: PacketsAbi) -> Found {
    let mut found = Found::new();
    let mut add = |kind, side: &Side, offloads| {
        let change = Change {
            offloads,
            ..Change::NONE
        };
        found.push((kind, side.place.clone(), Some(change)));
    };
    let off = Some(false);
    let native = mode == Some(Mode::Native);
    if native && packets.forwards || mode.is_some() && packets.knows_tags {
        match &end.other {
            Some(sender) if sender.offloads().tx_tags != off => {
                let set = Offloads {
                    tx_tags: off,
                    ..Offloads::NONE
                };
                add(Kind::Tags, sender, set);
            }
            None if end.own.offloads().rx_tags == Some(true) => {
                let set = Offloads {
                    rx_tags: off,
                    ..Offloads::NONE
                };
                add(Kind::Tags, &end.own, set);
            }
            _ => {}
        }
    }
    // What devices receive has its checksums.
    let Some(sender) = &end.other else {
        return found;
    };
    // A packet that passes keeps what is known of its own: that is wrong if the program took it for a checksum.
    let is_wrong = packets.forwards || packets.updates_checksums;
    if native && is_wrong && sender.offloads().tx_checksum != off {
        let set = Offloads {
            tx_checksum: off,
            ..Offloads::NONE
        };
        add(Kind::Checksums, sender, set);
    }
    if (native || mode.is_none()) && packets.forwards && !end.takes_sent() {
        let set = Offloads {
            gro: Some(true),
            ..Offloads::NONE
        };
        add(Kind::Sent, sender, set);
    }
    let is_seen = sender.place.is_some();
    if native && packets.sends_back && is_seen && !sender.has_program() {
        found.push((Kind::Back, sender.place.clone(), None));
    }
    found
}

/// One segment a packet.
const ONE: u32 = 1;

fn at_egress(end: &End) -> Found {
    limit(&end.own).into_iter().collect()
}

/// The sender's end of a pair decides; and any interface may merge what comes in.
fn at_ingress(end: &End) -> Found {
    let merges = end.own.offloads().gro == Some(true);
    let apart = Change {
        offloads: Offloads {
            gro: Some(false),
            ..Offloads::NONE
        },
        ..Change::NONE
    };
    let apart = merges.then(|| (Kind::Segments, end.own.place.clone(), Some(apart)));
    end.other
        .as_ref()
        .and_then(limit)
        .into_iter()
        .chain(apart)
        .collect()
}

fn limit(sender: &Side) -> Option<(Kind, Option<Place>, Option<Change>)> {
    let one = Change {
        gso_max_segs: Some(ONE),
        ..Change::NONE
    };
    (sender.settings.gso_max_segs != Some(ONE))
        .then(|| (Kind::Segments, sender.place.clone(), Some(one)))
}

/// One end of what packets go through.
struct Side {
    /// `None` is hidden.
    place: Option<Place>,
    settings: Settings,
}

impl Side {
    fn of(place: Place) -> Side {
        Side {
            settings: link_settings::read_at(&place).unwrap_or_default(),
            place: Some(place),
        }
    }

    fn offloads(&self) -> Offloads {
        self.settings.offloads
    }

    /// Tells whether an XDP program runs natively there.
    fn has_program(&self) -> bool {
        let native = |place: &Place| {
            let found = netns::run_in(place.netns, || sys::xdp_on(place.ifindex));
            matches!(
                found,
                Ok(Some(Some(XdpSeen {
                    mode: Some(XdpMode::Native),
                    ..
                })))
            )
        };
        self.place.as_ref().is_some_and(native)
    }
}

/// An interface, and the other end if it is a pair's.
struct End {
    own: Side,
    other: Option<Side>,
}

impl End {
    fn of(port: &Port) -> End {
        let other = match Driver::of(&port.name) {
            Driver::Veth => peer::of(port.index).ok(),
            Driver::VirtioNet | Driver::Other => None,
        };
        End {
            own: Side::of(Place::here(&port.name, port.index)),
            other: other.map(|other| match other {
                Peer::Found(place) => Side::of(place),
                Peer::Hidden => Side {
                    place: None,
                    settings: Settings::default(),
                },
            }),
        }
    }

    /// Tells whether a pair takes packets from XDP here, as far as that can be found out.
    fn takes_sent(&self) -> bool {
        let (Some(own), Some(sender)) = (&self.own.place, &self.other) else {
            return true;
        };
        // The kernel reports it only while that end is up.
        if sender.offloads().gro == Some(true) {
            return true;
        }
        if kernel_version() >= (6, 3) {
            return sys::takes_redirected(own.ifindex).unwrap_or(true);
        }
        sender.has_program()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{self, End as LinkEnd, Setup};
    use crate::netns::NetNs;
    use crate::offloads::{self, Offload};
    use crate::sys::{Link, Prog};
    use std::os::fd::AsFd;
    use std::process::Command;

    const FORWARDS: PacketsAbi = PacketsAbi {
        forwards: true,
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
                index: crate::interface::index(name).expect("there"),
            };
            work([port("away"), port("one")]);
            Ok(())
        });
        inside.kill().expect("it runs");
        inside.wait().expect("it ends");
        done.expect("runs");
    }

    fn kinds(port: &Port, used: Use, packets: PacketsAbi) -> Vec<Kind> {
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
                let found: Vec<Kind> = losses.iter().map(|loss| loss.kind).collect();
                assert_eq!(found, [Kind::Tags, Kind::Checksums, Kind::Sent]);
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
            assert_eq!(kinds(&port, NATIVE, updates), [Kind::Checksums]);
            let knows_tags = PacketsAbi {
                knows_tags: true,
                ..nothing
            };
            let generic = Use::Runs(Hook::Xdp, Mode::Generic);
            for used in [NATIVE, generic] {
                assert_eq!(kinds(&port, used, knows_tags), [Kind::Tags]);
            }
            assert_eq!(kinds(&port, generic, FORWARDS), []);
            assert_eq!(kinds(&port, Use::Sends, FORWARDS), [Kind::Sent]);
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
                assert_eq!(found, [Kind::Tags, Kind::Checksums, Kind::Sent, Kind::Back]);
            }
            let pass = Prog::constant_xdp(2).expect("loads");
            let other = crate::interface::index("two").expect("there");
            let _link = Link::attach_xdp(&pass, other, XdpMode::Native).expect("attached");
            link::set_up("two", Setup::default()).expect("up");
            assert_eq!(kinds(&port, NATIVE, back), [Kind::Tags, Kind::Checksums]);
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
                    assert_eq!(loss.kind, Kind::Segments);
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
            let index = crate::interface::index("away").expect("there");
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
}
