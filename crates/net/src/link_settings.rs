//! Settings of a network interface that decide which packets programs see. By the routing netlink: how much
//! segmentation offload may put into one packet, and how large packets are. Also its offloads.

use crate::interface;
use crate::netlink::{attributes, put_attribute, request, u32_at};
use crate::netns;
use crate::offloads::{self, Offload, Offloads};
use serde::{Deserialize, Serialize};
use std::io;

/// `struct ifinfomsg`
const HEADER: usize = 16;

/// Kinds of attributes of a link, from the kernel's `if_link.h`.
mod kind {
    pub(crate) const MTU: u16 = 4;
    pub(crate) const GSO_MAX_SEGS: u16 = 40;
    pub(crate) const GSO_MAX_SIZE: u16 = 41;
    pub(crate) const MIN_MTU: u16 = 50;
    pub(crate) const MAX_MTU: u16 = 51;
    pub(crate) const TSO_MAX_SIZE: u16 = 59;
    pub(crate) const TSO_MAX_SEGS: u16 = 60;
    pub(crate) const GSO_IPV4_MAX_SIZE: u16 = 63;
}

/// Settings of an interface, as the kernel reports them. `None`: the kernel is too old to report it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// Largest packet without its link-layer header, in bytes.
    pub mtu: u32,
    /// Least MTU that the driver takes, in bytes.
    pub min_mtu: Option<u32>,
    /// Greatest MTU that the driver takes, in bytes; 0 is no limit.
    pub max_mtu: Option<u32>,
    /// Largest number of segments that the stack gives the interface as one packet.
    pub gso_max_segs: Option<u32>,
    /// Largest number of bytes that the stack gives the interface as one packet.
    pub gso_max_size: Option<u32>,
    /// Largest number of bytes that the stack gives the interface as one IPv4 packet (Linux 6.2).
    pub gso_ipv4_max_size: Option<u32>,
    /// Largest number of segments that the device itself can make of a packet.
    pub tso_max_segs: Option<u32>,
    /// Largest number of bytes that the device itself can segment.
    pub tso_max_size: Option<u32>,
    /// Work that is left to the device, or deferred.
    pub offloads: Offloads,
}

/// Change of settings; `None` leaves a setting as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Change {
    /// See [`Settings::gso_max_segs`]; 1 ends the merging of segments into one packet.
    pub gso_max_segs: Option<u32>,
    /// See [`Settings::gso_max_size`].
    pub gso_max_size: Option<u32>,
    /// See [`Settings::gso_ipv4_max_size`].
    pub gso_ipv4_max_size: Option<u32>,
    /// See [`Settings::offloads`].
    #[serde(default)]
    pub offloads: Offloads,
}

/// An interface in any network namespace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct InterfaceLocation {
    /// Interface's name.
    pub name: String,
    /// Interface's index.
    pub ifindex: u32,
    /// Number of the network namespace that it is in, see [`netns::current`]. The number 0 means unknown, and counts
    /// as this thread's.
    pub netns: u64,
    /// True if it is the other end of a pair with a program's interface.
    pub other_end: bool,
}

impl InterfaceLocation {
    /// Returns an interface of this thread's namespace.
    pub fn here(name: &str, ifindex: u32) -> InterfaceLocation {
        InterfaceLocation {
            name: name.to_owned(),
            ifindex,
            netns: netns::current().unwrap_or(0),
            other_end: false,
        }
    }
}

impl Change {
    /// Makes a change to packets of so many segments at most.
    pub fn segments(most: u32) -> Change {
        Change {
            gso_max_segs: Some(most),
            ..Change::default()
        }
    }

    /// Makes a change of these offloads.
    pub fn offloads(offloads: Offloads) -> Change {
        Change {
            offloads,
            ..Change::default()
        }
    }

    fn parts(self) -> [(u16, Option<u32>); 3] {
        [
            (kind::GSO_MAX_SEGS, self.gso_max_segs),
            // If both sizes were small, the kernel makes the one for IPv4 follow this one, so the order matters.
            (kind::GSO_MAX_SIZE, self.gso_max_size),
            (kind::GSO_IPV4_MAX_SIZE, self.gso_ipv4_max_size),
        ]
    }
}

/// A change that was made, with what is needed to undo it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Changed {
    /// The interface's name at the time.
    pub name: String,
    /// Interface's index.
    pub ifindex: u32,
    /// The number of the network namespace that it was in, see [`netns::current`]; 0 if that is not known.
    #[serde(default)]
    pub netns: u64,
    /// See [`InterfaceLocation::other_end`].
    #[serde(default)]
    pub other_end: bool,
    /// Settings after the change.
    pub to: Change,
    /// Settings before the change; the same ones as in `to`, as far as the kernel reported them.
    pub from: Change,
}

