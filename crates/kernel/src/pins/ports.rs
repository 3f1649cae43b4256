//! Ports that a running program gets or loses.
//!
//! A change is recorded before it begins, and the ports after it replace those before it in one step. If a command is
//! killed, the next one knows what to do by which of the two happened last. It takes back an addition that was not
//! completed, and completes a removal. A port that gets another interface is an addition, after which the old
//! interface is removed.

use super::files::{
    NEXT_ATTACHMENT, NEXT_PORTS, PORT_CHANGE, PORTS, PROGRAM, gate_file, link_file, member_folder,
};
use super::lock::Lock;
use super::presence::is_attached;
use super::record::{self, Interface, MemberRecord, PortsRecord, RedirectTarget};
use super::{PATIENCE_WITH_WRITERS, Pins, Record};
use crate::attach;
use crate::attachment::{Attached, Holder, How, Interfaces, Mode, TcMethod, TcOrder};
use crate::errors::{load as load_errors, ports as errors};
use crate::port::Port;
use crate::ports::{connect_ports, disconnect_port, move_port};
use crate::program::HookProg;
use crate::store::KernelStore;
use crate::sys::{Link, Prog};
use crate::tc::filter::FilterLocation;
use crate::xdp::Running;
use control::{Replica, Store as _, StoreError};
use diag::Diagnostic;
use host::linux::wait_for_softirqs;
use host::safe_dir::Dir;
use net::netns;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;

/// The use of an interface by a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortUse {
    /// The program runs there.
    Attached,
    /// The program only sends packets there.
    Reached,
}

/// A change of one port that has begun.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct PortChange {
    /// The program's number in the instance.
    member: usize,
    /// The port.
    port: u32,
    change: Change,
}

/// Change of the interface of a port.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Change {
    /// The port gets the interface of this index.
    Gets(u32),
    /// The port gets interface `by` instead of the other.
    Replaces { by: u32, left: Left },
    /// The port loses its interface.
    Loses(Left),
}

/// An interface that a program leaves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Left {
    index: u32,
    /// The filter there, if it is attached by one, and the number of the network namespace.
    filter: Option<(u64, FilterLocation)>,
}

impl Left {
    /// Makes one without a recorded filter. A filter that is there runs nothing without its gate, and is swept later.
    fn unrecorded(index: u32) -> Left {
        Left {
            index,
            filter: None,
        }
    }

    fn of(program: &MemberRecord, index: u32) -> Left {
        let mut at = program.interfaces.iter();
        let at = at.find(|at| at.index == index);
        Left {
            index,
            filter: at.and_then(|at| Some((at.netns, at.filter?))),
        }
    }
}

/// Instance whose ports may be changed while this value exists. Its lock keeps others from changing them.
struct Changeable {
    /// The instance's folder.
    folder: Arc<Dir>,
    record: Record,
    /// Number of the program whose ports change.
    number: usize,
    /// The program's maps.
    store: KernelStore,
    _lock: Lock,
}

impl Changeable {
    /// Returns the program whose ports change.
    fn program(&self) -> &MemberRecord {
        &self.record.members[self.number]
    }

    /// Refuses an instance that ends with its process, or whose interfaces have changed settings.
    fn check_unbound(&self) -> Result<(), Box<Diagnostic>> {
        match self.record.owner.is_some() || self.record.changes_links {
            true => Err(errors::bound(&self.record.instance)),
            false => Ok(()),
        }
    }
}

impl PortChange {
    /// Records that it begins.
    fn begin(&self, folder: &Dir) -> io::Result<()> {
        record::write_json(folder, PORT_CHANGE, self)
    }
}

impl Pins {
    /// Gives a port to a program of an instance: the named one, or the only one. Returns how the program runs there,
    /// if it does. On failure nothing is changed, and the next command takes back what a killed one has begun.
    ///
    /// The interface must be in the network namespace of the others: the kernel looks up the port's interface index in
    /// the namespace that the packet is in.
    pub fn add_port(
        &self,
        instance: &str,
        member: Option<&str>,
        port: &Port,
        usage: PortUse,
    ) -> Result<Option<How>, Box<Diagnostic>> {
        let at = self.changeable(instance, member)?;
        at.check_unbound()?;
        let program = at.program();
        if let Some((_, name, _)) = program.ports().find(|(taken, ..)| *taken == port.number) {
            return Err(errors::taken(port.number, name));
        }
        self.check_addition(program, port, usage)?;
        self.add_checked(instance, at, (port, usage), None)
    }

