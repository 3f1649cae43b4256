//! Packets, or parts of them, that programs lose at interfaces with their current settings, and settings that end
//! this.
//!
//! A native XDP program has the bytes of a packet only. Data that the kernel or the device keeps beside them is lost
//! when the program sends the packet on: a VLAN tag that was taken out, and the state of a transport checksum that is
//! not computed yet. Generic XDP sees as little, but keeps that data. It sends no packet on that is longer than the
//! MTU, as those are that are still to be segmented.
//!
//! Between virtual Ethernet devices both are usual: nothing is transmitted, so packets need not be complete. The
//! sender's end decides. Such a device takes packets from XDP only if its other end accepts them in XDP's form. If
//! packets are sent back, the kernel notifies that end only if it has a program itself (`veth_xdp_flush`).
//!
//! At traffic control nothing of that is lost. But packets may arrive there that are still to be segmented, and the
//! kernel can segment only after headers that it knows.

use crate::attachment::Mode;
use crate::port::Port;
use crate::sys;
use crate::sys::{XdpMode, XdpSeen};
use crate::xdp::Driver;
use bpf::abi::{Hook, PacketsAbi};
use host::linux::kernel_version;
use net::link_settings::{self, Change, InterfaceLocation, Settings};
use net::netns;
use net::offloads::Offloads;
use net::peer::{self, Peer};
use std::borrow::Cow;

/// The kinds of loss.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LossKind {
    /// VLAN tags that are kept beside the packets.
    Tags,
    /// Transport checksums that are still to be computed.
    Checksums,
    /// Packets that a program sends to an interface that takes none.
    Sent,
    /// Packets that a program sends back. The other end does not notice them until others arrive.
    Back,
    /// Packets that are still to be segmented.
    Segments,
    /// The same at generic XDP, which sends no packet on that is longer than the other interface's MTU.
    Long,
}

impl LossKind {
    /// List of all kinds.
    pub const ALL: [LossKind; 6] = [
        LossKind::Tags,
        LossKind::Checksums,
        LossKind::Sent,
        LossKind::Back,
        LossKind::Segments,
        LossKind::Long,
    ];
}

/// Loss at an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    /// The kind.
    pub kind: LossKind,
    /// The interface at which a program runs, or to which it sends.
    pub interface: String,
    /// Interface whose settings end the loss. `None` is the other end of the pair, which is not visible from here.
    pub at: Option<InterfaceLocation>,
    /// Settings that end the loss; `None` if no setting does.
    pub change: Option<Change>,
}

impl Loss {
    /// Returns the shell command that makes the settings. For an interface that is not visible, the command is meant
    /// for the namespace of that interface, with `IF` for its name.
    pub fn command(&self) -> Option<String> {
        let change = self.change?;
        let reached = self
            .at
            .as_ref()
            .and_then(|at| Some((&at.name, way_to(at)?)));
        let name = reached
            .as_ref()
            .map_or("IF".into(), |(name, _)| quoted(name));
        let mut command = match change.gso_max_segs {
            Some(segments) => format!("ip link set dev {name} gso_max_segs {segments}"),
            None => format!("ethtool -K {name}"),
        };
        for (_, setting, on) in change.offloads.each() {
            command += &format!(" {setting} {}", if on { "on" } else { "off" });
        }
        Some(match &reached {
            Some((_, Way::Into(path))) => format!("nsenter --net={} {command}", quoted(path)),
            Some((_, Way::Here)) | None => command,
        })
    }
}

/// Quotes a word for a shell. Others may name interfaces and namespaces, and the kernel allows the shell's special
/// characters in their names.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._@+/:-".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")).into(),
    }
}

/// Access to an interface.
enum Way {
    /// Interface in this thread's network namespace.
    Here,
    /// Path of the network namespace that the interface is in.
    Into(String),
}

/// Returns the access to a place; `None` if its network namespace can no longer be entered.
fn way_to(place: &InterfaceLocation) -> Option<Way> {
    if place.netns == 0 || netns::current().is_ok_and(|here| here == place.netns) {
        return Some(Way::Here);
    }
    let path = netns::path_of(place.netns)?;
    Some(Way::Into(path.to_string_lossy().into_owned()))
}

/// Use of an interface by a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// The program runs there, at this hook in this mode.
    Runs(Hook, Mode),
    /// The program only sends there, and runs natively elsewhere.
    Sends,
}

