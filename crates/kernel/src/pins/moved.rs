//! Interfaces that are moved to another network namespace while programs run at them. The programs stay attached, and
//! changed settings stay changed. But in the recorded namespace the interfaces are gone.

use super::Pins;
use super::files;
use super::folder::Folder;
use crate::sys::{self, Link, Side};
use host::safe_dir::Dir;
use net::link_settings::{self, Changed};
use net::netns;
use std::collections::BTreeSet;
use std::io;

/// Location of an interface that was moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// Interface in a network namespace that this process can enter. Changed settings are restored when the instance
    /// is removed.
    Found,
    /// Interface in a network namespace that has no name and no process in it, as far as this process sees.
    Hidden,
}

impl Pins {
    /// Tests whether a link of an instance is still on the interface that had this index when the link was made,
    /// wherever that is now.
    pub fn holds(&self, instance: &str, ifindex: u32) -> bool {
        self.links_of(instance, ifindex)
            .is_some_and(|links| are_somewhere(&links))
    }

    /// Finds an interface of an instance that has left this network namespace, by the links of the instance, which
    /// stay on it. `None` if it is gone.
    pub fn moved(&self, instance: &str, ifindex: u32) -> Option<Moved> {
        let links = self.links_of(instance, ifindex)?;
        if !are_somewhere(&links) {
            return None;
        }
        Some(find(&links).map_or(Moved::Hidden, |_| Moved::Found))
    }

    fn links_of(&self, instance: &str, ifindex: u32) -> Option<Vec<Link>> {
        let root = self.open_root().ok().flatten()?;
        let folder = Folder::open(&root, instance).ok()?;
        Some(links_at(&folder.dir, ifindex))
    }
}

/// Tests whether one of these links still has its interface.
fn are_somewhere(links: &[Link]) -> bool {
    let is_somewhere = |link: &Link| link.ifindex().is_ok_and(|index| index != 0);
    links.iter().any(is_somewhere)
}

/// Selects the changes whose interfaces were moved, each with the interface's present location. The links in a folder
/// lead there.
pub(super) fn follow(settings: &[Changed], folder: &Dir) -> Vec<Changed> {
    let has_left = |changed: &&Changed| {
        let there = netns::run_in(changed.netns, || link_settings::read(changed.ifindex));
        !matches!(there, Ok(Some(_)))
    };
    let follow = |changed: &Changed| {
        let (netns, ifindex) = find(&links_at(folder, changed.ifindex))?;
        Some(Changed {
            netns,
            ifindex,
            ..changed.clone()
        })
    };
    // No links are at the other ends of pairs.
    let own = settings.iter().filter(|changed| !changed.other_end);
    own.filter(has_left).filter_map(follow).collect()
}

/// Opens the links in a folder that were made at an interface.
fn links_at(folder: &Dir, ifindex: u32) -> Vec<Link> {
    let links = files::links_at(folder, ifindex).unwrap_or_default();
    let links = links.iter().map(|name| Link::open(folder, name));
    links.filter_map(Result::ok).collect()
}

/// Tests whether a link is on an interface of this thread's network namespace.
pub(super) fn is_at(link: &Link) -> bool {
    let at = || -> io::Result<(u32, u32)> { Ok((link.ifindex()?, link.program()?)) };
    at().is_ok_and(|at| at.0 != 0 && has_program(&at))
}

/// Tests whether an interface of this thread's network namespace has a program by a link.
fn has_program((ifindex, program): &(u32, u32)) -> bool {
    let has_tcx = |side| sys::tcx_on(*ifindex, side).is_ok_and(|ids| ids.contains(program));
    let has_xdp =
        || sys::xdp_on(*ifindex).is_ok_and(|seen| seen.is_some_and(|xdp| xdp.prog_id == *program));
    has_tcx(Side::Ingress) || has_tcx(Side::Egress) || has_xdp()
}

/// Finds the interface that links are on: its network namespace, and its index there.
pub(super) fn find(links: &[Link]) -> Option<(u64, u32)> {
    let attachments = links.iter().filter_map(|link| {
        let at = (link.ifindex().ok()?, link.program().ok()?);
        (at.0 != 0).then_some(at)
    });
    let attachments: BTreeSet<(u32, u32)> = attachments.collect();
    if attachments.is_empty() {
        return None;
    }
    let mut seen = BTreeSet::new();
    let mut found = None;
    netns::find(|ns| {
        let Some(number) = ns.number().ok().filter(|number| seen.insert(*number)) else {
            return false;
        };
        let at = ns.run(|| Ok(attachments.iter().copied().find(has_program)));
        found = at.ok().flatten().map(|(ifindex, _)| (number, ifindex));
        found.is_some()
    })?;
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{DetachedBpffs, Prog};
    use net::link;
    use net::link_settings::{Change, InterfaceLocation};
    use net::netns::NetNs;
    use net::veth;
    use nix::net::if_::if_nametoindex;
    use std::process::Command;

    #[test]
    fn an_interface_is_followed_to_where_somebody_is() {
        let [here, there] = [(); 2].map(|()| NetNs::new().expect("this test needs root"));
        let folder = DetachedBpffs::new().expect("a BPF file system");
        let inside = there.run(|| Command::new("sleep").arg("60").spawn());
        let mut inside = inside.expect("a process in it");
        // So that the index is not the same there.
        let pair = || veth::make_pairs(&[("one".into(), "two".into())]);
        there.run(pair).expect("a pair of devices");
        let (before, changed, link) = here
            .run(|| {
                pair()?;
                let index = if_nametoindex("one")?;
                let link = Link::attach_tcx(&Prog::constant_tc(-1)?, index, Side::Egress)?;
                link.pin(folder.root(), &files::link_file(0, index))?;
                let before = link_settings::read(index)?;
                let changed = Changed::new(
                    &InterfaceLocation::here("one", index),
                    &before,
                    Change::segments(1),
                );
                link_settings::change(&InterfaceLocation::here("one", index), Change::segments(1))?;
                Ok((before, changed, link))
            })
            .expect("runs");
        let followed = || follow(std::slice::from_ref(&changed), folder.root());
        assert_eq!(followed(), [], "it is where it was");
        here.run(|| link::move_to("one", &there, "moved"))
            .expect("it is moved");
        let now = followed();
        let index = there.run(|| Ok(if_nametoindex("moved")?)).expect("runs");
        let number = there.number().expect("it has one");
        let expected = Changed {
            netns: number,
            ifindex: index,
            ..changed.clone()
        };
        assert_eq!(now, [expected]);
        link_settings::restore(&now[0]).expect("restores");
        let after = there.run(|| link_settings::read(index)).expect("runs");
        assert_eq!(after.gso_max_segs, before.gso_max_segs);

        inside.kill().expect("it runs");
        inside.wait().expect("it ends");
        assert_eq!(followed(), [], "there is nothing to follow");
        assert_ne!(link.ifindex().expect("a link"), 0, "it is somewhere");
        there.run(|| link::remove("moved")).expect("it is deleted");
        assert_eq!(link.ifindex().expect("a link"), 0);
        assert_eq!(followed(), []);
    }
}
