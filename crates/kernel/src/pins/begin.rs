//! Making of a pinned instance from loaded and filled programs.

use super::files::{
    self, NEXT_SETTINGS, OBJECT, PROGRAM, SETTINGS, gate_file, link_file, map_file, member_folder,
};
use super::lock::Lock;
use super::record::RedirectTarget;
use super::{Asked, Interface, Loading, MemberRecord, Owner, Pins, Record, record};
use crate::attachment::{Holder, TcOrder};
use crate::bundle::{Attachment, LoadedProgram};
use crate::errors::device;
use crate::sys::{DetachedBpffs, pin_bytes, time};
use diag::Diagnostic;
use host::caps;
use host::safe_dir::Dir;
use net::link_events;
use net::link_settings::{self, Change, Changed, InterfaceLocation};
use std::io;

/// Instance that is being made. It holds the lock, so no other command changes anything. Dropping it removes what was
/// made.
#[derive(Debug)]
pub struct Begun<'a> {
    pins: &'a Pins,
    instance: String,
    root: Dir,
    folder: Dir,
    settings: Vec<Changed>,
    owner: Option<Owner>,
    asked: Vec<Asked>,
    order: TcOrder,
    committed: bool,
    _lock: Lock,
}

impl Pins {
    /// Begins to make an instance. Waits for other commands to end, and removes the leftovers of killed ones if it can
    /// (see [`Pins::mend`]). Fails if the name is taken. Programs should be loaded and filled before, and must be
    /// attached after.
    pub fn begin(&self, instance: &str) -> Result<Begun<'_>, Box<Diagnostic>> {
        self.check_free(instance)?;
        let root = self.prepare()?;
        let lock = self.lock(&root)?;
        let _ = self.sweep(&root, &lock);
        // Again: another command may have been faster.
        self.check_free(instance)?;
        let folder = root.make_dir(instance).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => device::elsewhere(instance),
            _ => self.failed(instance, "make", &e),
        })?;
        Ok(Begun {
            pins: self,
            instance: instance.to_owned(),
            root,
            folder,
            settings: Vec::new(),
            owner: None,
            asked: Vec::new(),
            order: TcOrder::Last,
            committed: false,
            _lock: lock,
        })
    }
}

impl Begun<'_> {
    /// Makes the instance end with a process: see [`Pins::mend`].
    pub fn end_with(&mut self, owner: Owner) {
        self.owner = Some(owner);
    }

    /// Records the options and inputs that the instance is loaded with.
    pub fn was_asked(&mut self, asked: Vec<Asked>) {
        self.asked = asked;
    }

    /// Records the position of its programs among others at traffic control.
    pub fn in_order(&mut self, order: TcOrder) {
        self.order = order;
    }

    /// Changes settings of an interface until the instance is removed. The old values are recorded first, so that they
    /// are restored even if this process is killed.
    pub fn change_link(
        &mut self,
        place: &InterfaceLocation,
        change: Change,
    ) -> Result<(), Box<Diagnostic>> {
        let failed = |e: io::Error| device::link_settings(&place.name, &e);
        let before = link_settings::read_at(place).map_err(failed)?;
        let changed = Changed::new(place, &before, change);
        let mut all = self.settings.clone();
        all.push(changed);
        // Nothing may be changed that is not written down; what is written down twice is restored once.
        record::replace_json(&self.folder, SETTINGS, NEXT_SETTINGS, &all)
            .map_err(|e| self.pins.failed(&self.instance, "write to", &e))?;
        self.settings = all;
        link_settings::change(place, change).map_err(failed)
    }

    /// Pins programs with their maps and attachments. From now on they outlive this process, and the instance is
    /// there. It is atomic: on failure nothing is pinned. Returns the identity of the loading.
    pub fn commit(
        mut self,
        members: &[LoadedProgram],
        attached: Vec<Attachment>,
    ) -> Result<Loading, Box<Diagnostic>> {
        let failed = |e: io::Error| self.pins.failed(&self.instance, "pin the program in", &e);
        let record = self.record(members, &attached);
        let loading = match attached.as_slice() {
            [] => return Err(failed(io::ErrorKind::InvalidInput.into())),
            [_] => pin_all(&self.folder, members, &attached, &record).map_err(failed)?,
            _ => {
                let mount = DetachedBpffs::new().map_err(|e| device::not_one(&e))?;
                let loading = pin_all(mount.root(), members, &attached, &record).map_err(failed)?;
                let mark = files::space_mark().map_err(failed)?;
                self.folder.make_dir(mark).map_err(failed)?;
                mount.mount(&self.folder).map_err(|e| device::not_one(&e))?;
                loading
            }
        };
        self.committed = true;
        for attachment in attached {
            if let Holder::Filter(filter) = attachment.attached.holder {
                filter.keep();
            }
        }
        Ok(loading)
    }

    fn record(&self, members: &[LoadedProgram], attached: &[Attachment]) -> Record {
        let of = |number: usize, member: &LoadedProgram| MemberRecord {
            name: member.name.clone(),
            hook: member.instance.program.hook(),
            interfaces: attached
                .iter()
                .filter(|a| a.member == number)
                .map(|a| Interface::new(&a.port.name, a.port.index, a.port.number, &a.attached))
                .collect(),
            targets: member.targets.iter().map(RedirectTarget::new).collect(),
            memory: member.instance.store.memory.allowance,
            abi: (*member.instance.store.memory.abi).clone(),
            schema: (*member.instance.store.memory.schema).clone(),
        };
        Record {
            version: Record::VERSION,
            instance: self.instance.clone(),
            loaded: time::now(),
            user: caps::user(),
            owner: self.owner,
            changes_links: !self.settings.is_empty(),
            order: self.order.clone(),
            asked: self.asked.clone(),
            netns_cookie: link_events::netns_cookie().unwrap_or(0),
            members: members.iter().enumerate().map(|(n, m)| of(n, m)).collect(),
        }
    }
}

/// Pins everything, the attachments last.
fn pin_all(
    folder: &Dir,
    members: &[LoadedProgram],
    attached: &[Attachment],
    record: &Record,
) -> io::Result<Loading> {
    let loading = record::write(folder, record)?;
    for (number, member) in members.iter().enumerate() {
        let own = folder.make_dir(member_folder(number))?;
        for (name, map) in member.instance.store.memory.maps.open() {
            map.pin(&own, &map_file(name))?;
        }
        member.instance.program.prog().pin(&own, PROGRAM)?;
        pin_bytes(&own, OBJECT, "onpath_object", &member.instance.object)?;
    }
    for a in attached {
        match &a.attached.holder {
            Holder::Link(link) => link.pin(folder, &link_file(a.member, a.port.index))?,
            Holder::Filter(filter) => {
                let gate = gate_file(a.member, a.port.index);
                filter.gate.pin(folder, &gate)?;
            }
        }
    }
    Ok(loading)
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.committed {
            // What stays behind is garbage, which the next command tries to remove again.
            let _ = self.pins.clean(&self.root, &self.instance);
        }
    }
}