    /// Gives a port of a program another interface. The program runs there, or sends there, instead of at the
    /// interface before, which may be gone. Multicast groups and clone sessions keep the port. Returns how the program
    /// runs there, if it does. On failure nothing is changed.
    pub fn replace_port(
        &self,
        instance: &str,
        member: Option<&str>,
        port: &Port,
    ) -> Result<Option<How>, Box<Diagnostic>> {
        let at = self.changeable(instance, member)?;
        at.check_unbound()?;
        let program = at.program();
        let Some((_, _, index)) = program.ports().find(|(known, ..)| *known == port.number) else {
            return Err(unknown(program, port.number));
        };
        let usage = usage(program, port.number);
        self.check_addition(program, port, usage)?;
        let left = Left::of(program, index);
        self.add_checked(instance, at, (port, usage), Some(left))
    }

    /// Gives a port of a program the interface that has appeared in place of a deleted one with the index `gone`. Does
    /// nothing if another command has given it one meanwhile.
    pub(super) fn reattach_port(
        &self,
        instance: &str,
        member: &str,
        port: &Port,
        gone: u32,
    ) -> Result<(), Box<Diagnostic>> {
        let mut at = self.changeable(instance, Some(member))?;
        let program = at.program();
        let is_it = |(number, _, index): (u32, &str, u32)| (number, index) == (port.number, gone);
        if !program.ports().any(is_it) {
            return Ok(());
        }
        let usage = usage(program, port.number);
        if port.index != gone {
            self.check_addition(program, port, usage)?;
            let left = Left::of(program, gone);
            return self
                .add_checked(instance, at, (port, usage), Some(left))
                .map(drop);
        }
        // The index is the same, so the new attachment replaces the old one's pin in one step.
        let runs = |at: &Interface| at.index == gone;
        if let (PortUse::Attached, Some(runs)) =
            (usage, program.interfaces.iter().find(|at| runs(at)))
            && is_attached(&at.folder, at.number, program.hook, runs)
        {
            return Ok(());
        }
        attach::check_hook(self, program.hook, &port.name, port.index)?;
        let number = at.number;
        self.add(&mut at, number, (port, usage)).map(drop)
    }

    /// Refuses an interface that a program cannot get.
    fn check_addition(
        &self,
        program: &MemberRecord,
        port: &Port,
        usage: PortUse,
    ) -> Result<(), Box<Diagnostic>> {
        if let Some((at, netns)) = program.elsewhere() {
            let found = netns::path_of(netns);
            return Err(errors::elsewhere(&port.name, at, netns, found.as_deref()));
        }
        if let Some((taken, ..)) = program.ports().find(|(.., index)| *index == port.index) {
            return Err(errors::has_port(&port.name, taken));
        }
        attach::check_rights(program.hook)?;
        match usage {
            PortUse::Attached => attach::check_hook(self, program.hook, &port.name, port.index),
            PortUse::Reached => Ok(()),
        }
    }

    /// Gives a program an interface that [`Pins::check_addition`] allows, in place of the one that it leaves, if there
    /// is one.
    fn add_checked(
        &self,
        instance: &str,
        mut at: Changeable,
        (port, usage): (&Port, PortUse),
        left: Option<Left>,
    ) -> Result<Option<How>, Box<Diagnostic>> {
        let by = port.index;
        let change = PortChange {
            member: at.number,
            port: port.number,
            change: match left {
                None => Change::Gets(by),
                Some(left) => Change::Replaces { by, left },
            },
        };
        let begun = change.begin(&at.folder);
        begun.map_err(|e| load_errors::pins(at.folder.shown(), "write to", &e))?;
        let added = self.add(&mut at, change.member, (port, usage));
        let settled = self.settle(instance);
        let how = added?;
        settled?;
        Ok(how)
    }