impl Changed {
    /// Records a change of an interface whose settings are `before`.
    pub fn new(place: &InterfaceLocation, before: &Settings, to: Change) -> Changed {
        Changed {
            name: place.name.clone(),
            ifindex: place.ifindex,
            netns: place.netns,
            other_end: place.other_end,
            to,
            from: Change {
                gso_max_segs: to.gso_max_segs.and(before.gso_max_segs),
                gso_max_size: to.gso_max_size.and(before.gso_max_size),
                gso_ipv4_max_size: to.gso_ipv4_max_size.and(before.gso_ipv4_max_size),
                offloads: to.offloads.zip(before.offloads, Option::and),
            },
        }
    }
}

/// Reads the settings of an interface of this network namespace.
pub fn read(ifindex: u32) -> io::Result<Settings> {
    let answers = request(libc::RTM_GETLINK, 0, &header(ifindex))?;
    let link = answers.first().and_then(|a| a.get(HEADER..));
    let mut found = Settings::default();
    let name = link.and_then(name);
    found.offloads = name.map_or(Offloads::default(), |name| Offloads::of(&name));
    for (kind, value) in link.into_iter().flat_map(attributes) {
        let number = u32_at(value, 0);
        match kind {
            kind::MTU => found.mtu = number.unwrap_or(0),
            kind::MIN_MTU => found.min_mtu = number,
            kind::MAX_MTU => found.max_mtu = number,
            kind::GSO_MAX_SEGS => found.gso_max_segs = number,
            kind::GSO_MAX_SIZE => found.gso_max_size = number,
            kind::GSO_IPV4_MAX_SIZE => found.gso_ipv4_max_size = number,
            kind::TSO_MAX_SEGS => found.tso_max_segs = number,
            kind::TSO_MAX_SIZE => found.tso_max_size = number,
            _ => {}
        }
    }
    Ok(found)
}

/// Returns the name in the kernel's report of a link.
fn name(link: &[u8]) -> Option<String> {
    let (_, text) = attributes(link).find(|(kind, _)| *kind == libc::IFLA_IFNAME)?;
    let text = text.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Changes settings of an interface, in whatever namespace it is; `CAP_NET_ADMIN` is needed. All are changed, or none.
/// Fails with ENODEV if the interface cannot be found.
pub fn change(place: &InterfaceLocation, change: Change) -> io::Result<()> {
    let done = netns::run_in(place.netns, || change_here(place.ifindex, change))?;
    done.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
}

/// Reads the settings of an interface, in whatever namespace it is.
pub fn read_at(place: &InterfaceLocation) -> io::Result<Settings> {
    let found = netns::run_in(place.netns, || read(place.ifindex))?;
    found.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
}

fn change_here(ifindex: u32, change: Change) -> io::Result<()> {
    let mut before = Vec::new();
    let changed =
        switch(ifindex, change.offloads, &mut before).and_then(|()| change_link(ifindex, change));
    if changed.is_err() {
        for (device, offload, on) in before.into_iter().rev() {
            let _ = offloads::set(&device, offload, on);
        }
    }
    changed
}

/// Switches offloads, and adds the device and the earlier value of each to `before`.
fn switch(ifindex: u32, to: Offloads, before: &mut Vec<(String, Offload, bool)>) -> io::Result<()> {
    for (offload, _, on) in to.each() {
        let device = interface::name(ifindex);
        let device = device.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))?;
        let was = offloads::is_on(&device, offload)?;
        offloads::set(&device, offload, on)?;
        before.push((device, offload, was));
    }
    Ok(())
}

fn change_link(ifindex: u32, change: Change) -> io::Result<()> {
    if change.parts().iter().all(|(_, value)| value.is_none()) {
        return Ok(());
    }
    let mut message = header(ifindex).to_vec();
    for (kind, value) in change.parts() {
        if let Some(value) = value {
            put_attribute(&mut message, kind, &value.to_ne_bytes());
        }
    }
    request(libc::RTM_NEWLINK, 0, &message).map(|_| ())
}

/// Takes a change back. Settings that somebody else has changed since stay, and an interface that is gone took its
/// settings along. The interface may be in another network namespace than this process.
pub fn restore(changed: &Changed) -> io::Result<()> {
    netns::run_in(changed.netns, || restore_here(changed)).map(|_| ())
}

fn restore_here(changed: &Changed) -> io::Result<()> {
    let now = match read(changed.ifindex) {
        Ok(now) => now,
        Err(e) if e.raw_os_error() == Some(libc::ENODEV) => return Ok(()),
        Err(e) => return Err(e),
    };
    fn back<T: PartialEq>(now: Option<T>, to: Option<T>, from: Option<T>) -> Option<T> {
        if now == to { from } else { None }
    }
    let (to, from) = (changed.to, changed.from);
    let wanted = Change {
        gso_max_segs: back(now.gso_max_segs, to.gso_max_segs, from.gso_max_segs),
        gso_max_size: back(now.gso_max_size, to.gso_max_size, from.gso_max_size),
        gso_ipv4_max_size: back(
            now.gso_ipv4_max_size,
            to.gso_ipv4_max_size,
            from.gso_ipv4_max_size,
        ),
        offloads: {
            let stays = now.offloads.zip(to.offloads, |now, to| Some(now != to));
            from.offloads
                .zip(stays, |from, stays| from.filter(|_| stays != Some(true)))
        },
    };
    if wanted == Change::default() {
        return Ok(());
    }
    change_here(changed.ifindex, wanted)
}