/// Lists the losses of a program at an interface of this thread's namespace. An end that is not visible is assumed to
/// have the kernel's default settings.
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

type Found = Vec<(LossKind, Option<InterfaceLocation>, Option<Change>)>;

/// Finds losses by XDP in this mode. `None` means that a native program only sends to the interface.
fn at_xdp(end: &End, mode: Option<Mode>, packets: PacketsAbi) -> Found {
    let mut found = Found::new();
    let mut add = |kind, side: &Side, offloads| {
        let change = Change::offloads(offloads);
        found.push((kind, side.place.clone(), Some(change)));
    };
    let off = Some(false);
    let native = mode == Some(Mode::Native);
    if native && packets.forwards() || mode.is_some() && packets.knows_tags {
        match &end.other {
            Some(sender) if sender.offloads().tx_tags != off => {
                let set = Offloads {
                    tx_tags: off,
                    ..Offloads::default()
                };
                add(LossKind::Tags, sender, set);
            }
            None if end.own.offloads().rx_tags == Some(true) => {
                let set = Offloads {
                    rx_tags: off,
                    ..Offloads::default()
                };
                add(LossKind::Tags, &end.own, set);
            }
            _ => {}
        }
    }
    // Packets from a physical device have their checksums.
    let Some(sender) = &end.other else {
        return found;
    };
    // A packet that passes keeps its checksum's state. That is wrong if the program updated the incomplete sum as a
    // checksum.
    let is_wrong = packets.forwards() || packets.updates_checksums;
    if native && is_wrong && sender.offloads().tx_checksum != off {
        let set = Offloads {
            tx_checksum: off,
            ..Offloads::default()
        };
        add(LossKind::Checksums, sender, set);
    }
    if (native || mode.is_none()) && packets.forwards() && !end.takes_sent() {
        let set = Offloads {
            gro: Some(true),
            ..Offloads::default()
        };
        add(LossKind::Sent, sender, set);
    }
    let is_seen = sender.place.is_some();
    if native && packets.sends_back && is_seen && !sender.has_program() {
        found.push((LossKind::Back, sender.place.clone(), None));
    }
    if mode == Some(Mode::Generic) && packets.forwards() {
        found.extend(limit(sender, LossKind::Long));
    }
    found
}

/// Limit of one segment per packet.
const ONE: u32 = 1;

fn at_egress(end: &End) -> Found {
    limit(&end.own, LossKind::Segments).into_iter().collect()
}

/// Finds losses at ingress of traffic control. The sender's end of a pair decides about segments; any interface may
/// also merge the packets that it receives.
fn at_ingress(end: &End) -> Found {
    let merges = end.own.offloads().gro == Some(true);
    let apart = Change::offloads(Offloads {
        gro: Some(false),
        ..Offloads::default()
    });
    let apart = merges.then(|| (LossKind::Segments, end.own.place.clone(), Some(apart)));
    end.other
        .as_ref()
        .and_then(|other| limit(other, LossKind::Segments))
        .into_iter()
        .chain(apart)
        .collect()
}

fn limit(
    sender: &Side,
    kind: LossKind,
) -> Option<(LossKind, Option<InterfaceLocation>, Option<Change>)> {
    let one = Change::segments(ONE);
    (sender.settings.gso_max_segs != Some(ONE)).then(|| (kind, sender.place.clone(), Some(one)))
}

/// Interface and its settings, at one end of a pair.
struct Side {
    /// Location of the interface; `None` if it is hidden.
    place: Option<InterfaceLocation>,
    settings: Settings,
}

impl Side {
    fn of(place: InterfaceLocation) -> Side {
        Side {
            settings: link_settings::read_at(&place).unwrap_or_default(),
            place: Some(place),
        }
    }

    fn offloads(&self) -> Offloads {
        self.settings.offloads
    }

    /// Returns true if an XDP program runs natively there.
    fn has_program(&self) -> bool {
        let native = |place: &InterfaceLocation| {
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
            own: Side::of(InterfaceLocation::here(&port.name, port.index)),
            other: other.map(|other| match other {
                Peer::Found(place) => Side::of(place),
                Peer::Hidden => Side {
                    place: None,
                    settings: Settings::default(),
                },
            }),
        }
    }

    /// Returns true if a pair takes packets from XDP here, as far as that can be found out.
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
mod tests;