    /// Removes a port from a program of an instance: the named one, or the only one. Refuses the last interface at
    /// which the program runs, and a port of a multicast group or a clone session. A removal that a killed command has
    /// begun is completed by the next one.
    pub fn remove_port(
        &self,
        instance: &str,
        member: Option<&str>,
        port: u32,
    ) -> Result<(), Box<Diagnostic>> {
        let at = self.changeable(instance, member)?;
        at.check_unbound()?;
        let program = at.program();
        let Some((_, name, index)) = program.ports().find(|(known, ..)| *known == port) else {
            return Err(unknown(program, port));
        };
        let runs_at = |at: &Interface| at.port != port;
        if !program.interfaces.iter().any(runs_at) {
            return Err(errors::last_port(port, name, instance));
        }
        // From here on no other command sends copies to it.
        let held = at.store.alone(Some(PATIENCE_WITH_WRITERS), |store| {
            if let Some(user) = user_of(store, port)? {
                return Ok(Some(user));
            }
            let left = Left::of(program, index);
            let change = PortChange {
                member: at.number,
                port,
                change: Change::Loses(left.clone()),
            };
            change.begin(&at.folder).map_err(system)?;
            take_away(&at.folder, &change, &left, None, store).map_err(system)?;
            Ok(None)
        });
        match held {
            Ok(None) => self.settle(instance),
            Ok(Some(user)) => Err(errors::in_use(port, user)),
            Err(error) => Err(errors::not_changed(port, &error)),
        }
    }

    /// Locks an instance to change ports of one of its programs. A change that was left unfinished is settled first.
    fn changeable(
        &self,
        instance: &str,
        member: Option<&str>,
    ) -> Result<Changeable, Box<Diagnostic>> {
        let (root, folder) = self.existing(instance)?;
        let lock = self.lock(&root)?;
        self.settle(instance)?;
        let record = self.record(instance)?;
        let number = record.number(member)?;
        let (_, store) = self.open(instance, Some(&record.members[number].name))?;
        Ok(Changeable {
            folder: folder.dir,
            record,
            number,
            store,
            _lock: lock,
        })
    }

    /// Completes or takes back the recorded change, if there is one. The caller holds the lock, so nobody else is
    /// changing ports.
    pub(super) fn settle(&self, instance: &str) -> Result<(), Box<Diagnostic>> {
        let (_, folder) = self.existing(instance)?;
        let folder = folder.dir;
        if !is_unsettled(&folder) {
            return Ok(());
        }
        let failed = |e: io::Error| load_errors::pins(folder.shown(), "settle", &e);
        remove_unnamed(&folder).map_err(failed)?;
        if !folder.has(PORT_CHANGE) {
            return Ok(());
        }
        let change: PortChange = record::read_json(&folder, PORT_CHANGE).map_err(failed)?;
        let mut record = self.record(instance)?;
        let Some(program) = record.members.get(change.member) else {
            return folder.remove_file(PORT_CHANGE).map_err(failed);
        };
        let has = |wanted: u32| {
            let mut all = program.ports();
            all.any(|(port, _, index)| (port, index) == (change.port, wanted))
        };
        let (leaves, stays) = match &change.change {
            Change::Gets(index) => ((!has(*index)).then(|| Left::unrecorded(*index)), None),
            Change::Replaces { by, left } if has(*by) => (Some(left.clone()), Some(*by)),
            Change::Replaces { by, left } => (Some(Left::unrecorded(*by)), Some(left.index)),
            Change::Loses(left) => (has(left.index).then(|| left.clone()), None),
        };
        let loses = matches!(change.change, Change::Loses(_));
        if let Some(left) = &leaves {
            let (_, store) = self.open(instance, Some(&program.name))?;
            let taken = store.alone(Some(PATIENCE_WITH_WRITERS), |store| {
                take_away(&folder, &change, left, stays, store).map_err(system)
            });
            taken.map_err(|error| errors::not_changed(change.port, &error))?;
        }
        if loses && leaves.is_some() {
            let program = &mut record.members[change.member];
            program.interfaces.retain(|at| at.port != change.port);
            program.targets.retain(|at| at.port != change.port);
            write_ports(&folder, &record).map_err(failed)?;
        }
        folder.remove_file(PORT_CHANGE).map_err(failed)
    }