fn header(ifindex: u32) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[4..8].copy_from_slice(&ifindex.to_ne_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netns::NetNs;
    use crate::veth;
    use host::linux::kernel_version;
    use nix::net::if_::if_nametoindex;

    /// Runs work in a namespace with a pair of devices, with the index of one.
    fn with_device(work: impl FnOnce(u32) -> io::Result<()> + Send) {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            veth::make_pairs(&[("one".into(), "two".into())])?;
            work(if_nametoindex("one")?)
        })
        .expect("runs");
    }

    #[test]
    fn settings_are_read_changed_and_restored() {
        with_device(|index| {
            let before = read(index)?;
            assert_eq!(before.mtu, veth::MTU);
            assert!(before.gso_max_segs.is_some_and(|n| n > 1), "{before:?}");
            assert!(
                before.gso_max_size.is_some_and(|n| n >= 65536),
                "{before:?}"
            );
            let wanted = Change {
                gso_max_size: Some(9000),
                gso_ipv4_max_size: Some(8000),
                ..Change::segments(1)
            };
            // Linux 6.3 has a limit of its own for IPv4; before, the other one holds for both.
            let has_ipv4 = kernel_version() >= (6, 3);
            assert_eq!(before.gso_ipv4_max_size.is_some(), has_ipv4);
            let changed = Changed::new(&InterfaceLocation::here("one", index), &before, wanted);
            change_here(index, wanted)?;
            let after = read(index)?;
            assert_eq!(
                (
                    after.gso_max_segs,
                    after.gso_max_size,
                    after.gso_ipv4_max_size
                ),
                (Some(1), Some(9000), has_ipv4.then_some(8000))
            );
            restore(&changed)?;
            assert_eq!(read(index)?, before);
            Ok(())
        });
    }

    #[test]
    fn settings_are_restored_from_another_namespace() {
        let ns = NetNs::new().expect("this test needs root");
        let (before, changed) = ns
            .run(|| {
                veth::make_pairs(&[("one".into(), "two".into())])?;
                let index = if_nametoindex("one")?;
                let before = read(index)?;
                change_here(index, Change::segments(1))?;
                Ok((
                    before,
                    Changed::new(
                        &InterfaceLocation::here("one", index),
                        &before,
                        Change::segments(1),
                    ),
                ))
            })
            .expect("runs");
        // Somebody is in it, as the user of an interface is.
        let inside = ns.run(|| std::process::Command::new("sleep").arg("60").spawn());
        let mut inside = inside.expect("a process in it");
        restore(&changed).expect("restores");
        inside.kill().expect("it runs");
        inside.wait().expect("it ends");
        let after = ns.run(|| read(if_nametoindex("one")?)).expect("runs");
        assert_eq!(after, before);
    }

    #[test]
    fn offloads_are_restored_each_unless_somebody_has_switched_it_since() {
        with_device(|index| {
            let place = InterfaceLocation::here("one", index);
            let before = read(index)?;
            let wanted = Change {
                offloads: Offloads {
                    tx_checksum: Some(false),
                    gro: Some(true),
                    ..Offloads::default()
                },
                ..Change::default()
            };
            let changed = Changed::new(&place, &before, wanted);
            change(&place, wanted)?;
            let now = read(index)?.offloads;
            assert_eq!((now.tx_checksum, now.gro), (Some(false), Some(true)));
            assert_eq!(now.tx_tags, before.offloads.tx_tags);
            offloads::set("one", Offload::Gro, false)?;
            offloads::set("one", Offload::TxTags, false)?;
            restore(&changed)?;
            let now = read(index)?.offloads;
            assert_eq!(now.tx_checksum, Some(true));
            assert_eq!((now.gro, now.tx_tags), (Some(false), Some(false)));
            Ok(())
        });
    }

    #[test]
    fn what_was_changed_since_stays() {
        with_device(|index| {
            let before = read(index)?;
            let changed = Changed::new(
                &InterfaceLocation::here("one", index),
                &before,
                Change::segments(1),
            );
            assert_eq!(changed.from.gso_max_size, None, "not touched");
            change_here(index, Change::segments(1))?;
            let two = Change::segments(2);
            change_here(index, two)?;
            restore(&changed)?;
            assert_eq!(read(index)?.gso_max_segs, Some(2));
            Ok(())
        });
    }

    #[test]
    fn a_refused_change_changes_nothing_and_a_device_may_be_gone() {
        with_device(|index| {
            let before = read(index)?;
            let too_many = Change {
                gso_max_segs: Some(u32::MAX),
                ..Change::segments(1)
            };
            change_here(index, too_many).expect_err("too many");
            assert_eq!(read(index)?, before);
            let gone = Changed::new(
                &InterfaceLocation::here("gone", 0x7fff_fff0),
                &before,
                Change::segments(1),
            );
            restore(&gone)?;
            let error = read(0x7fff_fff0).expect_err("no such device");
            assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
            Ok(())
        });
    }
}
