//! The other end of a virtual Ethernet device, wherever it is.

use crate::interface;
use crate::link_settings::InterfaceLocation;
use crate::netlink::{attributes, put_attribute, request, u32_at};
use crate::netns::{self, NetNs};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The other end of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Peer {
    /// The interface that is the other end.
    Found(InterfaceLocation),
    /// Peer in a network namespace that has no name and no process in it, as far as this process sees.
    Hidden,
}

/// Finds the other end of the virtual Ethernet device of this index in this thread's network namespace.
pub fn of(ifindex: u32) -> io::Result<Peer> {
    /// Bytes of `struct ifinfomsg`.
    const HEADER: usize = 16;
    let mut question = [0; HEADER];
    question[4..8].copy_from_slice(&ifindex.to_ne_bytes());
    let answers = request(libc::RTM_GETLINK, 0, &question)?;
    let link = answers.first().and_then(|link| link.get(HEADER..));
    let link = link.ok_or(io::ErrorKind::InvalidData)?;
    let value = |wanted| {
        let (_, value) = attributes(link).find(|(kind, _)| *kind == wanted)?;
        u32_at(value, 0)
    };
    let Some(index) = value(libc::IFLA_LINK) else {
        return Ok(Peer::Hidden);
    };
    let Some(number) = value(libc::IFLA_LINK_NETNSID) else {
        return Ok(known(None, index));
    };
    let mut seen = BTreeSet::new();
    let there = netns::find(|ns| {
        let is_new = ns.number().is_ok_and(|number| seen.insert(number));
        is_new && id(ns).is_ok_and(|id| id == Some(number))
    });
    Ok(there.map_or(Peer::Hidden, |there| known(Some(&there), index)))
}

/// Returns the interface of an index in a namespace; `None` is this thread's.
fn known(netns: Option<&NetNs>, ifindex: u32) -> Peer {
    let name = || Ok(interface::name(ifindex));
    let (name, number) = match netns {
        None => (name(), netns::current()),
        Some(there) => (there.run(name), there.number()),
    };
    match (name, number) {
        (Ok(Some(name)), Ok(netns)) => Peer::Found(InterfaceLocation {
            name,
            ifindex,
            netns,
            other_end: true,
        }),
        _ => Peer::Hidden,
    }
}

/// Returns the identifier that this thread's network namespace has for another one, if it has one.
fn id(of: &NetNs) -> io::Result<Option<u32>> {
    /// Bytes of `struct rtgenmsg`, with padding.
    const HEADER: usize = 4;
    const NETNSA_NSID: u16 = 1;
    const NETNSA_FD: u16 = 3;
    const NONE: u32 = u32::MAX;
    let mut question = vec![0; HEADER];
    let descriptor = of.as_fd().as_raw_fd() as u32;
    put_attribute(&mut question, NETNSA_FD, &descriptor.to_ne_bytes());
    let answers = request(libc::RTM_GETNSID, 0, &question)?;
    let answer = answers.first().and_then(|answer| answer.get(HEADER..));
    let mut found = answer.into_iter().flat_map(attributes);
    let found = found.find(|(kind, _)| *kind == NETNSA_NSID);
    Ok(found
        .and_then(|(_, value)| u32_at(value, 0))
        .filter(|id| *id != NONE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{self, End};
    use std::process::Command;

    fn other_end(name: &str, index: u32) -> InterfaceLocation {
        InterfaceLocation {
            other_end: true,
            ..InterfaceLocation::here(name, index)
        }
    }

    #[test]
    fn the_other_end_is_found_here_and_in_namespaces_that_somebody_is_in() {
        let [here, there] = [(); 2].map(|()| NetNs::new().expect("this test needs root"));
        let inside = there.run(|| Command::new("sleep").arg("60").spawn());
        let mut inside = inside.expect("a process in it");
        let away = || {
            here.run(|| {
                let index = interface::index("away").expect("there");
                of(index)
            })
        };
        here.run(|| {
            link::add_veth(End::here("one"), End::here("two"))?;
            let far = End {
                netns: Some(there.as_fd()),
                ..End::here("far")
            };
            link::add_veth(End::here("away"), far)?;
            let index = |name| interface::index(name).expect("there");
            let found = |name| Peer::Found(other_end(name, index(name)));
            assert_eq!(of(index("one"))?, found("two"));
            assert_eq!(of(index("two"))?, found("one"));
            Ok(())
        })
        .expect("runs");
        let far = there.run(|| {
            let index = interface::index("far").expect("there");
            Ok(other_end("far", index))
        });
        assert_eq!(away().expect("asks"), Peer::Found(far.expect("runs")));
        inside.kill().expect("it runs");
        inside.wait().expect("it ends");
        assert_eq!(away().expect("asks"), Peer::Hidden);
    }
}
