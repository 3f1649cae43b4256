//! Interfaces of running programs that come and go. A deleted interface takes its attachment along. When an interface
//! of the same name appears in its network namespace, the program is attached to that one, and the port keeps its
//! number.
//!
//! [`Pins::follow`] does so, and records since when an interface is absent. [`keeper`](crate::keeper) calls it
//! whenever interfaces change, other commands when they begin.

use super::files::{ABSENCES, NEXT_ABSENCES, link_file};
use super::presence::is_attached;
use super::{Pins, Record, record};
use crate::errors::device;
use crate::port::Port;
use crate::sys::Link;
use crate::sys::time;
use diag::Diagnostic;
use host::safe_dir::Dir;
use net::link_events::netns_cookie;
use net::{interface, netns};
use serde::{Deserialize, Serialize};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// A time in which an interface of a program was absent: packets passed it without the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Absence {
    /// The program's number in the instance.
    pub member: usize,
    /// The interface's port.
    pub port: u32,
    /// The time at which that was noticed, in seconds since 1970.
    pub since: u64,
    /// Time at which the program was attached to an interface of that name, in seconds since 1970; `None` while it is
    /// absent.
    pub until: Option<u64>,
    /// Reason why the program cannot be attached to the interface that has the name now.
    pub why: Option<String>,
}

/// The last absence of each interface.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Absences {
    of: Vec<Absence>,
}

/// A port whose interface is absent.
struct Missing {
    member: usize,
    program: String,
    port: u32,
    name: String,
    /// Index that the interface had.
    index: u32,
}

/// State of an instance's interfaces after they were followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Followed {
    /// All interfaces are there, or the missing ones have to appear first.
    Settled,
    /// Interface that is there, but to which the program could not be attached.
    Refused,
    /// No interface will appear again: their network namespace is gone.
    Ended,
}

impl Pins {
    /// The last absence of each interface of an instance that was absent.
    pub fn absences(&self, instance: &str) -> Vec<Absence> {
        let found = self.existing(instance);
        found.map_or_else(|_| Vec::new(), |(_, folder)| read(&folder.dir).of)
    }

    /// Attaches the programs of an instance to interfaces that have appeared under the names of missing ones, and
    /// records which are missing. If their network namespace has ended, it waits for at most `patience` until they are
    /// gone.
    pub fn follow(&self, instance: &str, patience: Duration) -> Result<Followed, Box<Diagnostic>> {
        let record = self.record(instance)?;
        let Some(namespace) = namespace_of(&record) else {
            return Ok(Followed::Ended);
        };
        let mut done = Ok(Followed::Ended);
        let entered = netns::run_in(namespace, || {
            // Another one may have its number by now.
            if netns_cookie()? == record.netns_cookie {
                done = self.follow_here(instance, &record);
            }
            Ok(())
        });
        match entered {
            Ok(Some(())) => done,
            Ok(None) if !netns::is_gone(namespace) => {
                let error = io::Error::other("its network namespace cannot be found");
                Err(self.failed(instance, "follow the interfaces of", &error))
            }
            Ok(None) => self
                .end_following(instance, patience)
                .map(|()| Followed::Ended),
            Err(error) => Err(self.failed(instance, "follow the interfaces of", &error)),
        }
    }

    /// Records that the interfaces of an instance are gone with their network namespace. The kernel removes them one
    /// by one, after the namespace's number. Those still there after `patience` were moved to another namespace.
    pub(crate) fn end_following(
        &self,
        instance: &str,
        patience: Duration,
    ) -> Result<(), Box<Diagnostic>> {
        let record = self.record(instance)?;
        let (_, folder) = self.existing(instance)?;
        let all = every_port(&record).len();
        let begun = Instant::now();
        let missing = loop {
            let missing = missing_with_namespace(&folder.dir, &record);
            if missing.len() == all || begun.elapsed() >= patience {
                break missing;
            }
            thread::sleep(Duration::from_millis(10));
        };
        self.note(instance, |absences| note_missing(absences, &missing))
    }

    /// Follows the interfaces like [`Pins::follow`], in the network namespace of the instance.
    fn follow_here(&self, instance: &str, record: &Record) -> Result<Followed, Box<Diagnostic>> {
        let (_, folder) = self.existing(instance)?;
        let missing = missing(&folder.dir, record);
        let known = read(&folder.dir);
        let mut updated = known.clone();
        note_missing(&mut updated, &missing);
        if updated != known {
            self.note(instance, |absences| note_missing(absences, &missing))?;
        }
        let mut followed = Followed::Settled;
        for gone in &missing {
            let Ok(index) = interface::by_name(&gone.name) else {
                continue;
            };
            let port = Port {
                number: gone.port,
                name: gone.name.clone(),
                index,
            };
            let why = match self.reattach_port(instance, &gone.program, &port, gone.index) {
                Ok(()) => None,
                Err(diagnostic) if device::is_busy(&diagnostic) => return Ok(Followed::Refused),
                Err(diagnostic) => Some(diagnostic.message.clone()),
            };
            if why.is_some() {
                followed = Followed::Refused;
            }
            self.note(instance, |absences| {
                let is_it = |a: &&mut Absence| (a.member, a.port) == (gone.member, gone.port);
                if let Some(absence) = absences.of.iter_mut().find(is_it) {
                    absence.until = why.is_none().then(time::now);
                    absence.why.clone_from(&why);
                }
            })?;
        }
        Ok(followed)
    }

