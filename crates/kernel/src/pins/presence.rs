//! Locations of the interfaces of running programs: in the recorded network namespace, in another one, or nowhere.

use super::files::{self, link_file};
use super::folder::Folder;
use super::moved::{self, find};
use super::{Interface, Pins, RedirectTarget};
use crate::attachment::side;
use crate::sys::{self, Link, Side, filter};
use bpf::abi::Hook;
use diag::Diagnostic;
use host::safe_dir::Dir;
use net::{interface, netns};
use std::path::PathBuf;

/// Location of an interface of a running program, as this process sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Presence {
    /// Interface in this process's network namespace, with its current name.
    Here(String),
    /// Interface in another network namespace, with a path to enter it if one can be found.
    InNamespace(Option<PathBuf>),
    /// Deleted, or the program was detached from it.
    Gone,
}

impl Pins {
    /// Finds an interface at which a program of an instance runs.
    pub fn presence(&self, instance: &str, member: usize, hook: Hook, at: &Interface) -> Presence {
        let folder = self.open_root().ok().flatten();
        let folder = folder.and_then(|root| Folder::open(&root, instance).ok());
        let Some(folder) = folder else {
            return Presence::Gone;
        };
        let link = match at.filter {
            Some(_) => None,
            None => match Link::open(&folder.dir, &link_file(member, at.index)) {
                Ok(link) if link.ifindex().is_ok_and(|index| index != 0) => Some(link),
                _ => return Presence::Gone,
            },
        };
        let name = netns::run_in(at.netns, || {
            Ok(match &link {
                Some(link) => moved::is_at(link)
                    .then(|| interface::name(link.ifindex().ok()?))
                    .flatten(),
                None => has_filter(hook, at)
                    .then(|| interface::name(at.index))
                    .flatten(),
            })
        });
        match (name, link) {
            (Ok(Some(Some(name))), _) => in_namespace(at.netns, name),
            (_, None) => Presence::Gone,
            (_, Some(link)) => match find(std::slice::from_ref(&link)) {
                Some((namespace, _)) => Presence::InNamespace(netns::path_of(namespace)),
                None => Presence::InNamespace(None),
            },
        }
    }

    /// Returns the tcx link by which a program of an instance is at a side of an interface of this thread's network
    /// namespace.
    ///
    /// # Errors
    /// There is no such instance.
    pub(crate) fn tc_link(
        &self,
        instance: &str,
        ifindex: u32,
        wanted: Side,
    ) -> Result<Option<Link>, Box<Diagnostic>> {
        let record = self.record(instance)?;
        let (_, folder) = self.existing(instance)?;
        let members = record.members.iter().enumerate();
        let at_side = members.filter(|(_, member)| side(member.hook) == Some(wanted));
        let links = at_side
            .filter_map(|(number, _)| Link::open(&folder.dir, &link_file(number, ifindex)).ok());
        Ok(links.into_iter().find(moved::is_at))
    }

    /// Returns the position of a program among those at its side of an interface by tcx, from 1, and their number.
    pub fn tc_place(&self, instance: &str, hook: Hook, at: &Interface) -> Option<(usize, usize)> {
        let side = side(hook)?;
        let place = netns::run_in(at.netns, || {
            let link = self.tc_link(instance, at.index, side).ok().flatten();
            let Some(link) = link else {
                return Ok(None);
            };
            let (own, all) = (link.program()?, sys::tcx_on(link.ifindex()?, side)?);
            let place = all.iter().position(|program| *program == own);
            Ok(place.map(|place| (place + 1, all.len())))
        });
        place.ok().flatten().flatten()
    }

    /// Finds an interface that a program only sends to.
    pub fn presence_of_target(&self, at: &RedirectTarget) -> Presence {
        match netns::run_in(at.netns, || Ok(interface::name(at.index))) {
            Ok(Some(Some(name))) => in_namespace(at.netns, name),
            _ => Presence::Gone,
        }
    }
}

/// Returns the location of an interface that is still in its namespace.
fn in_namespace(namespace: u64, name: String) -> Presence {
    match super::record::is_here(namespace) {
        true => Presence::Here(name),
        false => Presence::InNamespace(netns::path_of(namespace)),
    }
}

/// Tests whether a program is attached at an interface of this thread's network namespace, or where that was moved to.
pub(super) fn is_attached(folder: &Dir, member: usize, hook: Hook, at: &Interface) -> bool {
    match at.filter {
        Some(_) => has_filter(hook, at),
        None => Link::open(folder, &files::link_file(member, at.index))
            .and_then(|link| link.ifindex())
            .is_ok_and(|index| index != 0),
    }
}

/// Tests whether the filter of a program is at its interface.
fn has_filter(hook: Hook, at: &Interface) -> bool {
    let (Some(wanted), Some(side)) = (at.filter, side(hook)) else {
        return false;
    };
    let there = filter::filters(at.index, side).unwrap_or_default();
    there.iter().any(|found| found.prog_id == wanted.gate_id)
}