    /// Makes an addition that is recorded already, up to the one step that completes it.
    fn add(
        &self,
        to: &mut Changeable,
        member: usize,
        (port, usage): (&Port, PortUse),
    ) -> Result<Option<How>, Box<Diagnostic>> {
        let Changeable {
            folder,
            record,
            store,
            ..
        } = to;
        let failed = |e: io::Error| load_errors::pins(folder.shown(), "pin the port in", &e);
        // The writers' lock is held: a successor that took the program's place meanwhile would not run at this
        // interface.
        let attach = |store: &KernelStore| -> Result<Option<Attached>, Box<Diagnostic>> {
            let pairs = [(port.number, port.index)];
            connect_ports(&store.memory.abi.ports, &store.memory.maps, &pairs)?;
            let opened = folder.open_dir(member_folder(member));
            let program = opened.and_then(|member| Prog::open(&member, PROGRAM));
            let hook = record.members[member].hook;
            let program = program.and_then(|program| HookProg::new(program, hook));
            let others = running_at(folder, member, &record.members[member], port.number);
            let order = self.order_at(port.index, record, member);
            let attached = attach(
                &program.map_err(failed)?,
                &record.instance,
                (&record.members[member], &others),
                (port, usage),
                (self, &order),
            )?;
            let pinned = attached.as_ref().map(|attached| {
                let name = match &attached.holder {
                    Holder::Link(link) => {
                        link.pin(folder, NEXT_ATTACHMENT)?;
                        link_file(member, port.index)
                    }
                    Holder::Filter(filter) => {
                        filter.gate.pin(folder, NEXT_ATTACHMENT)?;
                        gate_file(member, port.index)
                    }
                };
                folder.rename(NEXT_ATTACHMENT, name)
            });
            pinned.transpose().map_err(failed)?;
            Ok(attached)
        };
        let attached = store.alone(Some(PATIENCE_WITH_WRITERS), |store| Ok(attach(store)));
        let attached = attached.map_err(|error| errors::not_changed(port.number, &error))??;
        let program = &mut record.members[member];
        program.interfaces.retain(|at| at.port != port.number);
        program.targets.retain(|at| at.port != port.number);
        let Some(attached) = attached else {
            program.targets.push(RedirectTarget::new(port));
            write_ports(folder, record).map_err(failed)?;
            return Ok(None);
        };
        let at = Interface::new(&port.name, port.index, port.number, &attached);
        program.interfaces.push(at);
        write_ports(folder, record).map_err(failed)?;
        if let Holder::Filter(filter) = attached.holder {
            filter.keep();
        }
        Ok(Some(attached.how))
    }
}

/// Returns the use that a program makes of the interface of one of its ports.
fn usage(program: &MemberRecord, port: u32) -> PortUse {
    match program.interfaces.iter().any(|at| at.port == port) {
        true => PortUse::Attached,
        false => PortUse::Reached,
    }
}

fn unknown(program: &MemberRecord, port: u32) -> Box<Diagnostic> {
    let known: Vec<u32> = program.ports().map(|(number, ..)| number).collect();
    errors::no_port(port, &known)
}

/// Returns the group or session that sends copies to a port, if there is one.
fn user_of(store: &KernelStore, port: u32) -> Result<Option<errors::User>, StoreError> {
    let has = |replicas: &[Replica]| replicas.iter().any(|replica| replica.port == port);
    let mut groups = store.multicast_groups()?.into_iter();
    if let Some((group, _)) = groups.find(|(_, to)| has(to)) {
        return Ok(Some(errors::User::Group(group)));
    }
    let mut sessions = store.clone_sessions()?.into_iter();
    let session = sessions.find(|(_, to)| has(&to.replicas));
    Ok(session.map(|(session, _)| errors::User::Session(session)))
}

/// Tests whether a change of ports has begun that is neither complete nor taken back.
pub(super) fn is_unsettled(folder: &Dir) -> bool {
    folder.has(PORT_CHANGE) || folder.has(NEXT_ATTACHMENT)
}

/// Removes an attachment that a killed command has made, but not renamed to its final name. It is recorded nowhere,
/// and would be in the way of another one. A filter that is left runs nothing without its gate, and is swept later.
fn remove_unnamed(folder: &Dir) -> io::Result<()> {
    if let Ok(link) = Link::open(folder, NEXT_ATTACHMENT) {
        // Detached here, because the kernel takes its time with a link that nobody holds. Fails for a gate, or if the
        // interface is gone.
        let _ = link.detach();
    }
    folder.remove_file_if_there(NEXT_ATTACHMENT)
}