    /// The number of the network namespace in which the interfaces of an instance are followed, if they are.
    pub(crate) fn followed_namespace(
        &self,
        instance: &str,
    ) -> Result<Option<u64>, Box<Diagnostic>> {
        self.record(instance).map(|record| namespace_of(&record))
    }

    /// Changes the recorded absences. The lock keeps other commands from changing them meanwhile.
    fn note(
        &self,
        instance: &str,
        change: impl FnOnce(&mut Absences),
    ) -> Result<(), Box<Diagnostic>> {
        let (root, _) = self.existing(instance)?;
        let _lock = self.lock(&root)?;
        let (_, folder) = self.existing(instance)?;
        let before = read(&folder.dir);
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return Ok(());
        }
        let written = record::replace_json(&folder.dir, ABSENCES, NEXT_ABSENCES, &after);
        written.map_err(|e| self.failed(instance, "write to", &e))
    }
}

/// Returns the number of the network namespace in which an instance's interfaces are followed. `None` if the instance
/// ends with its process, whose starter follows them, or if another version has loaded it.
fn namespace_of(record: &Record) -> Option<u64> {
    let mut all = record.members.iter().flat_map(|member| {
        let at = member.interfaces.iter().map(|at| at.netns);
        at.chain(member.targets.iter().map(|at| at.netns))
    });
    let is_followed = record.owner.is_none() && record.netns_cookie != 0;
    all.next().filter(|_| is_followed)
}

/// Reads the recorded absences; none if they cannot be read.
fn read(folder: &Dir) -> Absences {
    let read = || -> io::Result<Absences> { record::read_json(folder, ABSENCES) };
    match folder.has(ABSENCES) {
        true => read().unwrap_or_default(),
        false => Absences::default(),
    }
}

/// Begins an absence for each missing interface. Ends the absences of the others, whose ports another command has
/// given interfaces.
fn note_missing(absences: &mut Absences, missing: &[Missing]) {
    let is_missing = |a: &Absence| {
        missing
            .iter()
            .any(|m| (m.member, m.port) == (a.member, a.port))
    };
    for absence in &mut absences.of {
        if absence.until.is_none() && !is_missing(absence) {
            absence.until = Some(time::now());
            absence.why = None;
        }
    }
    for one in missing {
        let is_it = |a: &Absence| (a.member, a.port) == (one.member, one.port);
        if absences.of.iter().any(|a| is_it(a) && a.until.is_none()) {
            continue;
        }
        absences.of.retain(|a| !is_it(a));
        absences.of.push(Absence {
            member: one.member,
            port: one.port,
            since: time::now(),
            until: None,
            why: None,
        });
    }
}

/// Lists the ports of an instance whose interfaces are absent in this thread's network namespace. An interface that
/// was moved to another one still has its program.
fn missing(folder: &Dir, record: &Record) -> Vec<Missing> {
    let mut missing = every_port(record);
    missing.retain(|port| {
        let member = &record.members[port.member];
        let mut at = member.interfaces.iter();
        match at.find(|at| at.port == port.port) {
            Some(at) => !is_attached(folder, port.member, member.hook, at),
            None => is_replaced(port),
        }
    });
    missing
}

/// Tests whether an interface that a program only sends to is gone: no interface has its index, or one has the index
/// and another one the name. A renamed interface is still the same.
fn is_replaced(port: &Missing) -> bool {
    match interface::name(port.index) {
        None => true,
        Some(name) => name != port.name && interface::by_name(&port.name).is_ok(),
    }
}

/// Lists the ports of an instance whose interfaces are gone with their network namespace. An interface that was moved
/// to another namespace still has its program.
fn missing_with_namespace(folder: &Dir, record: &Record) -> Vec<Missing> {
    let mut missing = every_port(record);
    missing.retain(|port| {
        let link = Link::open(folder, &link_file(port.member, port.index));
        link.and_then(|link| link.ifindex()).unwrap_or(0) == 0
    });
    missing
}

fn every_port(record: &Record) -> Vec<Missing> {
    let members = record.members.iter().enumerate();
    let ports = members.flat_map(|(number, member)| {
        member.ports().map(move |(port, name, index)| Missing {
            member: number,
            program: member.name.clone(),
            port,
            name: name.to_owned(),
            index,
        })
    });
    ports.collect()
}