/// Lists the interfaces at which a program runs, without those that are gone and the one of a given port.
fn running_at(folder: &Dir, number: usize, member: &MemberRecord, port: u32) -> Vec<Interface> {
    let others = member.interfaces.iter().filter(|at| at.port != port);
    let others = others.filter(|at| is_attached(folder, number, member.hook, at));
    others.cloned().collect()
}

/// Attaches a program to a port like to its other ports. Fails if running there, or only sending there, needs another
/// mode at those.
fn attach(
    program: &HookProg,
    instance: &str,
    (member, others): (&MemberRecord, &[Interface]),
    (port, usage): (&Port, PortUse),
    order: (&Pins, &TcOrder),
) -> Result<Option<Attached>, Box<Diagnostic>> {
    let mut filters = member.interfaces.iter().map(|at| at.filter.is_some());
    let method = match filters.any(|by_filter| by_filter) {
        true => TcMethod::Clsact,
        false => TcMethod::Best,
    };
    let one = std::slice::from_ref(port);
    let (ports, targets) = match usage {
        PortUse::Attached => (one, &[][..]),
        PortUse::Reached => (&[][..], one),
    };
    let wanted = Interfaces {
        redirects: member.abi.ports.devmap.is_some(),
        ports,
        targets,
        order: Some(order),
    };
    let running = Running {
        instance,
        at: others
            .iter()
            .map(|at| (at.name.as_str(), at.mode == Mode::Native.name()))
            .collect(),
    };
    Ok(attach::attach_besides(program, wanted, &running, method)?.pop())
}

/// Detaches a program from an interface of a port. Then removes the port from its maps, or moves it to the interface
/// that stays. Steps that are done already are skipped.
fn take_away(
    folder: &Dir,
    PortChange { member, port, .. }: &PortChange,
    left: &Left,
    stays: Option<u32>,
    store: &KernelStore,
) -> io::Result<()> {
    let link = link_file(*member, left.index);
    if folder.has(&link) {
        let opened = Link::open(folder, &link);
        folder.remove_file(&link)?;
        // An interface that is gone took its attachment along.
        let _ = opened?.detach();
    }
    let gate = gate_file(*member, left.index);
    if folder.has(&gate) {
        folder.remove_file(&gate)?;
        // A filter that is left runs nothing without its gate, and is swept later.
        if let Some((netns, filter)) = left.filter {
            netns::run_in(netns, || filter.remove())?;
        }
    }
    // A packet that is still in the program looks up its ingress port by the interface's index.
    wait_for_softirqs();
    let ports = &store.memory.abi.ports;
    match stays {
        None => disconnect_port(ports, &store.memory.maps, *port, left.index),
        Some(other) => move_port(ports, &store.memory.maps, *port, (left.index, other)),
    }
}

/// Replaces the recorded ports.
fn write_ports(folder: &Dir, record: &Record) -> io::Result<()> {
    let ports = record.members.iter().map(PortsRecord::of);
    let ports: Vec<PortsRecord> = ports.collect();
    record::replace_json(folder, PORTS, NEXT_PORTS, &ports)
}

fn system(error: io::Error) -> StoreError {
    StoreError::System {
        what: diag::system_message(&error),
    }
}

impl MemberRecord {
    /// Returns an interface that is in another network namespace than this process, and the number of that namespace.
    fn elsewhere(&self) -> Option<(&str, u64)> {
        let at = self.interfaces.iter();
        let at = at.map(|at| (at.name.as_str(), at.netns));
        let reached = self.targets.iter();
        let mut all = at.chain(reached.map(|at| (at.name.as_str(), at.netns)));
        all.find(|(_, netns)| !record::is_here(*netns))
    }

    /// Lists all ports: number, name and index of the interface.
    pub fn ports(&self) -> impl Iterator<Item = (u32, &str, u32)> {
        let at = self.interfaces.iter();
        let at = at.map(|at| (at.port, at.name.as_str(), at.index));
        let reached = self.targets.iter();
        at.chain(reached.map(|at| (at.port, at.name.as_str(), at.index)))
    }
}
